// SPDX-License-Identifier: Apache-2.0
#include "task/own_journal.hpp"

#include <array>
#include <cerrno>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

#include "journal/journal_tail.hpp"
#include "task/task_paths.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

Error cannot_note(const fs::path& file, int error) {
    return Error{"AF-TASK-018", "cannot note the next record of the task outside the repository: " + errno_text(error),
                 file.string(),
                 error == ENOSPC || error == EDQUOT
                     ? "free some space, then resume the task"
                     : "make its folder writable, or set AGENTFORGE_STATE_HOME to one that is, then resume the task",
                 ErrorKind::io};
}

}  // namespace

OwnJournal::OwnJournal(fs::path folder, const fs::path& task, Durability durability) : durability_(durability) {
    if (folder.empty()) { return; }
    file_ = std::move(folder) / task.filename();
    std::error_code error;
    const fs::path place = fs::weakly_canonical(task, error);
    task_ = error ? task.string() : place.string();
}

Result<std::optional<OwnJournal::Note>> OwnJournal::read() const {
    if (file_.empty()) { return std::optional<Note>(); }
    const auto text = read_file(file_, 10'000);
    if (text.ok()) {
        std::istringstream in(*text);
        std::array<std::string, 3> lines;  // If the path was longer before, the end of it follows.
        for (std::string& line : lines) { std::getline(in, line); }
        return std::optional(Note{lines[0], lines[1], lines[2]});
    }
    if (text.error().kind == ErrorKind::not_found) { return std::optional<Note>(); }
    return Error{"AF-TASK-018", "cannot read which record of the task this machine wrote last: " + text.error().message,
                 text.error().where, "make the file readable, or remove it: this machine then signs nothing of the task",
                 ErrorKind::io};
}

Result<bool> OwnJournal::has_written(std::string_view hash) const {
    if (hash.empty()) { return false; }
    AF_TRY(const auto note, read());
    return note && (note->head == hash || note->next == hash);
}

bool OwnJournal::Note::is_about(const fs::path& task_folder) const {
    bool found = false;
    const auto read = JournalTail::read_from(TaskPaths{task_folder}.journal(), 0, [&](const Record& each) {
        found = each.hash == head || each.hash == next;
        return !found;
    });
    return read.ok() && found;
}

Result<void> OwnJournal::check_end() const {
    AF_TRY(const auto note, read());
    if (!note || note->task != task_ || note->is_about(task_)) { return {}; }
    return Error{"AF-TASK-019",
                 "The journal lacks the last record that this machine wrote, " + note->head +
                     ": its end was cut off, or its records were replaced",
                 TaskPaths{task_}.journal().string(),
                 "Restore the journal from a backup. To continue with this one instead, remove " + file_.string() + ".",
                 ErrorKind::corrupt};
}

Result<void> OwnJournal::note(std::string_view head, std::string_view next) {
    if (file_.empty()) { return {}; }
    if (!opened_.valid()) { AF_CHECK(open()); }
    next_ = head == next ? std::string() : std::string(next);
    AF_CHECK(write(head, next));
    if (durability_ == Durability::synced && ::fdatasync(opened_.get()) != 0) { return cannot_note(file_, errno); }
    return {};
}

Result<void> OwnJournal::write(std::string_view head, std::string_view next) {
    const std::string text = std::string(head) + "\n" + std::string(next) + "\n" + task_ + "\n";
    if (::lseek(opened_.get(), 0, SEEK_SET) != 0) { return cannot_note(file_, errno); }
    errno = EIO;  // For a write of no byte, which sets none.
    return write_all(opened_.get(), text, file_).ok() ? Result<void>() : cannot_note(file_, errno);
}

void OwnJournal::wrote(std::string_view next) noexcept {
    if (opened_.valid() && next_ == next) { (void)write(next, next).ok(); }  // If this fails, `settle` reports it.
}

Result<void> OwnJournal::settle(std::string_view head) {
    return next_.empty() || next_ != head ? Result<void>() : note(head, head);
}

Result<void> OwnJournal::open() {
    AF_CHECK(make_directories(file_.parent_path()));
    FileDescriptor opened;
    do {
        opened = FileDescriptor(::open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    } while (!opened.valid() && errno == EINTR);
    if (!opened.valid()) { return cannot_note(file_, errno); }
    if (durability_ == Durability::synced) { AF_CHECK(sync_directory(file_.parent_path())); }
    opened_ = std::move(opened);
    return {};
}

}  // namespace agentforge::kernel
