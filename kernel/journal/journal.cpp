// SPDX-License-Identifier: Apache-2.0
#include "journal/journal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "journal/line.hpp"
#include "journal/lines.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

long JournalDisk::write(int descriptor, const char* bytes, std::size_t count) { return ::write(descriptor, bytes, count); }
int JournalDisk::sync(int descriptor) { return ::fdatasync(descriptor); }
int JournalDisk::truncate(int descriptor, std::uint64_t size) { return ::ftruncate(descriptor, static_cast<off_t>(size)); }

JournalDisk& JournalDisk::system() {
    static JournalDisk disk;
    return disk;
}
JournalDisk& JournalDisk::unsynced() {
    class Unsynced final : public JournalDisk {
        int sync(int /*descriptor*/) override { return 0; }
    };
    static Unsynced disk;
    return disk;
}

std::string_view Record::type() const {
    const auto* value = body.if_contains("type");
    return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

std::string_view Record::previous() const {
    const json::value* const previous = body.if_contains("prev");
    return previous != nullptr && previous->is_string() ? std::string_view(previous->get_string()) : std::string_view();
}

struct Journal::State {
    fs::path path;
    FileDescriptor file;
    JournalDisk* disk = nullptr;
    json::object header;
    JournalHead head;
    Recovery recovery;
    std::vector<JournalMark::Part> history;
    RunningSum sum;          ///< Over the file up to the last whole record.
    std::uint64_t size = 0;  ///< Bytes up to there.
    bool poisoned = false;

    /// Stops all further appends, and cuts off the part of the record that was written.
    Error poison(const char* what, int error);
    /// Errors: AF-JRNL-003, AF-JRNL-006 something else changed the file.
    Result<void> check_untouched();
    Result<void> write_line(std::string_view line);
    std::function<Result<void>(std::string_view head, std::string_view next)> before_append;
};

namespace {

constexpr std::string_view actions_line = "actions:";
constexpr std::size_t deepest = 60;
constexpr std::size_t longest_key = 1000;

Error io_error(const std::string& what, const fs::path& path, int error) {
    return Error{"AF-JRNL-003", what + ": " + errno_text(error), path.string(),
                 error == ENOSPC || error == EDQUOT ? "Free some space, then resume the task."
                                                    : "Check the disk and its file system, then resume the task.",
                 ErrorKind::io};
}

Error bad_body(const std::string& what, const fs::path& path) {
    return Error{"AF-JRNL-005", "A record cannot be written: " + what, path.string(),
                 "This is a defect of the caller; please report it.", ErrorKind::invalid};
}

/// Returns empty if the value can be stored, otherwise the reason. Makes strings valid UTF-8.
std::string make_storable(json::value& value, std::size_t depth);

std::string make_storable(json::object& object, std::size_t depth) {
    if (depth > deepest) { return "it is nested deeper than " + std::to_string(deepest) + " levels"; }
    for (auto& entry : object) {
        const std::string_view key = entry.key();
        if (!is_valid_utf8(key)) { return "a key is not valid UTF-8"; }
        // A key without escapes is written as long as it is. Only the others are measured.
        if (key.size() > longest_key / 6 && to_json_line(json::value(key)).size() > longest_key) {
            return "the key '" + ellipsis(key, 60) + "' is longer than " + std::to_string(longest_key) + " bytes";
        }
        if (auto problem = make_storable(entry.value(), depth + 1); !problem.empty()) {
            return problem + " (field '" + ellipsis(key, 60) + "')";
        }
    }
    return {};
}

std::string make_storable(json::value& value, std::size_t depth) {
    switch (value.kind()) {
        case json::kind::double_:
            return "it contains a double; use an integer or a string";
        case json::kind::uint64:
            if (value.get_uint64() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
                return "it contains an integer beyond int64";
            }
            value = static_cast<std::int64_t>(value.get_uint64());  // In the type that reading it back gives.
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
        case json::kind::object:
            return make_storable(value.get_object(), depth);
        default:
            return {};
    }
}

bool is_storable_at(const json::value& value, std::size_t depth) {
    constexpr std::size_t deepest_inside = 40;  // It will be inside a record.
    if (depth > deepest_inside) { return false; }
    switch (value.kind()) {
        case json::kind::double_:
            return false;
        case json::kind::uint64:
            return value.get_uint64() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        case json::kind::string:
            return is_valid_utf8(value.get_string());
        case json::kind::array:
            return std::ranges::all_of(value.get_array(),
                                       [&](const json::value& item) { return is_storable_at(item, depth + 1); });
        case json::kind::object:
            return std::ranges::all_of(value.get_object(), [&](const json::key_value_pair& entry) {
                return entry.key().size() <= longest_key / 6 && is_valid_utf8(entry.key()) &&
                       is_storable_at(entry.value(), depth + 1);
            });
        default:
            return true;
    }
}

/// The record of another journal after which this one continues.
struct Origin {
    std::string task;
    Sequence seq = 0;
    std::string hash;
};

Result<std::optional<Origin>> read_origin(const json::object& header, const fs::path& path) {
    const json::value* const field = header.if_contains("forked_from");
    if (field == nullptr) { return std::optional<Origin>(); }
    const auto text = [&](std::string_view key) {
        const json::value* value = field->is_object() ? field->get_object().if_contains(key) : nullptr;
        return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
    };
    const json::value* const seq = field->is_object() ? field->get_object().if_contains("seq") : nullptr;
    Origin origin{text("task"),
                  seq != nullptr && seq->is_int64() && seq->get_int64() > 0 ? static_cast<Sequence>(seq->get_int64()) : 0,
                  text("hash")};
    const bool is_a_name = !origin.task.empty() && origin.task.find('/') == std::string::npos && origin.task.front() != '.';
    if (is_a_name && origin.seq > 0 && origin.hash.size() == hash_digits) { return std::optional(std::move(origin)); }
    return Error{"AF-JRNL-002", "The journal does not verify at header: the field 'forked_from' names no record of a journal",
                 path.string(), "It was changed or damaged after it was written; restore the file from a backup.",
                 ErrorKind::corrupt};
}

constexpr std::string_view history_folder = "history";
constexpr unsigned deepest_history = 1000;

fs::path history_file(const fs::path& folder, const std::string& task) { return folder / (task + ".yaml"); }

FileDescriptor open_file(const fs::path& path, int flags) {
    int descriptor = -1;
    do {
        descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    } while (descriptor < 0 && errno == EINTR);
    return FileDescriptor(descriptor);
}

/// True if the bytes of the file up to `size` end with the record of this hash.
bool ends_with_hash(int descriptor, std::uint64_t size, std::string_view hash) {
    const std::string end = std::string(hash_field) + std::string(hash) + "\"}\n";
    if (hash.size() != hash_digits || size < end.size()) { return false; }
    std::string tail(end.size(), '\0');
    const ssize_t count = ::pread(descriptor, tail.data(), tail.size(), static_cast<off_t>(size - end.size()));
    return count == static_cast<ssize_t>(end.size()) && tail == end;
}

/// The result of reading a journal to its end.
struct Contents {
    json::object header;
    JournalHead head;  ///< The header's head if there is no record.
    std::vector<JournalMark::Part> history;
    RunningSum sum;    ///< Over the bytes up to the end of the last whole record.
    std::string torn;  ///< The bytes after them.
    [[nodiscard]] std::uint64_t whole() const noexcept { return sum.size(); }
};

/// Visits the records of the journal that `origin` names, up to `end`.
Result<SharedRecords> parse_origin(const fs::path& history, const Origin& origin, Sequence end, const JournalVisitor& visitor,
                                   unsigned depth);

/// Returns the lines up to `actions:`. `lines` must be at the start of the file.
Result<std::string> header_lines(Lines& lines, const fs::path& path) {
    std::string bytes;
    Lines::Line line;
    while (lines.next(line)) {
        bytes += line.text;
        if (line.ended) { bytes += '\n'; }
        if (line.text == actions_line) { break; }
    }
    if (lines.error() != 0) { return io_error("Cannot read the journal", path, lines.error()); }
    if (lines.too_long()) { return line_too_long(path, lines.offset(), 0); }
    return bytes;
}

Result<JournalHeader> header_in(int descriptor, std::uint64_t size, const fs::path& path) {
    Lines lines(descriptor, size);
    AF_TRY(const std::string bytes, header_lines(lines, path));
    return read_header(bytes, path);
}

/// Reads one journal from its beginning to its end.
class Parser {
public:
    /// `history`: folder of the journals that this one continues. `last`: number of the record to end with; 0 reads all.
    Parser(const fs::path& path, int descriptor, std::uint64_t size, const JournalVisitor& visitor, fs::path history,
           Sequence last = 0, unsigned depth = 0)
        : path_(path),
          descriptor_(descriptor),
          size_(size),
          lines_(descriptor, size),
          visitor_(visitor),
          history_(std::move(history)),
          last_(last),
          depth_(depth) {}

    Result<Contents> parse() {
        AF_CHECK(parse_header());
        if (visitor_.header) { AF_CHECK(visitor_.header(contents_.header)); }
        AF_TRY(origin_, read_origin(contents_.header, path_));
        if (visitor_.after != nullptr && confirms(*visitor_.after)) {
            if (visitor_.skipped) { AF_CHECK(visitor_.skipped()); }
        } else {
            if (origin_) { AF_CHECK(parse_history()); }
            if (last_ != 0 && contents_.head.seq == last_) { return std::move(contents_); }
            contents_.head.hash = hash_of(contents_.header);
        }
        Lines::Line line;
        while ((last_ == 0 || contents_.head.seq < last_) && lines_.next(line)) {
            AF_TRY(const bool whole, parse_record(line));
            if (!whole) { break; }
        }
        AF_CHECK(was_read());
        if (visitor_.end) { AF_CHECK(visitor_.end(contents_.head)); }
        return std::move(contents_);
    }

private:
    [[nodiscard]] Result<void> was_read() const {
        if (lines_.error() != 0) { return io_error("Cannot read the journal", path_, lines_.error()); }
        if (lines_.too_long()) { return line_too_long(path_, lines_.offset(), contents_.head.seq + 1); }
        return {};
    }

    /// True if the mark holds. Then the next line is the one after it.
    bool confirms(const JournalMark& mark) {
        const auto sum = confirmed(path_, descriptor_, size_, contents_.sum.size(), mark);
        if (!sum) { return false; }
        contents_.history.assign(mark.parts.begin(), mark.parts.end() - 1);
        contents_.sum = *sum;
        contents_.head = mark.head;
        lines_.skip_to(sum->size());
        return true;
    }

    Result<void> parse_header() {
        AF_TRY(const std::string bytes, header_lines(lines_, path_));
        AF_TRY(JournalHeader header, read_header(bytes, path_));
        contents_.header = std::move(header.fields);
        contents_.sum.add(std::string_view(bytes).substr(0, header.bytes));
        return {};
    }

    /// Visits the records that the journal continues, up to its own first.
    Result<void> parse_history();

    /// Returns false if the line is a torn tail.
    Result<bool> parse_record(const Lines::Line& line) {
        const Sequence first = (origin_ ? origin_->seq : 0) + 1;
        AF_TRY(std::optional<Record> record, record_in(line, contents_.head, first, path_));
        if (!record) {
            contents_.torn = line.text;
            if (line.ended) { contents_.torn += '\n'; }
            return false;
        }
        contents_.head = {record->seq, record->hash};
        if (depth_ > 0) { record->at = 0; }
        if (visitor_.record) { AF_CHECK(visitor_.record(std::move(*record))); }
        contents_.sum.add(line.text);
        contents_.sum.add("\n");
        return true;
    }

    const fs::path& path_;
    int descriptor_;
    std::uint64_t size_;
    Lines lines_;
    const JournalVisitor& visitor_;
    fs::path history_;
    Sequence last_;
    unsigned depth_;
    std::optional<Origin> origin_;
    Contents contents_;
};

/// Hard-links the file, or copies it if the file system has no hard links.
Result<void> share_file(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::create_hard_link(from, to, error);
    if (!error) { return {}; }
    error.clear();
    fs::copy_file(from, to, error);
    return error ? Result<void>(io_error("The history could not be shared", to, error.value())) : Result<void>();
}

Result<std::uint64_t> size_of(const fs::path& path, const FileDescriptor& file) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) { return io_error("Cannot read the journal", path, errno); }
    if (!S_ISREG(status.st_mode)) { return journal_is_no_file(path); }
    return static_cast<std::uint64_t>(status.st_size);
}

