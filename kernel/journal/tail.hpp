// SPDX-License-Identifier: Apache-2.0
// A journal that somebody else appends to, read as it grows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/checksum.hpp"
#include "base/files.hpp"
#include "journal/journal.hpp"

namespace agentforge::kernel {

/// Where a record's line begins in the file.
using JournalOffset = std::uint64_t;

/// Gives each record once, verified: its hash, its number, and that it follows the one before. One thread at a time.
class JournalTail {
public:
    explicit JournalTail(std::filesystem::path path) : path_(std::move(path)) {}
    /// Gives only records behind `after`, where the journal still begins with the bytes of that mark: `skipped` says so before
    /// the first is given.
    JournalTail(std::filesystem::path path, JournalMark after, std::function<void()> skipped)
        : path_(std::move(path)), after_(std::move(after)), skipped_(std::move(skipped)) {}

    /// Sees a record; what it returns as an error ends the reading, and the record is given again next time. `at` is 0 for a
    /// record of the journal that this one goes on from.
    using Take = std::function<Result<void>(const Record& record, JournalOffset at)>;
    /// Reads what was appended since the last call, and returns how many records that were. A last line that is not whole is left
    /// for the next call. Errors: `not_found` AF-JRNL-007; `corrupt` AF-JRNL-002, `unavailable` AF-JRNL-008; `io` AF-JRNL-003;
    /// `conflict` AF-JRNL-006 the file was replaced or shortened: begin again with a new object. Cost: that of the bytes that
    /// were appended, whatever the journal's length. Memory: 256 KiB and the longest line, which has at most 64 MiB.
    [[nodiscard]] Result<std::size_t> read(const Take& take);
    /// Of the last record read.
    [[nodiscard]] const JournalHead& head() const noexcept { return head_; }
    /// Up to there.
    [[nodiscard]] JournalMark mark() const;
    /// Empty before the first read.
    [[nodiscard]] const json::object& header() const noexcept { return header_; }

    /// Reads records from `at` on (an offset that `read` has given; 0: from the first, with those of the journal that this one
    /// goes on from), each verified; until `take` returns false, or the end. Errors: `not_found` AF-JRNL-007, `corrupt`
    /// AF-JRNL-002, `io` AF-JRNL-003.
    [[nodiscard]] static Result<void> read_from(const std::filesystem::path& path, JournalOffset at,
                                                const std::function<bool(const Record& record)>& take);

    /// Shows each whole line from `at` on as it stands there, neither parsed nor verified, until `look` returns false: for who
    /// builds an index and verifies what it leads to. Errors: `not_found` AF-JRNL-007, `corrupt` AF-JRNL-002 a line is too long,
    /// `io` AF-JRNL-003.
    [[nodiscard]] static Result<void> look_at_lines(const std::filesystem::path& path, JournalOffset at,
                                                    const std::function<bool(std::string_view line, JournalOffset at)>& look);

private:
    [[nodiscard]] Result<void> open(const Take& take);
    [[nodiscard]] Result<void> check_same_file() const;

    std::filesystem::path path_;
    FileDescriptor file_;
    json::object header_;
    JournalHead head_;    ///< Before the first record: the header's hash.
    Sequence first_ = 1;  ///< Of its own records.
    std::optional<JournalMark> after_;
    std::function<void()> skipped_;
    std::vector<JournalMark::Part> history_;
    RunningSum sum_;            ///< Of the bytes up to `offset_`.
    JournalOffset offset_ = 0;  ///< Up to the end of the last record read; 0: the header was not read yet.
};

}  // namespace agentforge::kernel
