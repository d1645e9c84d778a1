// SPDX-License-Identifier: Apache-2.0
#include "task/stage_yaml.hpp"

namespace agentforge::kernel {

namespace {

json::object to_object(const auto& counts) {
    json::object result;
    for (const auto& [name, count] : counts) { result[name] = count; }
    return result;
}

json::object effort_to_json(const Effort& effort) {
    return {{"same_refusals", to_object(effort.same_refusals)},
            {"fewest", to_object(effort.fewest)},
            {"refusals", effort.refusals},
            {"edits", effort.edits},
            {"last_tree", effort.last_tree},
            {"steps_before", effort.steps_before}};
}

Effort effort_from_json(StateFields& fields) {
    Effort effort;
    StateFields refusals(fields.object("same_refusals"));
    for (const auto& [failing, times] : fields.object("same_refusals")) {
        effort.same_refusals[std::string(failing)] = static_cast<unsigned>(refusals.number(failing));
    }
    StateFields fewest(fields.object("fewest"));
    for (const auto& [gate, failures] : fields.object("fewest")) { effort.fewest[std::string(gate)] = fewest.number(gate); }
    effort.refusals = static_cast<unsigned>(fields.number("refusals"));
    effort.edits = static_cast<unsigned>(fields.number("edits"));
    effort.last_tree = fields.text("last_tree");
    effort.steps_before = fields.number("steps_before");
    fields.take_over(refusals);
    fields.take_over(fewest);
    return effort;
}

json::array history_to_json(const StageState& stage) {
    json::array history;
    for (const ShownVersion& shown : stage.history) {
        history.push_back(json::object{{"version", shown.version},
                                       {"artifact_hash", shown.artifact_hash},
                                       {"presented_at", shown.presented_at},
                                       {"decision", shown.decision},
                                       {"decided_at", shown.decided_at},
                                       {"decided_by", shown.decided_by}});
    }
    return history;
}

std::vector<ShownVersion> history_from_json(StateFields& fields) {
    std::vector<ShownVersion> history;
    for (const json::value& entry : fields.array("history")) {
        static const json::object empty;
        StateFields inner(entry.is_object() ? entry.get_object() : empty);
        ShownVersion shown;
        shown.version = static_cast<unsigned>(inner.number("version"));
        shown.artifact_hash = inner.text("artifact_hash");
        shown.presented_at = inner.text("presented_at");
        shown.decision = inner.text("decision");
        shown.decided_at = inner.text("decided_at");
        shown.decided_by = inner.text("decided_by");
        fields.take_over(inner);
        history.push_back(std::move(shown));
    }
    return history;
}

json::object reviews_to_json(const StageState& stage) {
    json::object reviews;
    for (const auto& [file, review] : stage.review_files) {
        reviews[file] = json::object{
            {"reviewer", review.reviewer}, {"artifact_hash", review.artifact_hash}, {"finished_at", review.finished_at}};
    }
    return reviews;
}

std::map<std::string, FinishedReview> reviews_from_json(const json::object& files, StateFields& fields) {
    std::map<std::string, FinishedReview> reviews;
    for (const auto& [file, entry] : files) {
        static const json::object empty;
        StateFields inner(entry.is_object() ? entry.get_object() : empty);
        reviews[std::string(file)] = {inner.text("reviewer"), inner.text("artifact_hash"), inner.text("finished_at")};
        fields.take_over(inner);
    }
    return reviews;
}

/// Adds the fields that describe a stage's iterations.
void add_iteration(json::object& entry, const TaskState& state, std::size_t index) {
    const StageState& stage = state.stages[index];
    const bool current = index == state.stage_index && !is_terminal(state.status);
    if (const ArtifactState artifact = artifact_state(state, index); artifact != ArtifactState::none) {
        entry["artifact_state"] = to_string(artifact);
    }
    if (!stage.superseded_by.empty()) { entry["superseded_by"] = stage.superseded_by; }
    if (stage.history.empty()) { return; }
    json::object iteration{{"current", artifact_version(stage)},
                           {"max", state.pipeline.stages[index].max_iterations},
                           {"history", history_to_json(stage)}};
    iteration["awaiting"] = current && state.approval ? json::value("user_decision") : json::value(nullptr);
    entry["iteration"] = std::move(iteration);
}

json::object own_fields(const StageState& stage) {
    json::object result{{"status", to_string(stage.status)},
                        {"visits", stage.visits},
                        {"attempts", stage.attempts},
                        {"heals", stage.contract_retries},
                        {"reviews", stage.reviews},
                        {"iterations", stage.iterations},
                        {"versions", stage.versions},
                        {"cycles", stage.cycles},
                        {"escalations", stage.escalations},
                        {"artifact", stage.artifact},
                        {"artifact_hash", stage.artifact_hash},
                        {"approved_hash", stage.approved_hash},
                        {"asks", stage.asks},
                        {"effort", effort_to_json(stage.effort)},
                        {"conditions", to_array(stage.conditions)},
                        {"error", stage.error},
                        {"skip_reason", stage.skip_reason},
                        {"steps", stage.steps},
                        {"input_tokens", stage.input_tokens},
                        {"output_tokens", stage.output_tokens},
                        {"duration_ms", stage.duration_ms},
                        {"wall_ms", stage.wall_ms},
                        {"started_at", stage.started_at},
                        {"completed_at", stage.completed_at}};
    if (stage.cycles_before > 0) { result["cycles_before"] = stage.cycles_before; }
    if (stage.retries > 0) { result["retries"] = stage.retries; }
    if (!stage.review_files.empty()) { result["review_files"] = reviews_to_json(stage); }
    if (stage.plan_step) { result["plan_step"] = records::to_fields(*stage.plan_step); }
    return result;
}

}  // namespace

json::object stage_to_json(const TaskState& state, std::size_t index) {
    json::object entry = own_fields(state.stages[index]);
    add_iteration(entry, state, index);
    return entry;
}

StageState stage_from_json(const std::string& name, StateFields& fields) {
    StageState stage;
    stage.name = name;
    stage.status = fields.one_of("status", stage_status_names, StageStatus::pending);
    stage.visits = static_cast<unsigned>(fields.number("visits"));
    stage.attempts = static_cast<unsigned>(fields.number("attempts"));
    stage.contract_retries = static_cast<unsigned>(fields.number("heals"));
    stage.reviews = static_cast<unsigned>(fields.number("reviews"));
    stage.iterations = static_cast<unsigned>(fields.number("iterations"));
    stage.versions = static_cast<unsigned>(fields.number("versions"));
    stage.cycles = static_cast<unsigned>(fields.number("cycles"));
    stage.cycles_before = static_cast<unsigned>(fields.number_or("cycles_before", 0));  // If there were any.
    stage.retries = static_cast<unsigned>(fields.number_or("retries", 0));
    if (fields.has("plan_step")) {
        StateFields step(fields.object("plan_step"));
        stage.plan_step =
            records::PlanStep{static_cast<unsigned>(step.number("number")), static_cast<unsigned>(step.number("of")),
                              step.text("title"), static_cast<unsigned>(step.number_or("attempt", 1))};
        fields.take_over(step);
    }
    stage.escalations = static_cast<unsigned>(fields.number("escalations"));
    stage.artifact = fields.text("artifact");
    stage.artifact_hash = fields.text("artifact_hash");
    stage.approved_hash = fields.text("approved_hash");
    if (fields.has("effort")) {  // Older versions had none.
        StateFields effort(fields.object("effort"));
        stage.effort = effort_from_json(effort);
        fields.take_over(effort);
    }
    const auto conditions = fields.texts("conditions");
    stage.conditions = {conditions.begin(), conditions.end()};
    stage.asks = fields.has("asks") && fields.boolean("asks");
    stage.error = fields.text("error");
    stage.skip_reason = fields.text("skip_reason");
    stage.steps = fields.number("steps");
    stage.input_tokens = fields.number("input_tokens");
    stage.output_tokens = fields.number("output_tokens");
    stage.duration_ms = fields.number("duration_ms");
    stage.wall_ms = fields.number_or("wall_ms", 0);
    stage.started_at = fields.text("started_at");
    stage.completed_at = fields.text("completed_at");
    stage.superseded_by = fields.text_or("superseded_by", "");
    if (fields.has("review_files")) { stage.review_files = reviews_from_json(fields.object("review_files"), fields); }
    if (fields.has("iteration")) {
        StateFields iteration(fields.object("iteration"));
        stage.history = history_from_json(iteration);
        fields.take_over(iteration);
    }
    return stage;
}

}  // namespace agentforge::kernel
