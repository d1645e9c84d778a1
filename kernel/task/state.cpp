// SPDX-License-Identifier: Apache-2.0
#include "task/state.hpp"

#include <algorithm>

#include "config/skip_condition.hpp"
#include "config/template_checks.hpp"
#include "task/state_names.hpp"

namespace agentforge::kernel {

std::string_view to_string(TaskStatus status) noexcept { return name_in(task_status_names, status); }
std::string_view to_string(StageStatus status) noexcept { return name_in(stage_status_names, status); }

std::string_view to_string(ArtifactState state) noexcept { return name_in(artifact_state_names, state); }

bool is_terminal(TaskStatus status) noexcept {
    return status == TaskStatus::completed || status == TaskStatus::failed || status == TaskStatus::aborted;
}

std::vector<std::string> TaskState::completed_stages() const {
    std::vector<std::string> names;
    for (const StageState& entry : stages) {
        if (entry.status == StageStatus::completed) { names.push_back(entry.name); }
    }
    return names;
}

std::optional<QuestionKind> TaskState::waits_for() const noexcept {
    if (is_terminal(status)) { return std::nullopt; }
    if (progress == StageProgress::escalated) { return QuestionKind::escalation; }
    if (progress == StageProgress::approving) { return QuestionKind::approval; }
    if (action && !action->id.empty()) { return QuestionKind::action; }
    return std::nullopt;
}

std::string_view TaskState::waiting_for() const noexcept {
    const auto kind = waits_for();
    return kind ? to_string(*kind) : std::string_view();
}

std::optional<OpenQuestion> open_question(const TaskState& state) {
    const auto kind = state.waits_for();
    if (kind == QuestionKind::escalation && state.escalation) {
        return OpenQuestion{*kind, state.escalation->id, state.escalation->question, {}, {}};
    }
    if (kind == QuestionKind::approval && state.approval) {
        return OpenQuestion{*kind, state.approval->id, {}, state.approval->artifact_hash, state.approval->artifact_hash};
    }
    if (kind == QuestionKind::action) {
        return OpenQuestion{*kind, state.action->id, state.action->tool, state.action->hash, state.action->blob};
    }
    return std::nullopt;
}

std::uint64_t TaskState::wall_ms() const noexcept {
    std::uint64_t total = 0;
    for (const StageState& entry : stages) { total += entry.wall_ms; }
    return total;
}

std::string_view name_of(EscalationCause cause) noexcept { return name_in(cause_names, cause); }
std::optional<EscalationCause> escalation_cause(std::string_view name) { return value_in(cause_names, name); }

std::string plan_step_text(const records::PlanStep& step) {
    return "step " + std::to_string(step.number) + " of " + std::to_string(step.of) + ": " + step.title +
           (*step.attempt > 1 ? " (try " + std::to_string(*step.attempt) + ")" : "");
}

bool is_last(const TaskState& state) {
    const std::string& name = state.stage().name;
    return state.stage_index + 1 == state.stages.size() || name == state.exit_after.value_or(state.pipeline.exit_stage) ||
           state.user_exit == name;
}

bool may_be_last(const TaskState& state) { return is_last(state) || check_exit_point(state.pipeline, state.stage().name).ok(); }

bool wants_approval(const TaskState& state) {
    const StageState& stage = state.stage();
    if (!stage.approved_hash.empty() && stage.approved_hash == stage.artifact_hash) { return false; }
    if (stage.asks || state.stage_template().approve || state.approve_stages.contains(stage.name) || iterates(state)) {
        return true;
    }
    return state.supervised && !is_last(state);
}

namespace {

/// True if a word of `skip_if` holds: an artifact makes it true, or an imported artifact is named by it.
bool word_holds(const TaskState& state, std::string_view word) {
    const auto said = [word](const auto& one) { return one.conditions.contains(std::string(word)); };
    if (std::ranges::any_of(state.stages, said)) { return true; }
    return std::ranges::any_of(state.external_inputs, [&](const auto& input) {
        return said(input.second) || is_provided_word(state.pipeline, word, input.first);
    });
}

}  // namespace
bool iterates(const TaskState& state) { return state.iterate_stages.contains(state.stage().name); }

std::optional<std::size_t> stage_before_rejected(const TaskState& state) {
    if (!iterates(state) || state.supervised) { return std::nullopt; }
    for (std::size_t index = state.stage_index; index-- > 0;) {
        if (state.stages[index].status == StageStatus::completed) { return index; }
    }
    return std::nullopt;
}

unsigned artifact_version(const StageState& stage) {
    if (stage.history.empty()) { return 1; }
    const ShownVersion& last = stage.history.back();
    const bool sent_back =
        last.decision == "revise" || last.decision == "reject";  // The result is another version, even if its text is the same.
    return !sent_back && last.artifact_hash == stage.artifact_hash ? last.version : last.version + 1;
}

ArtifactState artifact_state(const TaskState& state, std::size_t index) {
    const StageState& stage = state.stages.at(index);
    if (stage.status == StageStatus::completed) {
        return state.status == TaskStatus::completed ? ArtifactState::final : ArtifactState::approved;
    }
    if (stage.status == StageStatus::skipped || stage.visits == 0) { return ArtifactState::none; }
    const bool shown =
        index == state.stage_index && (state.progress == StageProgress::accepted || state.progress == StageProgress::approving);
    return shown ? ArtifactState::pending_review : ArtifactState::draft;
}

std::string skip_reason(const TaskState& state) {
    const StageTemplate& stage = state.stage_template();
    const auto condition = SkipCondition::parse(stage.skip_if);
    std::string reason =
        condition.ok() ? condition->reason([&](std::string_view word) { return word_holds(state, word); }) : std::string();
    if (!reason.empty()) { return reason; }
    if (state.left_out.contains(stage.name)) { return "left out"; }
    const auto entry = state.entry_stage.empty() ? std::nullopt : state.pipeline.index_of(state.entry_stage);
    if (entry && state.stage_index < *entry) { return "begins at " + state.entry_stage; }
    // The artifact of this stage was imported.
    return state.external_inputs.contains(stage.contract) ? stage.contract + "_provided" : std::string();
}

bool adopts_tests(const TaskState& state) {
    if (!writes_tests(state.stage_template())) { return false; }
    const auto input = state.external_inputs.find(state.stage_template().contract);
    return input != state.external_inputs.end() && input->second.pending;
}

bool is_imported(const TaskState& state, std::size_t stage) {
    return state.stages[stage].status == StageStatus::skipped &&
           state.external_inputs.contains(state.pipeline.stages[stage].contract);
}

DeliveryBase delivery_base(const TaskState& state) {
    const auto newest = [](const std::optional<std::string>& delivered, const std::string& otherwise) {
        return delivered.value_or("").empty() ? otherwise : *delivered;
    };
    const DeliveryFacts& delivery = state.delivery;
    return {newest(delivery.base_commit, state.base_commit), newest(delivery.base_tree, state.base_tree),
            newest(delivery.red_tree, state.red_tree)};
}

bool has_delivered(const TaskState& state) { return !state.delivery.empty() || !state.commit.empty(); }

std::string delivered_tree(const TaskState& state) {
    return state.delivery.workspace_tree == state.tree ? state.delivery.tree.value_or(state.tree) : state.tree;
}

}  // namespace agentforge::kernel
