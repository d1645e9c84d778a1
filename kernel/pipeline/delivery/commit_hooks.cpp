// SPDX-License-Identifier: Apache-2.0
#include "pipeline/delivery/commit_hooks.hpp"

#include <unistd.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "git/rehearsal.hpp"
#include "sandbox/failures.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

constexpr const char* hooks_in_order[] = {"pre-commit", "prepare-commit-msg", "commit-msg"};
/// Hooks that git runs after an ordinary commit.
constexpr const char* hooks_after[] = {"post-commit"};

/// A folder that its destructor removes.
class RehearsalFolder {
public:
    explicit RehearsalFolder(fs::path path) : path_(std::move(path)) {}
    ~RehearsalFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    RehearsalFolder(const RehearsalFolder&) = delete;
    RehearsalFolder& operator=(const RehearsalFolder&) = delete;
    [[nodiscard]] const fs::path& path() const noexcept { return path_; }

private:
    fs::path path_;
};

/// Lets hooks read their own folder. For `.husky/_` in a checkout this includes `.husky`, but never the checkout itself.
void add_folder_of_hooks(std::vector<std::string>& readable, const fs::path& hooks, const fs::path& checkout) {
    readable.push_back(hooks.string());
    const fs::path inside = hooks.lexically_relative(checkout);
    if (inside.empty() || *inside.begin() == ".." || *inside.begin() == ".git") { return; }
    if (std::distance(inside.begin(), inside.end()) > 1) { readable.push_back((checkout / *inside.begin()).string()); }
}

using Hooks = std::vector<std::pair<std::string, fs::path>>;

/// Returns the hooks to run, in order. The report's notes name those that do not run.
Hooks hooks_in(const fs::path& folder, HookReport& report) {
    Hooks hooks;
    for (const char* name : hooks_in_order) {
        const fs::path file = folder / name;
        std::error_code error;
        if (!fs::is_regular_file(file, error)) { continue; }
        if (::access(file.c_str(), X_OK) != 0) {
            report.notes.push_back(std::string(name) + " is not executable, so git would not run it either");
            continue;
        }
        hooks.emplace_back(name, file);
    }
    for (const char* name : hooks_after) {
        if (::access((folder / name).c_str(), X_OK) == 0) {
            report.notes.push_back(std::string(name) + " is not run: git runs it only after a commit in your own checkout");
        }
    }
    return hooks;
}

/// Returns a process that runs in the separate repository below `place`, with the variables that git sets for hooks.
ProcessRequest hook_process(const fs::path& place, const std::map<std::string, std::string>& environment,
                            const PersonName& author) {
    ProcessRequest request;
    request.directory = (place / "repository").string();
    request.environment = base_environment(environment);
    request.environment["HOME"] = (place / "home").string();
    request.environment["TMPDIR"] = (place / "tmp").string();
    request.environment["GIT_CONFIG_GLOBAL"] = "/dev/null";  // Hooks cannot read the user's file.
    request.environment["GIT_INDEX_FILE"] = ".git/index";
    request.environment["GIT_EDITOR"] = ":";
    request.environment["GIT_AUTHOR_NAME"] = author.name;
    request.environment["GIT_AUTHOR_EMAIL"] = author.email;
    return request;
}

/// Runs one hook and adds it to the report. Errors: AF-GIT-043 not started, or interrupted; AF-EXEC-004.
Result<void> run_hook(ProcessRunner& processes, const std::string& name, const fs::path& file, ProcessRequest one,
                      HookReport& report, const Stop& stop) {
    std::error_code error;
    one.argv = {file.string()};
    if (name != "pre-commit") { one.argv.emplace_back(".git/COMMIT_EDITMSG"); }
    if (name == "prepare-commit-msg") { one.argv.emplace_back("message"); }
    if (const fs::path real = fs::canonical(file, error); !error) { one.confinement.readable.push_back(real.string()); }
    auto outcome = processes.run(one, stop);
    if (!outcome.ok()) {
        if (is_unconfinable(outcome.error())) { return outcome.error(); }
        return Error{"AF-GIT-043", "cannot start the hook " + name + ": " + outcome.error().message, file.string(),
                     "check that its first line names an installed interpreter, or set delivery.hooks: skip",
                     ErrorKind::unavailable};
    }
    if (outcome->cancelled) {
        return Error{"AF-GIT-043", "the hook " + name + " was interrupted", file.string(), "resume the task",
                     ErrorKind::cancelled};
    }
    report.confinement = outcome->confinement;
    std::string output = outcome->out;
    if (!output.empty() && !output.ends_with('\n')) { output += '\n'; }
    output += outcome->err;
    report.runs.push_back(
        {name, outcome->exit_code, outcome->timed_out, head_and_tail(sanitize_utf8(output), 8UL << 10U), outcome->duration});
    return {};
}

}  // namespace

Result<HookReport> run_commit_hooks(const Repository& repository, const std::string& scratch, ProcessRunner& processes,
                                    const std::map<std::string, std::string>& environment,
                                    const std::vector<std::string>& readable, const HookOrder& order, const PersonName& author,
                                    const Stop& stop) {
    HookReport report;
    report.message = order.message;
    const fs::path checkout = repository.work_directory();
    AF_TRY(const fs::path folder, hooks_folder(checkout));
    const Hooks hooks = hooks_in(folder, report);
    if (hooks.empty()) { return report; }

    std::error_code error;
    fs::create_directories(scratch, error);
    const RehearsalFolder place(fs::path(scratch) / "commit-hooks");
    fs::remove_all(place.path(), error);  // Left by a run that was killed.
    const fs::path root = place.path() / "repository";
    RehearsalRequest rehearsal{checkout, root, order.parent, order.tree, order.branch, author.name, author.email};
    for (const char* below : {"home", "tmp"}) { AF_CHECK(make_directories(place.path() / below)); }
    AF_CHECK(prepare_rehearsal(rehearsal));
    const fs::path message = root / ".git" / "COMMIT_EDITMSG";
    AF_CHECK(write_file_atomic(message, order.message, Durability::cached));

    ProcessRequest request = hook_process(place.path(), environment, author);
    request.timeout = order.timeout;
    request.max_output_bytes = 64UL << 10U;
    request.confinement.writable = {place.path().string()};
    request.confinement.readable = readable;
    add_folder_of_hooks(request.confinement.readable, folder, checkout);
    AF_TRY(const std::vector<std::string> objects, object_folders(checkout));
    for (const auto& more : {objects, program_folders(environment)}) {
        request.confinement.readable.insert(request.confinement.readable.end(), more.begin(), more.end());
    }
    for (const auto& [name, file] : hooks) {
        AF_CHECK(run_hook(processes, name, file, request, report, stop));
        if (!report.passed()) { return report; }
    }
    AF_TRY(report.message, read_file(message));
    AF_TRY(report.changed, changed_in_rehearsal(root, order.tree));
    return report;
}

}  // namespace agentforge::kernel
