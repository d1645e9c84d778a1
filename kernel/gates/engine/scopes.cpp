// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/scopes.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/text.hpp"
#include "gates/failures.hpp"

namespace agentforge::kernel {
namespace {

/// Folders with third-party or sample projects.
constexpr std::array<std::string_view, 15> passed_over{
    "vendor",   "node_modules", "third_party", "third-party", "external", "examples", "example",      "testdata",
    "fixtures", "fixture",      "templates",   "target",      "build",    "dist",     "site-packages"};

std::string folder_of(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string{} : std::string(path.substr(0, slash));
}

bool lies_in(std::string_view path, std::string_view directory) {
    return directory.empty() ||
           (path.size() > directory.size() && path[directory.size()] == '/' && path.substr(0, directory.size()) == directory);
}

std::string_view below(std::string_view path, std::string_view directory) {
    return directory.empty() ? path : path.substr(directory.size() + 1);
}

bool is_excluded_folder(std::string_view directory) {
    while (!directory.empty()) {
        const auto slash = directory.find('/');
        const auto name = directory.substr(0, slash);
        if (name.starts_with('.') || std::find(passed_over.begin(), passed_over.end(), name) != passed_over.end()) {
            return true;
        }
        directory.remove_prefix(slash == std::string_view::npos ? directory.size() : slash + 1);
    }
    return false;
}

template <typename Path>
std::size_t count_sources(const Language& language, const std::vector<Path>& files, std::string_view directory) {
    return static_cast<std::size_t>(std::count_if(files.begin(), files.end(), [&](std::string_view file) {
        return lies_in(file, directory) && language.sources.matches(below(file, directory));
    }));
}

/// Returns the folder's language among those that claim it: the one with the most sources there.
std::string language_with_most_sources(const std::vector<const Language*>& claimants, const std::vector<std::string>& files,
                                       std::string_view directory) {
    const Language* best = nullptr;
    std::size_t most = 0;
    for (const auto* language : claimants) {
        const auto sources = count_sources(*language, files, directory);
        if (best == nullptr || sources > most) {
            best = language;
            most = sources;
        }
    }
    return best->name;
}

const Scope& deepest(const std::vector<Scope>& scopes, std::string_view path) {
    const Scope* best = &scopes.front();
    for (const auto& scope : scopes) {
        if (scope.directory.size() >= best->directory.size() && lies_in(path, scope.directory)) { best = &scope; }
    }
    return *best;
}

using Claims = std::map<std::string, std::vector<const Language*>>;

/// Returns the folders with a project file, and the languages of each.
Claims project_folders(const std::map<std::string, Language, std::less<>>& languages, const std::vector<std::string>& files) {
    Claims claims;
    for (const auto& [name, language] : languages) {
        if (language.roots.empty()) { continue; }
        for (const auto& file : files) {
            if (!language.roots.matches(file)) { continue; }
            auto folder = folder_of(file);
            if (is_excluded_folder(folder)) { continue; }
            auto& claimants = claims[std::move(folder)];
            if (std::find(claimants.begin(), claimants.end(), &language) == claimants.end()) { claimants.push_back(&language); }
        }
    }
    Claims found;
    for (auto& [folder, claimants] : claims) {
        std::erase_if(claimants,
                      [&, at = &folder](const Language* language) { return count_sources(*language, files, *at) == 0; });
        if (!claimants.empty()) { found.emplace(folder, std::move(claimants)); }
    }
    return found;
}

/// Returns the language of everything outside other projects, or nullptr if none is found. A language with its project file there
/// counts all its sources; another counts only those outside project folders.
const Language* language_of_the_rest(const std::map<std::string, Language, std::less<>>& languages,
                                     const std::vector<std::string>& files, const Claims& claims) {
    std::vector<std::string_view> own;  // Views, reserved at once: a repository may have a hundred thousand files.
    own.reserve(files.size());
    std::copy_if(files.begin(), files.end(), std::back_inserter(own), [](std::string_view file) {
        const auto slash = file.rfind('/');
        return slash == std::string_view::npos || !is_excluded_folder(file.substr(0, slash));
    });
    std::vector<std::string_view> rest;
    rest.reserve(own.size());
    std::copy_if(own.begin(), own.end(), std::back_inserter(rest), [&](const auto& file) {
        return std::none_of(claims.begin(), claims.end(),
                            [&](const auto& claim) { return !claim.first.empty() && lies_in(file, claim.first); });
    });
    const auto top = claims.find("");
    const Language* best = nullptr;
    std::size_t most = 0;
    for (const auto& [name, language] : languages) {
        const bool rooted =
            top != claims.end() && std::find(top->second.begin(), top->second.end(), &language) != top->second.end();
        if (!rooted && std::none_of(rest.begin(), rest.end(), [&](const auto& file) { return language.detect.matches(file); })) {
            continue;
        }
        const auto sources = count_sources(language, rooted ? own : rest, "");
        if (best == nullptr || sources > most) {
            best = &language;
            most = sources;
        }
    }
    if (best == nullptr && own.size() < files.size() &&
        claims.empty()) {  // The repository contains only examples, so they count.
        for (const auto& [name, language] : languages) {
            const bool found = std::any_of(files.begin(), files.end(),
                                           [&, each = &language](const auto& file) { return each->detect.matches(file); });
            const auto sources = found ? count_sources(language, files, "") : 0;
            if (sources > most) {
                best = &language;
                most = sources;
            }
        }
    }
    return best;
}

/// Adds folders below the top with their own project after `scopes`, outermost first.
void add_projects(std::vector<Scope>& scopes, const std::map<std::string, Language, std::less<>>& languages, Claims claims,
                  const std::vector<std::string>& files) {
    for (auto& [folder, claimants] : claims) {  // Sorted: a folder comes after those that contain it.
        if (folder.empty()) { continue; }
        std::erase_if(claimants, [&, at = std::string_view(folder)](const Language* language) {
            return std::any_of(scopes.begin(), scopes.end(), [&](const Scope& outer) {
                if (!outer.has_project || !lies_in(at, outer.directory)) { return false; }
                const auto& around = languages.find(outer.language)->second;
                return around.belongs_to_tests(std::string(below(at, outer.directory)) + "/x") ||
                       (outer.language == language->name && !language->nested_roots);
            });
        });
        if (!claimants.empty()) { scopes.push_back({folder, language_with_most_sources(claimants, files, folder), true}); }
    }
}

/// Blames the setting for an unknown language. Errors in a language file name that file.
Error named_by(Error error, const std::string& setting) {
    if (has_no_language(error)) { error.where = setting; }
    return error;
}

class ScopeCheckout final : public TreeCheckout {
public:
    ScopeCheckout(TreeCheckout& whole, Scopes scopes, Scope scope)
        : whole_(whole), scopes_(std::move(scopes)), scope_(std::move(scope)) {}