Result<Contents> parse_journal(const fs::path& path, const FileDescriptor& file, const JournalVisitor& visitor) {
    AF_TRY(const std::uint64_t size, size_of(path, file));
    return Parser(path, file.get(), size, visitor, path.parent_path() / history_folder).parse();
}

Result<FileDescriptor> open_journal(const fs::path& path, int flags) {
    FileDescriptor file = open_file(path, flags);
    if (file.valid()) { return file; }
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) { return no_journal(path); }
    if (error == ELOOP || error == ENXIO || error == EISDIR) { return journal_is_no_file(path); }
    return io_error("Cannot open the journal", path, error);
}

Result<SharedRecords> parse_origin(const fs::path& history, const Origin& origin, Sequence end, const JournalVisitor& visitor,
                                   unsigned depth) {
    const fs::path path = history_file(history, origin.task);
    const auto broken = [&](const std::string& why) {
        return Error{"AF-JRNL-013",
                     "The journal continues record " + std::to_string(origin.seq) + " of task " + origin.task + ", and " + why,
                     path.string(), "Restore the file from a backup, or from that task's folder.", ErrorKind::corrupt};
    };
    if (depth > deepest_history) { return broken("its history contains a cycle"); }
    const auto file = open_journal(path, O_RDONLY);
    if (!file.ok()) { return broken("its history cannot be read: " + file.error().message); }
    AF_TRY(const std::uint64_t size, size_of(path, *file));
    const JournalVisitor records_only{.header = {}, .record = visitor.record};
    AF_TRY(Contents before, Parser(path, file->get(), size, records_only, history, end, depth + 1).parse());
    if (before.head.seq != end || (end == origin.seq && before.head.hash != origin.hash)) {
        return broken("its history has a different one in that place");
    }
    SharedRecords shared{before.head, std::move(before.history)};
    shared.parts.push_back({origin.task, before.sum.size(), before.sum.value()});
    return shared;
}

