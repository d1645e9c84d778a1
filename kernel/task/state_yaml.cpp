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

/// After a rebase `drift` is null, and is written before `report`.
json::object delivery_to_json(const DeliveryFacts& delivery) {
    if (!delivery.replaces) { return records::to_fields(delivery); }
    DeliveryFacts before = delivery;
    before.report.reset();
    json::object result = records::to_fields(before);
    result["drift"] = nullptr;
    records::write_field(result, "report", delivery.report);
    return result;
}

void write_task(json::object& result, const TaskState& state) {
    result["task_id"] = state.task_id;
    result["request"] = state.request;
    result["goal_type"] = state.goal_type;
    result["status"] = to_string(state.status);
    result["pipeline"] = state.pipeline.name;
    result["current_stage"] = state.stages.empty() ? std::string() : state.stage().name;
    result["waiting_for"] = state.waiting_for();
    result["created_at"] = state.created_at;
    result["updated_at"] = state.updated_at;
    result["completed_at"] = state.completed_at;
    result["error_code"] = state.error_code;
    result["error"] = state.error;
    result["pause_reason"] = state.pause_reason;
    result["exit_stage"] = state.exit_stage;
    result["commit"] = state.commit;
    result["branch"] = state.branch;
}

void write_spending(json::object& result, const TaskState& state) {
    std::uint64_t tokens = 0;
    for (const StageState& stage : state.stages) { tokens += stage.input_tokens + stage.output_tokens; }
    result["steps"] = state.steps;
    result["total_tokens"] = tokens;
    result["spend"] = state.ledger.to_json();
    result["costing"] = records::to_fields(state.costing);
    result["answer_counted"] = state.answer_counted;
    result["died_running"] = state.ended_while_running;
}

void write_progress(json::object& result, const TaskState& state) {
    result["progress"] = name_in(progress_names, state.progress);
    result["stage_index"] = state.stage_index;
    result["supervised"] = state.supervised;
    result["interactive"] = state.interactive;
    result["actions_asked"] = state.actions_asked;
    result["approve_stages"] = to_array(state.approve_stages);
}

void write_trees(json::object& result, const TaskState& state) {
    result["base_commit"] = state.base_commit;
    result["base_tree"] = state.base_tree;
    result["base_branch"] = state.base_branch;
    result["delivery"] = delivery_to_json(state.delivery);
    result["prepared"] = state.prepared ? records::to_fields(*state.prepared) : json::object();
    if (state.rebase) { result["rebase"] = records::to_fields(*state.rebase); }
    result["dependencies"] = state.dependencies ? records::to_fields(*state.dependencies) : json::object();
    result["set_file"] = state.set_file;
    result["tree"] = state.tree;
    result["red_tree"] = state.red_tree;
    result["before_red"] = state.before_red;
    result["held_out"] = held_out_to_json(state.held_out);
}

/// Writes the last stage's results for the next stage.
void write_last_stage(json::object& result, const TaskState& state) {
    result["reviewed_by"] = to_array(state.reviewed_by);
    result["resolution_blob"] = state.resolution_blob;
    result["previous_artifact_blob"] = state.previous_artifact_blob;
    result["previous_errors"] = to_array(state.previous_errors);
    result["cycle_to"] = state.cycle_to;
    result["cycle_reason"] = state.cycle_reason;
}

void write_stages(json::object& result, const TaskState& state) {
    json::object stages;
    for (std::size_t index = 0; index < state.stages.size(); ++index) {
        stages[state.stages[index].name] = stage_to_json(state, index);
    }
    result["stages"] = std::move(stages);
}

void write_gates(json::object& result, const TaskState& state) {
    json::object gates;
    for (const auto& [name, gate] : state.gates) {
        gates[name] = {{"tree", gate.tree},
                       {"passed", gate.passed},
                       {"partial", gate.partial},
                       {"summary", gate.summary},
                       {"seq", gate.seq}};
    }
    result["gates"] = std::move(gates);
}

/// These fields are left out if the task begins with its first stage and imports nothing.
void write_entry(json::object& result, const TaskState& state) {
    if (!state.entry_stage.empty()) { result["entry_stage"] = state.entry_stage; }
    if (!state.left_out.empty()) { result["left_out"] = to_array(state.left_out); }
    if (!state.external_inputs.empty()) { result["external_inputs"] = external_to_json(state.external_inputs); }
    if (!state.imports_due.empty()) { result["imports_due"] = to_array(state.imports_due); }
}