    std::filesystem::path path() const override {
        return scope_.directory.empty() ? whole_.path() : whole_.path() / scope_.directory;
    }
    std::filesystem::path top() const override { return whole_.top(); }
    Result<void> check_out(std::string_view tree) override { return whole_.check_out(tree); }
    Result<std::vector<TreeChange>> changes(std::string_view old_tree, std::string_view new_tree) override {
        AF_TRY(const auto all, whole_.changes(old_tree, new_tree));
        std::vector<TreeChange> result;
        for (const auto& change : all) {
            const bool now = mine(change.path);
            const bool before = !change.old_path.empty() && mine(change.old_path);
            auto seen = change;
            if (now) { seen.path = Scopes::inside(scope_, change.path); }
            if (before) { seen.old_path = Scopes::inside(scope_, change.old_path); }
            if (now && !before && !change.old_path.empty()) {
                seen.old_path.clear();
                seen.status = 'A';
            } else if (before && !now) {
                seen.path = std::move(seen.old_path);
                seen.old_path.clear();
                seen.status = 'D';
            } else if (!now) {
                continue;
            }
            result.push_back(std::move(seen));
        }
        return result;
    }
    Result<std::vector<std::string>> files(std::string_view tree) override {
        AF_TRY(const auto all, whole_.files(tree));
        std::vector<std::string> result;
        for (const auto& file : all) {
            if (mine(file)) { result.emplace_back(Scopes::inside(scope_, file)); }
        }
        return result;
    }
    Result<std::optional<std::string>> file(std::string_view tree, std::string_view path) override {
        const auto whole = Scopes::outside(scope_, path);
        if (!mine(whole)) { return std::optional<std::string>{}; }
        return whole_.file(tree, whole);
    }

private:
    [[nodiscard]] bool mine(std::string_view path) const { return scopes_.of(path).directory == scope_.directory; }

