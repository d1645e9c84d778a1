// SPDX-License-Identifier: Apache-2.0
// Checks and measurements that need no task: dependencies (`agentforge setup`), what gates need, the suite of HEAD.
#pragma once

#include <string>
#include <vector>

#include "gates/engine/readiness.hpp"
#include "pipeline/workspace.hpp"

namespace agentforge::kernel {

struct Setup {
    std::string tree;              ///< Whose lockfiles were looked at.
    std::vector<SetupStep> steps;  ///< None: the tree names no dependencies that gates would need.
};

/// Where what was fetched is kept for every task: below the state, not the task.
[[nodiscard]] std::string dependencies_directory(const GitTaskWorkspaceOptions& options);

/// The dependencies of a tree, of HEAD's where it is empty; `run` fetches those that are not there, with network, once. No
/// worktree is made. Errors: AF-GIT-… of the repository, AF-GATE-002, AF-GATE-101, AF-GATE-003, AF-GATE-005.
[[nodiscard]] Result<Setup> setup_dependencies(const GitTaskWorkspaceOptions& options, ProcessRunner& processes,
                                               const std::string& tree, bool run, const Stop& stop);

/// What gates will need of a tree, of HEAD's where it is empty; nothing is measured and no worktree made.
/// Errors: AF-GIT-… of the repository, those of GateRunner::readiness.
[[nodiscard]] Result<GateReadiness> look_at_gates(const GitTaskWorkspaceOptions& options, ProcessRunner& processes,
                                                  const std::string& tree);

/// The same for these files of the checkout as they lie there, committed or not.
[[nodiscard]] Result<GateReadiness> look_at_checkout(const GitTaskWorkspaceOptions& options, ProcessRunner& processes,
                                                     const std::vector<std::string>& files);

/// Runs the suite of HEAD once, in temporary worktrees, and returns the report `baseline` that a task would begin with. Only one
/// runs at a time for each repository; a second one waits. Errors: those of a workspace and of run_suite, AF-GATE-107
/// (check_suite_was_measured).
[[nodiscard]] Result<GateReport> measure_head(const GitTaskWorkspaceOptions& options, ProcessRunner& processes, const Stop& stop);

}  // namespace agentforge::kernel
