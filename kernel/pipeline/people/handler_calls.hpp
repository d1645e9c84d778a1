// SPDX-License-Identifier: Apache-2.0
// Calls of escalation handlers. A handler may block for as long as a person thinks, so each call runs on its own thread and can
// be given up.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <agentforge/escalation.hpp>

#include "pipeline/detachable_context.hpp"
#include "pipeline/guarded_call.hpp"
#include "pipeline/open_task.hpp"
#include "pipeline/process_requests.hpp"
#include "pipeline/stage_host.hpp"

namespace agentforge::kernel {

class HandlerCalls {
public:
    explicit HandlerCalls(OpenTask& task) : task_(task) {}

    /// Calls a handler on its own thread. `work` owns everything it uses. A handler that does not return is given up and not
    /// called again; the question stays open, and can be answered in every other way. The call is cancelled once `answered`
    /// returns true.
    template <class T>
    Result<T> call(std::shared_ptr<EscalationHandler>& asked, std::chrono::milliseconds limit,
                   std::function<Result<T>(EscalationHandler&, CallContext&)> work, const std::function<bool()>& answered = {}) {
        const StageClock clock(task_.services.clock, limit);
        KernelCallContext inner(task_.services, clock, task_.stage_name(), task_.services.clock.now());
        const auto context = std::make_shared<DetachableContext>(inner, clock.deadline());
        const auto watch = std::make_shared<CallWatch>();
        std::optional<std::chrono::steady_clock::time_point> cancelled;
        const auto give_up = [&, paths = task_.session->paths()] {
            const auto now = task_.services.clock.steady();
            forward_requests(paths, task_.services.cancel);
            // Waiting for a person is not part of a step.
            if (task_.services.cancel.step_ended() && !cancelled) { cancelled = now; }
            if (!cancelled && answered && answered()) {
                context->cancel();
                cancelled = now;
            }
            return now >= clock.deadline() + task_.services.hang_grace ||
                   (cancelled && now >= *cancelled + task_.services.hang_grace);
        };
        auto result = call_guarded<Result<T>>(
            [context, handler = asked, work = std::move(work)] { return work(*handler, *context); }, watch, give_up);
        if (result) { return std::move(*result); }
        context->detach();
        asked.reset();
        gave_up_ = true;
        const auto seen = watch->now();
        return Error{"AF-ESC-030",
                     "the escalation handler did not return by its deadline of " + std::to_string(limit.count() / 1000) +
                         " s and was abandoned" + watch->culprit(),
                     seen ? seen->callee : "escalation.handlers",
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
