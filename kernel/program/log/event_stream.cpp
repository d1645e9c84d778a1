// SPDX-License-Identifier: Apache-2.0
#include "program/log/event_stream.hpp"

#include <ostream>

#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

json::array texts(const std::vector<std::string>& all) { return json::array(all.begin(), all.end()); }

/// Converts records to the lines of docs/stream-json.md.
class LineWriter {
public:
    LineWriter(const TaskState& state, const records::Envelope& envelope) : state_(state), envelope_(envelope) {}

    std::vector<StreamLine> take() { return std::move(lines_); }

    void on(const records::TaskStarted&) { task_begins(); }
    void on(const records::TaskResumed&) {
        task_begins();
        if (!resumes_inside_visit(state_)) { return; }
        json::object fields = entered_stage();
        fields["step"] = state_.steps;
        fields["task_tokens"] = state_.ledger.total().tokens();
        add("stage_resumed", std::move(fields));
    }
    void on(const records::StageStarted&) { add("stage_started", entered_stage()); }
    void on(const records::StageSkipped& skipped) {
        json::object fields = place_of(skipped.stage);
        fields["reason"] = skipped.reason;
        add("stage_skipped", std::move(fields));
    }
    void on(const records::StageCompleted& completed) {
        json::object fields = place_of(completed.stage);
        const StageState& done = state_.stages.at(state_.pipeline.index_of(completed.stage).value_or(0));
        fields["artifact"] = done.artifact;
        fields["duration_ms"] = done.duration_ms;
        fields["steps"] = done.steps;
        fields["tokens"] = done.input_tokens + done.output_tokens;
        add("stage_completed", std::move(fields));
    }
    void on(const records::StageFailed& failed) {
        add("stage_failed", {{"stage", failed.stage},
                             {"attempt", state_.stage().attempts},
                             {"code", failed.error.code},
                             {"error", failed.error.message}});
    }
    void on(const records::ArtifactRejected& rejected) {
        add("artifact_rejected", {{"stage", rejected.stage}, {"errors", texts(rejected.errors)}});
    }
    void on(const records::ReviewFinished& review) {
        add("review", {{"stage", review.stage},
                       {"reviewer", review.reviewer},
                       {"blocking", review.blocking},
                       {"advisory", *review.advisory}});
    }
    void on(const records::CallStarted& started) {
        if (!started.plan_step) { return; }
        json::object fields{{"stage", *started.stage}};
        for (auto& [key, value] : records::to_fields(*started.plan_step)) { fields[key] = value; }
        add("plan_step", std::move(fields));
    }
    void on(const records::CycleStarted& cycle) {
        add("cycle", {{"from", *cycle.stage}, {"to", *cycle.to}, {"reason", *cycle.reason}, {"count", state_.stage().cycles}});
    }
    void on(const records::ApprovalRequested& requested) {
        add("approval_requested",
            {{"stage", requested.stage}, {"id", requested.approval_id}, {"artifact", state_.stage().artifact}});
    }
    void on(const records::ActionAsked& asked) {
        add("approval_requested",
            {{"stage", asked.stage}, {"id", asked.approval_id}, {"action", *asked.action}, {"hash", asked.action_hash}});
    }
    void on(const records::ApprovalDecided& decided) {
        add("decided", {{"id", decided.approval_id},
                        {"approved", decided.approved},
                        {"decision", records::decision_of(decided)},
                        {"by", *decided.decided_by}});
    }
    void on(const records::ActionDecided& decided) {
        add("decided", {{"id", decided.approval_id},
                        {"approved", decided.decision != "rejected"},
                        {"decision", decided.decision},
                        {"by", *decided.decided_by}});
    }
    void on(const records::EscalationRaised& raised) {
        json::object fields{{"stage", raised.stage}, {"id", raised.escalation_id}};
        if (state_.escalation) {
            fields["reason"] = state_.escalation->reason;
            fields["question"] = state_.escalation->question;
            fields["options"] = texts(state_.escalation->options);
        }
        add("escalation", std::move(fields));
    }
    void on(const records::EscalationResolved& resolved) {
        add("resolved", {{"id", resolved.escalation_id}, {"abort", resolved.abort}, {"by", *resolved.resolved_by}});
    }
    void on(const records::Step& step) {
        const Spend spend = state_.ledger.total();
        json::object fields{{"step", state_.steps},
                            {"stage", step.phase},
                            {"role", envelope_.agent ? *envelope_.agent->role : std::string()},
                            {"tool", *step.action->type},
                            {"success", *step.result->status == "success"},
                            {"summary", *step.result->summary},
                            {"task_tokens", spend.tokens()}};
        if (spend.cost_known()) { fields["task_cost_microusd"] = spend.cost_microusd; }
        if (step.files) { fields["files"] = json::array(step.files->begin(), step.files->end()); }
        add(records::Step::type, std::move(fields));
    }
    void on(const records::Gate& gate) {
        json::object fields{{"gate", gate.gate},
                            {"stage", *gate.stage},
                            {"passed", gate.passed},
                            {"summary", gate.summary},
                            {"duration_ms", *gate.duration_ms}};
        if (gate.tests) {  // A task that is read later must show the same figures as one that is watched.
            fields["tests"] = *gate.tests;
            fields["tests_passed"] = gate.tests_passed.value_or(0);
        }
        if (gate.conformance) { fields["conformance"] = *gate.conformance; }
        add(records::Gate::type, std::move(fields));
    }
    template <class Other>
    void on(const Other&) {}

private:
    void add(std::string_view type, json::object fields) { lines_.push_back({type, std::move(fields)}); }
    void task_begins() {
        json::array stages;
        for (const StageState& stage : state_.stages) {
            stages.push_back(json::object{{"name", stage.name}, {"status", to_string(stage.status)}});
        }
        add("task_started", {{"task_id", state_.task_id},
                             {"request", state_.request},
                             {"pipeline", state_.pipeline.name},
                             {"stages", std::move(stages)}});
    }
    [[nodiscard]] json::object place_of(const std::string& stage) const {
        return {{"stage", stage}, {"index", state_.pipeline.index_of(stage).value_or(0)}, {"of", state_.stages.size()}};
    }
    [[nodiscard]] json::object entered_stage() const {
        json::object fields = place_of(state_.stage().name);
        fields["attempt"] = state_.stage().attempts;
        fields["agent"] = state_.stage_template().agent;
        return fields;
    }

