// SPDX-License-Identifier: Apache-2.0
// The set that this process works on. The parts of a run (set_run.hpp) share this and nothing else.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "task/task_set.hpp"

namespace agentforge::kernel {

/// The exit code, if the command ends before the set does. Empty: the set goes on.
using EarlyExit = std::optional<int>;

struct OpenSet {
    Program& program;
    std::filesystem::path folder;
    TaskSet set;
    std::vector<std::string> kept = {};  ///< Lines about the branches that remain, each with the reason.

    [[nodiscard]] std::filesystem::path file() const { return set_file(folder); }
    /// Returns the file of this part's specification.
    [[nodiscard]] std::filesystem::path specification_of(const SetPart& part) const { return folder / (part.repo + ".yaml"); }
    [[nodiscard]] Result<void> save() const { return save_set(file(), set); }
    /// Prints a line of progress about the set, unless the user asked for none.
    void report(const std::string& text) const;
};

/// Finds each part's repository: at the recorded path, else by its name in the list of repositories. Saves a new path. Errors:
/// AF-SET-015.
[[nodiscard]] Result<void> find_repositories(OpenSet& open);

}  // namespace agentforge::kernel
