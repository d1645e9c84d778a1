// SPDX-License-Identifier: Apache-2.0
// What a listing said of each task, kept beside the tasks so that the next one need not read ten thousand files. Private to
// kernel/task.
//
// It is a cache: an entry counts only while the task's journal is the very file, byte for byte as long and changed at the same
// moment, that the entry was made from. A file that is missing, cut off, damaged or of another make is no cache, and is written
// anew. A task without a journal is never kept here.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "task/store.hpp"

namespace agentforge::kernel {

/// Which journal an entry is of. A journal only grows, and nobody can set the moment of its last change.
struct JournalStamp {
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t changed_s = 0;
    std::int64_t changed_ns = 0;

    JournalStamp() = default;
    explicit JournalStamp(const struct stat& st)
        : inode(st.st_ino),
          size(static_cast<std::uint64_t>(st.st_size)),
          changed_s(st.st_ctim.tv_sec),
          changed_ns(st.st_ctim.tv_nsec) {}
    bool operator==(const JournalStamp&) const = default;
};

class ListingCache {
public:
    /// Reads the file. One that cannot be used is as good as none.
    [[nodiscard]] static ListingCache load(const std::filesystem::path& file);
    /// What was kept of a task while its journal was this one.
    [[nodiscard]] std::optional<TaskSummary> find(std::string_view task_id, const JournalStamp& stamp) const;

    struct Kept {
        JournalStamp stamp;
        const TaskSummary* summary = nullptr;
    };
    /// Replaces the file by these entries; not synced. A folder that cannot be written stays as it is: the next listing reads the
    /// tasks again.
    static void save(const std::filesystem::path& file, const std::vector<Kept>& entries);

private:
    struct Entry {
        JournalStamp stamp;
        std::size_t begin = 0;  ///< Of its texts, in `bytes_`.
    };
    std::unique_ptr<const std::string> bytes_;
    std::unordered_map<std::string_view, Entry> entries_;  ///< Views into `bytes_`.
};

}  // namespace agentforge::kernel