Result<void> Parser::parse_history() {
    const Sequence end = last_ == 0 ? origin_->seq : std::min(last_, origin_->seq);
    AF_TRY(SharedRecords shared, parse_origin(history_, *origin_, end, visitor_, depth_));
    contents_.head = std::move(shared.head);
    contents_.history = std::move(shared.parts);
    return {};
}

}  // namespace

Result<SharedRecords> read_history(const fs::path& path, const json::object& header, const JournalVisitor& visitor) {
    AF_TRY(const std::optional<Origin> origin, read_origin(header, path));
    if (!origin) { return SharedRecords(); }
    return parse_origin(path.parent_path() / history_folder, *origin, origin->seq, visitor, 0);
}

std::optional<RunningSum> confirmed(const fs::path& journal, int descriptor, std::uint64_t size, std::uint64_t header,
                                    const JournalMark& mark) {
    if (mark.parts.empty() || mark.parts.back().bytes < header || mark.parts.back().bytes > size) { return std::nullopt; }
    const JournalMark::Part& own = mark.parts.back();
    for (const JournalMark::Part& part : mark.parts) {
        if (&part == &own) { break; }
        const FileDescriptor file = open_file(history_file(journal.parent_path() / history_folder, part.task), O_RDONLY);
        const auto sum = file.valid() ? sum_of_beginning(file.get(), part.bytes) : std::nullopt;
        if (!sum || sum->value() != part.sum) { return std::nullopt; }
    }
    auto sum = sum_of_beginning(descriptor, own.bytes);
    if (!sum || sum->value() != own.sum) { return std::nullopt; }
    if (own.bytes > header && !ends_with_hash(descriptor, own.bytes, mark.head.hash)) { return std::nullopt; }
    return sum;
}

