// SPDX-License-Identifier: Apache-2.0
// The context of a call that may be abandoned.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string_view>

#include <agentforge/host.hpp>

namespace agentforge::kernel {

/// A caller's context for other threads, with its own deadline and cancel. After `detach`, an abandoned call that returns
/// later has no effect.
class DetachableContext final : public CallContext {
public:
    DetachableContext(CallContext& outer, std::optional<std::chrono::steady_clock::time_point> deadline)
        : outer_(&outer), deadline_(deadline), now_(outer.now()) {}
    void detach() {
        const std::lock_guard lock(mutex_);
        outer_ = nullptr;
    }
    /// Call it when the result is no longer needed.
    void cancel() {
        const std::lock_guard lock(mutex_);
        cancelled_ = true;
    }
    [[nodiscard]] bool cancelled() const noexcept override {
        const std::lock_guard lock(mutex_);
        return outer_ == nullptr || cancelled_ || outer_->cancelled();
    }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return deadline_; }
    void log(LogLevel level, std::string_view message, const json::object& fields) override {
        const std::lock_guard lock(mutex_);
        if (outer_ != nullptr) { outer_->log(level, message, fields); }
    }
    void progress(std::string_view text) override {
        const std::lock_guard lock(mutex_);
        if (outer_ != nullptr) { outer_->progress(text); }
    }
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return now_; }

private:
    mutable std::mutex mutex_;
    CallContext* outer_;
    bool cancelled_ = false;
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    std::chrono::system_clock::time_point now_;
};

}  // namespace agentforge::kernel
