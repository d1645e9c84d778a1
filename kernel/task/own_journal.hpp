// SPDX-License-Identifier: Apache-2.0
// Which journals this machine wrote itself: for each task a small file outside the repository with the hash of its journal's last
// record. A task's folder may come from someone else, so the program signs a statement only about a journal that it wrote.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

#include "base/files.hpp"

namespace agentforge::kernel {

class OwnJournal {
public:
    /// `folder`: outside every repository. Empty: keeps nothing, and no journal is known.
    OwnJournal(std::filesystem::path folder, std::string_view task_id, Durability durability = Durability::synced);

    /// True if a process of this machine wrote the record with this hash, or was about to. Errors: AF-TASK-018.
    [[nodiscard]] Result<bool> has_written(std::string_view hash) const;
    /// Notes that the record `next` is about to follow the record `head`. On disk when it returns. Errors: AF-TASK-018. Cost: one
    /// write of 130 bytes and one fdatasync.
    [[nodiscard]] Result<void> note(std::string_view head, std::string_view next);
    /// Call before the journal is left. If its last record is the one noted last, notes that the journal ends with it: without
    /// its last record, it is no longer this machine's. A killed process does not get there, so the file then names the record
    /// before, too. Errors: AF-TASK-018.
    [[nodiscard]] Result<void> settle(std::string_view head);

private:
    [[nodiscard]] Result<void> open();

    std::filesystem::path file_;
    std::string next_;  ///< The record noted last, if the file also names the one before.
    Durability durability_;
    FileDescriptor opened_;
};

}  // namespace agentforge::kernel