JournalMark mark_of(std::vector<JournalMark::Part> history, const RunningSum& sum, const JournalHead& head) {
    history.push_back({"", sum.size(), sum.value()});
    return {std::move(history), head};
}

Journal::Journal(std::unique_ptr<State> state) : state_(std::move(state)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Result<Journal> Journal::create(const fs::path& path, const json::object& header, JournalDisk& disk) {
    AF_CHECK(create_file(path, header));
    return open(path, disk);
}

Result<void> Journal::create_file(const fs::path& path, const json::object& header) {
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
    text += '\n';
    if (auto made = create_file_exclusive(path, text, Durability::synced); !made.ok()) {
        if (made.error().kind != ErrorKind::conflict) { return std::move(made).error(); }
        return Error{"AF-JRNL-001", "The journal already exists", path.string(), "Resume the task instead of starting it again.",
                     ErrorKind::conflict};
    }
    return {};
}

Result<Journal> Journal::open(const fs::path& path, JournalDisk& disk, const JournalVisitor& visitor) {
    auto state = std::make_unique<State>();
    state->path = path;
    state->disk = &disk;
    AF_TRY(state->file, open_journal(path, O_RDWR | O_APPEND));
    AF_TRY(Contents contents, parse_journal(path, state->file, visitor));
    if (!contents.torn.empty()) {
        state->recovery.torn_tail = true;
        state->recovery.torn_bytes = contents.torn.size();
        for (unsigned n = 1;; ++n) {
            const fs::path torn_copy = path.string() + ".torn-" + std::to_string(n);
            std::error_code ignored;
            if (fs::exists(fs::symlink_status(torn_copy, ignored))) { continue; }
            auto saved = create_file_exclusive(torn_copy, contents.torn, Durability::synced);
            if (saved.ok()) {
                state->recovery.torn_file = torn_copy.string();
                break;
            }
            if (saved.error().kind != ErrorKind::conflict) { return std::move(saved).error(); }
        }
        if (disk.truncate(state->file.get(), contents.whole()) != 0) {
            return io_error("Cannot remove the torn end of the journal", path, errno);
        }
        if (disk.sync(state->file.get()) != 0) { return io_error("Cannot sync the journal to disk", path, errno); }
    }
    state->header = std::move(contents.header);
    state->size = contents.whole();
    state->sum = contents.sum;
    state->history = std::move(contents.history);
    state->head = std::move(contents.head);
    return Journal(std::move(state));
}

Result<Recovery> Journal::read(const fs::path& path, const JournalVisitor& visitor, JournalMark* end) {
    AF_TRY(const FileDescriptor file, open_journal(path, O_RDONLY));
    AF_TRY(Contents contents, parse_journal(path, file, visitor));
    if (end != nullptr) { *end = mark_of(std::move(contents.history), contents.sum, contents.head); }
    return Recovery{!contents.torn.empty(), "", contents.torn.size()};
}

Result<Recovery> Journal::read_whole(const fs::path& path, const JournalFile& file, const JournalVisitor& visitor) {
    AF_TRY(const FileDescriptor opened, open_journal(file.path, O_RDONLY));
    AF_TRY(const std::uint64_t size, size_of(file.path, opened));
    AF_TRY(const Contents contents, Parser(file.path, opened.get(), size, visitor, path.parent_path() / history_folder).parse());
    return Recovery{!contents.torn.empty(), "", contents.torn.size()};
}

Result<std::vector<Record>> Journal::read(const fs::path& path, Recovery* recovery) {
    std::vector<Record> records;
    const auto keep = [&](Record record) -> Result<void> {
        records.push_back(std::move(record));
        return {};
    };
    AF_TRY(Recovery found, read(path, JournalVisitor{.header = {}, .record = keep}));
    if (recovery != nullptr) { *recovery = std::move(found); }
    return records;
}

Result<void> Journal::share_history(const fs::path& parent, std::string_view parent_task, const fs::path& child) {
    const fs::path folder = child.parent_path() / history_folder;
    AF_CHECK(make_directories(folder));
    AF_CHECK(share_file(parent, history_file(folder, std::string(parent_task))));
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(parent.parent_path() / history_folder, none)) {
        AF_CHECK(share_file(entry.path(), folder / entry.path().filename()));
    }
    return sync_directory(folder);
}

