// SPDX-License-Identifier: Apache-2.0
// Which request of an `agentforge run` is which task, so that the same run given again does nothing twice.
//
// `.agentforge/tasks/.runs/NAME.jsonl`: one line a task, on disk before the task is made. A line whose task has no folder is of a
// process that died between the two.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <agentforge/result.hpp>

#include "base/files.hpp"

namespace agentforge::kernel {

class RunLedger {
public:
    /// Makes the file where there is none, and keeps others away as long as this lives. Errors: `conflict` AF-CLI-172 another
    /// process runs it; `corrupt` AF-CLI-173; `io`.
    [[nodiscard]] static Result<RunLedger> open(const std::filesystem::path& tasks, const std::string& name);
    /// The same without holding it, for who only looks; one that is not there is empty.
    [[nodiscard]] static Result<RunLedger> look(const std::filesystem::path& tasks, const std::string& name);

    /// The newest task of each request, by its key.
    [[nodiscard]] const std::map<std::string, std::string>& tasks() const noexcept { return tasks_; }
    /// The same as it is now: with what children have added. Errors: as `open`.
    [[nodiscard]] Result<std::map<std::string, std::string>> again() const;
    /// On disk when it returns. For the process that makes the task: a forked child of the one that holds the ledger. Errors:
    /// `io`.
    [[nodiscard]] Result<void> add(const std::string& key, const std::string& task) const;

private:
    [[nodiscard]] Result<void> read();

    std::filesystem::path file_;
    FileDescriptor held_;
    std::map<std::string, std::string> tasks_;
};

}  // namespace agentforge::kernel