/// Rare fields are left out if they are empty.
void write_iteration(json::object& result, const TaskState& state) {
    if (!state.iterate_stages.empty()) { result["iterate_stages"] = to_array(state.iterate_stages); }
    if (state.spent_before_ms > 0) { result["spent_before_ms"] = state.spent_before_ms; }
    if (!state.user_exit.empty()) { result["user_exit"] = state.user_exit; }
    if (!state.exit_type.empty()) { result["exit_type"] = state.exit_type; }
    if (state.continuations != 0) { result["continuations"] = state.continuations; }
    if (!state.feedback_issues.empty()) { records::write_field(result, "feedback_issues", state.feedback_issues); }
    if (!state.feedback_answers.empty()) { records::write_field(result, "feedback_answers", state.feedback_answers); }
}

/// Left out if no pipeline follows.
void write_continuation(json::object& result, const TaskState& state) {
    const auto& next = state.pipeline.continuation;
    if (next.next_pipeline.empty()) { return; }
    result["continuation"] = {{"can_extend", state.status == TaskStatus::completed && state.delivery.empty()},
                              {"available_pipelines", json::array{next.next_pipeline}},
                              {"provides_artifacts", to_array(next.provides)}};
}

json::object escalation_to_json(const OpenEscalation& escalation) {
    json::object result{{"id", escalation.id},
                        {"cause", name_in(cause_names, escalation.cause)},
                        {"reason", escalation.reason},
                        {"question", escalation.question},
                        {"options", to_array(escalation.options)},
                        {"context_blob", escalation.context_blob}};
    if (!escalation.cycle_to.empty()) { result["cycle_to"] = escalation.cycle_to; }
    return result;
}

json::object hand_back_to_json(const HandBack& back) {
    return {{"from", back.from},
            {"to", back.to},
            {"tests", to_array(back.tests)},
            {"requirement", back.requirement},
            {"base_tree", back.base_tree},
            {"work_tree", back.work_tree},
            {"artifact_blob", back.artifact_blob}};
}

void write_open_questions(json::object& result, const TaskState& state) {
    result["escalation"] = nullptr;
    if (state.escalation) { result["escalation"] = escalation_to_json(*state.escalation); }
    result["approval"] = nullptr;
    if (state.approval) { result["approval"] = {{"id", state.approval->id}, {"artifact_hash", state.approval->artifact_hash}}; }
    if (state.hand_back) { result["hand_back"] = hand_back_to_json(*state.hand_back); }
    result["action"] = nullptr;
    if (state.action) {
        result["action"] = {
            {"id", state.action->id}, {"hash", state.action->hash}, {"blob", state.action->blob}, {"tool", state.action->tool}};
    }
}

/// Returns an empty map if the map is empty, or absent as in files of older versions.
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
    json::object result{{"format", 1}};
    write_task(result, state);
    write_spending(result, state);
    write_progress(result, state);
    write_trees(result, state);
    write_last_stage(result, state);
    write_stages(result, state);
    write_gates(result, state);
    write_entry(result, state);
    write_iteration(result, state);
    write_continuation(result, state);
    set_optional(result, "exit_after", state.exit_after);
    set_optional(result, "feedback", state.feedback);
    write_open_questions(result, state);
    result["seq"] = state.seq;
    result["hash"] = state.hash;
    return result;
}

json::object to_json(const TaskState& state) {
    json::object result = to_json_without_template(state);
    result["pipeline_template"] = state.stages.empty() ? json::object() : state.pipeline.to_json();
    return result;
}

namespace {

Error broken(const std::string& problem) {
    return Error{"AF-TASK-004", "state.yaml does not contain a task's state: " + problem, "state.yaml",
                 "nothing is lost: the next command that opens the task computes it again from actions.yaml", ErrorKind::corrupt};
}

/// Reads a task's state from its map, in the order of `read`: the first wrong field is the error.
class StateReader {
public:
    explicit StateReader(const json::object& value) : value_(value), fields_(value) {}

    Result<TaskState> read();

private:
    void read_task();
    void read_progress();
    void read_iteration();
    void read_trees();
    Result<void> read_held_out();
    void read_last_stage();
    Result<void> read_spending();
    Result<void> read_stages(const json::object& pipeline, const json::object& stages);
    Result<void> read_entry();
    Result<void> read_external_inputs();
    Result<void> read_gates(const json::object& gates);
    Result<void> read_escalation();
    Result<void> read_hand_back();
    Result<void> read_approval();
    Result<void> read_action();
    [[nodiscard]] std::optional<std::string> optional_text(std::string_view key);
    [[nodiscard]] std::vector<std::string> texts_or_none(std::string_view key);
    [[nodiscard]] const json::object* open_question(std::string_view key) const;

