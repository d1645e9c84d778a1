// SPDX-License-Identifier: Apache-2.0
#include "journal/journal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

long JournalDisk::write(int descriptor, const char* bytes, std::size_t count) { return ::write(descriptor, bytes, count); }
int JournalDisk::sync(int descriptor) { return ::fdatasync(descriptor); }
int JournalDisk::truncate(int descriptor, std::uint64_t size) { return ::ftruncate(descriptor, static_cast<off_t>(size)); }

JournalDisk& JournalDisk::system() {
    static JournalDisk disk;
    return disk;
}

std::string_view Record::type() const {
    const auto* value = body.if_contains("type");
    return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

struct Journal::State {
    fs::path path;
    FileDescriptor file;
    JournalDisk* disk = nullptr;
    json::object header;
    std::vector<Record> records;
    JournalHead head;
    Recovery recovery;
    std::uint64_t size = 0;     ///< Of the file, up to the last whole record.
    bool poisoned = false;
};

namespace {

constexpr std::string_view format_line = "agentforge_journal: 1\n";
constexpr std::string_view actions_line = "actions:\n";
constexpr std::string_view hash_field = ", \"hash\": \"";
constexpr std::size_t hash_digits = 64;
constexpr std::size_t deepest = 60;
constexpr std::size_t longest_key = 1000;

Error io_error(const std::string& what, const fs::path& path, int error) {
    return Error{"AF-JRNL-003", what + ": " + errno_text(error), path.string(),
                 error == ENOSPC || error == EDQUOT ? "Free some space, then resume the task." : "Check the disk and its file system, then resume the task.",
                 ErrorKind::io};
}

Error bad_body(const std::string& what, const fs::path& path) {
    return Error{"AF-JRNL-005", "A record cannot be written: " + what, path.string(), "This is a defect of the caller; please report it.", ErrorKind::invalid};
}

/// Empty where the value can be stored; otherwise why not. Makes strings valid UTF-8.
std::string make_storable(json::value& value, std::size_t depth);

std::string make_storable(json::object& object, std::size_t depth) {
    if (depth > deepest) { return "it is nested deeper than " + std::to_string(deepest) + " levels"; }
    for (auto& entry : object) {
        const std::string_view key = entry.key();
        if (!is_valid_utf8(key)) { return "a key is not valid UTF-8"; }
        // A key that needs no escape is as long written as it is; only the others are measured.
        if (key.size() > longest_key / 6 && to_json_line(json::value(key)).size() > longest_key) {
            return "the key '" + ellipsis(key, 60) + "' is longer than " + std::to_string(longest_key) + " bytes";
        }
        if (auto problem = make_storable(entry.value(), depth + 1); !problem.empty()) { return problem + " (field '" + ellipsis(key, 60) + "')"; }
    }
    return {};
}

std::string make_storable(json::value& value, std::size_t depth) {
    switch (value.kind()) {
        case json::kind::double_: return "it holds a double; use an integer or a string";
        case json::kind::uint64:
            if (value.get_uint64() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) { return "it holds an integer beyond int64"; }
            value = static_cast<std::int64_t>(value.get_uint64());    // As it will be read back.
            return {};
        case json::kind::string:
            if (!is_valid_utf8(value.get_string())) { value = json::value(sanitize_utf8(value.get_string())); }
            return {};
        case json::kind::array: {
            if (depth > deepest) { return "it is nested deeper than " + std::to_string(deepest) + " levels"; }
            for (auto& item : value.get_array()) {
                if (auto problem = make_storable(item, depth + 1); !problem.empty()) { return problem; }
            }
            return {};
        }
        case json::kind::object: return make_storable(value.get_object(), depth);
        default: return {};
    }
}

bool is_storable_at(const json::value& value, std::size_t depth) {
    constexpr std::size_t deepest_inside = 40;      // It will be inside a record.
    if (depth > deepest_inside) { return false; }
    switch (value.kind()) {
        case json::kind::double_: return false;
        case json::kind::uint64: return value.get_uint64() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        case json::kind::string: return is_valid_utf8(value.get_string());
        case json::kind::array:
            return std::ranges::all_of(value.get_array(), [&](const json::value& item) { return is_storable_at(item, depth + 1); });
        case json::kind::object:
            return std::ranges::all_of(value.get_object(), [&](const json::key_value_pair& entry) {
                return entry.key().size() <= longest_key / 6 && is_valid_utf8(entry.key()) && is_storable_at(entry.value(), depth + 1);
            });
        default: return true;
    }
}

bool is_header_key(std::string_view key) noexcept {
    constexpr std::array<std::string_view, 11> taken{"y", "n", "yes", "no", "on", "off", "true", "false", "null", "actions", "agentforge_journal"};
    if (key.empty() || key.size() > 100 || (key.front() >= '0' && key.front() <= '9')) { return false; }
    return key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos &&
           std::find(taken.begin(), taken.end(), key) == taken.end();
}

/// One record as it stood in a line.
struct Line {
    bool object = false;        ///< It is `- ` and a JSON object.
    bool verified = false;      ///< … and the object has the hash that it names.
    Record record;
    std::string prev;
};

Line read_line(std::string_view line) {
    Line result;
    if (!line.starts_with("- {") || !line.ends_with("}")) { return result; }
    const std::string_view text = line.substr(2);
    auto parsed = parse_json(text, "journal");
    if (!parsed.ok() || !parsed->is_object()) { return result; }
    result.object = true;
    const std::size_t ending = hash_field.size() + hash_digits + 2;    // , "hash": "…"}
    if (text.size() <= ending) { return result; }
    const std::string_view end = text.substr(text.size() - ending);
    if (!end.starts_with(hash_field) || !end.ends_with("\"}")) { return result; }
    const std::string_view hash = end.substr(hash_field.size(), hash_digits);
    std::string hashed(text.substr(0, text.size() - ending));
    hashed += '}';
    if (sha256(hashed) != hash) { return result; }
    result.record.body = std::move(parsed->get_object());
    const auto* seq = result.record.body.if_contains("seq");
    const auto* prev = result.record.body.if_contains("prev");
    if (seq == nullptr || !seq->is_int64() || seq->get_int64() < 1 || prev == nullptr || !prev->is_string()) { return result; }
    result.record.seq = static_cast<Sequence>(seq->get_int64());
    result.record.hash = hash;
    result.prev = std::string_view(prev->get_string());
    result.verified = true;
    return result;
}

/// Whether a last line that is not a record holds one all the same: then it is no torn write, which
/// ends inside its one record, but a line end that was lost.
bool holds_a_record(std::string_view line) {
    if (line.ends_with('\n')) { line.remove_suffix(1); }
    const std::size_t ending = hash_field.size() + hash_digits + 2;
    for (std::size_t at = line.find(hash_field); at != std::string_view::npos && at + ending < line.size(); at = line.find(hash_field, at + 1)) {
        if (read_line(line.substr(0, at + ending)).verified) { return true; }
    }
    const auto start = line.rfind("- {\"seq\"");
    return start != std::string_view::npos && start != 0 && read_line(line.substr(start)).verified;
}

struct Contents {
    json::object header;
    std::string header_hash;
    std::vector<Record> records;
    std::uint64_t whole = 0;        ///< Bytes up to the end of the last whole record.
    std::string torn;               ///< What follows them.
};

Result<Contents> parse_journal(std::string_view bytes, const fs::path& path) {
    const auto corrupt = [&](std::size_t offset, Sequence sequence, const std::string& what) {
        const std::string place = sequence == 0 ? "header" : "record " + std::to_string(sequence);
        return Error{"AF-JRNL-002", "The journal does not verify at " + place + ", byte " + std::to_string(offset) + ": " + what, path.string(),
                     "It was changed or damaged after it was written; restore the file from a backup.", ErrorKind::corrupt};
    };
    Contents contents;
    constexpr std::string_view mark = "agentforge_journal: ";
    if (const auto line = bytes.substr(0, bytes.find('\n')); !bytes.starts_with(format_line) && line.starts_with(mark) && line.size() > mark.size() && line.size() < mark.size() + 10 &&
                                                             line.find_first_not_of("0123456789", mark.size()) == std::string_view::npos && line[mark.size()] != '0') {
        return Error{"AF-JRNL-008", "The journal is of format " + std::string(line.substr(mark.size())) + ", and this version of agentforge knows format 1", path.string() + ":1",
                     "Use the version of agentforge that wrote it, or a newer one; nothing was changed.", ErrorKind::unavailable};
    }
    if (!bytes.starts_with(format_line)) { return corrupt(0, 0, "the first line is not `agentforge_journal: 1`"); }
    std::size_t offset = format_line.size();
    for (;;) {
        const auto end = bytes.find('\n', offset);
        if (end == std::string_view::npos) { return corrupt(offset, 0, "the line `actions:` is missing"); }
        const std::string_view line = bytes.substr(offset, end - offset);
        const std::size_t start = offset;
        offset = end + 1;
        if (line == "actions:") { break; }
        const auto colon = line.find(": ");
        if (colon == std::string_view::npos || !is_header_key(line.substr(0, colon))) { return corrupt(start, 0, "the line is not a header field"); }
        const std::string_view key = line.substr(0, colon);
        auto value = parse_json(line.substr(colon + 2), path.string());
        if (!value.ok()) { return corrupt(start, 0, "the field '" + std::string(key) + "' cannot be read"); }
        if (!contents.header.emplace(key, std::move(value).value()).second) { return corrupt(start, 0, "the field '" + std::string(key) + "' stands twice"); }
    }
    contents.header_hash = hash_of(contents.header);
    std::string_view previous = contents.header_hash;
    while (offset < bytes.size()) {
        const Sequence sequence = contents.records.size() + 1;
        const auto end = bytes.find('\n', offset);
        const bool last = end == std::string_view::npos || end + 1 == bytes.size();
        Line line = end == std::string_view::npos ? Line() : read_line(bytes.substr(offset, end - offset));
        if (!line.object) {
            if (!last || holds_a_record(bytes.substr(offset))) { return corrupt(offset, sequence, "the line is not a record"); }
            contents.torn = bytes.substr(offset);
            break;
        }
        if (!line.verified) { return corrupt(offset, sequence, "its hash is wrong"); }
        if (line.record.seq != sequence) { return corrupt(offset, sequence, "record " + std::to_string(line.record.seq) + " stands in its place"); }
        if (line.prev != previous) { return corrupt(offset, sequence, sequence == 1 ? "it does not follow this header" : "it does not follow the record before it"); }
        contents.records.push_back(std::move(line.record));
        previous = contents.records.back().hash;
        offset = end + 1;
    }
    contents.whole = bytes.size() - contents.torn.size();
    return contents;
}

Error missing(const fs::path& path) {
    return Error{"AF-JRNL-007", "There is no journal", path.string(), "Check the task's id; its folder may be incomplete.", ErrorKind::not_found};
}

FileDescriptor open_file(const fs::path& path, int flags) {
    int descriptor = -1;
    do {
        descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    } while (descriptor < 0 && errno == EINTR);
    return FileDescriptor(descriptor);
}

Result<std::string> read_journal_bytes(const fs::path& path) {
    auto bytes = read_file(path, 8ULL << 30U);
    if (!bytes.ok() && bytes.error().kind == ErrorKind::not_found) { return missing(path); }
    return bytes;
}

}  // namespace

Journal::Journal(std::unique_ptr<State> state) : state_(std::move(state)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Result<Journal> Journal::create(const fs::path& path, const json::object& header, JournalDisk& disk) {
    json::object stored = header;
    if (auto problem = make_storable(stored, 1); !problem.empty()) { return bad_body("in the header, " + problem, path); }
    std::string text(format_line);
    for (const auto& field : stored) {
        const std::string_view key = field.key();
        if (!is_header_key(key)) { return bad_body("'" + ellipsis(key, 60) + "' cannot be a header field", path); }
        text += key;
        text += ": ";
        text += to_json_line(field.value());
        text += '\n';
    }
    text += actions_line;
    if (auto made = create_file_exclusive(path, text, Durability::synced); !made.ok()) {
        if (made.error().kind != ErrorKind::conflict) { return std::move(made).error(); }
        return Error{"AF-JRNL-001", "The journal exists already", path.string(), "Resume the task instead of starting it again.", ErrorKind::conflict};
    }
    return open(path, disk);
}

Result<Journal> Journal::open(const fs::path& path, JournalDisk& disk, const Accept& accept) {
    auto state = std::make_unique<State>();
    state->path = path;
    state->disk = &disk;
    state->file = open_file(path, O_RDWR | O_APPEND);
    if (!state->file.valid()) {
        const int error = errno;
        if (error == ENOENT || error == ENOTDIR) { return missing(path); }
        return io_error("The journal could not be opened", path, error);
    }
    AF_TRY(const std::string bytes, read_journal_bytes(path));
    AF_TRY(Contents contents, parse_journal(bytes, path));
    if (accept) { AF_CHECK(accept(contents.header, contents.records)); }
    if (!contents.torn.empty()) {
        state->recovery.torn_tail = true;
        state->recovery.torn_bytes = contents.torn.size();
        for (unsigned n = 1;; ++n) {
            const fs::path aside = path.string() + ".torn-" + std::to_string(n);
            std::error_code ignored;
            if (fs::exists(fs::symlink_status(aside, ignored))) { continue; }
            auto saved = create_file_exclusive(aside, contents.torn, Durability::synced);
            if (saved.ok()) {
                state->recovery.torn_file = aside.string();
                break;
            }
            if (saved.error().kind != ErrorKind::conflict) { return std::move(saved).error(); }
        }
        if (disk.truncate(state->file.get(), contents.whole) != 0) { return io_error("The torn end of the journal could not be cut off", path, errno); }
        if (disk.sync(state->file.get()) != 0) { return io_error("The journal could not be brought to disk", path, errno); }
    }
    state->header = std::move(contents.header);
    state->records = std::move(contents.records);
    state->size = contents.whole;
    state->head.hash = contents.header_hash;
    if (!state->records.empty()) { state->head = {state->records.back().seq, state->records.back().hash}; }
    return Journal(std::move(state));
}

Result<std::vector<Record>> Journal::read(const fs::path& path, Recovery* recovery) {
    AF_TRY(const std::string bytes, read_journal_bytes(path));
    AF_TRY(Contents contents, parse_journal(bytes, path));
    if (recovery != nullptr) { *recovery = {!contents.torn.empty(), "", contents.torn.size()}; }
    return std::move(contents.records);
}

bool Journal::ends_with(const fs::path& path, std::string_view hash) {
    const std::string end = std::string(hash_field) + std::string(hash) + "\"}\n";
    const FileDescriptor file = open_file(path, O_RDONLY);
    struct stat status {};
    if (hash.size() != hash_digits || !file.valid() || ::fstat(file.get(), &status) != 0 || status.st_size < static_cast<off_t>(end.size())) { return false; }
    std::string tail(end.size(), '\0');
    const ssize_t count = ::pread(file.get(), tail.data(), tail.size(), status.st_size - static_cast<off_t>(end.size()));
    return count == static_cast<ssize_t>(end.size()) && tail == end;
}

bool is_storable(const json::value& value) { return is_storable_at(value, 1); }

Result<void> Journal::prepare(json::object& body) const {
    for (const std::string_view reserved : {"seq", "prev", "hash"}) {
        if (body.contains(reserved)) { return bad_body("the field '" + std::string(reserved) + "' is the journal's own", state_->path); }
    }
    if (const auto* type = body.if_contains("type"); type == nullptr || !type->is_string() || type->get_string().empty()) {
        return bad_body("it has no type", state_->path);
    }
    if (auto problem = make_storable(body, 1); !problem.empty()) { return bad_body(problem, state_->path); }
    return {};
}

Result<Record> Journal::append(json::object body) {
    State& state = *state_;
    if (state.poisoned) {
        return Error{"AF-JRNL-004", "The journal takes no further records after a failed append", state.path.string(),
                     "Resume the task: that opens the journal again and verifies it.", ErrorKind::io};
    }
    Record record;
    record.seq = state.head.seq + 1;
    AF_CHECK(prepare(body));
    record.body.reserve(body.size() + 3);
    record.body.emplace("seq", static_cast<std::int64_t>(record.seq));
    for (auto& field : body) { record.body.emplace(field.key(), std::move(field.value())); }
    record.body.emplace("prev", state.head.hash);

    // Serialised once: the text that is hashed, then the hash put before its closing brace.
    std::string line = "- ";
    append_json_line(line, record.body);
    record.hash = sha256(std::string_view(line).substr(2));
    line.pop_back();
    line += hash_field;
    line += record.hash;
    line += "\"}\n";
    record.body.emplace("hash", record.hash);

    struct stat status {};
    if (::fstat(state.file.get(), &status) != 0) {
        state.poisoned = true;
        return io_error("The journal could not be examined", state.path, errno);
    }
    if (status.st_nlink == 0 || static_cast<std::uint64_t>(status.st_size) != state.size) {
        state.poisoned = true;
        return Error{"AF-JRNL-006", status.st_nlink == 0 ? "The journal was deleted or replaced while it was in use" : "Something else wrote to the journal while it was in use",
                     state.path.string(), "Only one process may work on a task; resume the task to verify the journal.", ErrorKind::conflict};
    }
    const auto fail = [&](const char* what, int error) {
        state.poisoned = true;
        Error result = io_error(what, state.path, error);
        if (state.disk->truncate(state.file.get(), state.size) != 0) { result.message += " (nor could the incomplete record be cut off: " + errno_text(errno) + ")"; }
        return result;
    };
    std::string_view rest = line;
    while (!rest.empty()) {
        const long written = state.disk->write(state.file.get(), rest.data(), rest.size());
        if (written < 0 && errno == EINTR) { continue; }
        if (written <= 0) { return fail("The record could not be written", written < 0 ? errno : EIO); }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    // Never tried again: a second fdatasync may report success for pages that the first one dropped.
    if (state.disk->sync(state.file.get()) != 0) { return fail("The record could not be brought to disk", errno); }
    state.size += line.size();
    state.head = {record.seq, record.hash};
    return record;
}

const JournalHead& Journal::head() const noexcept { return state_->head; }
const std::vector<Record>& Journal::records() const noexcept { return state_->records; }
void Journal::forget_records() noexcept { std::vector<Record>().swap(state_->records); }
const json::object& Journal::header() const noexcept { return state_->header; }
const Recovery& Journal::recovery() const noexcept { return state_->recovery; }

}  // namespace agentforge::kernel
