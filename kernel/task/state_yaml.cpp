// SPDX-License-Identifier: Apache-2.0
// state.yaml: a task's state for people and for tools that read it.
#include "task/stage_yaml.hpp"
#include "task/state.hpp"
#include "task/state_fields.hpp"
#include "task/state_names.hpp"

namespace agentforge::kernel {

namespace {

void set_optional(json::object& object, std::string_view key, const std::optional<std::string>& value) {
    if (value) {
        object[key] = *value;
    } else {
        object[key] = nullptr;
    }
}

json::object held_out_to_json(const HeldOutTests& held) {
    json::object failures;
    for (const auto& [file, count] : held.failures) { failures[file] = count; }
    return {{"red_tree", held.red_tree},       {"files", to_array(held.files)}, {"shown", to_array(held.shown)},
            {"failures", std::move(failures)}, {"reason", held.reason},         {"hidden", held.hidden}};
}

HeldOutTests held_out_from(StateFields& fields) {
    HeldOutTests held;
    held.red_tree = fields.text("red_tree");
    held.files = fields.texts("files");
    held.shown = fields.texts("shown");
    held.reason = fields.text("reason");
    held.hidden = fields.boolean("hidden");
    const json::object& failures = fields.object("failures");
    StateFields counts(failures);
    for (const auto& [file, count] : failures) { held.failures[std::string(file)] = static_cast<unsigned>(counts.number(file)); }
    return held;
}

json::object external_to_json(const std::map<std::string, ExternalInput, std::less<>>& inputs) {
    json::object result;
    for (const auto& [contract, input] : inputs) {
        result[contract] = {{"name", input.name},
                            {"source", input.source},
                            {"source_path", input.source_path},
                            {"source_task", input.source_task},
                            {"artifact", input.artifact},
                            {"validation_hash", input.hash},
                            {"pending", input.pending},
                            {"conditions", to_array(input.conditions)},
                            {"imported_at", input.imported_at}};
    }
    return result;
}

ExternalInput external_from(StateFields& fields) {
    ExternalInput input;
    input.name = fields.text("name");
    input.source = fields.text("source");
    input.source_path = fields.text("source_path");
    input.source_task = fields.text("source_task");
    input.artifact = fields.text("artifact");
    input.hash = fields.text("validation_hash");
    input.pending = fields.boolean("pending");
    const auto conditions = fields.texts("conditions");
    input.conditions = {conditions.begin(), conditions.end()};
    input.imported_at = fields.text("imported_at");
    return input;
}

/// A rebase ends the delivery's `drift`; the null stands before its report.
json::object delivery_to_json(const DeliveryFacts& delivery) {
    if (!delivery.replaces) { return records::to_fields(delivery); }
    DeliveryFacts before = delivery;
    before.report.reset();
    json::object result = records::to_fields(before);
    result["drift"] = nullptr;
    records::write_field(result, "report", delivery.report);
    return result;
}

/// An empty map is none, as is an absent one of an older version.
template <class T>
std::optional<T> part_from(StateFields& fields, std::string_view key) {
    if (!fields.has(key) || fields.object(key).empty()) { return std::nullopt; }
    records::Reader reader(fields.object(key));
    T part = reader.read<T>();
    fields.take_over(reader);
    return part;
}

/// An absent list is empty.
template <class T>
std::vector<T> list_from(StateFields& fields, std::string_view key) {
    std::vector<T> list;
    if (!fields.has(key)) { return list; }
    for (const json::value& item : fields.array(key)) {
        static const json::object empty;
        records::Reader reader(item.is_object() ? item.get_object() : empty);
        list.push_back(reader.read<T>());
        fields.take_over(reader);
    }
    return list;
}

}  // namespace

json::object to_json_without_template(const TaskState& state) {
    json::object stages;
    for (std::size_t index = 0; index < state.stages.size(); ++index) {
        stages[state.stages[index].name] = stage_to_json(state, index);
    }
    json::object gates;
    for (const auto& [name, gate] : state.gates) {
        gates[name] = {{"tree", gate.tree},
                       {"passed", gate.passed},
                       {"partial", gate.partial},
                       {"summary", gate.summary},
                       {"seq", gate.seq}};
    }
    std::uint64_t tokens = 0;
    for (const StageState& stage : state.stages) { tokens += stage.input_tokens + stage.output_tokens; }
    json::object result{{"format", 1},
                        {"task_id", state.task_id},
                        {"request", state.request},
                        {"goal_type", state.goal_type},
                        {"status", to_string(state.status)},
                        {"pipeline", state.pipeline.name},
                        {"current_stage", state.stages.empty() ? std::string() : state.stage().name},
                        {"waiting_for", state.waiting_for()},
                        {"created_at", state.created_at},
                        {"updated_at", state.updated_at},
                        {"completed_at", state.completed_at},
                        {"error_code", state.error_code},
                        {"error", state.error},
                        {"pause_reason", state.pause_reason},
                        {"exit_stage", state.exit_stage},
                        {"commit", state.commit},
                        {"branch", state.branch},
                        {"steps", state.steps},
                        {"total_tokens", tokens},
                        {"spend", state.ledger.to_json()},
                        {"costing", records::to_fields(state.costing)},
                        {"answer_counted", state.answer_counted},
                        {"died_running", state.ended_while_running},
                        {"progress", name_in(progress_names, state.progress)},
                        {"stage_index", state.stage_index},
                        {"supervised", state.supervised},
                        {"interactive", state.interactive},
                        {"actions_asked", state.actions_asked},
                        {"approve_stages", to_array(state.approve_stages)},
                        {"base_commit", state.base_commit},
                        {"base_tree", state.base_tree},
                        {"base_branch", state.base_branch},
                        {"delivery", delivery_to_json(state.delivery)},
                        {"prepared", state.prepared ? records::to_fields(*state.prepared) : json::object()},
                        {"dependencies", state.dependencies ? records::to_fields(*state.dependencies) : json::object()},
                        {"set_file", state.set_file},
                        {"tree", state.tree},
                        {"red_tree", state.red_tree},
                        {"before_red", state.before_red},
                        {"held_out", held_out_to_json(state.held_out)},
                        {"reviewed_by", to_array(state.reviewed_by)},
                        {"resolution_blob", state.resolution_blob},
                        {"previous_artifact_blob", state.previous_artifact_blob},
                        {"previous_errors", to_array(state.previous_errors)},
                        {"cycle_to", state.cycle_to},
                        {"cycle_reason", state.cycle_reason},
                        {"stages", std::move(stages)},
                        {"gates", std::move(gates)}};
    // These fields are left out if the task begins with its first stage, imports nothing and has no follow-up.
    if (!state.entry_stage.empty()) { result["entry_stage"] = state.entry_stage; }
    if (!state.left_out.empty()) { result["left_out"] = to_array(state.left_out); }
    if (!state.external_inputs.empty()) { result["external_inputs"] = external_to_json(state.external_inputs); }
    if (!state.imports_due.empty()) { result["imports_due"] = to_array(state.imports_due); }
    // Rare fields are left out if they are empty.
    if (!state.iterate_stages.empty()) { result["iterate_stages"] = to_array(state.iterate_stages); }
    if (state.spent_before_ms > 0) { result["spent_before_ms"] = state.spent_before_ms; }
    if (!state.user_exit.empty()) { result["user_exit"] = state.user_exit; }
    if (!state.exit_type.empty()) { result["exit_type"] = state.exit_type; }
    if (state.continuations != 0) { result["continuations"] = state.continuations; }
    if (!state.feedback_issues.empty()) { records::write_field(result, "feedback_issues", state.feedback_issues); }
    if (!state.feedback_answers.empty()) { records::write_field(result, "feedback_answers", state.feedback_answers); }
    if (const auto& next = state.pipeline.continuation; !next.next_pipeline.empty()) {
        result["continuation"] = {{"can_extend", state.status == TaskStatus::completed && state.delivery.empty()},
                                  {"available_pipelines", json::array{next.next_pipeline}},
                                  {"provides_artifacts", to_array(next.provides)}};
    }
    set_optional(result, "exit_after", state.exit_after);
    set_optional(result, "feedback", state.feedback);
    result["escalation"] = nullptr;
    if (state.escalation) {
        result["escalation"] = {{"id", state.escalation->id},
                                {"cause", name_in(cause_names, state.escalation->cause)},
                                {"reason", state.escalation->reason},
                                {"question", state.escalation->question},
                                {"options", to_array(state.escalation->options)},
                                {"context_blob", state.escalation->context_blob}};
        if (!state.escalation->cycle_to.empty()) { result["escalation"].as_object()["cycle_to"] = state.escalation->cycle_to; }
    }
    result["approval"] = nullptr;
    if (state.approval) { result["approval"] = {{"id", state.approval->id}, {"artifact_hash", state.approval->artifact_hash}}; }
    if (state.hand_back) {
        result["hand_back"] = {{"from", state.hand_back->from},
                               {"to", state.hand_back->to},
                               {"tests", to_array(state.hand_back->tests)},
                               {"requirement", state.hand_back->requirement},
                               {"base_tree", state.hand_back->base_tree},
                               {"work_tree", state.hand_back->work_tree},
                               {"artifact_blob", state.hand_back->artifact_blob}};
    }
    result["action"] = nullptr;
    if (state.action) {
        result["action"] = {
            {"id", state.action->id}, {"hash", state.action->hash}, {"blob", state.action->blob}, {"tool", state.action->tool}};
    }
    result["seq"] = state.seq;
    result["hash"] = state.hash;
    return result;
}

json::object to_json(const TaskState& state) {
    json::object result = to_json_without_template(state);
    result["pipeline_template"] = state.stages.empty() ? json::object() : state.pipeline.to_json();
    return result;
}

Result<TaskState> task_state_from_json(const json::object& value) {
    StateFields fields(value);
    const auto broken = [](const std::string& problem) {
        return Error{"AF-TASK-004", "state.yaml does not hold a task's state: " + problem, "state.yaml",
                     "nothing is lost: the next command that opens the task computes it again from actions.yaml",
                     ErrorKind::corrupt};
    };
    if (fields.number("format") != 1) { return broken("its format is not 1"); }
    TaskState state;
    state.task_id = fields.text("task_id");
    state.request = fields.text("request");
    state.goal_type = fields.text("goal_type");
    const auto status = value_in(task_status_names, fields.text("status"));
    const auto progress = value_in(progress_names, fields.text("progress"));
    state.created_at = fields.text("created_at");
    state.updated_at = fields.text("updated_at");
    state.completed_at = fields.text("completed_at");
    state.error_code = fields.text("error_code");
    state.error = fields.text("error");
    state.pause_reason = fields.text("pause_reason");
    state.exit_stage = fields.text("exit_stage");
    state.commit = fields.text("commit");
    state.branch = fields.text("branch");
    state.steps = fields.number("steps");
    state.stage_index = fields.number("stage_index");
    state.supervised = fields.boolean("supervised");
    state.interactive = value.contains("interactive") && fields.boolean("interactive");
    state.actions_asked = fields.number_or("actions_asked", 0);
    if (value.contains("iterate_stages")) {
        const auto iterate = fields.texts("iterate_stages");
        state.iterate_stages = {iterate.begin(), iterate.end()};
    }
    state.spent_before_ms = fields.number_or("spent_before_ms", 0);
    state.user_exit = fields.text_or("user_exit", "");
    state.exit_type = fields.text_or("exit_type", "");
    state.continuations = static_cast<unsigned>(fields.number_or("continuations", 0));
    state.feedback_issues = list_from<records::FeedbackIssue>(fields, "feedback_issues");
    state.feedback_answers = list_from<records::IssueAnswer>(fields, "feedback_answers");
    const auto approve = fields.texts("approve_stages");
    state.approve_stages = {approve.begin(), approve.end()};
    state.base_commit = fields.text("base_commit");
    state.base_tree = fields.text("base_tree");
    state.base_branch = fields.text_or("base_branch", "");
    state.delivery = part_from<DeliveryFacts>(fields, "delivery").value_or(DeliveryFacts());
    state.prepared = part_from<PreparedCommit>(fields, "prepared");
    state.dependencies = part_from<MetDependencies>(fields, "dependencies");
    state.set_file = fields.text_or("set_file", "");
    state.tree = fields.text("tree");
    state.red_tree = fields.text("red_tree");
    state.before_red = fields.text("before_red");
    if (value.contains("held_out")) {
        StateFields held(fields.object("held_out"));
        state.held_out = held_out_from(held);
        if (!held.complete()) { return broken(held.problem()); }
    }
    const auto reviewed = fields.texts("reviewed_by");
    state.reviewed_by = {reviewed.begin(), reviewed.end()};
    state.resolution_blob = fields.text("resolution_blob");
    state.previous_artifact_blob = fields.text("previous_artifact_blob");
    state.previous_errors = fields.texts("previous_errors");
    state.cycle_to = fields.text("cycle_to");
    state.cycle_reason = fields.text("cycle_reason");
    state.seq = fields.number("seq");
    state.hash = fields.text("hash");
    if (value.contains("spend")) {
        const json::value& spend = value.at("spend");
        auto ledger = spend.is_array() ? Ledger::from_json(spend.get_array()) : std::nullopt;
        if (!ledger) { return broken("its spending is not a list of maps"); }
        state.ledger = std::move(*ledger);
        fields.object("costing");
        state.costing = part_from<records::CostingInForce>(fields, "costing").value_or(records::CostingInForce());
        state.answer_counted = fields.boolean("answer_counted");
        state.ended_while_running = fields.boolean("died_running");
    }
    const json::object& pipeline = fields.object("pipeline_template");
    const json::object& stages = fields.object("stages");
    const json::object& gates = fields.object("gates");
    const auto optional_text = [&](std::string_view key) -> std::optional<std::string> {
        const json::value* text = value.if_contains(key);
        if (text == nullptr || text->is_null()) { return std::nullopt; }
        return fields.text(key);
    };
    state.exit_after = optional_text("exit_after");
    state.feedback = optional_text("feedback");
    if (!fields.complete()) { return broken(fields.problem()); }
    if (!status || !progress) { return broken("its status or progress is unknown"); }
    state.status = *status;
    state.progress = *progress;

    if (!pipeline.empty()) { AF_TRY(state.pipeline, PipelineTemplate::from_json(pipeline)); }
    for (const auto& [name, entry] : stages) {
        if (!entry.is_object()) { return broken("a stage is not a map"); }
        StateFields stage_fields(entry.get_object());
        state.stages.push_back(stage_from_json(std::string(name), stage_fields));
        if (!stage_fields.complete()) { return broken("stage " + std::string(name) + ": " + stage_fields.problem()); }
    }
    if (state.stages.size() != state.pipeline.stages.size() ||
        (!state.stages.empty() && state.stage_index >= state.stages.size())) {
        return broken("its stages are not those of its pipeline");
    }
    state.entry_stage = fields.text_or("entry_stage", "");
    const auto texts_or_none = [&](std::string_view key) {
        return value.contains(key) ? fields.texts(key) : std::vector<std::string>();
    };
    const auto left_out = texts_or_none("left_out");
    state.left_out = {left_out.begin(), left_out.end()};
    const auto due = texts_or_none("imports_due");
    state.imports_due = {due.begin(), due.end()};
    const json::object none;
    for (const auto& [contract, entry] : value.contains("external_inputs") ? fields.object("external_inputs") : none) {
        if (!entry.is_object()) { return broken("an external input is not a map"); }
        StateFields input_fields(entry.get_object());
        state.external_inputs.emplace(contract, external_from(input_fields));
        if (!input_fields.complete()) { return broken("external_inputs: " + input_fields.problem()); }
    }
    if (!fields.complete()) { return broken(fields.problem()); }
    for (const auto& [name, entry] : gates) {
        if (!entry.is_object()) { return broken("a gate is not a map"); }
        StateFields gate_fields(entry.get_object());
        GateState gate;
        gate.tree = gate_fields.text("tree");
        gate.passed = gate_fields.boolean("passed");
        gate.partial = gate_fields.boolean("partial");
        gate.summary = gate_fields.text("summary");
        gate.seq = gate_fields.number("seq");
        if (!gate_fields.complete()) { return broken("gate " + std::string(name) + ": " + gate_fields.problem()); }
        state.gates.emplace(name, std::move(gate));
    }
    if (const json::value* open = value.if_contains("escalation"); open != nullptr && open->is_object()) {
        StateFields open_fields(open->get_object());
        OpenEscalation escalation;
        escalation.id = open_fields.text("id");
        escalation.cause = open_fields.one_of("cause", cause_names, EscalationCause::stage);
        escalation.reason = open_fields.text("reason");
        escalation.question = open_fields.text("question");
        escalation.options = open_fields.texts("options");
        escalation.context_blob = open_fields.text("context_blob");
        escalation.cycle_to = open_fields.text_or("cycle_to", "");
        if (!open_fields.complete()) { return broken("escalation: " + open_fields.problem()); }
        state.escalation = std::move(escalation);
    }
    if (value.contains("hand_back")) {
        StateFields open_fields(fields.object("hand_back"));
        state.hand_back = HandBack{open_fields.text("from"),         open_fields.text("to"),        open_fields.texts("tests"),
                                   open_fields.text("requirement"),  open_fields.text("base_tree"), open_fields.text("work_tree"),
                                   open_fields.text("artifact_blob")};
        if (!open_fields.complete()) { return broken("hand_back: " + open_fields.problem()); }
    }
    if (const json::value* open = value.if_contains("approval"); open != nullptr && open->is_object()) {
        StateFields open_fields(open->get_object());
        OpenApproval approval{open_fields.text("id"), open_fields.text("artifact_hash")};
        if (!open_fields.complete()) { return broken("approval: " + open_fields.problem()); }
        state.approval = std::move(approval);
    }
    if (const json::value* open = value.if_contains("action"); open != nullptr && open->is_object()) {
        StateFields open_fields(open->get_object());
        OpenAction action{open_fields.text("id"), open_fields.text("hash"), open_fields.text("blob"), open_fields.text("tool")};
        if (!open_fields.complete()) { return broken("action: " + open_fields.problem()); }
        state.action = std::move(action);
    }
    return state;
}

}  // namespace agentforge::kernel
