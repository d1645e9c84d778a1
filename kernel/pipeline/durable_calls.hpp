// SPDX-License-Identifier: Apache-2.0
// The durable calls of a stage: each is journaled with its place and the hash of its input. After a crash the stage runs again,
// and the journal answers the calls that had finished.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <agentforge/stage.hpp>

#include "pipeline/kernel_call_context.hpp"
#include "pipeline/stage_clock.hpp"
#include "pipeline/task_services.hpp"
#include "pipeline/task_session.hpp"
#include "pipeline/task_workspace.hpp"
#include "servers/server_pool.hpp"
#include "tools/workspace/role_workspace.hpp"

namespace agentforge::kernel {

/// The calls of one visit. Used by the visit's thread; only `abandon` and `abandoned` may be called from another one.
class DurableCalls {
public:
    DurableCalls(TaskSession& session, TaskWorkspace& task_workspace, TaskServices& services);
    DurableCalls(const DurableCalls&) = delete;
    DurableCalls& operator=(const DurableCalls&) = delete;

    /// Call first. Errors: those of `stage_input` and of the role's rights.
    [[nodiscard]] Result<void> open();

    /// Answers from the journal, or runs the call and journals the answer. Errors: the call's own; AF-ORCH-002 the stage's time
    /// is over; AF-ORCH-007 cancelled; AF-ORCH-029 the journal has another call here.
    [[nodiscard]] Result<json::value> durable(std::string_view name, const json::object& input,
                                              const std::function<Result<json::value>()>& run,
                                              const std::optional<records::PlanStep>& plan_step = {});
    /// Adds the stage's own writes to the record of the call that made them, so a crash leaves both or neither.
    [[nodiscard]] Result<void> snapshot(const std::vector<Change>& changes);
    /// Resets the workspace to the journal's tree.
    void revert_unrecorded();
    /// Takes the outcome of work that the kernel did for the stage without a call.
    [[nodiscard]] Result<void> outside(Result<void> done);
    /// Returns an error for the first call that this visit made before an interruption and has not repeated. Ask once the stage
    /// has returned.
    [[nodiscard]] std::optional<Error> missing_call() const;
    /// Returns the error that ends the visit whatever the stage returns, if there is one.
    [[nodiscard]] std::optional<Error> fatal() const { return fatal_; }
    /// From now on every call fails as cancelled.
    void abandon() noexcept { abandoned_ = true; }
    [[nodiscard]] bool abandoned() const noexcept { return abandoned_; }

    [[nodiscard]] TaskSession& session() noexcept { return session_; }
    [[nodiscard]] TaskWorkspace& task_workspace() noexcept { return task_workspace_; }
    [[nodiscard]] TaskServices& services() noexcept { return services_; }
    [[nodiscard]] StageClock& clock() noexcept { return clock_; }
    [[nodiscard]] ServerPool& servers() noexcept { return servers_; }
    [[nodiscard]] KernelCallContext& context() noexcept { return *context_; }
    [[nodiscard]] const StageInput& input() const noexcept { return input_; }
    /// The workspace with the rights of the stage's role. Null: the stage has none.
    [[nodiscard]] RoleWorkspace* files() noexcept { return files_.get(); }
    /// Counts the visit's agent runs.
    [[nodiscard]] unsigned next_run() noexcept { return ++runs_; }
    [[nodiscard]] Stop stop() const { return Stop{&services_.cancel, std::nullopt}; }

private:
    using Known = Resumption::HostCall;

    [[nodiscard]] Result<json::value> answer(const Known& known);
    [[nodiscard]] Error cancelled_error(std::string_view name) const;
    [[nodiscard]] Error expired_error() const;
    [[nodiscard]] Error mismatch(unsigned call, std::string_view name, const std::string& hash, const Known& known) const;
    [[nodiscard]] Error not_repeated(const std::string& how) const;
    Error remember(Error error) {
        if (ends_the_visit(error) && !fatal_) { fatal_ = error; }
        return error;
    }
    template <class T>
    Result<T> keep(Result<T> result) {
        if (!result.ok() && !fatal_) { fatal_ = result.error(); }
        return result;
    }

    TaskSession& session_;
    TaskWorkspace& task_workspace_;
    TaskServices& services_;
    std::string stage_;
    unsigned visit_;
    StageClock clock_;
    std::unique_ptr<KernelCallContext> context_;
    StageInput input_;
    std::unique_ptr<RoleWorkspace> files_;
    ServerPool servers_{
        [this](LogLevel level, std::string_view message, const json::object& fields) { context_->log(level, message, fields); }};
    std::map<unsigned, Known> known_;
    unsigned count_ = 0;
    unsigned runs_ = 0;
    std::atomic<bool> abandoned_{false};
    std::optional<Error> fatal_;
    std::optional<std::pair<std::string, std::vector<records::FileChange>>> written_;  ///< Tree and changes of the current call.
};

/// Returns the error for a call that needs a role in a stage without one.
[[nodiscard]] Error no_role_for(std::string_view what);

}  // namespace agentforge::kernel
