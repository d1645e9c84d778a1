// SPDX-License-Identifier: Apache-2.0
// Calls of escalation handlers. A handler may block for as long as a person thinks, so each call runs on its own thread and can
// be given up.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include <agentforge/escalation.hpp>

#include "pipeline/open_task.hpp"
#include "pipeline/process_requests.hpp"
#include "pipeline/stage_host.hpp"
#include "plugins/bounded.hpp"

namespace agentforge::kernel {

/// A context that can be detached from the run. A handler that was given up and returns later has no effect.
class LooseContext final : public CallContext {
public:
    LooseContext(KernelCallContext& inner, std::chrono::steady_clock::time_point deadline,
                 std::chrono::system_clock::time_point now)
        : inner_(&inner), deadline_(deadline), now_(now) {}
    void let_go() {
        const std::lock_guard lock(mutex_);
        inner_ = nullptr;
    }
    /// Called when the handler's answer is no longer needed.
    void cancel() {
        const std::lock_guard lock(mutex_);
        cancelled_ = true;
    }
    [[nodiscard]] bool cancelled() const noexcept override {
        const std::lock_guard lock(mutex_);
        return inner_ == nullptr || cancelled_ || inner_->cancelled();
    }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return deadline_; }
    void log(LogLevel level, std::string_view message, const json::object& fields) override {
        const std::lock_guard lock(mutex_);
        if (inner_ != nullptr) { inner_->log(level, message, fields); }
    }
    void progress(std::string_view text) override {
        const std::lock_guard lock(mutex_);
        if (inner_ != nullptr) { inner_->progress(text); }
    }
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return now_; }

private:
    mutable std::mutex mutex_;
    KernelCallContext* inner_;
    bool cancelled_ = false;
    std::chrono::steady_clock::time_point deadline_;
    std::chrono::system_clock::time_point now_;
};

class HandlerCalls {
public:
    explicit HandlerCalls(OpenTask& task) : task_(task) {}

    /// Calls a handler on its own thread. `work` owns everything it uses. A handler that does not return is given up and not
    /// called again; the question stays open, and can be answered in every other way. The call is cancelled once `answered`
    /// returns true.
    template <class T>
    Result<T> call(std::shared_ptr<EscalationHandler>& whom, std::chrono::milliseconds limit,
                   std::function<Result<T>(EscalationHandler&, CallContext&)> work, const std::function<bool()>& answered = {}) {
        const StageClock clock(task_.services.clock, limit);
        KernelCallContext inner(task_.services, clock, task_.stage_name(), task_.services.clock.now());
        const auto context = std::make_shared<LooseContext>(inner, clock.deadline(), task_.services.clock.now());
        const auto result = std::make_shared<std::optional<Result<T>>>();
        const auto watch = std::make_shared<CallWatch>();
        std::optional<std::chrono::steady_clock::time_point> cancelled;
        const bool returned =
            run_bounded([result, context, handler = whom, work = std::move(work)] { *result = work(*handler, *context); }, watch,
                        [&, paths = task_.session->paths()] {
                            const auto now = task_.services.clock.steady();
                            heed_requests(paths, task_.services.cancel);
                            // Waiting for a person is not part of a step.
                            if (task_.services.cancel.step_ended() && !cancelled) { cancelled = now; }
                            if (!cancelled && answered && answered()) {
                                context->cancel();
                                cancelled = now;
                            }
                            return now >= clock.deadline() + task_.services.hang_grace ||
                                   (cancelled && now >= *cancelled + task_.services.hang_grace);
                        });
        if (returned) { return std::move(**result); }
        context->let_go();
        whom.reset();
        gave_up_ = true;
        const auto seen = watch->now();
        return Error{"AF-ESC-030",
                     "the escalation handler did not return by its deadline of " + std::to_string(limit.count() / 1000) +
                         " s and was abandoned" + watch->culprit(),
                     seen ? seen->whom : "escalation.handlers",
                     "answer with `agentforge resolve` or `agentforge approve`, and fix the handler: it must watch deadline()",
                     ErrorKind::timeout};
    }

    /// True if a handler was given up. Its thread may still run.
    [[nodiscard]] bool gave_up() const noexcept { return gave_up_; }

private:
    OpenTask& task_;
    bool gave_up_ = false;
};

}  // namespace agentforge::kernel
