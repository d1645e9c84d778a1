// SPDX-License-Identifier: Apache-2.0
// A task's workspace: the files it works on, their snapshots, the gates that measure them, delivery.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gates/gates.hpp"
#include "git/merges.hpp"
#include "git/repository.hpp"
#include "pipeline/delivery/commit_hooks.hpp"
#include "pipeline/delivery/commits.hpp"
#include "pipeline/delivery/drift.hpp"
#include "pipeline/delivery/publish.hpp"
#include "pipeline/staleness.hpp"
#include "sandbox/process.hpp"
#include "task/state.hpp"
#include "tools/path_rules.hpp"

namespace agentforge::kernel {

/// The files of a task: its workspace, and the trees that are recorded of it.
class TaskTrees {
public:
    virtual ~TaskTrees() = default;
    /// The workspace's folder, absolute.
    [[nodiscard]] virtual const std::string& root() const noexcept = 0;
    /// Folders a confined subprocess may write besides the workspace.
    [[nodiscard]] virtual std::string scratch() const = 0;
    /// Removes files that agents' and gates' programs left outside the workspace.
    [[nodiscard]] virtual Result<void> clear_scratch() { return {}; }
    /// Makes the workspace be exactly `tree`.
    [[nodiscard]] virtual Result<void> restore(const std::string& tree) = 0;
    /// Records the workspace: only `paths`, or all of it where empty. Returns the tree.
    [[nodiscard]] virtual Result<std::string> snapshot(const std::vector<std::string>& paths) = 0;
    /// Submodules of the workspace: their files are for reading.
    [[nodiscard]] virtual std::vector<std::string> submodules() { return {}; }
    /// What the last snapshot of all found that no tree shows (Worktree::unrecordable); `restore` puts it right.
    [[nodiscard]] virtual std::vector<std::string> unrecordable() { return {}; }
    /// Keeps a tree alive under a name of this task.
    [[nodiscard]] virtual Result<void> keep(const std::string& name, const std::string& tree) = 0;
    [[nodiscard]] virtual Result<std::vector<TreeChange>> diff(const std::string& from, const std::string& to) = 0;
    /// A file's bytes in a tree; empty where the tree has no such file.
    [[nodiscard]] virtual Result<std::optional<std::string>> file_in_tree(const std::string& tree, const std::string& path) = 0;
    [[nodiscard]] virtual Result<std::string> patch(const std::string& from, const std::string& to) = 0;
    /// The whole patch, for `git apply`.
    [[nodiscard]] virtual Result<std::string> whole_patch(const std::string& from, const std::string& to) = 0;
    /// A tree like `tree` with these files replaced, or removed where they have no content.
    [[nodiscard]] virtual Result<std::string> edit(
        const std::string& tree, const std::vector<std::pair<std::string, std::optional<std::string>>>& files) = 0;
    /// Both sides' changes since `base` in one tree, or where they do not fit.
    [[nodiscard]] virtual Result<TreeMerge> merge(const std::string& base, const std::string& ours,
                                                  const std::string& theirs) = 0;
    /// What acts later through the links of a tree.
    [[nodiscard]] virtual Result<ActingLinks> acting_links(const std::string& /*tree*/) { return ActingLinks(); }
};

/// What the kernel measures on recorded trees, where no agent works.
class TaskGates {
public:
    virtual ~TaskGates() = default;
    [[nodiscard]] virtual Result<GateReport> gate(const GateCall& call, const Stop& stop) = 0;
    /// What besides the tree decides what gates say (GateRunner::inputs); empty: nothing that could change.
    [[nodiscard]] virtual Result<std::string> gate_inputs() { return std::string(); }
    /// Returns the commands that gates ran since the last call (GateRunner::take_commands).
    [[nodiscard]] virtual std::vector<GateCommand> take_gate_commands() { return {}; }
    /// How often the suite is run before the task (`gates.baseline_runs`): more than once shows tests that flip.
    [[nodiscard]] virtual std::int64_t baseline_runs() const { return 1; }
    /// Whether tests may be held out (`gates.held_out`).
    [[nodiscard]] virtual bool holds_out_tests() const { return false; }
    /// Files that begin a test suite where the tree has none (GateRunner::scaffold).
    [[nodiscard]] virtual Result<std::vector<std::pair<std::string, std::string>>> scaffold(const std::string&) {
        return std::vector<std::pair<std::string, std::string>>();
    }
    [[nodiscard]] virtual Result<std::vector<std::pair<std::string, std::string>>> skeleton(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop) = 0;
    /// Whether what a specification declares can be declared and compiled. Errors: AF-GATE-030; those of gates.
    [[nodiscard]] virtual Result<void> try_specification(const std::string& /*tree*/, const json::object& /*specification*/,
                                                         const Stop& /*stop*/) {
        return {};
    }
    /// What `@tests` and `@sources` in a role's path rules mean in a tree. Errors: AF-GATE-010, AF-GATE-012, AF-GATE-080.
    [[nodiscard]] virtual Result<std::shared_ptr<const PathSymbols>> path_symbols(const std::string& tree) = 0;
};

/// The user's repository, as far as a task may change it: a branch, and what is published of it.
class TargetRepository {
public:
    virtual ~TargetRepository() = default;
    /// Commits as ordered and puts the branch on the commit: a new branch, or one that is moved from `replaces`. Without a branch
    /// the commit is kept for one. Errors: AF-GIT-010 the branch exists, AF-GIT-040 it is not where it should be, AF-GIT-041 it
    /// cannot be signed.
    [[nodiscard]] virtual Result<MadeCommit> commit(const CommitOrder& order, const Stop& stop) = 0;
    /// What the user's commit hooks say of it.
    [[nodiscard]] virtual Result<HookReport> hooks(const HookOrder& order, const std::string& author, const Stop& stop) = 0;
    /// What became of the branch that the task began on, seen from a tree of the task.
    [[nodiscard]] virtual Result<BaseDrift> drift(const TaskState& state, const std::string& tree) = 0;
    [[nodiscard]] virtual Result<WrittenCommit> look(const std::string& commit) = 0;
    /// Pushes a branch and opens a pull request where that can be done.
    [[nodiscard]] virtual Result<Published> publish(const PublishOrder& order, const Stop& stop) = 0;
    /// The commit and tree that branch stands on, if it exists.
    [[nodiscard]] virtual Result<std::optional<std::pair<std::string, std::string>>> branch(const std::string& name) = 0;
};

/// Everything about a task that lies outside its journal. A function takes the narrowest part that it needs. Used by one thread
/// at a time.
class TaskWorkspace : public TaskTrees, public TaskGates, public TargetRepository {
public:
    [[nodiscard]] virtual Result<ProcessOutcome> run(ProcessRequest request, const Stop& stop) = 0;
    /// Removes the workspace; the kept trees stay. Called once the task has ended.
    [[nodiscard]] virtual Result<void> close() = 0;
};

class TaskWorkspaceFactory {
public:
    virtual ~TaskWorkspaceFactory() = default;
    /// The commit and tree a new task starts from. Errors: AF-GIT-….
    [[nodiscard]] virtual Result<std::pair<std::string, std::string>> base() = 0;
    /// The same with what the user has not committed, as a commit of its own on theirs: staged, changed, deleted and new files
    /// that are not ignored. `base()` where there is nothing. Errors: AF-GIT-026 files that a merge left unresolved, AF-GIT-027
    /// git refused.
    [[nodiscard]] virtual Result<std::pair<std::string, std::string>> base_with_uncommitted(
        std::chrono::system_clock::time_point) {
        return base();
    }
    /// The branch that the user is on; empty where HEAD is detached.
    [[nodiscard]] virtual std::string base_branch() = 0;
    /// Which files that the artifacts name were changed on the task's branch since its base; where that branch is gone, in what
    /// the user is on.
    [[nodiscard]] virtual Result<Staleness> staleness(const TaskState& state,
                                                      const std::map<std::string, json::object, std::less<>>& /*artifacts*/) {
        Staleness none;
        none.base = none.head = state.base_commit;
        none.head_tree = state.base_tree;
        return none;
    }
    /// Opens (makes, repairs) the workspace of a task, its workspace being `state.tree`.
    [[nodiscard]] virtual Result<std::unique_ptr<TaskWorkspace>> open(const TaskState& state) = 0;
    /// Keeps a task's folder and what its people were asked in the repository itself, in place of what was kept of it before.
    [[nodiscard]] virtual Result<void> archive(const std::string& task_id, const std::string& folder,
                                               const std::string& escalations) = 0;
    /// Writes the statement about what the task delivered into its folder, signed as the user's commits are, and as a note where
    /// `git config agentforge.statementNote` says so (docs/audit.md). Nothing where it has delivered nothing. Errors:
    /// AF-AUDT-001, and those of `make_statement`; without a signature the statement is there all the same.
    [[nodiscard]] virtual Result<void> state_proof(const std::string& /*folder*/, const std::string& /*escalations*/,
                                                   const std::string& /*sign*/, std::chrono::system_clock::time_point /*now*/) {
        return {};
    }
};

struct GitTaskWorkspaceOptions {
    std::string repository;       ///< The user's checkout.
    std::string state_directory;  ///< Where worktrees are made; outside every repository.
    GateRunner::Options gates;
    std::function<void(const std::string&)> notice;  ///< Told in a sentence what a worktree could not be given; may be empty.
    bool scratch =
        false;  ///< Tasks leave nothing behind but objects that git collects: no ref, branch or archive, and nothing is pushed.
};

/// Worktrees of the user's repository, gates by subprocess.
[[nodiscard]] std::unique_ptr<TaskWorkspaceFactory> make_git_task_workspaces(GitTaskWorkspaceOptions options,
                                                                             ProcessRunner& processes);

}  // namespace agentforge::kernel
