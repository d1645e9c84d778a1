// SPDX-License-Identifier: Apache-2.0
// Runs a set through its phases (task/task_set.hpp draws them), or undoes it.
#pragma once

#include <filesystem>
#include <string>

#include "program/sets/open_set.hpp"

namespace agentforge::kernel {

/// One set, step by step. Each step can be repeated after a crash. The set's file lists the branches before any is created.
class SetRun {
public:
    SetRun(Program& program, std::filesystem::path folder, TaskSet set) : open_{program, std::move(folder), std::move(set)} {}

    /// Checks in each repository, before any cost, everything that could stop a part later.
    [[nodiscard]] Result<void> check() const;
    /// Checks the set and prints the plan. Does nothing else. `given`: the file of the specification; empty if a task writes it.
    [[nodiscard]] Result<int> plan(const std::string& given) const;
    /// Runs the set until it ends or has to wait. Returns the exit code. Errors: AF-SET-009 it was undone, and those of its
    /// parts.
    [[nodiscard]] Result<int> run();
    /// Continues a set that another process began.
    [[nodiscard]] Result<int> resume();
    /// Undoes the set. Errors: `conflict` AF-SET-009 all its branches exist, or it was already undone.
    [[nodiscard]] Result<int> abort(const std::string& reason);
    /// True if a task exists. Until then the user can correct the specification and start again.
    [[nodiscard]] bool has_begun() const noexcept;

private:
    Result<int> undo();
    Result<void> abort_tasks();

    OpenSet open_;
};

}  // namespace agentforge::kernel
