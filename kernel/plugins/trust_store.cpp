// SPDX-License-Identifier: Apache-2.0
#include "plugins/trust_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view head =
    "# Made by `agentforge trust`: the projects whose plugins, servers and commands you let run, and the hash of what you agreed to.\n"
    "# `agentforge trust --revoke` takes one out.\n";
constexpr std::string_view head_of_declined =
    "# Made by agentforge: the projects that you do not want to be asked about, until what they want to run changes. `agentforge trust` trusts one after all.\n";
constexpr std::uint64_t most_bytes = 16ULL << 20U;
constexpr std::uint64_t most_file_bytes = 1ULL << 30U;

Error broken(std::string why, std::string where, ErrorKind kind = ErrorKind::corrupt) {
    return {"AF-PLUG-041", "The list of trusted projects cannot be read: " + std::move(why), std::move(where),
            "Correct the file, or move it away and trust your projects again with `agentforge trust`.", kind};
}

bool is_hash(std::string_view text) {
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<void> add_file(TrustSubject& subject, std::string_view name) {
    std::error_code error;
    const fs::path path = fs::path(subject.root) / name;
    if (!fs::exists(path, error) && !error) { return {}; }
    const auto bytes = read_file(path, most_file_bytes);
    if (!bytes.ok()) {
        return Error{"AF-PLUG-037", "A file that runs programs or names them cannot be read: " + bytes.error().message,
                     path.string(), "Make it readable, or remove it.", ErrorKind::io};
    }
    subject.items["file " + std::string(name)] = sha256(*bytes);
    return {};
}

/// Settings whose text may name a program or a script.
bool names_program(std::string_view key) {
    if (key.starts_with("mcp_servers.") || key == "gates.command" || key.starts_with("gates.programs.")) { return true; }
    const bool of_model = key.starts_with("llm.") || (key.starts_with("agents.") && key.find(".llm.") != std::string_view::npos);
    return of_model && (key.ends_with(".command") || key.find("llm.settings") != std::string_view::npos);
}

/// Returns the command that a setting belongs to. A server's command consists of several settings.
std::string command_of(std::string_view key) {
    const auto name = key.find('.');
    return std::string(key.starts_with("mcp_servers.") ? key.substr(0, key.find('.', name + 1)) : key);
}

void add_words(const json::value& value, std::vector<std::string>& words) {
    if (const auto* list = value.if_array()) {
        for (const json::value& item : *list) { add_words(item, words); }
    } else if (const auto* object = value.if_object()) {
        for (const auto& [name, inner] : *object) { add_words(inner, words); }
    } else if (const auto* text = value.if_string()) {
        constexpr std::string_view between = " \t\n;&|<>()'\"`=,";
        const std::string_view line(text->data(), text->size());
        for (std::size_t begin = line.find_first_not_of(between); begin != std::string_view::npos;
             begin = line.find_first_not_of(between, begin)) {
            const std::size_t end = std::min(line.find_first_of(between, begin), line.size());
            words.emplace_back(line.substr(begin, end - begin));
            begin = end;
        }
        words.emplace_back(line);  // A name may contain any of these characters.
    }
}

/// Files that define what these programs run by name.
constexpr std::pair<std::string_view, std::string_view> files_of_runners[] = {
    {"npm", "package.json"}, {"npx", "package.json"}, {"yarn", "package.json"}, {"pnpm", "package.json"}, {"bun", "package.json"},
    {"make", "Makefile"},    {"make", "makefile"},    {"make", "GNUmakefile"},  {"just", "justfile"}};

/// Returns where a word of a command would be looked up, starting in `folder`.
std::vector<fs::path> places_of(const fs::path& folder, const std::string& path) {
    std::string module = path;
    std::ranges::replace(module, '.', '/');
    std::vector<fs::path> places{folder / path, folder / path / "__main__.py", folder / path / "index.js",
                                 folder / (module + ".py"), folder / module / "__main__.py"};
    for (const auto& [runner, file] : files_of_runners) {
        if (fs::path(path).filename() == runner) { places.push_back(folder / file); }
    }
    return places;
}

/// Returns the word as a path. Expands only the variable that stands for the project.
std::string path_of(const std::string& word) {
    for (const std::string_view variable : {"${AGENTFORGE_WORKSPACE}", "$AGENTFORGE_WORKSPACE"}) {
        if (word.starts_with(variable)) { return "." + word.substr(variable.size()); }
    }
    return word;
}

Result<void> add_files_at(TrustSubject& subject, const std::vector<fs::path>& places) {
    for (const fs::path& place : places) {
        std::error_code error;
        const std::string name = place.lexically_normal().lexically_relative(subject.root).string();
        const bool outside = name.empty() || name.starts_with("..");
        if (outside || subject.items.contains("file " + name) || !fs::is_regular_file(place, error)) { continue; }
        AF_CHECK(add_file(subject, name));
    }
    return {};
}

/// Returns the folders inside the project that the words name, and the project's own.
std::set<fs::path> folders_of(const std::string& root, const std::vector<std::string>& paths) {
    std::set<fs::path> folders{fs::path(root)};
    for (const std::string& path : paths) {
        const fs::path folder = (fs::path(root) / path).lexically_normal();
        std::error_code error;
        if (folder.string().starts_with(root + "/") && fs::is_directory(folder, error)) { folders.insert(folder); }
    }
    return folders;
}

/// Adds the files inside the project that a command's words name. Looks in the project's folder and in each folder that the
/// command names (`cd`, `-C`, `--prefix`). A folder counts as the file in it that would run.
Result<void> add_named_files(TrustSubject& subject, const std::vector<std::string>& words) {
    std::vector<std::string> paths;
    for (const std::string& word : words) {
        if (!word.empty() && word.size() <= 4096 && word.find('\0') == std::string::npos) { paths.push_back(path_of(word)); }
    }
    for (const fs::path& folder : folders_of(subject.root, paths)) {
        for (const std::string& path : paths) { AF_CHECK(add_files_at(subject, places_of(folder, path))); }
    }
    return {};
}

/// Adds the words of each server of `.mcp.json`. Unreadable entries are refused where they are declared.
void add_words_of_servers(const std::string& root, std::map<std::string, std::vector<std::string>>& commands) {
    const std::string file = (fs::path(root) / server_file).string();
    const auto bytes = read_file(file, most_bytes);
    const auto parsed = bytes.ok() ? parse_json(*bytes, file) : Result<json::value>(bytes.error());
    const auto* top = parsed.ok() ? parsed->if_object() : nullptr;
    const json::value* servers = top == nullptr ? nullptr : top->if_contains("mcpServers");
    if (servers == nullptr || !servers->is_object()) { return; }
    for (const auto& [name, server] : servers->get_object()) {
        add_words(server, commands[std::string(server_file) + " " + std::string(name)]);
    }
}

}  // namespace

