// SPDX-License-Identifier: Apache-2.0
// The lines of a journal's file, as whoever reads it meets them. Private to kernel/journal.
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

/// One record as it stood in a line.
struct Line {
    bool object = false;    ///< It is `- ` and a JSON object.
    bool verified = false;  ///< … and the object has the hash that it names.
    Record record;
    std::string prev;
};
/// `line` has no line end.
[[nodiscard]] Line read_line(std::string_view line);

/// The record that follows `before` in the chain; nothing where the line is a torn tail: a last line that has no end or is not a
/// JSON object. `first`: the number of the journal's own first record. Everyone who follows a chain asks here, so that nobody
/// takes what another refuses. Errors: `corrupt` AF-JRNL-002.
[[nodiscard]] Result<std::optional<Record>> record_in(const Lines::Line& line, const JournalHead& before, Sequence first,
                                                      const std::filesystem::path& path);

struct JournalHeader {
    json::object fields;
    std::string hash;
    std::size_t bytes = 0;  ///< Up to the first record.
};
/// `bytes`: the beginning of the file. Errors: `corrupt` AF-JRNL-002 (also where the header is not whole), `unavailable`
/// AF-JRNL-008.
[[nodiscard]] Result<JournalHeader> read_header(std::string_view bytes, const std::filesystem::path& path);
/// What a journal goes on from: its last record, and the files that it stands in.
struct SharedRecords {
    JournalHead head;
    std::vector<JournalMark::Part> parts;
};
/// Shows the records of the journal that this one goes on from (journal.hpp); nothing of it where it goes on from none.
/// Errors: `corrupt` AF-JRNL-013, AF-JRNL-002.
[[nodiscard]] Result<SharedRecords> read_history(const std::filesystem::path& path, const json::object& header,
                                                 const JournalVisitor& visitor);
/// The sum over the bytes up to the mark, where the journal, and those that it goes on from, still begin with those of which the
/// mark was made. `header`: bytes of its header.
[[nodiscard]] std::optional<RunningSum> confirmed(const std::filesystem::path& journal, int descriptor, std::uint64_t size,
                                                  std::uint64_t header, const JournalMark& mark);
[[nodiscard]] JournalMark mark_of(std::vector<JournalMark::Part> history, const RunningSum& sum, const JournalHead& head);
[[nodiscard]] bool is_header_key(std::string_view key) noexcept;

/// AF-JRNL-002: a line that no reader takes. `sequence`: of the record that should stand there; 0: unknown, or the header.
[[nodiscard]] Error line_too_long(const std::filesystem::path& path, std::uint64_t offset, Sequence sequence);
/// AF-JRNL-002. `sequence` 0: the header.
[[nodiscard]] Error corrupt_journal(const std::filesystem::path& path, std::uint64_t offset, Sequence sequence,
                                    const std::string& what);

}  // namespace agentforge::kernel
