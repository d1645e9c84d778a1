// SPDX-License-Identifier: Apache-2.0
#include "journal/journal_tail.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "journal/line.hpp"
#include "journal/lines.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t header_chunk_bytes = 16UL << 10U;
constexpr std::size_t most_header_bytes = 8UL << 20U;

Error cannot_read(const fs::path& path, int error) {
    return Error{"AF-JRNL-003", "Cannot read the journal: " + errno_text(error), path.string(),
                 "Check the disk and its file system.", ErrorKind::io};
}

Result<FileDescriptor> open_journal(const fs::path& path) {
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    if (file.valid() && ::fstat(file.get(), &status) == 0 && !S_ISREG(status.st_mode)) { return journal_is_no_file(path); }
    if (file.valid()) { return file; }
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) { return no_journal(path); }
    if (error == ELOOP || error == ENXIO) { return journal_is_no_file(path); }
    return cannot_read(path, error);
}

Result<std::uint64_t> size_of_file(int file, const fs::path& path) {
    struct stat status {};
    if (::fstat(file, &status) != 0) { return cannot_read(path, errno); }
    return static_cast<std::uint64_t>(status.st_size);
}

Result<void> were_read(const Lines& lines, const fs::path& path, Sequence sequence) {
    if (lines.error() != 0) { return cannot_read(path, lines.error()); }
    if (lines.too_long()) { return line_too_long(path, lines.offset(), sequence); }
    return {};
}

Result<bool> has_record_at(int file, JournalOffset at, const fs::path& path) {
    AF_TRY(const std::uint64_t size, size_of_file(file, path));
    Lines lines(file, size, at);
    Lines::Line line;
    const bool found = lines.next(line) && line.ended;
    AF_CHECK(were_read(lines, path, 0));
    return found;
}

/// Includes the records of the journal that this one continues.
Result<void> read_all(const fs::path& path, const std::function<bool(const Record& record)>& take) {
    bool stopped = false;
    const auto visit = [&](const Record& record) -> Result<void> {
        if (take(record)) { return {}; }
        stopped = true;
        return Error{};
    };
    const auto read = Journal::read(path, JournalVisitor{.header = {}, .record = visit});
    return read.ok() || stopped ? Result<void>() : Result<void>(read.error());
}

}  // namespace

Result<void> JournalTail::open(const Take& take) {
    AF_TRY(file_, open_journal(path_));
    std::string bytes;
    while (bytes.find("\nactions:\n") == std::string::npos) {
        const std::size_t had = bytes.size();
        bytes.resize(had + header_chunk_bytes);
        const ssize_t count = ::pread(file_.get(), bytes.data() + had, header_chunk_bytes, static_cast<off_t>(had));
        if (count < 0 && errno != EINTR) { return cannot_read(path_, errno); }
        bytes.resize(had + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        if (count == 0 || bytes.size() > most_header_bytes) { break; }
    }
    AF_TRY(JournalHeader header, read_header(bytes, path_));
    header_ = std::move(header.fields);
    if (after_) {
        AF_TRY(const std::uint64_t size, size_of_file(file_.get(), path_));
        if (const auto sum = confirmed(path_, file_.get(), size, header.bytes, *after_)) {
            history_.assign(after_->parts.begin(), after_->parts.end() - 1);
            head_ = after_->head;
            sum_ = *sum;
            offset_ = sum->size();
            after_.reset();
            if (skipped_) { skipped_(); }
            return {};
        }
    }
    if (header_.contains("forked_from")) {
        AF_TRY(const bool began, has_record_at(file_.get(), header.bytes, path_));
        if (!began) { return {}; }
    }
    AF_TRY(SharedRecords shared, read_history(path_, header_, JournalVisitor{.header = {}, .record = [&](const Record& record) {
                                                                                 return take(record, 0);
                                                                             }}));
    history_ = std::move(shared.parts);
    first_ = shared.head.seq + 1;
    head_ = {shared.head.seq, header.hash};
    sum_.add(std::string_view(bytes).substr(0, header.bytes));
    offset_ = header.bytes;
    return {};
}

JournalMark JournalTail::mark() const { return mark_of(history_, sum_, head_); }

Result<void> JournalTail::check_same_file() const {
    struct stat ours {};
    struct stat named {};
    const Error replaced{"AF-JRNL-006", "The journal was replaced or shortened while it was being read", path_.string(),
                         "Read it again from its beginning.", ErrorKind::conflict};
    if (::fstat(file_.get(), &ours) != 0) { return cannot_read(path_, errno); }
    if (::lstat(path_.c_str(), &named) != 0 || named.st_ino != ours.st_ino || named.st_dev != ours.st_dev) { return replaced; }
    if (static_cast<JournalOffset>(ours.st_size) < offset_) { return replaced; }
    return {};
}

Result<std::size_t> JournalTail::read(const Take& take) {
    if (offset_ == 0) { AF_CHECK(open(take)); }
    if (offset_ == 0) { return 0; }
    AF_CHECK(check_same_file());
    AF_TRY(const std::uint64_t size, size_of_file(file_.get(), path_));
    Lines lines(file_.get(), size, offset_);
    std::size_t count = 0;
    Lines::Line line;
    while (lines.next(line)) {
        AF_TRY(const std::optional<Record> record, record_in(line, head_, first_, path_));
        // The record is being written, or it is a torn write. The process that resumes the task sets it aside.
        if (!record) { return count; }
        AF_CHECK(take(*record, line.offset));
        head_ = {record->seq, record->hash};
        offset_ = line.end();
        sum_.add(line.text);
        sum_.add("\n");
        ++count;
    }
    AF_CHECK(were_read(lines, path_, head_.seq + 1));
    return count;
}

Result<void> JournalTail::visit_lines(const fs::path& path, JournalOffset at,
                                      const std::function<bool(std::string_view line, JournalOffset at)>& visit) {
    AF_TRY(const FileDescriptor file, open_journal(path));
    AF_TRY(const std::uint64_t size, size_of_file(file.get(), path));
    Lines lines(file.get(), size, at);
    Lines::Line line;
    while (lines.next(line)) {
        if (!line.ended || !visit(line.text, line.offset)) { return {}; }
    }
    return were_read(lines, path, 0);
}

Result<void> JournalTail::read_from(const fs::path& path, JournalOffset at,
                                    const std::function<bool(const Record& record)>& take) {
    if (at == 0) { return read_all(path, take); }
    AF_TRY(const FileDescriptor file, open_journal(path));
    AF_TRY(const std::uint64_t size, size_of_file(file.get(), path));
    Lines lines(file.get(), size, at);
    Lines::Line text;
    while (lines.next(text)) {
        if (!text.ended) { return {}; }
        Line line = read_line(text.text);
        if (!line.verified()) { return corrupt_journal(path, text.offset, 0, "there is no record here"); }
        line.record.at = text.offset;
        if (!take(line.record)) { return {}; }
    }
    return were_read(lines, path, 0);
}

}  // namespace agentforge::kernel
