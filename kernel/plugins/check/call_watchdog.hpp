// SPDX-License-Identifier: Apache-2.0
// Ends the child of `plugins check` when a call takes too long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "plugins/check/check_reporter.hpp"

namespace agentforge::kernel {

/// Reports a call that exceeds the limit and ends the process with code 97. There is no other way to end a call.
class CallWatchdog {
public:
    /// Starts the watching thread. `reporter` must outlive it.
    CallWatchdog(const CheckReporter& reporter, std::chrono::milliseconds limit);
    CallWatchdog(const CallWatchdog&) = delete;
    CallWatchdog& operator=(const CallWatchdog&) = delete;
    ~CallWatchdog();

    /// A call begins.
    void begin();
    /// It returned or threw.
    void end();

private:
    void set(std::optional<std::chrono::steady_clock::time_point> until);
    void watch();

    const CheckReporter& reporter_;
    std::chrono::milliseconds limit_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<std::chrono::steady_clock::time_point> until_;
    bool over_ = false;
    std::thread thread_;  // Last: it uses the members above.
};

}  // namespace agentforge::kernel
