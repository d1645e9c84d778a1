// SPDX-License-Identifier: Apache-2.0
#include "audit/report.hpp"

#include <set>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "cost/prices.hpp"
#include "journal/blobs.hpp"

namespace agentforge::kernel {

namespace {

const json::value* field(const json::object& object, std::string_view key) { return object.if_contains(key); }

bool is_true(const json::object& object, std::string_view key) {
    const json::value* value = field(object, key);
    return value != nullptr && *value == json::value(true);
}

json::value number(const json::object& object, std::string_view key) {
    const json::value* value = field(object, key);
    return value != nullptr && value->is_number() ? *value : json::value(nullptr);
}

std::string joined(const json::array& texts, std::string_view between = "; ") {
    std::string all;
    for (const json::value& each : texts) { all += (all.empty() ? "" : std::string(between)) + cell_text(each); }
    return all;
}

std::string time_of(const Record& record) { return text_of(record.body, "timestamp"); }

std::string deadline_text(const json::object& body) {
    const std::string deadline = text_of(body, "deadline");
    return deadline.empty() ? std::string() : "; due " + deadline + ", then " + text_of(body, "at_deadline");
}

DocumentSection facts_of(const TaskEvidence& evidence) {
    const TaskState& state = evidence.state;
    DocumentSection section{"task", "Task", "", {{"what", "", 1}, {"value", "", 4}}, {}, ""};
    const auto row = [&](const char* what, json::value value) {
        if (!value.is_string() || !value.get_string().empty()) { section.rows.push_back({json::value(what), std::move(value)}); }
    };
    row("id", json::value(state.task_id));
    row("request", json::value(state.request));
    row("goal", json::value(state.goal_type));
    row("pipeline", json::value(state.pipeline.name));
    row("mode", json::value(state.interactive ? "interactive: every action waits for a person" : state.supervised ? "supervised: every stage waits for a person" : "autonomous"));
    row("begun", json::value(state.created_at));
    row("ended", json::value(state.completed_at));
    row("status", json::value(to_string(state.status)));
    row("exit stage", json::value(state.exit_stage));
    row("why it failed or waits", json::value(state.error.empty() ? state.pause_reason : state.error));
    for (const Record& record : evidence.records) {
        if (record.type() == "task_completed") { row("exit type", json::value(text_of(record.body, "exit_type"))); }
        if (record.type() == "forked") { row("goes on from", json::value(text_of(record.body, "parent") + " after step " + cell_text(number(record.body, "from_step")))); }
        if (record.type() == "task_created") { row("replay of", json::value(text_of(record.body, "replay_of"))); }
    }
    const DeliveryBase base = delivery_base(state);
    row("base commit", json::value(base.commit));
    row("base branch", json::value(state.base_branch));
    row("delivered", json::value(text_of(state.delivery, "deliverable_type")));
    row("branch", json::value(state.branch));
    row("commit", json::value(state.commit));
    row("tree", json::value(delivered_tree(state)));
    row("signed commit", field(state.delivery, "signed") == nullptr ? json::value("") : *field(state.delivery, "signed"));
    row("pull request", json::value(text_of(state.delivery, "pr_url")));
    row("journal", json::value(std::to_string(state.seq) + " records, head " + state.hash));
    return section;
}

DocumentSection verification_of(const AuditVerdict& verdict) {
    DocumentSection section{"verification", verdict.holds() ? "Verification: everything that could be checked holds" : "Verification: something does not hold", "", {{"part", "Part", 1}, {"answer", "Answer", 0.8}, {"told", "", 5}}, {}, ""};
    for (const AuditFinding& each : verdict.findings) { section.rows.push_back({json::value(each.part), json::value(to_string(each.answer)), json::value(each.told)}); }
    return section;
}

DocumentSection stages_of(const TaskEvidence& evidence) {
    DocumentSection section{"stages", "Stages", "", {{"stage", "Stage", 1}, {"status", "Status", 1}, {"visits", "Visits", 0.6}, {"steps", "Steps", 0.6}, {"begun", "Begun", 1.6}, {"ended", "Ended", 1.6}, {"artifact", "Artifact", 2.6}, {"artifact_sha256", "SHA-256", 2.4}}, {}, "none"};
    for (const StageState& stage : evidence.state.stages) {
        const std::string why = stage.skip_reason.empty() ? stage.error : stage.skip_reason;
        section.rows.push_back({json::value(stage.name), json::value(std::string(to_string(stage.status)) + (why.empty() ? "" : ": " + why)), json::value(stage.visits), json::value(stage.steps), json::value(stage.started_at),
                                json::value(stage.completed_at), json::value(stage.artifact), json::value(stage.artifact_hash)});
    }
    return section;
}

/// What was decided, in words; empty: the record is no decision.
std::string decision_of(const Record& record) {
    const json::object& body = record.body;
    const std::string_view type = record.type();
    if (type == "artifact_accepted") { return "artifact accepted: it satisfies " + text_of(body, "contract") + " " + text_of(body, "contract_version"); }
    if (type == "artifact_rejected") { return "artifact refused: " + joined(list_of(body, "errors")); }
    if (type == "review_finished") { return "reviewed by " + text_of(body, "reviewer") + ": " + cell_text(number(body, "blocking")) + " blocking, " + cell_text(number(body, "advisory")) + " advisory. " + joined(list_of(body, "issues")); }
    if (type == "stage_skipped") { return "stage left out: " + text_of(body, "reason"); }
    if (type == "stage_failed") { return "stage failed: " + (field(body, "error") != nullptr && field(body, "error")->is_object() ? text_of(field(body, "error")->get_object(), "message") : ""); }
    if (type == "stage_completed") { return "stage done"; }
    if (type == "stage_escalated") { return "a person is needed: " + text_of(body, "question"); }
    if (type == "escalation_raised") { return "asked a person (" + text_of(body, "escalation_id") + ")" + deadline_text(body); }
    if (type == "escalation_resolved") { return "answered by " + text_of(body, "resolved_by") + (is_true(body, "abort") ? ": the task ends" : ""); }
    if (type == "approval_requested") { return "asked for approval (" + text_of(body, "approval_id") + ")" + deadline_text(body); }
    if (type == "approval_decided") { return (is_true(body, "approved") ? "approved by " : "not approved by ") + text_of(body, "decided_by") + (text_of(body, "feedback").empty() ? "" : ": " + text_of(body, "feedback")); }
    if (type == "action_decided") { return "action " + text_of(body, "decision") + " by " + text_of(body, "decided_by") + (text_of(body, "feedback").empty() ? "" : ": " + text_of(body, "feedback")); }
    if (type == "cycle_requested") { return "wants to go back to " + text_of(body, "to") + ": " + text_of(body, "reason"); }
    if (type == "cycle_started") { return "goes back to " + text_of(body, "to"); }
    if (type == "task_resumed") { return "the task goes on" + (text_of(body, "guidance").empty() ? std::string() : ", told: " + text_of(body, "guidance")); }
    if (type == "task_paused" || type == "task_aborted") { return std::string(type == "task_paused" ? "the task rests: " : "the task was ended by a person: ") + text_of(body, "reason"); }
    if (type == "task_failed") { return "the task failed: " + text_of(body, "message"); }
    if (type == "task_completed") { return "the pipeline has ended at " + text_of(body, "exit_stage") + " (" + text_of(body, "exit_type") + ")"; }
    if (type == "delivered") { return "delivered " + text_of(body, "deliverable_type") + " " + text_of(body, "commit"); }
    if (type == "published") { return "published to " + text_of(body, "remote") + " " + text_of(body, "pr_url"); }
    if (type == "rebased") { return "rebased: " + text_of(body, "commit") + " replaces " + text_of(body, "replaces"); }
    if (type == "note") { return text_of(body, "message"); }
    return {};
}

DocumentSection decisions_of(const TaskEvidence& evidence) {
    DocumentSection section{"decisions", "Stages and decisions, in their order", "", {{"record", "Record", 0.6}, {"time", "Time", 1.8}, {"stage", "Stage", 1}, {"decision", "Decision", 5}}, {}, "none"};
    for (const Record& record : evidence.records) {
        if (std::string told = decision_of(record); !told.empty()) { section.rows.push_back({json::value(record.seq), json::value(time_of(record)), json::value(text_of(record.body, "stage")), json::value(std::move(told))}); }
    }
    return section;
}

DocumentSection approvals_section(const TaskEvidence& evidence) {
    DocumentSection section{"approvals", "Who approved what", "The hash is of the bytes that were shown.", {{"record", "Record", 0.6}, {"time", "Time", 1.8}, {"stage", "Stage", 1}, {"by", "By", 1.2}, {"decision", "Decision", 1}, {"sha256", "SHA-256", 3.4}, {"said", "Said", 2}}, {}, "No person was asked to approve anything."};
    for (const Record& record : evidence.records) {
        const json::object& body = record.body;
        if (record.type() == "approval_decided") {
            section.rows.push_back({json::value(record.seq), json::value(time_of(record)), json::value(text_of(body, "stage")), json::value(text_of(body, "decided_by")), json::value(is_true(body, "approved") ? "approved" : "not approved"), json::value(text_of(body, "artifact_hash")), json::value(text_of(body, "feedback"))});
        } else if (record.type() == "action_decided") {
            section.rows.push_back({json::value(record.seq), json::value(time_of(record)), json::value(text_of(body, "stage")), json::value(text_of(body, "decided_by")), json::value("action " + text_of(body, "decision")), json::value(text_of(body, "action_hash")), json::value(text_of(body, "feedback"))});
        } else if (record.type() == "escalation_resolved") {
            section.rows.push_back({json::value(record.seq), json::value(time_of(record)), json::value(text_of(body, "stage")), json::value(text_of(body, "resolved_by")), json::value("answered " + text_of(body, "escalation_id")), json::value(text_of(body, "resolution_blob")), json::value("")});
        }
    }
    return section;
}

/// `network none, landlock 4, …`
std::string confinement_text(const json::object& body) {
    const json::value* value = field(body, "confinement");
    if (value == nullptr || value->is_null()) { return "not recorded"; }
    if (!value->is_object()) { return cell_text(*value); }
    std::string text;
    for (const auto& [key, each] : value->get_object()) { text += (text.empty() ? "" : ", ") + std::string(key) + " " + cell_text(each); }
    return text;
}

std::string commands_text(const json::object& body) {
    std::string text;
    std::set<std::string> seen;
    for (const json::value& each : list_of(body, "commands")) {
        if (!each.is_object()) { continue; }
        const std::string command = text_of(each.get_object(), "command") + " (" + text_of(each.get_object(), "purpose") + ")";
        if (seen.insert(command).second) { text += (text.empty() ? "" : "; ") + command; }
    }
    return text;
}

DocumentSection gates_of(const TaskEvidence& evidence) {
    DocumentSection section{"gates", "Gates", "Each was run by the kernel on the recorded tree.", {{"record", "Record", 0.7}, {"stage", "Stage", 0.9}, {"gate", "Gate", 0.9}, {"passed", "Passed", 0.8}, {"tree", "Tree", 1.6}, {"summary", "Found", 2.4}, {"commands", "Ran", 2}, {"confinement", "Confined by", 2}}, {}, "No gate was run."};
    for (const Record& record : evidence.records) {
        if (record.type() != "gate") { continue; }
        section.rows.push_back({json::value(record.seq), json::value(text_of(record.body, "stage")), json::value(text_of(record.body, "gate") + (is_true(record.body, "partial") ? " (some paths)" : "")), json::value(is_true(record.body, "passed")), json::value(text_of(record.body, "tree")), json::value(text_of(record.body, "summary")), json::value(commands_text(record.body)), json::value(confinement_text(record.body))});
    }
    return section;
}

DocumentSection models_of(const TaskEvidence& evidence) {
    const Ledger& ledger = evidence.state.ledger;
    DocumentSection section{"models", "Models and cost", "In all: " + cost_in_words(ledger.total(), ledger.unpriced_models()) + ", " + std::to_string(ledger.total().tokens()) + " tokens.", {{"stage", "Stage", 1}, {"agent", "Agent", 1.4}, {"model", "Model", 2}, {"calls", "Calls", 0.7}, {"input_tokens", "Tokens in", 1}, {"output_tokens", "Tokens out", 1}, {"cost", "Cost", 1.2}}, {}, "No model was called."};
    for (const LedgerEntry& each : ledger.entries()) {
        section.rows.push_back({json::value(each.stage), json::value(each.agent), json::value(each.model), json::value(each.spend.calls + each.spend.lost), json::value(each.spend.input_tokens), json::value(each.spend.output_tokens), json::value(each.spend.cost_known() ? money(each.spend.cost_microusd) : "unknown")});
    }
    return section;
}

DocumentSection violations_of(const TaskEvidence& evidence) {
    DocumentSection section{"violations", "Violations", "", {{"record", "Record", 0.6}, {"time", "Time", 1.8}, {"stage", "Stage", 1}, {"what", "What", 5}}, {}, "None was recorded."};
    for (const Record& record : evidence.records) {
        if (record.type() == "violation") { section.rows.push_back({json::value(record.seq), json::value(time_of(record)), json::value(text_of(record.body, "stage")), json::value("a program wrote where it may not, all of it was taken back: " + joined(list_of(record.body, "paths"), ", "))}); }
        const json::value* result = record.type() == "step" ? field(record.body, "result") : nullptr;
        const std::string error = result != nullptr && result->is_object() ? text_of(result->get_object(), "error") : "";
        if (error.find("AF-TOOL-") != std::string::npos) { section.rows.push_back({json::value(record.seq), json::value(time_of(record)), json::value(text_of(record.body, "phase")), json::value("an action was refused: " + error)}); }
    }
    return section;
}

/// What people or settings set aside.
std::string override_of(const Record& record, bool& costed) {
    const json::object& body = record.body;
    if (record.type() == "delivered" || record.type() == "rebased") {
        const std::string hooks = text_of(body, "commit_hooks");
        return hooks.starts_with("not run") ? "commit hooks " + hooks : std::string();
    }
    if (record.type() == "action_decided" && text_of(body, "decision") == "edited") { return "a person changed an action before it was done"; }
    if (record.type() == "stage_skipped") { return "a stage was left out: " + text_of(body, "reason"); }
    if (record.type() == "costing") { return std::exchange(costed, true) ? "limits or prices were changed while the task was under way" : std::string(); }
    if (record.type() == "approval_decided" && is_true(body, "approved")) { return "a person let the task go on (record " + std::to_string(record.seq) + ")"; }
    if ((record.type() == "task_resumed" || record.type() == "task_started") && !text_of(body, "guidance").empty()) { return "a person told the model: " + text_of(body, "guidance"); }
    if (record.type() == "held_out" && !list_of(body, "shown").empty()) { return "tests that were held out are shown from now on: " + joined(list_of(body, "shown"), ", "); }
    return {};
}

DocumentSection overrides_of(const TaskEvidence& evidence) {
    DocumentSection section{"overrides", "Overrides", "What people or settings decided in place of the pipeline.", {{"record", "Record", 0.6}, {"time", "Time", 1.8}, {"what", "What", 6}}, {}, "There were none."};
    bool costed = false;
    for (const Record& record : evidence.records) {
        if (std::string told = override_of(record, costed); !told.empty()) { section.rows.push_back({json::value(record.seq), json::value(time_of(record)), json::value(std::move(told))}); }
    }
    return section;
}

DocumentSection steps_of(const TaskEvidence& evidence) {
    DocumentSection section{"steps", "Steps", "`agentforge inspect TASK --step N` shows what the model saw and answered at each.", {{"step", "Step", 0.6}, {"time", "Time", 1.8}, {"stage", "Stage", 1}, {"agent", "Agent", 1.4}, {"action", "Action", 1.2}, {"result", "Result", 3.2}, {"tree", "Tree", 1.6}}, {}, "none"};
    for (const Record& record : evidence.records) {
        if (record.type() != "step") { continue; }
        static const json::object nothing;
        const auto inside = [&](std::string_view key) -> const json::object& {
            const json::value* value = field(record.body, key);
            return value != nullptr && value->is_object() ? value->get_object() : nothing;
        };
        section.rows.push_back({number(record.body, "step"), json::value(time_of(record)), json::value(text_of(record.body, "phase")), json::value(text_of(inside("agent"), "role")), json::value(text_of(inside("action"), "type")),
                                json::value(text_of(inside("result"), "status") + ": " + text_of(inside("result"), "summary")), json::value(text_of(record.body, "tree"))});
    }
    return section;
}

}  // namespace

Document audit_report(const TaskEvidence& evidence, const AuditVerdict& verdict) {
    Document document{"Audit of task " + evidence.state.task_id, {}};
    document.sections = {facts_of(evidence), verification_of(verdict), stages_of(evidence), decisions_of(evidence), approvals_section(evidence), gates_of(evidence), models_of(evidence), violations_of(evidence), overrides_of(evidence), steps_of(evidence)};
    return document;
}

}  // namespace agentforge::kernel
