// SPDX-License-Identifier: Apache-2.0
// Requests to stop work, and deadlines. The one who requests does not wait: work looks at its token and ends.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

namespace agentforge::kernel {

/// Asks running work to stop, at once or at the end of its current step. Any thread may use it; a signal handler may make
/// requests.
class CancelToken {
public:
    void request() noexcept { requested_.store(true, std::memory_order_release); }
    /// The same as `request` if no worker works in steps (see Steps).
    void request_at_step_end() noexcept {
        if (!in_steps_.load(std::memory_order_acquire)) { return request(); }
        at_step_end_.store(true, std::memory_order_release);
    }
    [[nodiscard]] bool requested() const noexcept { return requested_.load(std::memory_order_acquire); }
    /// True if a stop at the end of the step was requested and the step still runs.
    [[nodiscard]] bool finishing() const noexcept { return at_step_end_.load(std::memory_order_acquire) && !requested(); }
    /// Called by the worker between two steps. Returns whether to stop here. From then on a request for the end of the step
    /// counts as a request for now.
    [[nodiscard]] bool step_ended() noexcept {
        if (finishing()) { request(); }
        return requested();
    }
    void clear() noexcept {
        requested_.store(false, std::memory_order_release);
        at_step_end_.store(false, std::memory_order_release);
    }

    /// While one exists, its thread works in steps and calls `step_ended` between them. Not nested.
    class Steps {
    public:
        explicit Steps(CancelToken& token) noexcept : token_(token) { token_.in_steps_.store(true, std::memory_order_release); }
        ~Steps() {
            token_.in_steps_.store(false, std::memory_order_release);
            static_cast<void>(token_.step_ended());
        }
        Steps(const Steps&) = delete;
        Steps& operator=(const Steps&) = delete;

    private:
        CancelToken& token_;
    };

private:
    std::atomic<bool> requested_{false};
    std::atomic<bool> at_step_end_{false};
    std::atomic<bool> in_steps_{false};
    static_assert(std::atomic<bool>::is_always_lock_free);
};

/// A cancel request and a deadline, passed to every call that may take long.
struct Stop {
    const CancelToken* cancel = nullptr;
    std::optional<std::chrono::steady_clock::time_point> deadline;
    [[nodiscard]] bool cancelled() const noexcept { return cancel != nullptr && cancel->requested(); }
};

}  // namespace agentforge::kernel
