// SPDX-License-Identifier: Apache-2.0
#include "pipeline/watchdog.hpp"

#include "pipeline/agent_run/run_role.hpp"
#include "pipeline/guarded_call.hpp"
#include "pipeline/process_requests.hpp"

namespace agentforge::kernel {
namespace {

/// Decides when to give up the thread that makes these calls: when its own deadline or that of its current model call has passed.
class CallDeadline {
public:
    explicit CallDeadline(TaskServices& services) : services_(services) {}
    [[nodiscard]] const std::shared_ptr<CallWatch>& watch() const { return watch_; }
    bool ended(std::chrono::steady_clock::time_point deadline) {
        const auto now = services_.clock.steady();
        if (now >= deadline + services_.hang_grace) { return true; }
        if (services_.model_limit.count() == 0) { return false; }
        const auto seen = watch_->now();
        if (!seen || seen->function != "complete" || seen->number != number_) {
            number_ = seen ? seen->number : 0;
            since_ = now;
            return false;
        }
        model_ = now >= since_ + services_.model_limit + services_.hang_grace;
        return model_;
    }
    /// Returns text such as ` by its deadline of 300 s and was abandoned: the tool `x` of plugin `y` hung in call()`.
    [[nodiscard]] std::string words(std::chrono::milliseconds limit) const {
        const std::string seconds = std::to_string((model_ ? services_.model_limit : limit).count() / 1000) + " s";
        return (model_ ? " within " + seconds + ", the limit for one model call, and was abandoned"
                       : " by its deadline of " + seconds + " and was abandoned") +
               culprit_;
    }
    [[nodiscard]] std::string where(std::string otherwise) const { return callee_.empty() ? std::move(otherwise) : callee_; }
    /// Notes which call hangs. Call it when giving up.
    void note() {
        culprit_ = watch_->culprit();
        if (const auto seen = watch_->now()) { callee_ = seen->callee; }
    }

private:
    TaskServices& services_;
    std::shared_ptr<CallWatch> watch_ = std::make_shared<CallWatch>();
    std::uint64_t number_ = 0;
    std::chrono::steady_clock::time_point since_;
    bool model_ = false;
    std::string culprit_;
    std::string callee_;
};

Error given_up(const std::string& what, const CallDeadline& call_deadline, std::chrono::milliseconds limit, std::string where) {
    return Error{
        "AF-ORCH-002", what + " did not return" + call_deadline.words(limit), call_deadline.where(std::move(where)),
        "fix the plugin: it must watch cancelled() and deadline() and use the host's services to wait; or raise the stage's timeout_seconds",
        ErrorKind::timeout};
}

template <class T>
std::optional<T> call_until_hung(OpenTask& task, CallDeadline& call_deadline, const StageClock& clock, std::function<T()> call) {
    auto result = call_guarded<T>(std::move(call), call_deadline.watch(), [&, paths = task.session->paths()] {
        forward_requests(paths, task.services.cancel);
        return call_deadline.ended(clock.deadline());
    });
    if (!result) { call_deadline.note(); }
    return result;
}

}  // namespace

Result<void> Watchdog::continue_without_thread() {
    task_.services.cancel.request();  // Ends waits of the thread.
    gave_up_ = true;
    task_.task_workspace.reset();
    AF_TRY(task_.session, task_.session->take_over());
    return {};
}

Result<StageResult> Watchdog::run_stage(const std::shared_ptr<Stage>& plugin, const std::shared_ptr<StageHost>& host) {
    // Until the thread returns, the state belongs to it.
    const std::string name = task_.stage_name();
    const std::string executor = task_.state().stage_template().executor;
    CallDeadline call_deadline(task_.services);
    auto result = call_until_hung<StageResult>(task_, call_deadline, host->stage_clock(),
                                               [plugin, host, session = task_.session, task_workspace = task_.task_workspace] {
                                                   const auto before = host->measure_before();
                                                   auto made = before.ok() ? agentforge::run_stage(*plugin, *host)
                                                                           : StageResult::failed(before.error());
                                                   host->end_servers();
                                                   return made;
                                               });
    if (result) { return std::move(*result); }
    host->abandon();
    AF_CHECK(continue_without_thread());
    return StageResult::failed(
        given_up("stage `" + name + "`", call_deadline, host->stage_clock().limit(), "plugin of stage `" + executor + "`"));
}

Result<AgentOutcome> Watchdog::run_review(const AgentRun& run, const std::shared_ptr<StageClock>& clock) {
    CallDeadline call_deadline(task_.services);
    auto result = call_until_hung<Result<AgentOutcome>>(
        task_, call_deadline, *clock,
        [run, clock, session = task_.session, task_workspace = task_.task_workspace, &services = task_.services] {
            ServerPool servers([&services](LogLevel level, std::string_view message, const json::object& fields) {
                event::Logged logged{static_cast<std::uint64_t>(level), std::string(message)};
                if (!fields.empty()) { logged.fields = fields; }
                services.events.event(logged);
            });
            auto outcome = run_role(*session, *task_workspace, services, *clock, run, 1, true, servers);
            servers.end();
            return outcome;
        });
    if (result) { return std::move(*result); }
    AF_CHECK(continue_without_thread());
    return given_up("the review by `" + run.role + "`", call_deadline, clock->limit(), "role `" + run.role + "`");
}

}  // namespace agentforge::kernel
