// SPDX-License-Identifier: Apache-2.0
// A task's workspace: its files, their snapshots, the gates that measure them, and delivery.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gates/gate_runner.hpp"
#include "git/merges.hpp"
#include "git/repository.hpp"
#include "pipeline/delivery/commit_hooks.hpp"
#include "pipeline/delivery/commits.hpp"
#include "pipeline/delivery/drift.hpp"
#include "pipeline/delivery/publish.hpp"
#include "pipeline/staleness.hpp"
#include "sandbox/process_runner.hpp"
#include "task/state.hpp"
#include "tools/path_rules.hpp"

namespace agentforge::kernel {

/// The files of a task: its workspace and its recorded trees.
class TaskTrees {
public:
    virtual ~TaskTrees() = default;
    /// Returns the absolute path of the workspace.
    [[nodiscard]] virtual const std::string& root() const noexcept = 0;
    /// Returns the folders that a confined subprocess may write besides the workspace.
    [[nodiscard]] virtual std::string scratch() const = 0;
    /// Removes files that agents' and gates' programs left outside the workspace.
    [[nodiscard]] virtual Result<void> clear_scratch() { return {}; }
    /// Makes the workspace equal to `tree`.
    [[nodiscard]] virtual Result<void> restore(const std::string& tree) = 0;
    /// Records `paths` of the workspace, or everything if empty. Returns the tree.
    [[nodiscard]] virtual Result<std::string> snapshot(const std::vector<std::string>& paths) = 0;
    /// Returns the workspace's submodules. Their files are read-only.
    [[nodiscard]] virtual std::vector<std::string> submodules() { return {}; }
    /// Returns what the last full snapshot found that a tree cannot hold (Worktree::unrecordable). `restore` repairs it.
    [[nodiscard]] virtual std::vector<std::string> unrecordable() { return {}; }
    /// Keeps a tree alive under a name of this task.
    [[nodiscard]] virtual Result<void> keep(const std::string& name, const std::string& tree) = 0;
    [[nodiscard]] virtual Result<std::vector<TreeChange>> diff(const std::string& from, const std::string& to) = 0;
    /// Returns a file's bytes in a tree. Empty if the tree has no such file.
    [[nodiscard]] virtual Result<std::optional<std::string>> file_in_tree(const std::string& tree, const std::string& path) = 0;
    [[nodiscard]] virtual Result<std::string> patch(const std::string& from, const std::string& to) = 0;
    /// Returns the complete patch, for `git apply`.
    [[nodiscard]] virtual Result<std::string> whole_patch(const std::string& from, const std::string& to) = 0;
    /// Returns a copy of `tree` with these files replaced, or removed if they have no content.
    [[nodiscard]] virtual Result<std::string> edit(
        const std::string& tree, const std::vector<std::pair<std::string, std::optional<std::string>>>& files) = 0;
    /// Merges both sides' changes since `base` into one tree, or returns the conflicts.
    [[nodiscard]] virtual Result<TreeMerge> merge(const std::string& base, const std::string& ours,
                                                  const std::string& theirs) = 0;
    /// Returns the files that act later through links of a tree.
    [[nodiscard]] virtual Result<ActingLinks> acting_links(const std::string& /*tree*/) { return ActingLinks(); }
};

/// The kernel's measurements on recorded trees, outside the agents' workspace.
class TaskGates {
public:
    virtual ~TaskGates() = default;
    [[nodiscard]] virtual Result<GateReport> gate(const GateCall& call, const Stop& stop) = 0;
    /// Returns the inputs of gates besides the tree (GateRunner::inputs). Empty: nothing that can change.
    [[nodiscard]] virtual Result<std::string> gate_inputs() { return std::string(); }
    /// Returns the commands that gates ran since the last call (GateRunner::take_commands).
    [[nodiscard]] virtual std::vector<GateCommand> take_gate_commands() { return {}; }
    /// Returns how often the suite runs before the task (`gates.baseline_runs`). More than once finds flaky tests.
    [[nodiscard]] virtual std::int64_t baseline_runs() const { return 1; }
    /// True if tests may be held out (`gates.held_out`).
    [[nodiscard]] virtual bool holds_out_tests() const { return false; }
    /// Returns files that start a test suite if the tree has none (GateRunner::scaffold).
    [[nodiscard]] virtual Result<std::vector<std::pair<std::string, std::string>>> scaffold(const std::string&) {
        return std::vector<std::pair<std::string, std::string>>();
    }
    [[nodiscard]] virtual Result<std::vector<std::pair<std::string, std::string>>> skeleton(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop) = 0;
    /// Checks that a specification's interfaces can be declared and compiled. Errors: AF-GATE-030; those of gates.
    [[nodiscard]] virtual Result<void> try_specification(const std::string& /*tree*/, const json::object& /*specification*/,
                                                         const Stop& /*stop*/) {
        return {};
    }
    /// Returns the meaning of `@tests` and `@sources` in a role's path rules for a tree. Errors: AF-GATE-010, AF-GATE-012,
    /// AF-GATE-080.
    [[nodiscard]] virtual Result<std::shared_ptr<const PathSymbols>> path_symbols(const std::string& tree) = 0;
};

/// The part of the user's repository that a task may change: a branch, and what is published from it.
class TargetRepository {
public:
    virtual ~TargetRepository() = default;
    /// Makes the commit and a new branch on it. Without a branch, keeps the commit for one. Errors: AF-GIT-010 the branch
    /// exists, AF-GIT-041 the commit cannot be signed.
    [[nodiscard]] virtual Result<MadeCommit> commit(const CommitOrder& order, const Stop& stop) = 0;
    /// Errors: AF-GIT-040 the branch is not at `from`, or is checked out.
    [[nodiscard]] virtual Result<void> move_branch(const std::string& branch, const std::string& from, const std::string& to) = 0;
    /// Runs the user's commit hooks.
    [[nodiscard]] virtual Result<HookReport> hooks(const HookOrder& order, const std::string& author, const Stop& stop) = 0;
    /// Compares the branch that the task began on with a tree of the task.
    [[nodiscard]] virtual Result<BaseDrift> drift(const TaskState& state, const std::string& tree) = 0;
    [[nodiscard]] virtual Result<WrittenCommit> read_commit(const std::string& commit) = 0;
    /// Pushes a branch and, if possible, opens a pull request.
    [[nodiscard]] virtual Result<Published> publish(const PublishOrder& order, const Stop& stop) = 0;
    /// Returns the commit and tree of the branch, if it exists.
    [[nodiscard]] virtual Result<std::optional<std::pair<std::string, std::string>>> branch(const std::string& name) = 0;
};

/// Everything of a task outside its journal. A function takes the narrowest interface that it needs. Used by one thread at a
/// time.
class TaskWorkspace : public TaskTrees, public TaskGates, public TargetRepository {
public:
    [[nodiscard]] virtual Result<ProcessOutcome> run(ProcessRequest request, const Stop& stop) = 0;
    /// Removes the workspace; kept trees remain. Called once the task has ended.
    [[nodiscard]] virtual Result<void> close() = 0;
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
    /// Writes the statement about the task's delivery into its folder, signed as the user's commits are, and as a git note if
    /// `git config agentforge.statementNote` says so (docs/audit.md). Does nothing if nothing was delivered. Errors: AF-AUDT-001,
    /// and those of `make_statement`. The statement is written even if it cannot be signed.
    [[nodiscard]] virtual Result<void> state_proof(const std::string& /*folder*/, const std::string& /*escalations*/,
                                                   const std::string& /*sign*/, std::chrono::system_clock::time_point /*now*/) {
        return {};
    }
};

struct GitTaskWorkspaceOptions {
    std::string repository;       ///< The user's checkout.
    std::string state_directory;  ///< Where worktrees are created; outside every repository.
    GateRunner::Options gates;
    /// Called with a sentence about what a worktree could not get. May be empty.
    std::function<void(const std::string&)> notice;
    /// Leave nothing behind but objects that git collects: no ref, branch or archive, and push nothing.
    bool scratch = false;
};

/// Makes workspaces from worktrees of the user's repository, with gates as subprocesses.
[[nodiscard]] std::unique_ptr<TaskWorkspaceFactory> make_git_task_workspaces(GitTaskWorkspaceOptions options,
                                                                             ProcessRunner& processes);

}  // namespace agentforge::kernel
