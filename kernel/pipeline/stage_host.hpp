// SPDX-License-Identifier: Apache-2.0
// The host of a running stage. Each call with an effect is durable (durable_calls.hpp): journaled with its place (stage, visit,
// call index) and the hash of its input. After a crash `execute` runs again, and finished calls are answered from the journal.
#pragma once

#include <memory>
#include <string>

#include <agentforge/stage.hpp>

#include "pipeline/durable_calls.hpp"
#include "pipeline/durable_workspace.hpp"

namespace agentforge::kernel {

class StageHost final : public StageContext {
public:
    /// Creates the host for the current visit of the current stage.
    [[nodiscard]] static Result<std::unique_ptr<StageHost>> enter(TaskSession& session, TaskWorkspace& task_workspace,
                                                                  TaskServices& services);
    ~StageHost();

    /// Measures the suite on the user's commit before the stage begins, if this stage or a later one is judged against it.
    /// Journaled once per task. Stops the stage's clock during the measurement.
    [[nodiscard]] Result<void> measure_before();
    /// Makes every later call fail as cancelled, because the stage's time is over.
    void abandon() noexcept;
    /// Ends the tool servers of this visit. Call on the thread that ran the stage. Reverts what a server wrote after its last
    /// call, because no step records it.
    void end_servers();
    /// Returns the sandbox of a stage process.
    [[nodiscard]] ServerPlace process_place();
    [[nodiscard]] StageClock& stage_clock() noexcept;
    /// Returns an error that ends the visit whatever the stage returns, such as a failed journal write, a replayed call that does
    /// not match, or an unreachable model. Empty if there is none.
    [[nodiscard]] std::optional<Error> fatal() const;
    /// Returns AF-ORCH-029 if the stage ran again after an interruption and did not repeat a call that it had made before.
    [[nodiscard]] std::optional<Error> missing_call() const;
    /// Returns an agent's question in `run_contract`, which can return it only as an error (AF-ORCH-004). If the stage fails with
    /// that error, the question goes to a person.
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
    StageHost();
    std::unique_ptr<DurableCalls> calls_;
    std::unique_ptr<DurableWorkspace> workspace_;
    std::optional<EscalationRequest> asked_;
};

}  // namespace agentforge::kernel
