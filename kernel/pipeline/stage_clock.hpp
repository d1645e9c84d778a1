// SPDX-License-Identifier: Apache-2.0
// The time that a stage's agents have used.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/clock.hpp"

namespace agentforge::kernel {

/// A stage's clock: counts agent time. It stands still while a gate measures, so a long test suite does not use up the stage's
/// time. One thread runs it; another may read `deadline`.
class StageClock {
public:
    StageClock(const Clock& clock, std::chrono::milliseconds limit) : clock_(clock), start_(clock.steady()), limit_(limit) {}
    [[nodiscard]] std::chrono::steady_clock::time_point deadline() const noexcept {
        const std::int64_t since = paused_since_ms_.load();
        const std::int64_t paused = since == running ? 0 : elapsed().count() - since;
        return start_ + limit_ + std::chrono::milliseconds(excluded_ms_.load() + paused);
    }
    [[nodiscard]] bool expired() const { return clock_.steady() >= deadline(); }
    /// Stops a clock during its lifetime. Not nested.
    class Pause {
    public:
        explicit Pause(StageClock& clock) : clock_(clock) { clock_.paused_since_ms_ = clock_.elapsed().count(); }
        ~Pause() {
            clock_.excluded_ms_ += clock_.elapsed().count() - clock_.paused_since_ms_.load();
            clock_.paused_since_ms_ = running;
        }
        Pause(const Pause&) = delete;
        Pause& operator=(const Pause&) = delete;

    private:
        StageClock& clock_;
    };
    [[nodiscard]] std::chrono::milliseconds elapsed() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.steady() - start_);
    }
    [[nodiscard]] std::chrono::milliseconds limit() const noexcept { return limit_; }

private:
    static constexpr std::int64_t running = -1;
    const Clock& clock_;
    std::chrono::steady_clock::time_point start_;
    std::chrono::milliseconds limit_;
    std::atomic<std::int64_t> excluded_ms_{0};
    std::atomic<std::int64_t> paused_since_ms_{running};
};

}  // namespace agentforge::kernel
