// SPDX-License-Identifier: Apache-2.0
// Maps each request of an `agentforge run` to its task, so that repeating a run does nothing twice.
//
// `.agentforge/tasks/.runs/NAME.jsonl`: one line a task, on disk before the task is created. If a line's task has no folder, the
// process died between the two.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <agentforge/result.hpp>

#include "base/files.hpp"

namespace agentforge::kernel {

class RunLedger {
public:
    /// Creates the file if there is none, and locks it for its lifetime. Errors: `conflict` AF-CLI-172 another process runs it;
    /// `corrupt` AF-CLI-173; `io`.
    [[nodiscard]] static Result<RunLedger> open(const std::filesystem::path& tasks, const std::string& name);
    /// Reads it without the lock. A missing file is empty.
    [[nodiscard]] static Result<RunLedger> read_unlocked(const std::filesystem::path& tasks, const std::string& name);

    /// Returns the newest task of each request, by its key.
    [[nodiscard]] const std::map<std::string, std::string>& tasks() const noexcept { return tasks_; }
    /// Reads it again, with the lines that children have added. Errors: those of `open`.
    [[nodiscard]] Result<std::map<std::string, std::string>> reread() const;
    /// Adds a line; it is on disk when the call returns. Called by the process that creates the task: a forked child of the
    /// lock's holder. Errors: `io`.
    [[nodiscard]] Result<void> add(const std::string& key, const std::string& task) const;

private:
    [[nodiscard]] Result<void> read();

    std::filesystem::path file_;
    FileDescriptor held_;
    std::map<std::string, std::string> tasks_;
};

}  // namespace agentforge::kernel
