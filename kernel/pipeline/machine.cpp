// SPDX-License-Identifier: Apache-2.0
#include "pipeline/machine.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "config/gate_names.hpp"

namespace agentforge::kernel {

namespace {

using namespace effect;

std::string retries_used(const StageState& stage) {
    return "stage `" + stage.name + "` failed after " + std::to_string(stage.attempts) + " attempt(s): " + stage.error;
}

std::uint64_t spent_ms(const TaskState& state) {
    std::uint64_t total = 0;
    for (const StageState& stage : state.stages) { total += stage.duration_ms; }
    return total - std::min(total, state.spent_before_ms);
}

/// Returns a contract that the stage requires and that no stage has produced and no one has imported, or empty.
std::string missing_prerequisite(const TaskState& state) {
    for (const std::string& contract : state.stage_template().prerequisites) {
        const auto imported = state.external_inputs.find(contract);
        bool produced = imported != state.external_inputs.end() && !imported->second.pending;
        for (std::size_t index = 0; index < state.stage_index; ++index) {
            const bool done = state.stages[index].status == StageStatus::completed ||
                              (state.stages[index].status == StageStatus::skipped && !state.stages[index].artifact_hash.empty());
            produced = produced || (done && makes(state.pipeline.stages[index], contract));
        }
        if (!produced) { return contract; }
    }
    return {};
}

Effect enter(const TaskState& state) {
    const StageTemplate& stage = state.stage_template();
    if (state.stage().status == StageStatus::completed || state.stage().status == StageStatus::skipped) {
        // `advance` leaves the index at the stage where the pipeline ends.
        if (state.user_exit == stage.name) { return CompleteTask{stage.name, "user_exit"}; }
        const bool early = state.exit_after && *state.exit_after == stage.name && state.pipeline.exit_stage != stage.name;
        return CompleteTask{stage.name, early ? "early_exit" : "default_exit"};
    }
    if (state.stage().visits == 0 && !adopts_tests(state)) {
        if (const std::string reason = skip_reason(state); !reason.empty()) { return SkipStage{reason}; }
    }
    if (spent_ms(state) > static_cast<std::uint64_t>(state.pipeline.timeout.count())) {
        return FailTask{"AF-ORCH-002", "the task has used " + std::to_string(spent_ms(state) / 1000) +
                                           " s, but its pipeline allows " +
                                           std::to_string(state.pipeline.timeout.count() / 1000) + " s"};
    }
    if (const std::string contract = missing_prerequisite(state); !contract.empty()) {
        return FailTask{"AF-ORCH-032", "stage `" + stage.name + "` builds on " + std::string(article_for(contract)) + " `" +
                                           contract + "`, but no completed stage has produced one"};
    }
    return StartStage{};
}

/// True for a repeated failing action or repeated failing tests: another attempt would cost the same and fail again.
bool is_stuck(std::string_view code) { return code == "AF-AGENT-011" || code == "AF-AGENT-018"; }

/// True if the model failed in all its attempts. A person's guidance can help then, unlike with a broken plugin.
bool is_the_agents_failure(std::string_view code) {
    return is_stuck(code) || code == "AF-AGENT-010" || code == "AF-AGENT-012" || code == "AF-STAGE-050";
}

/// Returns the earlier stage whose work its gate has verified, if this stage only changes that work. Otherwise returns empty.
std::string verified_before(const TaskState& state) {
    std::string found;
    if (exit_gate(state.stage_template()).empty()) { return found; }
    for (std::size_t index = 0; index < state.stage_index; ++index) {
        const bool verifies = gate_facts(exit_gate(state.pipeline.stages[index])).verifies_the_change &&
                              state.stages[index].status == StageStatus::completed;
        if (verifies) { found = state.stages[index].name; }
    }
    return found;
}

Effect after_failure(const TaskState& state) {
    const StageTemplate& limits = state.stage_template();
    const StageState& stage = state.stage();
    if (stage.attempts == 0) {
        // The contract or a reviewer refused the artifact.
        if (stage.contract_retries > limits.max_contract_retries) {
            return EscalateLimit{EscalationCause::contract_retries, "stage `" + stage.name +
                                                                        "` could not produce a valid artifact in " +
                                                                        std::to_string(stage.contract_retries) + " tries"};
        }
        if (stage.reviews > 0 && stage.reviews >= limits.max_reviews) {
            return EscalateLimit{EscalationCause::review, "review issues of stage `" + stage.name + "` are not resolved after " +
                                                              std::to_string(stage.reviews) + " round(s)"};
        }
        return StartStage{};
    }
    const bool stuck = is_stuck(state.error_code);
    if (!stuck && stage.attempts <= limits.max_retries) { return StartStage{}; }
    const std::string reason = stuck ? "stage `" + stage.name + "` was stopped: " + stage.error : retries_used(stage);
    if (const std::string done = verified_before(state); !done.empty()) {
        return EscalateLimit{EscalationCause::attempts, reason + " (the verified work of stage `" + done + "` is kept)"};
    }
    if (is_the_agents_failure(state.error_code)) { return EscalateLimit{EscalationCause::attempts, reason}; }
    return FailTask{state.error_code.empty() ? "AF-ORCH-001" : state.error_code, reason};
}

Effect after_acceptance(const TaskState& state) {
    for (const std::string& reviewer : state.stage_template().reviewers) {
        if (!state.reviewed_by.contains(reviewer)) { return ReviewStage{reviewer}; }
    }
    if (wants_approval(state)) { return RequestApproval{}; }
    if (adopts_tests(state)) { return SkipStage{skip_reason(state)}; }
    return CompleteStage{};
}

Effect after_question(const TaskState& state) {
    if (state.stage().escalations >= max_escalations_per_stage) {
        return FailTask{"AF-ORCH-004", "stage `" + state.stage().name + "` asked a person " +
                                           std::to_string(max_escalations_per_stage) + " times and still cannot continue"};
    }
    return RaiseEscalation{};
}

Effect after_cycle_request(const TaskState& state) {
    const auto target = state.pipeline.index_of(state.cycle_to);
    const unsigned cycles = state.stages[*target].cycles - state.stages[*target].cycles_before;
    if (cycles >= state.pipeline.stages[*target].max_cycles) {
        return EscalateLimit{EscalationCause::cycle_limit, "stage `" + state.cycle_to + "` was sent back " +
                                                               std::to_string(cycles) +
                                                               " time(s), its limit: " + state.cycle_reason};
    }
    return StartCycle{state.cycle_to, state.cycle_reason};
}

}  // namespace

Effect next(const TaskState& state) {
    if (state.task_id.empty() || is_terminal(state.status)) { return Rest{}; }
    if (!state.waiting_for().empty()) { return AwaitPerson{}; }
    if (state.status != TaskStatus::running) { return Rest{}; }
    if (state.action) { return AskAction{}; }
    switch (state.progress) {
        case StageProgress::not_started:
            if (state.stage().iterations > state.stage_template().max_iterations) {
                return EscalateLimit{EscalationCause::iteration_limit, "stage `" + state.stage().name + "` was revised " +
                                                                           std::to_string(state.stage_template().max_iterations) +
                                                                           " time(s), its limit"};
            }
            return enter(state);
        case StageProgress::executing:
            return RunStage{};
        case StageProgress::accepted:
            return after_acceptance(state);
        case StageProgress::asking:
            return after_question(state);
        case StageProgress::cycling:
            return after_cycle_request(state);
        case StageProgress::failed:
            return after_failure(state);
        case StageProgress::escalated:
        case StageProgress::approving:
            break;
    }
    return AwaitPerson{};
}

std::string_view name_of(const Effect& effect) noexcept {
    struct Names {
        std::string_view operator()(const StartStage&) const { return "start_stage"; }
        std::string_view operator()(const RunStage&) const { return "run_stage"; }
        std::string_view operator()(const SkipStage&) const { return "skip_stage"; }
        std::string_view operator()(const ReviewStage&) const { return "review_stage"; }
        std::string_view operator()(const StartCycle&) const { return "start_cycle"; }
        std::string_view operator()(const RequestApproval&) const { return "request_approval"; }
        std::string_view operator()(const RaiseEscalation&) const { return "raise_escalation"; }
        std::string_view operator()(const EscalateLimit&) const { return "escalate_limit"; }
        std::string_view operator()(const AskAction&) const { return "ask_action"; }
        std::string_view operator()(const AwaitPerson&) const { return "await_person"; }
        std::string_view operator()(const CompleteStage&) const { return "complete_stage"; }
        std::string_view operator()(const CompleteTask&) const { return "complete_task"; }
        std::string_view operator()(const FailTask&) const { return "fail_task"; }
        std::string_view operator()(const Rest&) const { return "rest"; }
    };
    return std::visit(Names{}, effect);
}

}  // namespace agentforge::kernel
