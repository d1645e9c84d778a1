// SPDX-License-Identifier: Apache-2.0
#include "program/project/journal_watch.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace agentforge::kernel {

JournalWatch::JournalWatch(const std::filesystem::path& journal) : events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    if (events_.valid()) { ::inotify_add_watch(events_.get(), journal.c_str(), IN_MODIFY | IN_DELETE_SELF); }
}

void JournalWatch::wait() const {
    pollfd watched{events_.get(), POLLIN, 0};
    constexpr int half_a_second = 500;
    if (::poll(&watched, 1, half_a_second) == 1) {
        char buffer[4096];
        while (::read(events_.get(), buffer, sizeof buffer) > 0) {}
    }
}

}  // namespace agentforge::kernel