    const TaskState& state_;
    const records::Envelope& envelope_;
    std::vector<StreamLine> lines_;
};

}  // namespace

bool resumes_inside_visit(const TaskState& state) {
    return state.progress == StageProgress::executing || state.progress == StageProgress::accepted;
}

std::vector<StreamLine> lines_of(const TaskState& state, const records::AnyRecord& record) {
    LineWriter writer(state, record.envelope);
    std::visit([&writer](const auto& body) { writer.on(body); }, record.body);
    return writer.take();
}

StreamLine line_of(const Event& event) {
    return std::visit([](const auto& one) { return StreamLine{one.type, records::to_fields(one)}; }, event);
}

EventStream::EventStream(std::ostream& out, Clock& clock) : out_(out), clock_(clock) {
    write({"stream_started", {{"format", "agentforge-stream"}, {"version", version}}});
}

void EventStream::event(const Event& event) { write(line_of(event)); }

void EventStream::recorded(const TaskState& state, const StageState*, const records::AnyRecord& record) {
    for (const StreamLine& entry : lines_of(state, record)) { write(entry); }
}

void EventStream::write(const StreamLine& entry) {
    json::object line{{"time", format_time(clock_.now())}, {"type", entry.type}};
    for (const auto& [key, value] : entry.fields) {
        if (!line.contains(key)) { line[key] = value; }
    }
    const std::lock_guard guard(writing_);
    out_ << to_json_line(line) << "\n" << std::flush;
}

void end_event_stream(std::ostream& out, json::object result) {
    json::object line{{"type", "result"}};
    for (const auto& [key, value] : result) { line[key] = value; }
    out << to_json_line(line) << "\n" << std::flush;
}

}  // namespace agentforge::kernel
