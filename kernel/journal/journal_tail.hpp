// SPDX-License-Identifier: Apache-2.0
// Reads a journal as it grows, while another process appends to it.
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

/// The offset of a record's line in the file.
using JournalOffset = std::uint64_t;

/// Delivers each record once, verified: its hash, its number, and that it follows the previous one. A journal that continues
/// another one delivers the shared records once it has its own record. One thread at a time.
class JournalTail {
public:
    explicit JournalTail(std::filesystem::path path) : path_(std::move(path)) {}
    /// Delivers only records after `after` if the journal still begins with the bytes of that mark. Calls `skipped` before the
    /// first.
    JournalTail(std::filesystem::path path, JournalMark after, std::function<void()> skipped)
        : path_(std::move(path)), after_(std::move(after)), skipped_(std::move(skipped)) {}

    /// Receives a record. An error ends the reading, and the record is delivered again next time. `at` is 0 for a record of the
    /// journal that this one continues.
    using Take = std::function<Result<void>(const Record& record, JournalOffset at)>;
    /// Reads what was appended since the last call, and returns the number of records. Leaves an incomplete last line for the
    /// next call. Errors: `not_found` AF-JRNL-007; `corrupt` AF-JRNL-002, AF-JRNL-009, `unavailable` AF-JRNL-008; `io`
    /// AF-JRNL-003; `conflict` AF-JRNL-006 the file was replaced or shortened: start again with a new object. Cost: that of the
    /// appended bytes, whatever the journal's length. Memory: 256 KiB and the longest line, which has at most 64 MiB.
    [[nodiscard]] Result<std::size_t> read(const Take& take);
    /// Head of the last record read.
    [[nodiscard]] const JournalHead& head() const noexcept { return head_; }
    /// Mark at the last record read.
    [[nodiscard]] JournalMark mark() const;
    /// Empty before the first read.
    [[nodiscard]] const json::object& header() const noexcept { return header_; }

    /// Reads and verifies records from `at` on (an offset from `read`; 0: from the first, including those of the journal that
    /// this one continues), until `take` returns false or the journal ends. Errors: `not_found` AF-JRNL-007, `corrupt`
    /// AF-JRNL-002, `io` AF-JRNL-003.
    [[nodiscard]] static Result<void> read_from(const std::filesystem::path& path, JournalOffset at,
                                                const std::function<bool(const Record& record)>& take);

    /// Passes each whole line from `at` on to `visit`, neither parsed nor verified, until `visit` returns false. For building an
    /// index whose targets are verified later. Errors: `not_found` AF-JRNL-007, `corrupt` AF-JRNL-002 a line is too long, `io`
    /// AF-JRNL-003.
    [[nodiscard]] static Result<void> visit_lines(const std::filesystem::path& path, JournalOffset at,
                                                  const std::function<bool(std::string_view line, JournalOffset at)>& visit);

private:
    [[nodiscard]] Result<void> open(const Take& take);
    [[nodiscard]] Result<void> check_same_file() const;

    std::filesystem::path path_;
    FileDescriptor file_;
    json::object header_;
    JournalHead head_;    ///< Before the first record: the header's hash.
    Sequence first_ = 1;  ///< Number of its own first record.
    std::optional<JournalMark> after_;
    std::function<void()> skipped_;
    std::vector<JournalMark::Part> history_;
    RunningSum sum_;            ///< Over the bytes up to `offset_`.
    JournalOffset offset_ = 0;  ///< End of the last record read. 0: nothing was delivered yet.
};

}  // namespace agentforge::kernel
