// SPDX-License-Identifier: Apache-2.0
#include "telemetry/task_trace.hpp"

#include "base/clock.hpp"
#include "cost/ledger.hpp"
#include "telemetry/trace_ids.hpp"

namespace agentforge::kernel::telemetry {
namespace {

/// Returns a record's time, or `otherwise` if it has none.
Time time_of(const std::string& text, Time otherwise) {
    const auto time = parse_time(text);
    return time.ok() ? *time : otherwise;
}

double seconds_between(Time from, Time to) { return std::max(0.0, std::chrono::duration<double>(to - from).count()); }

std::string step_part(std::uint64_t number) { return "step " + std::to_string(number); }

/// True if this process has not seen the visit begin, but the stage that the task leaves was in one.
bool began_elsewhere(const StageState* left) {
    return left != nullptr && left->visits > 0 && left->status == StageStatus::running;
}

/// Empty: the model was used, but the record does not name the agent.
std::string calling_role(const records::Envelope& envelope, const TaskState& state, bool was_used) {
    if (envelope.agent) { return *envelope.agent->role; }
    return was_used ? std::string() : state.stage_template().agent;
}

}  // namespace

Additions TaskTrace::take(const TaskState& state, const StageState* left, const records::AnyRecord& record) {
    Additions additions;
    const Turn turn{state, left, record.envelope, record.envelope.timestamp, additions};
    std::visit([&](const auto& body) { on(turn, body); }, record.body);
    if (!std::holds_alternative<records::AttemptFailed>(record.body)) { last_at_ = turn.at; }
    return additions;
}

std::string TaskTrace::visit_span(const TaskState& state) const {
    if (visit_) { return span_id_of(state.task_id, visit_->stage, visit_->number); }
    if (state.stages.empty() || state.stage().visits == 0) { return span_id_of(state.task_id); }
    return span_id_of(state.task_id, state.stage().name, state.stage().visits);
}

// ----------------------------------------------------------------------------------------------------------- stages --

void TaskTrace::on(const Turn& turn, const records::StageStarted& started) {
    const std::string error_type = visit_ ? visit_->error_type : std::string();  // `end_visit` resets `visit_`.
    if (visit_ || began_elsewhere(turn.left)) { end_visit(turn, error_type, ""); }
    const StageState& stage = turn.state.stage();
    visit_ = Visit{started.stage, stage.visits, turn.at, ""};
    if (stage.attempts > 1 || !error_type.empty()) {
        turn.additions.measurements.push_back({Instrument::stage_retries, 1, {{"agentforge.stage", started.stage}}});
    }
}

void TaskTrace::on(const Turn& turn, const records::StageCompleted&) { end_visit(turn, "", ""); }
void TaskTrace::on(const Turn& turn, const records::StageFailed& failed) {
    add_failed_call(turn, failed.error.code);
    end_visit(turn, failed.error.code, failed.error.message);
}

void TaskTrace::on(const Turn&, const records::ArtifactRejected&) {
    if (visit_) { visit_->error_type = records::ArtifactRejected::type; }
}

void TaskTrace::on(const Turn& turn, const records::CycleStarted& cycle) {
    end_visit(turn, "", "");
    turn.additions.measurements.push_back(
        {Instrument::stage_cycles, 1, {{"agentforge.stage", *cycle.to}, {"agentforge.from_stage", *cycle.stage}}});
}

void TaskTrace::end_visit(const Turn& turn, const std::string& error_type, const std::string& error_message) {
    if (!visit_) {  // It began in another process.
        if (turn.left == nullptr || turn.left->visits == 0) { return; }
        visit_ = Visit{turn.left->name, turn.left->visits, turn.left->started_at, ""};
    }
    const Visit visit = *visit_;
    visit_.reset();
    answered_at_.clear();
    step_began_at_.clear();
    retries_ = 0;
    Span span;
    span.trace_id = trace_id_of(turn.state.task_id);
    span.span_id = span_id_of(turn.state.task_id, visit.stage, visit.number);
    span.parent_id = span_id_of(turn.state.task_id);
    span.name = "stage " + visit.stage;
    span.end = time_of(turn.at, {});
    span.start = time_of(visit.began_at, span.end);
    span.attributes = {
        {"agentforge.task.id", turn.state.task_id}, {"agentforge.stage", visit.stage}, {"agentforge.stage.visit", visit.number}};
    span.error_type = error_type;
    span.error_message = error_message;
    turn.additions.measurements.push_back(
        {Instrument::stage_duration,
         seconds_between(span.start, span.end),
         {{"agentforge.stage", visit.stage}, {"agentforge.pipeline", turn.state.pipeline.name}, {"error.type", error_type}}});
    turn.additions.spans.push_back(std::move(span));
}

void TaskTrace::on(const Turn& turn, const records::EscalationRaised& raised) {
    const std::string cause = turn.state.escalation ? std::string(name_of(turn.state.escalation->cause)) : std::string();
    turn.additions.measurements.push_back(
        {Instrument::escalations, 1, {{"agentforge.stage", raised.stage}, {"agentforge.escalation.cause", cause}}});
}

// ------------------------------------------------------------------------------------------------------------ tasks --

// A task pauses when its model cannot be reached; the reason begins with the error's code.
void TaskTrace::on(const Turn& turn, const records::TaskPaused& paused) {
    add_failed_call(turn, paused.reason.substr(0, paused.reason.find(':')));
}

void TaskTrace::on(const Turn& turn, const records::TaskCompleted&) { end_task(turn, "", ""); }
void TaskTrace::on(const Turn& turn, const records::TaskFailed& failed) { end_task(turn, failed.code, failed.message); }
void TaskTrace::on(const Turn& turn, const records::TaskAborted& aborted) { end_task(turn, "aborted", aborted.reason); }

void TaskTrace::end_task(const Turn& turn, const std::string& error_type, const std::string& error_message) {
    if (visit_ || began_elsewhere(turn.left)) { end_visit(turn, error_type, error_message); }
    const TaskState& state = turn.state;
    Span span;
    span.trace_id = trace_id_of(state.task_id);
    span.span_id = span_id_of(state.task_id);
    span.name = "task";
    span.end = time_of(turn.at, {});
    span.start = time_of(state.created_at, span.end);
    span.attributes = {{"agentforge.task.id", state.task_id},  {"agentforge.pipeline", state.pipeline.name},
                       {"agentforge.goal", state.goal_type},   {"agentforge.task.outcome", std::string(to_string(state.status))},
                       {"agentforge.task.steps", state.steps}, {"agentforge.commit", state.commit}};
    span.error_type = error_type;
    span.error_message = error_message;
    turn.additions.spans.push_back(std::move(span));
    turn.additions.measurements.push_back(
        {Instrument::tasks,
         1,
         {{"agentforge.task.outcome", std::string(to_string(state.status))}, {"agentforge.pipeline", state.pipeline.name}}});
}

// ------------------------------------------------------------------------------------------------------------ steps --

void TaskTrace::on(const Turn& turn, const records::Answer& answer) {
    add_model_call(turn, answer.usage.value_or(records::CallUsage{}), answer.phase, "");
    answered_at_ = turn.at;
}

void TaskTrace::on(const Turn& turn, const records::CallLost& lost) {
    add_model_call(turn, lost.usage, lost.phase, std::string(records::CallLost::type));
}

void TaskTrace::on(const Turn& turn, const records::AttemptFailed& failed) {
    ++retries_;
    turn.additions.measurements.push_back(
        {Instrument::model_retries, 1, {{"agentforge.stage", failed.phase}, {"error.type", *failed.code}}});
}

void TaskTrace::add_failed_call(const Turn& turn, const std::string& code) {
    if (!code.starts_with("AF-LLM-")) { return; }
    retries_ -= std::min<std::uint64_t>(retries_, 1);  // The last attempt was no retry's cause.
    add_model_call(turn, records::CallUsage{}, turn.state.stage().name, code);
}

void TaskTrace::add_model_call(const Turn& turn, const records::CallUsage& usage, const std::string& stage,
                               const std::string& error_type) {
    const bool was_used = error_type.empty() || usage.input_tokens + usage.output_tokens > 0;
    const std::string role = calling_role(turn.envelope, turn.state, was_used);
    const ModelNames names = names_of_(role);
    const std::string model = names.model.empty() ? *usage.model : names.model;
    Attributes common{{"gen_ai.operation.name", "chat"},
                      {"gen_ai.provider.name", names.provider},
                      {"gen_ai.request.model", model},
                      {"gen_ai.response.model", *usage.model}};
    Span span;
    span.trace_id = trace_id_of(turn.state.task_id);
    const std::uint64_t step = turn.state.steps + 1;
    span.span_id = part_span_id_of(turn.state.task_id, "model call " + std::to_string(turn.state.seq + 1));
    // No step comes of a call that failed.
    span.parent_id = was_used ? part_span_id_of(turn.state.task_id, step_part(step)) : visit_span(turn.state);
    span.name = model.empty() ? "chat" : "chat " + model;
    span.kind = SpanKind::client;
    span.end = time_of(turn.at, {});
    span.start = time_of(last_at_, span.end);
    if (step_began_at_.empty()) { step_began_at_ = last_at_.empty() ? turn.at : last_at_; }
    span.attributes = common;
    span.attributes.insert({{"gen_ai.usage.input_tokens", usage.input_tokens},
                            {"gen_ai.usage.output_tokens", usage.output_tokens},
                            {"gen_ai.conversation.id", turn.state.task_id},
                            {"gen_ai.agent.name", role},
                            {"agentforge.stage", stage},
                            {"agentforge.usage.cached_input_tokens", *usage.cached_input_tokens},
                            {"agentforge.retries", retries_}});
    if (*usage.estimated) { span.attributes.emplace("agentforge.usage.estimated", true); }
    span.error_type = error_type;
    retries_ = 0;

    common.emplace("agentforge.stage", stage);
    Attributes duration = common;
    duration.emplace("error.type", error_type);
    auto& measurements = turn.additions.measurements;
    // How long a lost call took, nobody knows: its span begins where the loss was noticed.
    if (error_type != records::CallLost::type) {
        measurements.push_back({Instrument::model_duration, seconds_between(span.start, span.end), std::move(duration)});
    }
    for (const auto& [type, count] : {std::pair("input", usage.input_tokens), std::pair("output", usage.output_tokens)}) {
        if (!was_used) { break; }
        Attributes tokens = common;
        tokens.emplace("gen_ai.token.type", type);
        measurements.push_back({Instrument::token_usage, static_cast<double>(count), std::move(tokens)});
    }
    if (usage.cost_microusd) {
        measurements.push_back({Instrument::cost,
                                static_cast<double>(*usage.cost_microusd) / 1e6,
                                {{"agentforge.stage", stage}, {"gen_ai.response.model", *usage.model}}});
    }
    turn.additions.spans.push_back(std::move(span));
}

void TaskTrace::on(const Turn& turn, const records::Step& step) {
    const TaskState& state = turn.state;
    const std::string number = step_part(state.steps);
    const Time end = time_of(turn.at, {});
    const bool failed = *step.result->status == "failure";
    Span span;
    span.trace_id = trace_id_of(state.task_id);
    span.span_id = part_span_id_of(state.task_id, number);
    span.parent_id = visit_span(state);
    span.name = number;
    span.end = end;
    span.start = time_of(step_began_at_.empty() ? last_at_ : step_began_at_, end);
    span.attributes = {{"agentforge.step", state.steps},
                       {"agentforge.stage", step.phase},
                       {"gen_ai.agent.name", turn.envelope.agent ? *turn.envelope.agent->role : std::string()}};
    const std::string& tool = *step.action->type;
    if (!tool.empty()) {
        Span call;
        call.trace_id = span.trace_id;
        call.span_id = part_span_id_of(state.task_id, number + " tool");
        call.parent_id = span.span_id;
        call.name = "execute_tool " + tool;
        call.end = end;
        call.start = time_of(answered_at_.empty() ? last_at_ : answered_at_, end);
        call.attributes = {{"gen_ai.operation.name", "execute_tool"},
                           {"gen_ai.tool.name", tool},
                           {"gen_ai.tool.type", "function"},
                           {"agentforge.stage", step.phase}};
        if (failed) { call.error_type = "tool_failed"; }
        turn.additions.spans.push_back(std::move(call));
        turn.additions.measurements.push_back(
            {Instrument::tool_calls,
             1,
             {{"gen_ai.tool.name", tool}, {"agentforge.stage", step.phase}, {"error.type", failed ? "tool_failed" : ""}}});
    }
    turn.additions.spans.push_back(std::move(span));
    answered_at_.clear();
    step_began_at_.clear();
}

void TaskTrace::on(const Turn& turn, const records::Gate& gate) {
    Span span;
    span.trace_id = trace_id_of(turn.state.task_id);
    span.span_id = part_span_id_of(turn.state.task_id, "gate " + std::to_string(turn.state.seq + 1));
    span.parent_id = visit_span(turn.state);
    span.name = "gate " + gate.gate;
    span.end = time_of(turn.at, {});
    span.start = span.end - std::chrono::milliseconds(*gate.duration_ms);
    span.attributes = {{"agentforge.gate", gate.gate},
                       {"agentforge.gate.passed", gate.passed},
                       {"agentforge.stage", *gate.stage},
                       {"agentforge.tree", gate.tree}};
    if (gate.tests) { span.attributes.emplace("agentforge.gate.tests", *gate.tests); }
    if (gate.tests_passed) { span.attributes.emplace("agentforge.gate.tests_passed", *gate.tests_passed); }
    turn.additions.measurements.push_back({Instrument::gate_duration,
                                           static_cast<double>(*gate.duration_ms) / 1e3,
                                           {{"agentforge.gate", gate.gate}, {"agentforge.gate.passed", gate.passed}}});
    turn.additions.spans.push_back(std::move(span));
}

}  // namespace agentforge::kernel::telemetry
