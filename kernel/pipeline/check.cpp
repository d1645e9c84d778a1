// SPDX-License-Identifier: Apache-2.0
#include "pipeline/check.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "gates/conformance/conformance_reader.hpp"
#include "gates/failures.hpp"
#include "gates/run/language_commands.hpp"
#include "git/fork_point.hpp"
#include "pipeline/gates_without_task.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::string_view checkout_tree = "checkout";

/// The checkout with its uncommitted changes, and a tree of an earlier commit in which renamed files have their current names.
class CheckoutAndBefore final : public TreeCheckout {
public:
    CheckoutAndBefore(const Repository& repository, std::vector<std::string> files)
        : repository_(repository), files_(std::move(files)) {}

    void call_renamed(std::map<std::string, std::string> old_names) { old_names_ = std::move(old_names); }

    [[nodiscard]] std::filesystem::path path() const override { return repository_.work_directory(); }
    [[nodiscard]] Result<void> check_out(std::string_view) override {
        return Error{"AF-GATE-103", "A command tried to check out a tree although it may only read trees.", "",
                     "This is a defect: report it.", ErrorKind::internal};
    }
    [[nodiscard]] Result<std::vector<TreeChange>> changes(std::string_view, std::string_view) override {
        return std::vector<TreeChange>();
    }
    [[nodiscard]] Result<std::vector<std::string>> files(std::string_view tree) override {
        if (tree == checkout_tree) { return files_; }
        AF_TRY(auto names, repository_.files_in_tree(tree));
        for (const auto& [now, before] : old_names_) { std::replace(names.begin(), names.end(), before, now); }
        return names;
    }
    [[nodiscard]] Result<std::optional<std::string>> file(std::string_view tree, std::string_view path) override {
        constexpr std::size_t most = 4UL << 20U;
        if (tree == checkout_tree) { return read_run_file(repository_.work_directory() / path, most); }
        const auto renamed = old_names_.find(std::string(path));
        return repository_.file_in_tree(tree, renamed == old_names_.end() ? path : std::string_view(renamed->second));
    }

private:
    const Repository& repository_;
    std::vector<std::string> files_;
    std::map<std::string, std::string> old_names_;
};

bool is_plain_file(const std::filesystem::path& file) {
    std::error_code failure;
    return std::filesystem::is_regular_file(std::filesystem::symlink_status(file, failure));
}

/// Returns the files of the checkout that git tracks or sees: committed, staged and new files that exist.
Result<std::vector<std::string>> files_of(const Repository& repository, const std::string& head_tree,
                                          const std::vector<std::string>& uncommitted) {
    AF_TRY(const auto committed, repository.files_in_tree(head_tree));
    std::set<std::string> all(committed.begin(), committed.end());
    all.insert(uncommitted.begin(), uncommitted.end());
    std::vector<std::string> files;
    for (const auto& file : all) {
        if (file != ".agentforge" && !file.starts_with(".agentforge/") && is_plain_file(repository.work_directory() / file)) {
            files.push_back(file);
        }
    }
    return files;
}

bool is_below(const std::string& file, const std::vector<std::string>& paths) {
    return paths.empty() || std::any_of(paths.begin(), paths.end(), [&](std::string path) {
               while (path.ends_with('/')) { path.pop_back(); }
               return path.empty() || path == "." || file == path || file.starts_with(path + "/");
           });
}

/// The files that differ from an earlier commit, and their names in it.
struct Changed {
    std::vector<std::string> files;
    std::map<std::string, std::string> old_names;
};

Result<Changed> changed_files(const Repository& repository, const std::string& before, const std::string& head_tree,
                              const std::vector<std::string>& uncommitted) {
    Changed changed;
    std::set<std::string> files(uncommitted.begin(), uncommitted.end());
    AF_TRY(const auto changes, repository.diff(before, head_tree));
    for (const TreeChange& change : changes) {
        files.insert(change.path);
        if (!change.old_path.empty()) { changed.old_names[change.path] = change.old_path; }
    }
    changed.files.assign(files.begin(), files.end());
    return changed;
}

Result<std::vector<Finding>> findings_before(ConformanceReader& runner, const std::string& tree,
                                             const std::vector<std::string>& files, const Stop& stop) {
    auto found = runner.findings(tree, files, stop);
    if (!found.ok() && has_no_language(found.error())) { return std::vector<Finding>(); }  // No source file existed then.
    return found;
}

GateRunner::Options reading_options(const GitTaskWorkspaceOptions& options) {
    GateRunner::Options gates = options.gates;
    gates.dependencies_directory = dependencies_directory(options);
    gates.scratch_directory = gates.dependencies_directory + "/scratch";
    return gates;
}

