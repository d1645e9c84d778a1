// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

namespace agentforge::kernel {

/// Asks running work to stop. `request` may be called from any thread and from a signal handler.
class CancelToken {
public:
    void request() noexcept { requested_.store(true, std::memory_order_release); }
    [[nodiscard]] bool requested() const noexcept { return requested_.load(std::memory_order_acquire); }
    void clear() noexcept { requested_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> requested_{false};
    static_assert(std::atomic<bool>::is_always_lock_free);
};

/// A cancel request and a point in time, handed down with every call that may take long.
struct Stop {
    const CancelToken* cancel = nullptr;
    std::optional<std::chrono::steady_clock::time_point> deadline;
    [[nodiscard]] bool cancelled() const noexcept { return cancel != nullptr && cancel->requested(); }
};

}  // namespace agentforge::kernel
