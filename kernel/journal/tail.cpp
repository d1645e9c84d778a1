// SPDX-License-Identifier: Apache-2.0
#include "journal/tail.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "journal/line.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t chunk_bytes = 256UL << 10U;
constexpr std::size_t header_chunk_bytes = 16UL << 10U;
constexpr std::size_t most_header_bytes = 8UL << 20U;
constexpr std::size_t most_line_bytes = 64UL << 20U;

Error cannot_read(const fs::path& path, int error) {
    return Error{"AF-JRNL-003", "The journal could not be read: " + errno_text(error), path.string(), "Check the disk and its file system.", ErrorKind::io};
}

Result<FileDescriptor> open_journal(const fs::path& path) {
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.valid()) { return file; }
    if (errno == ENOENT || errno == ENOTDIR) { return Error{"AF-JRNL-007", "There is no journal", path.string(), "Check the task's id; its folder may be incomplete.", ErrorKind::not_found}; }
    return cannot_read(path, errno);
}

/// The lines of a file from a place on, a chunk at a time.
class LineReader {
public:
    LineReader(int file, const fs::path& path, JournalOffset at) : file_(file), path_(path), at_(at), read_to_(at) {}

    /// The next whole line without its end; nothing at the end of the file, or where the last line is not whole.
    Result<bool> next(std::string_view& line) {
        std::size_t searched = begin_;
        for (;;) {
            const std::size_t end = bytes_.find('\n', searched);
            if (end != std::string::npos) {
                line = std::string_view(bytes_).substr(begin_, end - begin_);
                at_ = next_;
                next_ = at_ + line.size() + 1;
                begin_ = end + 1;
                return true;
            }
            bytes_.erase(0, begin_);
            begin_ = 0;
            searched = bytes_.size();
            if (bytes_.size() > most_line_bytes) { return corrupt_journal(path_, next_, 0, "a line has no end"); }
            AF_TRY(const bool more, fill());
            if (!more) { return false; }
        }
    }
    /// Of the line that `next` gave last.
    [[nodiscard]] JournalOffset begin() const noexcept { return at_; }
    [[nodiscard]] JournalOffset end() const noexcept { return next_; }
    /// Whether bytes follow the line that `next` gave last.
    [[nodiscard]] Result<bool> more_follows() {
        if (begin_ < bytes_.size()) { return true; }
        return fill();
    }

private:
    /// No larger than what is left: most journals are short, and memory that nobody used before costs more than reading.
    [[nodiscard]] std::size_t next_chunk() const {
        struct stat status {};
        const bool known = ::fstat(file_, &status) == 0 && status.st_size >= static_cast<off_t>(read_to_);
        return known ? std::min(chunk_bytes, static_cast<std::size_t>(status.st_size) - read_to_ + 1) : chunk_bytes;
    }

    Result<bool> fill() {
        const std::size_t had = bytes_.size();
        const std::size_t wanted = next_chunk();
        bytes_.resize(had + wanted);
        ssize_t count = -1;
        do { count = ::pread(file_, bytes_.data() + had, wanted, static_cast<off_t>(read_to_)); } while (count < 0 && errno == EINTR);
        bytes_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        if (count < 0) { return cannot_read(path_, errno); }
        read_to_ += static_cast<JournalOffset>(count);
        return count > 0;
    }

    int file_;
    const fs::path& path_;
    JournalOffset at_;
    JournalOffset read_to_;
    JournalOffset next_ = at_;
    std::string bytes_;
    std::size_t begin_ = 0;
};

}  // namespace

namespace {

/// With the records of the journal that this one goes on from.
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
    AF_TRY(const Sequence shared, read_history(path_, header_, JournalVisitor{.header = {}, .record = [&](const Record& record) { return take(record, 0); }}));
    head_ = {shared, header.hash};
    offset_ = header.bytes;
    return {};
}

Result<void> JournalTail::check_same_file() const {
    struct stat ours {};
    struct stat named {};
    const Error replaced{"AF-JRNL-006", "The journal was replaced or shortened while it was read", path_.string(), "Read it again from its beginning.", ErrorKind::conflict};
    if (::fstat(file_.get(), &ours) != 0) { return cannot_read(path_, errno); }
    if (::stat(path_.c_str(), &named) != 0 || named.st_ino != ours.st_ino || named.st_dev != ours.st_dev) { return replaced; }
    if (static_cast<JournalOffset>(ours.st_size) < offset_) { return replaced; }
    return {};
}

Result<std::size_t> JournalTail::read(const Take& take) {
    if (offset_ == 0) { AF_CHECK(open(take)); }
    AF_CHECK(check_same_file());
    LineReader lines(file_.get(), path_, offset_);
    std::size_t count = 0;
    std::string_view text;
    for (;;) {
        AF_TRY(const bool whole, lines.next(text));
        if (!whole) { return count; }
        const Sequence expected = head_.seq + 1;
        const Line line = read_line(text);
        if (!line.object) {
            AF_TRY(const bool more, lines.more_follows());
            if (!more) { return count; }        // A torn write; whoever goes on with the task sets it aside.
            return corrupt_journal(path_, lines.begin(), expected, "the line is not a record");
        }
        if (!line.verified) { return corrupt_journal(path_, lines.begin(), expected, "its hash is wrong"); }
        if (line.record.seq != expected) { return corrupt_journal(path_, lines.begin(), expected, "record " + std::to_string(line.record.seq) + " stands in its place"); }
        if (line.prev != head_.hash) { return corrupt_journal(path_, lines.begin(), expected, expected == 1 ? "it does not follow this header" : "it does not follow the record before it"); }
        AF_CHECK(take(line.record, lines.begin()));
        head_ = {expected, line.record.hash};
        offset_ = lines.end();
        ++count;
    }
}

Result<void> JournalTail::read_from(const fs::path& path, JournalOffset at, const std::function<bool(const Record& record)>& take) {
    if (at == 0) { return read_all(path, take); }
    AF_TRY(const FileDescriptor file, open_journal(path));
    LineReader lines(file.get(), path, at);
    std::string_view text;
    for (;;) {
        AF_TRY(const bool whole, lines.next(text));
        if (!whole) { return {}; }
        const Line line = read_line(text);
        if (!line.verified) { return corrupt_journal(path, lines.begin(), 0, "no record stands here"); }
        if (!take(line.record)) { return {}; }
    }
}

}  // namespace agentforge::kernel