std::string_view to_string(TrustVerdict verdict) noexcept {
    switch (verdict) {
        case TrustVerdict::nothing_to_trust:
            return "nothing to trust";
        case TrustVerdict::trusted:
            return "trusted";
        case TrustVerdict::unknown:
            return "not trusted";
        case TrustVerdict::changed:
            return "changed since it was trusted";
    }
    return "?";
}

std::string TrustSubject::fingerprint() const {
    json::object all;
    for (const auto& [name, hash] : items) { all[name] = hash; }
    return hash_of(all);
}

Result<TrustSubject> trust_subject(const std::string& root, const json::object& settings,
                                   const std::vector<std::string>& plugin_folders) {
    TrustSubject subject;
    std::error_code error;
    subject.root = fs::canonical(root, error).string();
    if (error) {
        return Error{"AF-PLUG-037", "The project's folder cannot be read: " + error.message(), root, "Make it readable.",
                     ErrorKind::io};
    }
    for (const auto& [key, value] : settings) { subject.items["setting " + std::string(key)] = hash_of(value); }
    AF_CHECK(add_file(subject, server_file));
    std::map<std::string, std::vector<std::string>> commands;
    add_words_of_servers(subject.root, commands);
    for (const auto& [key, value] : settings) {
        if (names_program(key)) { add_words(value, commands[command_of(key)]); }
    }
    for (const auto& [command, words] : commands) { AF_CHECK(add_named_files(subject, words)); }
    if (plugin_folders.empty()) { return subject; }
    AF_CHECK(add_file(subject, lock_file));
    if (subject.items.contains("file " + std::string(lock_file))) { return subject; }
    for (const std::string& folder : plugin_folders) {
        for (const std::string& manifest : find_manifests(folder)) {
            const std::string plugin = fs::path(manifest).parent_path().string();
            AF_TRY(FileHashes hashes, hash_plugin(plugin));
            json::object all;
            for (const auto& [name, hash] : hashes) { all[name] = hash; }
            const std::string relative = fs::path(plugin).lexically_relative(subject.root).string();
            subject.items["plugin " + (relative.starts_with("..") ? plugin : relative)] = hash_of(all);
            subject.pinned.emplace(plugin, std::move(hashes));
        }
    }
    return subject;
}

