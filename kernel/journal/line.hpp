// SPDX-License-Identifier: Apache-2.0
// Reads and verifies the lines of a journal's file. Private to kernel/journal.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "journal/journal.hpp"
#include "journal/lines.hpp"

namespace agentforge::kernel {

inline constexpr std::string_view format_line = "agentforge_journal: 1\n";
inline constexpr std::string_view hash_field = ", \"hash\": \"";
inline constexpr std::size_t hash_digits = 64;

/// One record as read from a line.
struct Line {
    bool object = false;  ///< The line is `- ` and a JSON object.
    std::string fault;    ///< What is wrong with the fields that the journal adds: `hash`, `seq`, `prev`. Empty: nothing.
    Record record;
    std::string prev;
    [[nodiscard]] bool verified() const noexcept { return object && fault.empty(); }
};
/// `line` has no line end.
[[nodiscard]] Line read_line(std::string_view line);

/// Returns the record that follows `before` in the chain. Returns nothing if the line is a torn tail: a last line without an end,
/// or one that is not a JSON object. `first`: the number of the journal's own first record. All readers of a chain use this
/// function, so they accept the same journals. Errors: `corrupt` AF-JRNL-002.
[[nodiscard]] Result<std::optional<Record>> record_in(const Lines::Line& line, const JournalHead& before, Sequence first,
                                                      const std::filesystem::path& path);

struct JournalHeader {
    json::object fields;
    std::string hash;
    std::size_t bytes = 0;  ///< Bytes up to the first record.
};
/// Parses the header. `bytes`: the beginning of the file. Errors: `corrupt` AF-JRNL-002 (also if the header is incomplete),
/// `unavailable` AF-JRNL-008.
[[nodiscard]] Result<JournalHeader> read_header(std::string_view bytes, const std::filesystem::path& path);
/// The records shared with a continued journal: the last one, and the files that hold them.
struct SharedRecords {
    JournalHead head;
    std::vector<JournalMark::Part> parts;
};
/// Visits the records of the journal that this one continues (journal.hpp). Visits nothing if it continues none. Errors:
/// `corrupt` AF-JRNL-013, AF-JRNL-002.
[[nodiscard]] Result<SharedRecords> read_history(const std::filesystem::path& path, const json::object& header,
                                                 const JournalVisitor& visitor);
/// Returns the sum over the bytes up to the mark, if the journal and those that it continues still begin with the bytes of the
/// mark. `header`: size of its header in bytes.
[[nodiscard]] std::optional<RunningSum> confirmed(const std::filesystem::path& journal, int descriptor, std::uint64_t size,
                                                  std::uint64_t header, const JournalMark& mark);
[[nodiscard]] JournalMark mark_of(std::vector<JournalMark::Part> history, const RunningSum& sum, const JournalHead& head);
[[nodiscard]] bool is_header_key(std::string_view key) noexcept;

/// Returns AF-JRNL-007: there is no file at the journal's path.
[[nodiscard]] Error no_journal(const std::filesystem::path& path);
/// Returns AF-JRNL-009: at the journal's path is a link, a folder or a device.
[[nodiscard]] Error journal_is_no_file(const std::filesystem::path& path);
/// Returns AF-JRNL-002 for a line too long for any reader. `sequence`: number of the record expected there; 0: unknown, or the
/// header.
[[nodiscard]] Error line_too_long(const std::filesystem::path& path, std::uint64_t offset, Sequence sequence);
/// Returns AF-JRNL-002. `sequence` 0: the header.
[[nodiscard]] Error corrupt_journal(const std::filesystem::path& path, std::uint64_t offset, Sequence sequence,
                                    const std::string& what);

}  // namespace agentforge::kernel
