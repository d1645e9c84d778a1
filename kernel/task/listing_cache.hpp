// SPDX-License-Identifier: Apache-2.0
// Caches each task's line of a listing, so that the next listing need not read ten thousand files. Private to kernel/task.
//
// An entry is valid only while the task's journal is the same file, with the same length and time of change, as when the entry
// was made. A cache file that is missing, truncated, damaged or from another build is ignored and rewritten. A task without a
// journal is never cached.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "task/task_store.hpp"

namespace agentforge::kernel {

/// Identifies a state of a journal. A journal only grows, and no program can set the time of its last change (ctime).
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
    /// Reads the file. If it cannot be used, the cache is empty.
    [[nodiscard]] static ListingCache load(const std::filesystem::path& file);
    /// What a listing needs of a task before it knows whether it shows the task. Valid as long as the cache.
    struct Line {
        JournalStamp stamp;
        std::string_view task_id;
        std::string_view status;
        std::string_view created_at;
        bool has_ended = false;
        std::size_t begin = 0;  ///< Start of its texts in the file.
    };
    /// Returns the line of a task if its journal is still the same, else null.
    [[nodiscard]] const Line* find(std::string_view task_id, const JournalStamp& stamp) const;
    [[nodiscard]] TaskSummary summary(const Line& line) const;

    struct Kept {
        JournalStamp stamp;
        const TaskSummary* summary = nullptr;
    };
    /// Replaces the file by these entries. Not synced. If the folder cannot be written, does nothing: the next listing reads the
    /// tasks again.
    static void save(const std::filesystem::path& file, const std::vector<Kept>& entries);

private:
    std::unique_ptr<const std::string> bytes_;
    std::unordered_map<std::string_view, Line> lines_;  ///< By task. Views into `bytes_`.
};

}  // namespace agentforge::kernel
