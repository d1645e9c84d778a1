// SPDX-License-Identifier: Apache-2.0
#include "plugins/check/call_watchdog.hpp"

#include <unistd.h>

namespace agentforge::kernel {

CallWatchdog::CallWatchdog(const CheckReporter& reporter, std::chrono::milliseconds limit)
    : reporter_(reporter), limit_(limit), thread_(std::thread([this] { watch(); })) {}

CallWatchdog::~CallWatchdog() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void CallWatchdog::begin() { set(std::chrono::steady_clock::now() + limit_); }

void CallWatchdog::end() { set(std::nullopt); }

void CallWatchdog::set(std::optional<std::chrono::steady_clock::time_point> until) {
    {
        const std::lock_guard lock(mutex_);
        until_ = until;
    }
    changed_.notify_all();
}

void CallWatchdog::watch() {
    std::unique_lock lock(mutex_);
    while (!over_) {
        if (!until_) {
            changed_.wait(lock);
        } else if (std::chrono::steady_clock::now() >= *until_) {
            reporter_.hang();
            ::_exit(97);
        } else {
            const auto until = *until_;
            changed_.wait_until(lock, until);
        }
    }
}

}  // namespace agentforge::kernel
