// SPDX-License-Identifier: Apache-2.0
// The host as a running stage sees it. Each call that does something is a durable unit: journaled
// with its place (stage, visit, call index) and the hash of its input; after a crash `execute` is
// entered again and finished calls answer from the journal.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include <agentforge/stage.hpp>

#include "pipeline/agent/agent_session.hpp"

namespace agentforge::kernel {

class StageHost final : public StageContext {
public:
    /// For the stage that the task's state stands on, in its current visit.
    [[nodiscard]] static Result<std::unique_ptr<StageHost>> enter(TaskSession& session, TaskWorkspace& task_workspace,
                                                                  TaskServices& services);
    ~StageHost();

    /// Measures the suite on the user's commit before the stage begins, if this stage or a later one is judged against it.
    /// Journaled once per task; the stage's clock is stopped meanwhile.
    [[nodiscard]] Result<void> measure_before();
    /// From now on every call fails as cancelled: the stage's time is over and nobody listens any more.
    void abandon() noexcept;
    /// Ends the tool servers of this visit; on the thread that ran the stage. What one wrote after its last call is taken back:
    /// no step records it.
    void end_servers();
    /// Where a stage that is a process runs.
    [[nodiscard]] ServerPlace process_place();
    [[nodiscard]] StageClock& stage_clock() noexcept;
    /// An error that must end the visit whatever the stage returns: the journal could not be written, a replayed call does
    /// not match, the model cannot be reached. Empty where there is none.
    [[nodiscard]] std::optional<Error> fatal() const;
    /// AF-ORCH-029 where the stage, entered again, has returned without a call that it made before the interruption.
    [[nodiscard]] std::optional<Error> left_out() const;
    /// What the agent of `run_contract` asked a person, whose answer can only be an error there (AF-ORCH-004). A stage that fails
    /// with that error asks.
    [[nodiscard]] const std::optional<EscalationRequest>& asked() const noexcept { return asked_; }

    [[nodiscard]] bool cancelled() const noexcept override;
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override;
    void log(LogLevel level, std::string_view message, const json::object& fields) override;
    void progress(std::string_view text) override;
    [[nodiscard]] std::chrono::system_clock::time_point now() override;

    [[nodiscard]] const StageInput& input() const noexcept override;
    [[nodiscard]] Result<AgentOutcome> run_agent(const AgentRun& given) override;
    [[nodiscard]] Workspace& workspace() noexcept override;
    [[nodiscard]] Result<ProcessResult> run_process(const ProcessSpec& spec) override;
    [[nodiscard]] Result<GateReport> run_gate(const GateRequest& request) override;
    [[nodiscard]] Result<std::vector<Change>> write_skeleton(const std::vector<SkeletonInterface>& interfaces) override;
    [[nodiscard]] Result<Delivery> deliver(const DeliveryRequest& request) override;
    [[nodiscard]] Result<json::object> run_contract(std::string_view contract, const json::object& inputs) override;
    [[nodiscard]] Result<json::value> parse_yaml(std::string_view text) override;

private:
    class Calls;
    class DurableWorkspace;
    StageHost();
    std::unique_ptr<Calls> calls_;
    std::unique_ptr<DurableWorkspace> workspace_;
    std::optional<EscalationRequest> asked_;
};

}  // namespace agentforge::kernel