Result<std::vector<JournalFile>> Journal::files(const fs::path& path) {
    std::vector<JournalFile> files{{path, 0}};
    while (files.size() <= deepest_history) {
        const fs::path& last = files.back().path;
        AF_TRY(const FileDescriptor file, open_journal(last, O_RDONLY));
        AF_TRY(const std::uint64_t size, size_of(last, file));
        AF_TRY(const JournalHeader header, header_in(file.get(), size, last));
        AF_TRY(const std::optional<Origin> origin, read_origin(header.fields, last));
        if (!origin) { break; }
        const Sequence end = files.back().last == 0 ? origin->seq : std::min(origin->seq, files.back().last);
        files.push_back({history_file(path.parent_path() / history_folder, origin->task), end});
    }
    return files;
}

bool Journal::ends_with(const fs::path& path, std::string_view hash) {
    const FileDescriptor file = open_file(path, O_RDONLY);
    struct stat status {};
    return file.valid() && ::fstat(file.get(), &status) == 0 &&
           ends_with_hash(file.get(), static_cast<std::uint64_t>(status.st_size), hash);
}

JournalMark Journal::mark() const { return mark_of(state_->history, state_->sum, state_->head); }

bool is_storable(const json::value& value) { return is_storable_at(value, 1); }

Result<void> Journal::prepare(json::object& body) const {
    for (const std::string_view reserved : {"seq", "prev", "hash"}) {
        if (body.contains(reserved)) {
            return bad_body("the field '" + std::string(reserved) + "' is the journal's own", state_->path);
        }
    }
    if (const auto* type = body.if_contains("type"); type == nullptr || !type->is_string() || type->get_string().empty()) {
        return bad_body("it has no type", state_->path);
    }
    if (auto problem = make_storable(body, 1); !problem.empty()) { return bad_body(problem, state_->path); }
    return {};
}