namespace {

/// Reads the list, after checking that only the user can have written it. Nothing if the file does not exist.
Result<std::optional<std::string>> read_own_file(const std::string& file) {
    const FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!descriptor.valid()) {
        const int reason = errno;
        if (reason == ENOENT) { return std::optional<std::string>(); }
        return broken(errno_text(reason), file, ErrorKind::io);
    }
    struct stat status {};
    if (::fstat(descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode)) { return broken("it is not a regular file", file); }
    if ((status.st_uid != ::geteuid() && status.st_uid != 0) || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return Error{"AF-PLUG-042", "The list of trusted projects is not used: other users could have written it", file,
                     "Check it, then make yourself its owner and only user: chown and chmod 600.", ErrorKind::denied};
    }
    // Read again by name: it can differ from the checked file only through our own atomic replacement.
    auto bytes = read_file(file, most_bytes);
    if (!bytes.ok()) { return broken(bytes.error().message, file, ErrorKind::io); }
    return std::optional(std::move(bytes).value());
}

/// Returns the list of projects in the document.
Result<const json::array*> projects_in(const YamlDocument& document) {
    const auto* top = document.value.if_object();
    const json::value* version = top == nullptr ? nullptr : top->if_contains("agentforge_trust");
    const json::value* list = top == nullptr ? nullptr : top->if_contains("projects");
    if (version == nullptr || *version != 1 || list == nullptr || !list->is_array() || top->size() != 2) {
        return broken("it must contain `agentforge_trust: 1` and the list `projects`", document.where(""));
    }
    return &list->get_array();
}

}  // namespace

Result<TrustStore::Projects> TrustStore::read(const std::string& file) {
    Projects projects;
    AF_TRY(const auto bytes, read_own_file(file));
    if (!bytes) { return projects; }
    YamlLimits limits;
    limits.max_bytes = most_bytes;
    const auto parsed = parse_yaml(*bytes, file, limits);
    if (!parsed.ok()) { return broken(parsed.error().message, parsed.error().where); }
    AF_TRY(const json::array* const list, projects_in(*parsed));
    std::size_t index = 0;
    for (const json::value& entry : *list) {
        const std::string at = "/projects/" + std::to_string(index++);
        AF_TRY(auto project, read_project(entry, *parsed, at));
        const std::string root = project.first;
        if (!projects.insert(std::move(project)).second) {
            return broken("the project " + root + " appears in it twice", parsed->where(at));
        }
    }
    return projects;
}

Result<std::pair<std::string, TrustStore::Project>> TrustStore::read_project(const json::value& entry,
                                                                             const YamlDocument& document,
                                                                             const std::string& pointer) {
    const auto* object = entry.if_object();
    const auto text = [&](const char* key) -> std::string {
        const json::value* value = object == nullptr ? nullptr : object->if_contains(key);
        return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
    };
    const json::value* items = object == nullptr ? nullptr : object->if_contains("items");
    const json::value* announced = object == nullptr ? nullptr : object->if_contains("announced");
    const std::string root = text("root");
    if (object == nullptr || object->size() != (announced == nullptr ? 3U : 4U) || !root.starts_with('/') ||
        !parse_time(text("time")).ok() || items == nullptr || !items->is_object() ||
        (announced != nullptr && !announced->is_object())) {
        return broken("a project is not `root` (an absolute path), `time` and `items`", document.where(pointer));
    }
    Project project{text("time"), {}, {}};
    const auto read = [&](const json::object& from, std::string_view key,
                          std::map<std::string, std::string, std::less<>>& to) -> Result<void> {
        for (const auto& [name, hash] : from) {
            if (!hash.is_string() || !is_hash(hash.get_string())) {
                return broken("the hash of `" + ellipsis(name, 80) + "` is not 64 hexadecimal digits",
                              document.where(pointer + "/" + std::string(key)));
            }
            to.emplace(std::string(name), std::string(hash.get_string()));
        }
        return {};
    };
    AF_CHECK(read(items->get_object(), "items", project.items));
    if (announced != nullptr) { AF_CHECK(read(announced->get_object(), "announced", project.announced)); }
    return std::pair(root, std::move(project));
}