/// Refuses an existing path that has no file to check: otherwise it would pass unchecked.
Result<void> refuse_unseen(const std::vector<std::string>& paths, const std::vector<std::string>& files,
                           const std::filesystem::path& checkout) {
    for (const std::string& path : paths) {
        std::error_code failure;
        const bool is_seen =
            std::any_of(files.begin(), files.end(), [&](const std::string& file) { return is_below(file, {path}); });
        if (is_seen || !std::filesystem::exists(std::filesystem::symlink_status(checkout / path, failure))) { continue; }
        return Error{"AF-GATE-172", "`" + path + "` is not checked: git ignores it, or it has no regular file",
                     (checkout / path).string(),
                     "name files that git tracks or sees as new (`git check-ignore -v FILE` shows the rule that ignores a file)",
                     ErrorKind::invalid};
    }
    return {};
}

std::vector<NamedViolation> both(const std::vector<NamedViolation>& one, const std::vector<NamedViolation>& other) {
    std::vector<NamedViolation> all = one;
    all.insert(all.end(), other.begin(), other.end());
    return all;
}

}  // namespace

std::size_t CheckResult::blocking() const {
    return static_cast<std::size_t>(std::count_if(violations.begin(), violations.end(), [&](const NamedViolation& each) {
        return fresh.contains(each.id) && each.violation.severity != "minor";
    }));
}

Result<CheckResult> check_conformance(const GitTaskWorkspaceOptions& options, ProcessRunner& processes,
                                      const CheckRequest& request, const Stop& stop) {
    AF_TRY(const Repository repository, Repository::open(options.repository));
    AF_TRY(const std::string head, repository.head_commit());
    AF_TRY(const std::string head_tree, repository.tree_of(head));
    AF_TRY(const auto uncommitted, repository.uncommitted());
    AF_TRY(auto files, files_of(repository, head_tree, uncommitted));
    AF_CHECK(refuse_unseen(request.paths, files, repository.work_directory()));
    CheckResult result;
    std::vector<std::string> paths = request.paths;
    std::string before;
    Changed changed;
    if (request.changed) {
        AF_TRY(const ForkPoint fork, fork_point(options.repository, request.since));
        AF_TRY(before, repository.tree_of(fork.commit));
        AF_TRY(changed, changed_files(repository, before, head_tree, uncommitted));
        paths.clear();
        std::ranges::copy_if(changed.files, std::back_inserter(paths),
                             [&](const std::string& file) { return is_below(file, request.paths); });
        result.compared_with = fork.branch + ", " + fork.commit.substr(0, 8);
    }
    auto checkout = std::make_unique<CheckoutAndBefore>(repository, std::move(files));
    checkout->call_renamed(changed.old_names);
    ConformanceReader runner(std::move(checkout), processes, reading_options(options));
    AF_TRY(result.checks, runner.checks());
    const bool nothing = request.changed && paths.empty();
    std::vector<Finding> now;
    if (!nothing) { AF_TRY(now, runner.findings(std::string(checkout_tree), paths, stop, &result.not_measured)); }
    std::ranges::sort(result.not_measured, {}, &UnmeasuredFile::file);
    const auto known = both(request.records, request.baseline);
    result.violations = name_violations(now, known);
    std::set<std::string> there;
    std::set<std::string> excused;
    for (const NamedViolation& each : request.baseline) { excused.insert(each.id); }
    if (request.changed && !nothing) {
        // Uses the current file names, so a violation that moved within its file is recognized.
        AF_TRY(const auto earlier, findings_before(runner, before, paths, stop));
        for (const NamedViolation& each : name_violations(earlier, result.violations)) { excused.insert(each.id); }
    }
    for (const NamedViolation& each : result.violations) {
        there.insert(each.id);
        if (!excused.contains(each.id)) { result.fresh.insert(each.id); }
    }
    std::set<std::string> gone;
    for (const NamedViolation& each : known) {
        const bool measured = !nothing && is_below(each.violation.file, paths);
        if (measured && !there.contains(each.id)) { gone.insert(each.id); }
    }
    result.gone.assign(gone.begin(), gone.end());
    return result;
}

Result<FileCheck> check_file(const GitTaskWorkspaceOptions& options, ProcessRunner& processes, const std::string& file,
                             bool uncommitted, const std::vector<NamedViolation>& known, const Stop& stop) {
    AF_TRY(const Repository repository, Repository::open(options.repository));
    AF_TRY(const std::string head, repository.head_commit());
    AF_TRY(const std::string head_tree, repository.tree_of(head));
    AF_TRY(const auto changed, repository.uncommitted());
    AF_TRY(auto files, files_of(repository, head_tree, changed));
    const std::string tree = uncommitted ? std::string(checkout_tree) : head_tree;
    ConformanceReader runner(std::make_unique<CheckoutAndBefore>(repository, std::move(files)), processes,
                             reading_options(options));
    AF_TRY(const auto found, runner.findings(tree, {file}, stop));
    FileCheck checked;
    checked.violations = name_violations(found, known);
    AF_TRY(checked.in_tests, runner.belongs_to_tests(tree, file));
    return checked;
}

}  // namespace agentforge::kernel