    TreeCheckout& whole_;
    Scopes scopes_;
    Scope scope_;
};

/// Returns the scopes that the settings name.
Result<std::vector<Scope>> configured_scopes(LanguageFiles& languages, const std::vector<std::string>& files,
                                             const ScopeSettings& settings) {
    std::vector<Scope> scopes;
    for (const auto& [folder, name] : settings.directories) {
        auto directory = folder;
        while (directory.ends_with('/')) { directory.pop_back(); }
        if (directory == ".") { directory.clear(); }
        const bool there = std::any_of(files.begin(), files.end(), [&](const auto& file) { return lies_in(file, directory); });
        if (directory.empty() || directory.starts_with('/') || directory.starts_with("./") ||
            directory.find("..") != std::string::npos || !there) {
            return Error{
                "AF-GATE-080", "The setting `gates.scopes` names " + folder + ", which is not a folder of the repository.",
                "gates.scopes." + folder,
                "Name folders relative to the repository, such as `services/api`; `gates.language` is the language of the rest.",
                ErrorKind::invalid};
        }
        auto language = languages.get(name);
        if (!language.ok()) { return named_by(std::move(language).error(), "gates.scopes." + folder); }
        scopes.push_back({directory, (*language)->name, true});
    }
    return scopes;
}

/// Returns the language of the scope with the most sources. Error: AF-GATE-002 there is no scope.
Result<std::string> language_with_most_sources(const std::vector<Scope>& scopes,
                                               const std::map<std::string, Language, std::less<>>& languages,
                                               const std::vector<std::string>& files) {
    const auto largest = std::max_element(scopes.begin(), scopes.end(), [&](const Scope& one, const Scope& other) {
        return count_sources(languages.find(one.language)->second, files, one.directory) <
               count_sources(languages.find(other.language)->second, files, other.directory);
    });
    if (largest == scopes.end()) {
        return Error{
            "AF-GATE-002", "No language that AgentForge knows was found in this repository.", "",
            "Name a language in the settings (`gates.language`), or add a file for it; `agentforge help docs/gates.md` says how.",
            ErrorKind::unavailable};
    }
    return largest->language;
}

}  // namespace

const Scope& Scopes::of(std::string_view path) const { return deepest(scopes_, path); }

std::string_view Scopes::inside(const Scope& scope, std::string_view path) { return below(path, scope.directory); }

std::string Scopes::outside(const Scope& scope, std::string_view path) {
    return scope.directory.empty() ? std::string(path) : scope.directory + "/" + std::string(path);
}

Result<Scopes> Scopes::find(LanguageFiles& languages, const std::vector<std::string>& files, const ScopeSettings& settings) {
    Scopes result;
    auto& scopes = result.scopes_;
    AF_TRY(const auto* known, languages.all());
    AF_TRY(scopes, configured_scopes(languages, files, settings));
    const bool configured = !settings.directories.empty();
    Claims claims;
    if (configured) {
        for (const auto& scope : scopes) { claims[scope.directory] = {}; }
    } else if (settings.language.empty()) {
        claims = project_folders(*known, files);
    }
    const Language* rest = nullptr;
    if (!settings.language.empty()) {
        auto named = languages.get(settings.language);
        if (!named.ok()) { return named_by(std::move(named).error(), "gates.language"); }
        rest = *named;
    } else {
        rest = language_of_the_rest(*known, files, claims);
    }
    if (rest != nullptr) { scopes.insert(scopes.begin(), {"", rest->name, true}); }
    if (!configured) { add_projects(scopes, *known, std::move(claims), files); }
    if (rest == nullptr) {
        AF_TRY(std::string language, language_with_most_sources(scopes, *known, files));
        scopes.insert(scopes.begin(), {"", std::move(language), false});
    }
    std::sort(scopes.begin(), scopes.end(), [](const Scope& one, const Scope& other) { return one.directory < other.directory; });
    return result;
}

void Scopes::add_new(const Scopes& later, const std::vector<std::string>& earlier_files) {
    for (const auto& scope : later.scopes_) {
        const bool there =
            scope.directory.empty() || std::any_of(earlier_files.begin(), earlier_files.end(),
                                                   [&](const auto& file) { return lies_in(file, scope.directory); });
        if (!there) { scopes_.push_back(scope); }
    }
    std::sort(scopes_.begin(), scopes_.end(),
              [](const Scope& one, const Scope& other) { return one.directory < other.directory; });
}

std::unique_ptr<TreeCheckout> make_scope_checkout(TreeCheckout& whole, const Scopes& scopes, const Scope& scope) {
    return std::make_unique<ScopeCheckout>(whole, scopes, scope);
}

}  // namespace agentforge::kernel
