// SPDX-License-Identifier: Apache-2.0
// The user's repository, as far as a task may change it.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <agentforge/result.hpp>

#include "git/merges.hpp"
#include "pipeline/delivery/commit_hooks.hpp"
#include "pipeline/delivery/commits.hpp"
#include "pipeline/delivery/drift.hpp"
#include "pipeline/delivery/publish.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {

/// The part of the user's repository that a task may change: a branch, and what is published from it.
class TargetRepository {
public:
    virtual ~TargetRepository() = default;
    /// Makes the commit and a new branch on it. Without a branch, keeps the commit for one. Errors: AF-GIT-010 the branch
    /// exists, AF-GIT-041 the commit cannot be signed.
    [[nodiscard]] virtual Result<MadeCommit> commit(const CommitOrder& order, const Stop& stop) = 0;
    /// Checks that `move_branch` could move the branch from `at`. Errors: AF-GIT-040 it is not there, or is checked out.
    [[nodiscard]] virtual Result<void> check_branch(const std::string& branch, const std::string& at) = 0;
    /// Errors: as above.
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

}  // namespace agentforge::kernel
