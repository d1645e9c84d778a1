// SPDX-License-Identifier: Apache-2.0
// Checks and measurements that need no task: dependencies (`agentforge setup`), what gates need, the suite of HEAD.
#pragma once

#include <string>
#include <vector>

#include "gates/engine/readiness.hpp"
#include "pipeline/task_workspace.hpp"
#include "pipeline/task_workspace_factory.hpp"

namespace agentforge::kernel {

struct Setup {
    std::string tree;              ///< The tree whose lockfiles were read.
    std::vector<SetupStep> steps;  ///< Empty: the tree names no dependencies that gates need.
};

/// Returns the folder of fetched dependencies, shared by all tasks. It is in the state directory, not in the task.
[[nodiscard]] std::string dependencies_directory(const GitTaskWorkspaceOptions& options);

/// Finds the dependencies of a tree (empty: HEAD's). `run`: fetches the missing ones once, with network access. Creates no
/// worktree. Errors: AF-GIT-… of the repository, AF-GATE-002, AF-GATE-101, AF-GATE-003, AF-GATE-005.
[[nodiscard]] Result<Setup> setup_dependencies(const GitTaskWorkspaceOptions& options, ProcessRunner& processes,
                                               const std::string& tree, bool run, const Stop& stop);

/// Returns what gates need for a tree (empty: HEAD's). Measures nothing and creates no worktree. Errors: AF-GIT-… of the
/// repository, those of GateRunner::readiness.
[[nodiscard]] Result<GateReadiness> readiness_of_gates(const GitTaskWorkspaceOptions& options, ProcessRunner& processes,
                                                       const std::string& tree);

/// The same for these files of the checkout, committed or not.
[[nodiscard]] Result<GateReadiness> readiness_of_checkout(const GitTaskWorkspaceOptions& options, ProcessRunner& processes,
                                                          const std::vector<std::string>& files);

/// Runs the suite of HEAD once, in temporary worktrees, and returns the report `baseline` that a task would begin with. One runs
/// at a time for each repository; a second one waits. Errors: those of a workspace and of run_suite, AF-GATE-107
/// (check_suite_was_measured).
[[nodiscard]] Result<GateReport> measure_head(const GitTaskWorkspaceOptions& options, ProcessRunner& processes, const Stop& stop);

}  // namespace agentforge::kernel
