// SPDX-License-Identifier: Apache-2.0
#include "journal/line.hpp"

#include <algorithm>
#include <array>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

bool is_header_key(std::string_view key) noexcept {
    constexpr std::array<std::string_view, 11> taken{
        "y", "n", "yes", "no", "on", "off", "true", "false", "null", "actions", "agentforge_journal"};
    if (key.empty() || key.size() > 100 || (key.front() >= '0' && key.front() <= '9')) { return false; }
    return key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos &&
           std::find(taken.begin(), taken.end(), key) == taken.end();
}

namespace {

/// Reads the fields that the journal adds, and returns what is wrong with them.
std::string fault_of(std::string_view text, Line& line) {
    const std::size_t ending = hash_field.size() + hash_digits + 2;  // , "hash": "…"}
    const std::string_view end = text.substr(text.size() - std::min(ending, text.size()));
    if (!end.starts_with(hash_field) || !end.ends_with("\"}")) { return "it does not end with its hash"; }
    const std::string_view hash = end.substr(hash_field.size(), hash_digits);
    std::string hashed(text.substr(0, text.size() - ending));
    hashed += '}';
    if (sha256(hashed) != hash) { return "its hash is wrong"; }
    const auto* seq = line.record.body.if_contains("seq");
    const auto* prev = line.record.body.if_contains("prev");
    if (seq == nullptr || !seq->is_int64() || seq->get_int64() < 1) { return "its field `seq` is not a number from 1"; }
    if (prev == nullptr || !prev->is_string()) { return "its field `prev` is not a string"; }
    line.record.seq = static_cast<Sequence>(seq->get_int64());
    line.record.hash = hash;
    line.prev = std::string_view(prev->get_string());
    return {};
}

}  // namespace

Line read_line(std::string_view line) {
    Line result;
    if (!line.starts_with("- {") || !line.ends_with("}")) { return result; }
    const std::string_view text = line.substr(2);
    auto parsed = parse_json(text, "journal");
    if (!parsed.ok() || !parsed->is_object()) { return result; }
    result.object = true;
    result.record.body = std::move(parsed->get_object());
    result.fault = fault_of(text, result);
    return result;
}

namespace {

/// True if a last line that is not a record contains one. Then it is not a torn write, which ends inside its one record: a line
/// end was lost.
bool holds_a_record(std::string_view line) {
    if (line.ends_with('\n')) { line.remove_suffix(1); }
    const std::size_t ending = hash_field.size() + hash_digits + 2;
    for (std::size_t at = line.find(hash_field); at != std::string_view::npos && at + ending < line.size();
         at = line.find(hash_field, at + 1)) {
        if (read_line(line.substr(0, at + ending)).verified()) { return true; }
    }
    const auto start = line.rfind("- {\"seq\"");
    return start != std::string_view::npos && start != 0 && read_line(line.substr(start)).verified();
}

}  // namespace

Result<std::optional<Record>> record_in(const Lines::Line& line, const JournalHead& before, Sequence first,
                                        const std::filesystem::path& path) {
    const Sequence expected = before.seq + 1;
    const auto wrong = [&](const std::string& what) { return corrupt_journal(path, line.offset, expected, what); };
    Line read = line.ended ? read_line(line.text) : Line();
    if (!read.object) {
        if (!line.last || holds_a_record(line.text)) { return wrong("the line is not a record"); }
        return std::optional<Record>();
    }
    if (!read.verified()) { return wrong(read.fault); }
    if (read.record.seq != expected) { return wrong("record " + std::to_string(read.record.seq) + " is in its place"); }
    if (read.prev != before.hash) {
        return wrong(expected == first ? "it does not follow this header" : "it does not follow the record before it");
    }
    read.record.at = line.offset;
    return std::optional(std::move(read.record));
}

Error no_journal(const std::filesystem::path& path) {
    return Error{"AF-JRNL-007", "There is no journal", path.string(),
                 "Restore the task's folder from a backup, or remove the folder.", ErrorKind::not_found};
}

Error journal_is_no_file(const std::filesystem::path& path) {
    return Error{"AF-JRNL-009", "The journal is not a regular file but a link, a folder or a device", path.string(),
                 "Put the journal back, or remove the task's folder.", ErrorKind::corrupt};
}

Error line_too_long(const std::filesystem::path& path, std::uint64_t offset, Sequence sequence) {
    return corrupt_journal(path, offset, sequence, "the line is longer than " + std::to_string(longest_line >> 20U) + " MiB");
}

Error corrupt_journal(const std::filesystem::path& path, std::uint64_t offset, Sequence sequence, const std::string& what) {
    const std::string place = sequence == 0 ? "header" : "record " + std::to_string(sequence);
    return Error{"AF-JRNL-002", "The journal does not verify at " + place + ", byte " + std::to_string(offset) + ": " + what,
                 path.string(), "It was changed or damaged after it was written; restore the file from a backup.",
                 ErrorKind::corrupt};
}

Result<JournalHeader> read_header(std::string_view bytes, const std::filesystem::path& path) {
    JournalHeader header;
    constexpr std::string_view mark = "agentforge_journal: ";
    if (const auto line = bytes.substr(0, bytes.find('\n'));
        !bytes.starts_with(format_line) && line.starts_with(mark) && line.size() > mark.size() &&
        line.size() < mark.size() + 10 && line.find_first_not_of("0123456789", mark.size()) == std::string_view::npos &&
        line[mark.size()] != '0') {
        return Error{"AF-JRNL-008",
                     "The journal is of format " + std::string(line.substr(mark.size())) +
                         ", but this version of agentforge supports only format 1",
                     path.string() + ":1", "Use the version of agentforge that wrote it, or a newer one; nothing was changed.",
                     ErrorKind::unavailable};
    }
    if (!bytes.starts_with(format_line)) { return corrupt_journal(path, 0, 0, "the first line is not `agentforge_journal: 1`"); }
    std::size_t offset = format_line.size();
    for (;;) {
        const auto end = bytes.find('\n', offset);
        if (end == std::string_view::npos) { return corrupt_journal(path, offset, 0, "the line `actions:` is missing"); }
        const std::string_view line = bytes.substr(offset, end - offset);
        const std::size_t start = offset;
        offset = end + 1;
        if (line == "actions:") { break; }
        const auto colon = line.find(": ");
        if (colon == std::string_view::npos || !is_header_key(line.substr(0, colon))) {
            return corrupt_journal(path, start, 0, "the line is not a header field");
        }
        const std::string_view key = line.substr(0, colon);
        auto value = parse_json(line.substr(colon + 2), path.string());
        if (!value.ok()) { return corrupt_journal(path, start, 0, "the field '" + std::string(key) + "' cannot be read"); }
        if (!header.fields.emplace(key, std::move(value).value()).second) {
            return corrupt_journal(path, start, 0, "the field '" + std::string(key) + "' appears twice");
        }
    }
    header.hash = hash_of(header.fields);
    header.bytes = offset;
    return header;
}

}  // namespace agentforge::kernel
