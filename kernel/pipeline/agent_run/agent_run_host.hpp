// SPDX-License-Identifier: Apache-2.0
// The kernel's side of one agent run (StepHost): passes each call of the loop to the part of the run that answers it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/step_host.hpp"
#include "contracts/contract.hpp"
#include "pipeline/agent_run/model_calls.hpp"
#include "pipeline/agent_run/open_run.hpp"
#include "pipeline/agent_run/run_workspace.hpp"
#include "pipeline/agent_run/work_checks.hpp"
#include "pipeline/kernel_call_context.hpp"

namespace agentforge::kernel {

class AgentRunHost final : public StepHost {
public:
    /// `gate`: the exit gate of the run, or empty. `run` and `context` must outlive the session.
    AgentRunHost(OpenRun& run, KernelCallContext& context, std::optional<Contract> contract, std::string gate)
        : run_(run),
          context_(context),
          contract_(std::move(contract)),
          exit_gate_(std::move(gate)),
          calls_(run),
          workspace_(run),
          checks_(run, workspace_, context, contract_, exit_gate_, by_contract_) {}

    /// Call first. `writes`: whether the run may write at all. Errors: those of RunWorkspace::open and of the artifacts.
    [[nodiscard]] Result<void> open(bool writes);

    [[nodiscard]] ModelCalls& calls() noexcept { return calls_; }
    [[nodiscard]] RunWorkspace& workspace() noexcept { return workspace_; }
    /// The artifacts so far, in the form that a stage receives: by the names of stages and contracts, and by contracts only.
    [[nodiscard]] const ArtifactsByName& artifacts() const noexcept { return artifacts_; }
    [[nodiscard]] const ArtifactsByName& artifacts_by_contract() const noexcept { return by_contract_; }

    [[nodiscard]] std::vector<StepRecord> finished_steps() override;
    [[nodiscard]] std::optional<Completion> pending_answer(unsigned step) override;
    [[nodiscard]] Result<void> before_call(unsigned step, const CompletionRequest& request) override {
        return calls_.before_call(step, request);
    }
    [[nodiscard]] Error call_failed(unsigned step, const CompletionRequest& request, Error error) override {
        return calls_.call_failed(step, request, std::move(error));
    }
    [[nodiscard]] Result<void> require_progress() override;
    void step_ended() override { static_cast<void>(run_.services.cancel.step_ended()); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> call_deadline() override { return calls_.call_deadline(); }
    [[nodiscard]] SpentAttempts spent_attempts(unsigned step) override { return calls_.spent_attempts(step); }
    [[nodiscard]] Result<void> attempt_failed(unsigned step, unsigned attempt, const Error& error) override {
        return calls_.attempt_failed(step, attempt, error);
    }
    [[nodiscard]] Result<void> answer_received(unsigned step, const CompletionRequest& request,
                                               const Completion& completion) override {
        return calls_.answer_received(step, request, completion);
    }
    [[nodiscard]] Result<ActionVerdict> permit(unsigned step, const ToolCall& action) override;
    [[nodiscard]] Result<void> step_finished(StepRecord& record) override;
    [[nodiscard]] std::vector<Change> take_changes() override { return workspace_.take_changes(); }
    [[nodiscard]] std::optional<json::object> accepted_artifact() override { return accepted_; }
    [[nodiscard]] std::optional<EscalationRequest> requested_escalation() override { return escalation_; }
    [[nodiscard]] json::object verification_status() override;
    void after_edit(const std::vector<std::string>& paths) override;

    [[nodiscard]] Result<ProcessResult> run_process(const ProcessSpec& spec) override { return workspace_.run_process(spec); }
    [[nodiscard]] Result<GateReport> run_gate(const GateRequest& request) override { return checks_.run_gate(request); }
    [[nodiscard]] Result<void> complete(const json::object& artifact) override;
    [[nodiscard]] Result<void> escalate(const EscalationRequest& request) override;

    void log(LogLevel level, std::string_view message, const json::object& fields) override {
        context_.log(level, message, fields);
    }
    void progress(std::string_view text) override { context_.progress(text); }
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return context_.now(); }
    [[nodiscard]] const Redactor& redactor() const noexcept override { return run_.services.redactor; }
    [[nodiscard]] bool cancelled() const noexcept override { return context_.cancelled(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
        return context_.deadline();
    }

private:
    OpenRun& run_;
    KernelCallContext& context_;
    std::optional<Contract> contract_;
    std::string exit_gate_;
    ArtifactsByName artifacts_;
    ArtifactsByName by_contract_;
    ModelCalls calls_;
    RunWorkspace workspace_;
    WorkChecks checks_;
    std::optional<json::object> accepted_;
    std::optional<EscalationRequest> escalation_;
    std::optional<Error> broken_;  ///< An error in a function that cannot return one. The next step_finished returns it.
};

}  // namespace agentforge::kernel
