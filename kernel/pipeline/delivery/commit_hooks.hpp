// SPDX-License-Identifier: Apache-2.0
// Runs the user's commit hooks as a gate: the hooks that `git commit` would run, on the tree to commit, confined like every gate.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "git/repository.hpp"
#include "pipeline/delivery/delivery_settings.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::kernel {

struct HookOrder {
    std::string tree;
    std::string parent;
    std::string branch;
    std::string message;
    std::chrono::seconds timeout{600};
};

struct HookRun {
    std::string name;  ///< pre-commit, prepare-commit-msg, commit-msg
    int exit_code = 0;
    bool timed_out = false;
    std::string output;  ///< Standard output and error: head and tail.
    std::chrono::milliseconds duration{0};
};

struct HookReport {
    std::vector<HookRun> runs;       ///< In git's order, up to the first that refuses.
    std::vector<std::string> notes;  ///< Hooks that exist but did not run, each with the reason.
    std::string message;             ///< As the hooks left it.
    /// Files that the hooks staged: path and content, or no content for a removed file.
    std::vector<std::pair<std::string, std::optional<std::string>>> changed;
    json::object confinement;

    [[nodiscard]] bool passed() const { return runs.empty() || (runs.back().exit_code == 0 && !runs.back().timed_out); }
};

/// Runs pre-commit, prepare-commit-msg and commit-msg if they exist and are executable. They come from the folder where the
/// user's git looks for hooks: the user's own files, never the task's. They run in a separate repository below `scratch` (see
/// git/rehearsal.hpp), which is removed afterwards. They can read that repository, their folder, programs and `readable`. They
/// can write only to that repository, and have no network. Errors: AF-GIT-043 a hook could not be started; AF-EXEC-004; AF-GIT-….
[[nodiscard]] Result<HookReport> run_commit_hooks(const Repository& repository, const std::string& scratch,
                                                  ProcessRunner& processes, const std::map<std::string, std::string>& environment,
                                                  const std::vector<std::string>& readable, const HookOrder& order,
                                                  const PersonName& author, const Stop& stop);

}  // namespace agentforge::kernel
