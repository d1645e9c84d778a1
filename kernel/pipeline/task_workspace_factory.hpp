// SPDX-License-Identifier: Apache-2.0
// Makes the workspaces of tasks.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <agentforge/result.hpp>

#include "gates/gate_runner.hpp"
#include "pipeline/staleness.hpp"
#include "pipeline/task_workspace.hpp"
#include "sandbox/process_runner.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {

/// What the files of a delivered task prove.
struct Proof {
    bool is_known = false;  ///< They show who made them: this machine wrote the journal, or the statement's signature holds.
    bool is_lost = false;   ///< They have no statement, and this machine may not sign one: only a new commit can have one.
};

class TaskWorkspaceFactory {
public:
    virtual ~TaskWorkspaceFactory() = default;
    /// Returns the commit and tree that a new task starts from. Errors: AF-GIT-….
    [[nodiscard]] virtual Result<std::pair<std::string, std::string>> base() = 0;
    /// The same with the user's uncommitted changes, as a separate commit on top: staged, changed, deleted and new files that are
    /// not ignored. Returns `base()` if there are none. Errors: AF-GIT-026 files with unresolved merge conflicts, AF-GIT-027 git
    /// refused.
    [[nodiscard]] virtual Result<std::pair<std::string, std::string>> base_with_uncommitted(
        std::chrono::system_clock::time_point) {
        return base();
    }
    /// Returns the user's current branch. Empty if HEAD is detached.
    [[nodiscard]] virtual std::string base_branch() = 0;
    /// Returns which files that the artifacts name have changed on the task's branch since its base. If that branch is gone,
    /// compares with the user's current HEAD.
    [[nodiscard]] virtual Result<Staleness> staleness(const TaskState& state,
                                                      const std::map<std::string, json::object, std::less<>>& /*artifacts*/) {
        Staleness none;
        none.base = none.head = state.base_commit;
        none.head_tree = state.base_tree;
        return none;
    }
    /// Opens (creates, repairs) the workspace of a task at `state.tree`.
    [[nodiscard]] virtual Result<std::unique_ptr<TaskWorkspace>> open(const TaskState& state) = 0;
    /// Archives a task's folder and its escalations in the repository. Replaces the task's previous archive.
    [[nodiscard]] virtual Result<void> archive(const std::string& task_id, const std::string& folder,
                                               const std::string& escalations) = 0;
    /// True if there is an archive of the task with its whole journal. Errors: git's own.
    [[nodiscard]] virtual Result<bool> is_archived(const std::string& /*task_id*/, const std::string& /*folder*/) {
        return false;
    }
    /// Writes the statement about the task's delivery into its folder, signed as the user's commits are, and as a git note if
    /// `git config agentforge.statementNote` says so (docs/audit.md). Does nothing if the task has not completed a delivery.
    /// Signs only a journal that this machine wrote (OwnJournal). Can be repeated until the signature is made. Errors:
    /// `conflict` AF-AUDT-011 a file does not say what the journal says, so there is no statement; AF-AUDT-001, AF-AUDT-013 the
    /// commit is signed, and this machine did not write the journal; those of `make_statement`. The statement is written even if
    /// it cannot be signed.
    [[nodiscard]] virtual Result<void> state_proof(const std::string& /*folder*/, const std::string& /*escalations*/,
                                                   const std::string& /*sign*/, std::chrono::system_clock::time_point /*now*/) {
        return {};
    }
    /// Checks that the task's files are those that its proof is about. Errors: `conflict` AF-AUDT-011; `denied` AF-AUDT-013
    /// nothing shows who made them, and the next commit is to be signed (`sign`: `delivery.sign`).
    [[nodiscard]] virtual Result<Proof> check_proof(const std::string& /*folder*/, const std::string& /*escalations*/,
                                                    const std::string& /*sign*/) {
        return Proof{};
    }
};

struct GitTaskWorkspaceOptions {
    std::string repository;       ///< The user's checkout.
    std::string state_directory;  ///< Where worktrees are created; outside every repository.
    GateRunner::Options gates;
    /// Called with a sentence about something that a worktree could not get. May be empty.
    std::function<void(const std::string&)> notice;
    /// Leave nothing behind but objects that git collects: no ref, branch or archive, and push nothing.
    bool scratch = false;
};

/// Makes workspaces from worktrees of the user's repository, with gates as subprocesses.
[[nodiscard]] std::unique_ptr<TaskWorkspaceFactory> make_git_task_workspaces(GitTaskWorkspaceOptions options,
                                                                             ProcessRunner& processes);

/// Returns the folder for OwnJournal. All repositories share it, so a moved repository keeps its marks.
[[nodiscard]] std::filesystem::path own_journals(const std::string& state_directory);

}  // namespace agentforge::kernel
