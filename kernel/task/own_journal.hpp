// SPDX-License-Identifier: Apache-2.0
// Which journals this machine wrote itself: for each task a small file outside the repository, the note, with the hash of its
// journal's last record. A task's folder may come from someone else, so the program signs a statement only about a journal that
// it wrote; and the end of a journal that lacks this record was cut off.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

#include "base/files.hpp"

namespace agentforge::kernel {

class OwnJournal {
public:
    struct Note {
        std::string head;            ///< The last record that this machine wrote, or the one before it.
        std::string next;            ///< The same record, or the one that was about to follow.
        std::filesystem::path task;  ///< The task's folder at that time. Empty if an older version wrote the note.
        /// True if the journal of the task in this folder has one of the two records. False if it cannot be read. Cost: reads the
        /// whole journal.
        [[nodiscard]] bool is_about(const std::filesystem::path& task_folder) const;
    };

    /// `folder`: outside every repository. Empty: keeps nothing, and no journal is known. `task`: the task's folder, named by its
    /// id.
    OwnJournal(std::filesystem::path folder, const std::filesystem::path& task, Durability durability = Durability::synced);

    /// Empty if this machine never wrote to a journal of a task with this id. Errors: AF-TASK-018.
    [[nodiscard]] Result<std::optional<Note>> read() const;
    /// True if a process of this machine wrote the record with this hash, or was about to. Errors: AF-TASK-018.
    [[nodiscard]] Result<bool> has_written(std::string_view hash) const;
    /// Notices that the end of the journal was cut off, that its records were replaced, or that an older copy took its place. A
    /// task that continued in another folder is not an error. Errors: `corrupt` AF-TASK-019, AF-TASK-018. Cost: that of
    /// `is_about`.
    [[nodiscard]] Result<void> check_end() const;
    /// Notes that the record `next` is about to follow the record `head`. On disk when it returns. Errors: AF-TASK-018. Cost: one
    /// write of 130 bytes and the folder's path, and one fdatasync.
    [[nodiscard]] Result<void> note(std::string_view head, std::string_view next);
    /// Call when the record `next` is on disk: from now on the journal ends with it, and without it the journal is no longer this
    /// machine's. Not synced, so it holds if the process is killed; after a power cut the file may name the record before, too.
    /// Cost: the same write.
    void wrote(std::string_view next) noexcept;
    /// Call before the journal is left. Does the same, synced. Errors: AF-TASK-018.
    [[nodiscard]] Result<void> settle(std::string_view head);

private:
    [[nodiscard]] Result<void> open();
    [[nodiscard]] Result<void> write(std::string_view head, std::string_view next);

    std::filesystem::path file_;
    std::string task_;  ///< The task's folder without symbolic links.
    std::string next_;  ///< The record noted last, if the file also names the one before.
    Durability durability_;
    FileDescriptor opened_;
};

}  // namespace agentforge::kernel