    const json::object& value_;
    StateFields fields_;
    TaskState state_;
};

Result<TaskState> StateReader::read() {
    if (fields_.number("format") != 1) { return broken("its format is not 1"); }
    read_task();
    const auto status = value_in(task_status_names, fields_.text("status"));
    const auto progress = value_in(progress_names, fields_.text("progress"));
    read_progress();
    read_trees();
    AF_CHECK(read_held_out());
    read_last_stage();
    AF_CHECK(read_spending());
    const json::object& pipeline = fields_.object("pipeline_template");
    const json::object& stages = fields_.object("stages");
    const json::object& gates = fields_.object("gates");
    state_.exit_after = optional_text("exit_after");
    state_.feedback = optional_text("feedback");
    if (!fields_.complete()) { return broken(fields_.problem()); }
    if (!status || !progress) { return broken("its status or progress is unknown"); }
    state_.status = *status;
    state_.progress = *progress;
    AF_CHECK(read_stages(pipeline, stages));
    AF_CHECK(read_entry());
    AF_CHECK(read_gates(gates));
    AF_CHECK(read_escalation());
    AF_CHECK(read_hand_back());
    AF_CHECK(read_approval());
    AF_CHECK(read_action());
    return std::move(state_);
}

void StateReader::read_task() {
    state_.task_id = fields_.text("task_id");
    state_.request = fields_.text("request");
    state_.goal_type = fields_.text("goal_type");
}

void StateReader::read_progress() {
    state_.created_at = fields_.text("created_at");
    state_.updated_at = fields_.text("updated_at");
    state_.completed_at = fields_.text("completed_at");
    state_.error_code = fields_.text("error_code");
    state_.error = fields_.text("error");
    state_.pause_reason = fields_.text("pause_reason");
    state_.exit_stage = fields_.text("exit_stage");
    state_.commit = fields_.text("commit");
    state_.branch = fields_.text("branch");
    state_.steps = fields_.number("steps");
    state_.stage_index = fields_.number("stage_index");
    state_.supervised = fields_.boolean("supervised");
    state_.interactive = value_.contains("interactive") && fields_.boolean("interactive");
    state_.actions_asked = fields_.number_or("actions_asked", 0);
    read_iteration();
    const auto approve = fields_.texts("approve_stages");
    state_.approve_stages = {approve.begin(), approve.end()};
}

void StateReader::read_iteration() {
    if (value_.contains("iterate_stages")) {
        const auto iterate = fields_.texts("iterate_stages");
        state_.iterate_stages = {iterate.begin(), iterate.end()};
    }
    state_.spent_before_ms = fields_.number_or("spent_before_ms", 0);
    state_.user_exit = fields_.text_or("user_exit", "");
    state_.exit_type = fields_.text_or("exit_type", "");
    state_.continuations = static_cast<unsigned>(fields_.number_or("continuations", 0));
    state_.feedback_issues = list_from<records::FeedbackIssue>(fields_, "feedback_issues");
    state_.feedback_answers = list_from<records::IssueAnswer>(fields_, "feedback_answers");
}

void StateReader::read_trees() {
    state_.base_commit = fields_.text("base_commit");
    state_.base_tree = fields_.text("base_tree");
    state_.base_branch = fields_.text_or("base_branch", "");
    state_.delivery = part_from<DeliveryFacts>(fields_, "delivery").value_or(DeliveryFacts());
    state_.prepared = part_from<PreparedCommit>(fields_, "prepared");
    state_.rebase = part_from<records::RebasePrepared>(fields_, "rebase");
    state_.dependencies = part_from<MetDependencies>(fields_, "dependencies");
    state_.set_file = fields_.text_or("set_file", "");
    state_.tree = fields_.text("tree");
    state_.red_tree = fields_.text("red_tree");
    state_.before_red = fields_.text("before_red");
}

Result<void> StateReader::read_held_out() {
    if (!value_.contains("held_out")) { return {}; }
    StateFields held(fields_.object("held_out"));
    state_.held_out = held_out_from(held);
    if (!held.complete()) { return broken(held.problem()); }
    return {};
}

/// Reads the last stage's results for the next stage, and the journal's position.
void StateReader::read_last_stage() {
    const auto reviewed = fields_.texts("reviewed_by");
    state_.reviewed_by = {reviewed.begin(), reviewed.end()};
    state_.resolution_blob = fields_.text("resolution_blob");
    state_.previous_artifact_blob = fields_.text("previous_artifact_blob");
    state_.previous_errors = fields_.texts("previous_errors");
    state_.cycle_to = fields_.text("cycle_to");
    state_.cycle_reason = fields_.text("cycle_reason");
    state_.seq = fields_.number("seq");
    state_.hash = fields_.text("hash");
}

Result<void> StateReader::read_spending() {
    if (!value_.contains("spend")) { return {}; }
    const json::value& spend = value_.at("spend");
    auto ledger = spend.is_array() ? Ledger::from_json(spend.get_array()) : std::nullopt;
    if (!ledger) { return broken("its spending is not a list of maps"); }
    state_.ledger = std::move(*ledger);
    fields_.object("costing");
    state_.costing = part_from<records::CostingInForce>(fields_, "costing").value_or(records::CostingInForce());
    state_.answer_counted = fields_.boolean("answer_counted");
    state_.ended_while_running = fields_.boolean("died_running");
    return {};
}

Result<void> StateReader::read_stages(const json::object& pipeline, const json::object& stages) {
    if (!pipeline.empty()) { AF_TRY(state_.pipeline, PipelineTemplate::from_json(pipeline)); }
    for (const auto& [name, entry] : stages) {
        if (!entry.is_object()) { return broken("a stage is not a map"); }
        StateFields stage_fields(entry.get_object());
        state_.stages.push_back(stage_from_json(std::string(name), stage_fields));
        if (!stage_fields.complete()) { return broken("stage " + std::string(name) + ": " + stage_fields.problem()); }
    }
    if (state_.stages.size() != state_.pipeline.stages.size() ||
        (!state_.stages.empty() && state_.stage_index >= state_.stages.size())) {
        return broken("its stages are not those of its pipeline");
    }
    return {};
}

Result<void> StateReader::read_entry() {
    state_.entry_stage = fields_.text_or("entry_stage", "");
    const auto left_out = texts_or_none("left_out");
    state_.left_out = {left_out.begin(), left_out.end()};
    const auto due = texts_or_none("imports_due");
    state_.imports_due = {due.begin(), due.end()};
    if (value_.contains("external_inputs")) { AF_CHECK(read_external_inputs()); }
    if (!fields_.complete()) { return broken(fields_.problem()); }
    return {};
}

Result<void> StateReader::read_external_inputs() {
    for (const auto& [contract, entry] : fields_.object("external_inputs")) {
        if (!entry.is_object()) { return broken("an external input is not a map"); }
        StateFields input_fields(entry.get_object());
        state_.external_inputs.emplace(contract, external_from(input_fields));
        if (!input_fields.complete()) { return broken("external_inputs: " + input_fields.problem()); }
    }
    return {};
}

Result<void> StateReader::read_gates(const json::object& gates) {
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
        state_.gates.emplace(name, std::move(gate));
    }
    return {};
}