Error Journal::State::poison(const char* what, int error) {
    poisoned = true;
    Error result = io_error(what, path, error);
    if (disk->truncate(file.get(), size) != 0) {
        result.message += " (nor could the incomplete record be cut off: " + errno_text(errno) + ")";
    }
    return result;
}

Result<void> Journal::State::check_untouched() {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) {
        poisoned = true;
        return io_error("Cannot examine the journal", path, errno);
    }
    if (status.st_nlink != 0 && static_cast<std::uint64_t>(status.st_size) == size) { return {}; }
    poisoned = true;
    return Error{"AF-JRNL-006",
                 status.st_nlink == 0 ? "The journal was deleted or replaced while it was in use"
                                      : "Something else wrote to the journal while it was in use",
                 path.string(), "Only one process may work on a task; resume the task to verify the journal.",
                 ErrorKind::conflict};
}

Result<void> Journal::State::write_line(std::string_view line) {
    std::string_view rest = line;
    while (!rest.empty()) {
        const long written = disk->write(file.get(), rest.data(), rest.size());
        if (written < 0 && errno == EINTR) { continue; }
        if (written <= 0) { return poison("Cannot write the record", written < 0 ? errno : EIO); }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    // Never retried: a second fdatasync may report success for pages that the first one dropped.
    if (disk->sync(file.get()) != 0) { return poison("Cannot sync the record to disk", errno); }
    return {};
}

namespace {

Record record_after(const JournalHead& head, json::object body) {
    Record record;
    record.seq = head.seq + 1;
    record.body.reserve(body.size() + 3);
    record.body.emplace("seq", static_cast<std::int64_t>(record.seq));
    for (auto& field : body) { record.body.emplace(field.key(), std::move(field.value())); }
    record.body.emplace("prev", head.hash);
    return record;
}

/// Gives the record its hash and returns its line. Serialised once: this text is hashed, then the hash is inserted before its
/// closing brace.
std::string seal(Record& record) {
    std::string line = "- ";
    append_json_line(line, record.body);
    record.hash = sha256(std::string_view(line).substr(2));
    line.pop_back();
    line += hash_field;
    line += record.hash;
    line += "\"}\n";
    record.body.emplace("hash", record.hash);
    return line;
}

}  // namespace

Result<Record> Journal::append(json::object body) {
    State& state = *state_;
    if (state.poisoned) {
        return Error{"AF-JRNL-004", "The journal accepts no more records after a failed append", state.path.string(),
                     "Resume the task: that opens the journal again and verifies it.", ErrorKind::io};
    }
    AF_CHECK(prepare(body));
    Record record = record_after(state.head, std::move(body));
    const std::string line = seal(record);
    if (line.size() > longest_line) {
        return bad_body("it is longer than " + std::to_string(longest_line >> 20U) + " MiB", state.path);
    }
    record.at = state.size;
    AF_CHECK(state.check_untouched());
    if (state.before_append) { AF_CHECK(state.before_append(state.head.hash, record.hash)); }
    AF_CHECK(state.write_line(line));
    state.size += line.size();
    state.sum.add(line);
    state.head = {record.seq, record.hash};
    return record;
}

void Journal::before_append(std::function<Result<void>(std::string_view head, std::string_view next)> call) {
    state_->before_append = std::move(call);
}

const JournalHead& Journal::head() const noexcept { return state_->head; }
const json::object& Journal::header() const noexcept { return state_->header; }
const Recovery& Journal::recovery() const noexcept { return state_->recovery; }

}  // namespace agentforge::kernel