Result<TrustStore> TrustStore::open(const std::string& state_folder, const std::string& project, std::string_view name) {
    TrustStore store;
    store.file_ = (fs::path(state_folder) / name).string();
    std::error_code error;
    const fs::path file = fs::weakly_canonical(store.file_, error);
    const fs::path root = fs::weakly_canonical(project, error);
    if (std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first == root.end()) {
        return Error{"AF-PLUG-042",
                     "The list of trusted projects is not used: it is inside the project, which could have written it",
                     file.string(), "Set AGENTFORGE_STATE_HOME to a folder outside of the repository.", ErrorKind::denied};
    }
    AF_TRY(store.projects_, read(store.file_));
    return store;
}

TrustVerdict TrustStore::verdict(const TrustSubject& subject) const {
    if (subject.empty()) { return TrustVerdict::nothing_to_trust; }
    const auto known = projects_.find(subject.root);
    if (known == projects_.end()) { return TrustVerdict::unknown; }
    const bool same = known->second.items == subject.items || known->second.announced == subject.items;
    return same ? TrustVerdict::trusted : TrustVerdict::changed;
}

std::vector<std::string> TrustStore::differences(const TrustSubject& subject) const {
    std::vector<std::string> names;
    const auto known = projects_.find(subject.root);
    if (known == projects_.end() || known->second.announced == subject.items) { return names; }
    const auto& before = known->second.items;
    for (const auto& [name, hash] : subject.items) {
        const auto old = before.find(name);
        if (old == before.end() || old->second != hash) { names.push_back(name); }
    }
    for (const auto& [name, hash] : before) {
        if (!subject.items.contains(name)) { names.push_back(name); }
    }
    std::ranges::sort(names);
    return names;
}

namespace {

json::object items_json(const std::map<std::string, std::string, std::less<>>& items) {
    json::object object;
    for (const auto& [name, hash] : items) { object[name] = hash; }
    return object;
}

}  // namespace

template <class Change>
Result<void> TrustStore::rewrite(Change change) {
    AF_CHECK(make_directories(fs::path(file_).parent_path()));
    // Held until the function returns. The file it locks is never replaced.
    const std::string guard = file_ + ".lock";
    const FileDescriptor lock(::open(guard.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    while (lock.valid() && ::flock(lock.get(), LOCK_EX) != 0) {
        if (errno != EINTR) { return broken("it cannot be locked: " + errno_text(errno), guard, ErrorKind::io); }
    }
    if (!lock.valid()) { return broken("it cannot be locked: " + errno_text(errno), guard, ErrorKind::io); }
    AF_TRY(Projects projects, read(file_));
    if (!change(projects)) {
        projects_ = std::move(projects);
        return {};
    }
    json::array list;
    for (const auto& [root, project] : projects) {
        json::object fields{{"root", root}, {"time", project.time}, {"items", items_json(project.items)}};
        if (!project.announced.empty()) { fields["announced"] = items_json(project.announced); }
        list.push_back(std::move(fields));
    }
    AF_CHECK(write_file_atomic(file_,
                               std::string(file_.ends_with("/declined.yaml") ? head_of_declined : head) +
                                   to_yaml(json::object{{"agentforge_trust", 1}, {"projects", std::move(list)}}),
                               Durability::synced, 0600));
    projects_ = std::move(projects);
    return {};
}

Result<void> TrustStore::trust(const TrustSubject& subject, std::chrono::system_clock::time_point now) {
    return rewrite([&](Projects& projects) {
        projects.insert_or_assign(subject.root, Project{format_time(now), subject.items, {}});
        return true;
    });
}

Result<void> TrustStore::announce(const TrustSubject& subject) {
    return rewrite([&](Projects& projects) {
        const auto known = projects.find(subject.root);
        if (known == projects.end()) { return false; }
        known->second.announced = subject.items;
        return true;
    });
}

Result<bool> TrustStore::revoke(const std::string& root) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(root, error);
    const std::string key = error ? root : real.string();
    bool known = false;
    AF_CHECK(rewrite([&](Projects& projects) { return known = projects.erase(key) > 0; }));
    return known;
}

}  // namespace agentforge::kernel
