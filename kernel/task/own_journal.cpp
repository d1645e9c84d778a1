// SPDX-License-Identifier: Apache-2.0
#include "task/own_journal.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace agentforge::kernel {

namespace fs = std::filesystem;

OwnJournal::OwnJournal(fs::path folder, std::string_view task_id, Durability durability) : durability_(durability) {
    if (!folder.empty()) { file_ = std::move(folder) / task_id; }
}

bool OwnJournal::has_written(std::string_view hash) const {
    if (file_.empty() || hash.empty()) { return false; }
    const auto text = read_file(file_, 1000);
    return text.ok() && ("\n" + *text).find("\n" + std::string(hash) + "\n") != std::string::npos;
}

bool OwnJournal::note(std::string_view head, std::string_view next) {
    if (file_.empty()) { return false; }
    if (!opened_.valid()) {
        if (!make_directories(file_.parent_path()).ok()) { return false; }
        opened_ = FileDescriptor(::open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (durability_ == Durability::synced && !sync_directory(file_.parent_path()).ok()) { return false; }
    }
    const std::string text = std::string(head) + "\n" + std::string(next) + "\n";
    return opened_.valid() && ::pwrite(opened_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
           (durability_ != Durability::synced || ::fdatasync(opened_.get()) == 0);
}

}  // namespace agentforge::kernel
