// SPDX-License-Identifier: Apache-2.0
#include "program/project/run_ledger.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/json_fields.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largest_ledger = 256ULL << 20U;

fs::path ledger_file(const fs::path& tasks, const std::string& name) { return tasks / ".runs" / (name + ".jsonl"); }

Error ledger_error(const char* what, const fs::path& file, int error) {
    return Error{"AF-CLI-173", std::string("the record of this run ") + what + ": " + errno_text(error), file.string(),
                 "check for free disk space, and who owns the file", ErrorKind::io};
}

}  // namespace

Result<RunLedger> RunLedger::open(const fs::path& tasks, const std::string& name) {
    RunLedger ledger;
    ledger.file_ = ledger_file(tasks, name);
    AF_CHECK(make_directories(ledger.file_.parent_path()));
    ledger.held_ = FileDescriptor(::open(ledger.file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!ledger.held_.valid()) { return ledger_error("cannot be opened", ledger.file_, errno); }
    if (::flock(ledger.held_.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) { return ledger_error("cannot be locked", ledger.file_, errno); }
        return Error{"AF-CLI-172", "another process runs these requests, or is saving its tasks", ledger.file_.string(),
                     "wait for it; `--name NAME` runs all requests of the file again as a separate run", ErrorKind::conflict};
    }
    AF_CHECK(sync_directory(ledger.file_.parent_path()));
    AF_CHECK(ledger.read());
    return ledger;
}

Result<RunLedger> RunLedger::read_unlocked(const fs::path& tasks, const std::string& name) {
    RunLedger ledger;
    ledger.file_ = ledger_file(tasks, name);
    std::error_code error;
    if (fs::exists(ledger.file_, error)) { AF_CHECK(ledger.read()); }
    return ledger;
}

Result<void> RunLedger::read() {
    AF_TRY(const std::string text, read_file(file_, largest_ledger));
    std::size_t number = 0;
    for (std::size_t at = 0; at < text.size();) {
        ++number;
        const auto end = text.find('\n', at);
        const std::string_view line = std::string_view(text).substr(at, end == std::string::npos ? std::string::npos : end - at);
        at = end == std::string::npos ? text.size() : end + 1;
        const auto entry = parse_json(line, file_.string());
        const std::string key = entry.ok() && entry->is_object() ? text_of(entry->get_object(), "key") : "";
        const std::string task = entry.ok() && entry->is_object() ? text_of(entry->get_object(), "task_id") : "";
        // A last line without a newline was written by a process that died. It created no task.
        if (end == std::string::npos && (key.empty() || task.empty())) {
            if (held_.valid() && ::ftruncate(held_.get(), static_cast<off_t>(text.size() - line.size())) != 0) {
                return ledger_error("cannot be repaired", file_, errno);
            }
            return {};
        }
        if (key.empty() || task.empty()) {
            return Error{"AF-CLI-173", "cannot read the record of this run: the line does not name a request and a task",
                         file_.string() + ":" + std::to_string(number),
                         "restore the file from a backup; without it every request runs again", ErrorKind::corrupt};
        }
        tasks_[key] = task;
    }
    return {};
}

Result<std::map<std::string, std::string>> RunLedger::reread() const {
    RunLedger now;
    now.file_ = file_;
    AF_CHECK(now.read());
    return std::move(now.tasks_);
}

Result<void> RunLedger::add(const std::string& key, const std::string& task) const {
    const FileDescriptor file(::open(file_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
    if (!file.valid()) { return ledger_error("cannot be opened", file_, errno); }
    AF_CHECK(write_all(file.get(), to_json_line(json::object{{"key", key}, {"task_id", task}}) + "\n", file_));
    return ::fdatasync(file.get()) == 0 ? Result<void>() : Result<void>(ledger_error("cannot be written", file_, errno));
}

}  // namespace agentforge::kernel