Result<void> StateReader::read_escalation() {
    const json::object* const open = open_question("escalation");
    if (open == nullptr) { return {}; }
    StateFields open_fields(*open);
    OpenEscalation escalation;
    escalation.id = open_fields.text("id");
    escalation.cause = open_fields.one_of("cause", cause_names, EscalationCause::stage);
    escalation.reason = open_fields.text("reason");
    escalation.question = open_fields.text("question");
    escalation.options = open_fields.texts("options");
    escalation.context_blob = open_fields.text("context_blob");
    escalation.cycle_to = open_fields.text_or("cycle_to", "");
    if (!open_fields.complete()) { return broken("escalation: " + open_fields.problem()); }
    state_.escalation = std::move(escalation);
    return {};
}

Result<void> StateReader::read_hand_back() {
    if (!value_.contains("hand_back")) { return {}; }
    StateFields open_fields(fields_.object("hand_back"));
    state_.hand_back = HandBack{open_fields.text("from"),         open_fields.text("to"),        open_fields.texts("tests"),
                                open_fields.text("requirement"),  open_fields.text("base_tree"), open_fields.text("work_tree"),
                                open_fields.text("artifact_blob")};
    if (!open_fields.complete()) { return broken("hand_back: " + open_fields.problem()); }
    return {};
}

Result<void> StateReader::read_approval() {
    const json::object* const open = open_question("approval");
    if (open == nullptr) { return {}; }
    StateFields open_fields(*open);
    OpenApproval approval{open_fields.text("id"), open_fields.text("artifact_hash")};
    if (!open_fields.complete()) { return broken("approval: " + open_fields.problem()); }
    state_.approval = std::move(approval);
    return {};
}

Result<void> StateReader::read_action() {
    const json::object* const open = open_question("action");
    if (open == nullptr) { return {}; }
    StateFields open_fields(*open);
    OpenAction action{open_fields.text("id"), open_fields.text("hash"), open_fields.text("blob"), open_fields.text("tool")};
    if (!open_fields.complete()) { return broken("action: " + open_fields.problem()); }
    state_.action = std::move(action);
    return {};
}

std::optional<std::string> StateReader::optional_text(std::string_view key) {
    const json::value* text = value_.if_contains(key);
    if (text == nullptr || text->is_null()) { return std::nullopt; }
    return fields_.text(key);
}

std::vector<std::string> StateReader::texts_or_none(std::string_view key) {
    return value_.contains(key) ? fields_.texts(key) : std::vector<std::string>();
}

const json::object* StateReader::open_question(std::string_view key) const {
    const json::value* open = value_.if_contains(key);
    return open == nullptr ? nullptr : open->if_object();
}

}  // namespace

Result<TaskState> task_state_from_json(const json::object& value) { return StateReader(value).read(); }

}  // namespace agentforge::kernel
