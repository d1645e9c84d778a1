// SPDX-License-Identifier: Apache-2.0
// The lines of a journal's file, as whoever reads it meets them. Private to kernel/journal.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "journal/journal.hpp"

namespace agentforge::kernel {

inline constexpr std::string_view format_line = "agentforge_journal: 1\n";
inline constexpr std::string_view hash_field = ", \"hash\": \"";
inline constexpr std::size_t hash_digits = 64;

/// One record as it stood in a line.
struct Line {
    bool object = false;        ///< It is `- ` and a JSON object.
    bool verified = false;      ///< … and the object has the hash that it names.
    Record record;
    std::string prev;
};
/// `line` has no line end.
[[nodiscard]] Line read_line(std::string_view line);

struct JournalHeader {
    json::object fields;
    std::string hash;
    std::size_t bytes = 0;      ///< Up to the first record.
};
/// `bytes`: the beginning of the file. Errors: `corrupt` AF-JRNL-002 (also where the header is not whole), `unavailable` AF-JRNL-008.
[[nodiscard]] Result<JournalHeader> read_header(std::string_view bytes, const std::filesystem::path& path);
/// Shows the records of the journal that this one goes on from (journal.hpp), and returns the number of the last one; 0 where it goes on from none.
/// Errors: `corrupt` AF-JRNL-013, AF-JRNL-002.
[[nodiscard]] Result<Sequence> read_history(const std::filesystem::path& path, const json::object& header, const JournalVisitor& visitor);
[[nodiscard]] bool is_header_key(std::string_view key) noexcept;

/// AF-JRNL-002. `sequence` 0: the header.
[[nodiscard]] Error corrupt_journal(const std::filesystem::path& path, std::uint64_t offset, Sequence sequence, const std::string& what);

}  // namespace agentforge::kernel
