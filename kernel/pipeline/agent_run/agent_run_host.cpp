// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/agent_run_host.hpp"

#include "base/json_fields.hpp"
#include "pipeline/agent_run/action_permit.hpp"
#include "pipeline/agent_run/progress_check.hpp"
#include "pipeline/agent_run/step_record.hpp"
#include "pipeline/tests/held_out.hpp"

namespace agentforge::kernel {

Result<void> AgentRunHost::open(bool writes) {
    AF_CHECK(workspace_.open(writes));
    AF_TRY(auto artifacts, run_.session.artifacts());
    AF_TRY(auto by_contract, run_.session.artifacts_by_contract());
    by_contract_ = as_shown(run_.state(), std::move(by_contract));
    artifacts_ = as_shown(run_.state(), std::move(artifacts));
    for (const auto& [contract, artifact] : by_contract_) { artifacts_.try_emplace(contract, artifact); }
    return {};
}

std::vector<StepRecord> AgentRunHost::finished_steps() {
    auto steps = recorded_steps(run_);
    if (steps.ok()) { return std::move(*steps); }
    broken_ = steps.error();
    return {};
}

std::optional<Completion> AgentRunHost::pending_answer(unsigned step) {
    std::optional<Completion> answer = calls_.pending_answer(step);
    if (!answer) { return answer; }
    // The answer of an agentic call includes the changes that its command made to files.
    if (const std::string tree = text_of(answer->diagnostics, "workspace_tree"); !tree.empty()) {
        if (auto adopted = workspace_.adopt(tree); !adopted.ok()) { broken_ = adopted.error(); }
    }
    return answer;
}

Result<void> AgentRunHost::require_progress() { return check_progress(run_.state(), run_.agent.role, exit_gate_); }

Result<ActionVerdict> AgentRunHost::permit(unsigned step, const ToolCall& action) { return permit_action(run_, step, action); }

void AgentRunHost::after_edit(const std::vector<std::string>& paths) {
    if (broken_) { return; }
    if (auto checked = checks_.after_edit(paths); !checked.ok()) { broken_ = checked.error(); }
}

Result<void> AgentRunHost::step_finished(StepRecord& record) {
    if (broken_) { return *broken_; }
    if (checks_.unmeasurable() && record.changes.empty()) { return *checks_.unmeasurable(); }
    AF_CHECK(record_step(run_, record));
    AF_TRY(const bool shown, show_failed(run_.session, run_.task_workspace));
    workspace_.set_tree(shown ? run_.state().tree : record.tree);
    accepted_.reset();
    if (checks_.unmeasurable()) { return *checks_.unmeasurable(); }
    return {};
}

json::object AgentRunHost::verification_status() {
    auto status = checks_.verification_status();
    if (status.ok()) { return std::move(*status); }
    broken_ = status.error();
    return {};
}

Result<void> AgentRunHost::complete(const json::object& artifact) {
    AF_CHECK(checks_.complete(artifact));
    accepted_ = artifact;
    return {};
}

Result<void> AgentRunHost::escalate(const EscalationRequest& request) {
    escalation_ = request;
    return {};
}

}  // namespace agentforge::kernel
