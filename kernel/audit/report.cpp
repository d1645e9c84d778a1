// SPDX-License-Identifier: Apache-2.0
#include "audit/report.hpp"

#include <set>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "cost/price_table.hpp"
#include "journal/blob_store.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

namespace {

std::string joined(const std::vector<std::string>& texts, std::string_view between = "; ") {
    std::string all;
    for (const std::string& each : texts) { all += (all.empty() ? "" : std::string(between)) + each; }
    return all;
}

json::value time_of(const Record& record) { return json::value(records::envelope_in(record).timestamp); }

std::string deadline_text(const std::optional<std::string>& deadline, const std::optional<std::string>& then) {
    return deadline ? "; due " + *deadline + ", then " + then.value_or("") : std::string();
}

const char* mode_in_words(const TaskState& state) {
    if (state.interactive) { return "interactive: every action waits for a person"; }
    return state.supervised ? "supervised: every stage waits for a person" : "autonomous";
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
    row("mode", json::value(mode_in_words(state)));
    row("started", json::value(state.created_at));
    row("ended", json::value(state.completed_at));
    row("status", json::value(to_string(state.status)));
    row("exit stage", json::value(state.exit_stage));
    row("why it failed or waits", json::value(state.error.empty() ? state.pause_reason : state.error));
    for (const Record& record : evidence.records) {
        if (const auto ended = records::as<records::TaskCompleted>(record)) { row("exit type", json::value(*ended->exit_type)); }
        if (const auto forked = records::as<records::Forked>(record)) {
            row("continues from", json::value(forked->parent + " after step " + std::to_string(forked->from_step)));
        }
        if (const auto created = records::as<records::TaskCreated>(record)) {
            row("replay of", json::value(created->replay_of.value_or("")));
        }
    }
    const DeliveryBase base = delivery_base(state);
    row("base commit", json::value(base.commit));
    row("base branch", json::value(state.base_branch));
    row("delivered", json::value(state.delivery.deliverable_type.value_or("")));
    row("branch", json::value(state.branch));
    row("commit", json::value(state.commit));
    row("tree", json::value(delivered_tree(state)));
    row("signed commit", state.delivery.signed_ ? json::value(*state.delivery.signed_) : json::value(""));
    row("pull request", json::value(state.delivery.pr_url.value_or("")));
    row("journal", json::value(std::to_string(state.seq) + " records, head " + state.hash));
    return section;
}

DocumentSection verification_of(const AuditVerdict& verdict) {
    DocumentSection section{
        "verification",
        verdict.holds() ? "Verification: everything that could be checked holds" : "Verification: something does not hold",
        "",
        {{"part", "Part", 1}, {"answer", "Answer", 0.8}, {"told", "", 5}},
        {},
        ""};
    for (const AuditFinding& each : verdict.findings) {
        section.rows.push_back({json::value(each.part), json::value(to_string(each.answer)), json::value(each.detail)});
    }
    return section;
}

DocumentSection stages_of(const TaskEvidence& evidence) {
    DocumentSection section{"stages",
                            "Stages",
                            "",
                            {{"stage", "Stage", 1},
                             {"status", "Status", 1},
                             {"visits", "Visits", 0.6},
                             {"steps", "Steps", 0.6},
                             {"begun", "Started", 1.6},
                             {"ended", "Ended", 1.6},
                             {"artifact", "Artifact", 2.6},
                             {"artifact_sha256", "SHA-256", 2.4}},
                            {},
                            "none"};
    for (const StageState& stage : evidence.state.stages) {
        const std::string why = stage.skip_reason.empty() ? stage.error : stage.skip_reason;
        section.rows.push_back({json::value(stage.name),
                                json::value(std::string(to_string(stage.status)) + (why.empty() ? "" : ": " + why)),
                                json::value(stage.visits), json::value(stage.steps), json::value(stage.started_at),
                                json::value(stage.completed_at), json::value(stage.artifact), json::value(stage.artifact_hash)});
    }
    return section;
}

const char* decision_in_words(std::string_view word) {
    if (word == "exit") { return "approved, as the task's last artifact,"; }
    if (word == "extend") { return "approved, with more stages,"; }
    if (word == "revise") { return "sent back for revision"; }
    return word == "reject" ? "rejected" : "approved";
}

/// Returns, for instance, "approved, as the task's last artifact, by ada".
std::string decided_by(const records::ApprovalDecided& on) {
    const char* const what = decision_in_words(records::decision_of(on));
    const std::string stale =
        on.freshness && !on.freshness->accepted.empty() ? "; stale artifacts count: " + on.freshness->accepted : "";
    return std::string(what) + " by " + *on.decided_by + stale;
}

std::string with_feedback(std::string decision, const std::string& feedback) {
    return feedback.empty() ? std::move(decision) : std::move(decision) + ": " + feedback;
}

/// A decision in words. Empty: the record is not a decision.
struct Decision {
    template <class Other>
    std::string operator()(const Other&) const {
        return {};
    }
    std::string operator()(const records::ArtifactAccepted& on) const {
        return "artifact accepted: it satisfies " + *on.contract + " " + *on.contract_version;
    }
    std::string operator()(const records::ArtifactRejected& on) const { return "artifact refused: " + joined(on.errors); }
    std::string operator()(const records::ReviewFinished& on) const {
        return "reviewed by " + on.reviewer + ": " + std::to_string(on.blocking) + " blocking, " + std::to_string(*on.advisory) +
               " advisory. " + joined(on.issues);
    }
    std::string operator()(const records::StageSkipped& on) const { return "stage left out: " + on.reason; }
    std::string operator()(const records::StageFailed& on) const { return "stage failed: " + on.error.message; }
    std::string operator()(const records::StageCompleted&) const { return "stage done"; }
    std::string operator()(const records::StageEscalated& on) const { return "a person is needed: " + on.question; }
    std::string operator()(const records::EscalationRaised& on) const {
        return "asked a person (" + on.escalation_id + ")" + deadline_text(on.deadline, on.at_deadline);
    }
    std::string operator()(const records::EscalationResolved& on) const {
        return "answered by " + *on.resolved_by + (on.abort ? ": the task ends" : "");
    }
    std::string operator()(const records::ApprovalRequested& on) const {
        return "asked for approval (" + on.approval_id + ")" + deadline_text(on.deadline, on.at_deadline);
    }
    std::string operator()(const records::ApprovalDecided& on) const { return with_feedback(decided_by(on), *on.feedback); }
    std::string operator()(const records::ActionDecided& on) const {
        return with_feedback("action " + on.decision + " by " + *on.decided_by, *on.feedback);
    }
    std::string operator()(const records::CycleRequested& on) const { return "wants to go back to " + on.to + ": " + on.reason; }
    std::string operator()(const records::CycleStarted& on) const { return "goes back to " + *on.to; }
    std::string operator()(const records::TaskResumed& on) const {
        return "the task continues" +
               (on.guidance.value_or("").empty() ? std::string() : ", with this message to the model: " + *on.guidance);
    }
    std::string operator()(const records::TaskPaused& on) const { return "the task paused: " + on.reason; }
    std::string operator()(const records::TaskAborted& on) const { return "the task was ended by a person: " + on.reason; }
    std::string operator()(const records::TaskFailed& on) const { return "the task failed: " + on.message; }
    std::string operator()(const records::TaskCompleted& on) const {
        return "the pipeline has ended at " + on.exit_stage + " (" + *on.exit_type + ")";
    }
    std::string operator()(const records::TaskContinued& on) const {
        return (on.revise ? std::string("the task continues: its last artifact is revised")
                          : "the task continues, to stage " + (on.extension ? on.extension->exit_stage : std::string())) +
               (on.freshness.accepted.empty() ? "" : "; stale artifacts count: " + on.freshness.accepted);
    }
    std::string operator()(const records::Delivered& on) const { return "delivered " + *on.deliverable_type + " " + on.commit; }
    std::string operator()(const records::DeliveryPrepared& on) const {
        return "commit " + on.commit + " is ready for branch " + on.branch + ", which its set creates; tree " + on.tree +
               "; hooks: " + on.commit_hooks;
    }
    std::string operator()(const records::DependenciesMet& on) const {
        return "what stage " + on.stage + " waited for exists: " + std::to_string(on.tasks.size()) + " task(s), " +
               std::to_string(on.external.size()) + " artifact(s) of other repositories";
    }
    std::string operator()(const records::Published& on) const { return "published to " + on.remote + " " + on.pr_url; }
    std::string operator()(const records::RebasePrepared& on) const {
        return "rebase: the branch is about to move from " + on.replaces + " to " + on.commit;
    }
    std::string operator()(const records::Rebased& on) const { return "rebased: " + on.commit + " replaces " + on.replaces; }
    std::string operator()(const records::Note& on) const { return *on.message; }
};

DocumentSection decisions_of(const TaskEvidence& evidence) {
    DocumentSection section{
        "decisions", "Stages and decisions, in their order",
        "",          {{"record", "Record", 0.6}, {"time", "Time", 1.8}, {"stage", "Stage", 1}, {"decision", "Decision", 5}},
        {},          "none"};
    for (const Record& record : evidence.records) {
        const auto typed = records::read_record(record.body);
        if (!typed.ok()) { continue; }  // Impossible: such a record is not folded either.
        std::string text = std::visit(Decision{}, typed->body);
        if (!text.empty()) {
            section.rows.push_back({json::value(record.seq), time_of(record), json::value(records::stage_of(typed->body)),
                                    json::value(std::move(text))});
        }
    }
    return section;
}

/// Returns a person's answer. Empty if the blob cannot be read: the verification reports that.
std::string answer_in(const TaskEvidence& evidence, const std::string& blob) {
    const auto text = BlobStore(evidence.blobs).get(blob);
    const auto resolution = text.ok() ? parse_json(*text, "blob " + blob) : Result<json::value>(text.error());
    return resolution.ok() && resolution->is_object() ? text_of(resolution->get_object(), "answer") : std::string();
}

DocumentSection approvals_section(const TaskEvidence& evidence) {
    DocumentSection section{"approvals",
                            "Who approved what",
                            "The hash is of the bytes that were shown.",
                            {{"record", "Record", 0.6},
                             {"time", "Time", 1.8},
                             {"stage", "Stage", 1},
                             {"by", "By", 1.2},
                             {"decision", "Decision", 1},
                             {"sha256", "SHA-256", 3.4},
                             {"said", "Said", 2}},
                            {},
                            "No person was asked to approve anything."};
    for (const Record& record : evidence.records) {
        const auto add = [&](const std::string& stage, const std::string& by, const std::string& decision,
                             const std::string& hash, const std::string& said) {
            section.rows.push_back({json::value(record.seq), time_of(record), json::value(stage), json::value(by),
                                    json::value(decision), json::value(hash), json::value(said)});
        };
        if (const auto on = records::as<records::ApprovalDecided>(record)) {
            add(*on->stage, *on->decided_by, on->approved ? "approved" : "not approved", on->artifact_hash, *on->feedback);
        }
        if (const auto on = records::as<records::ActionDecided>(record)) {
            add(*on->stage, *on->decided_by, "action " + on->decision, on->action_hash, *on->feedback);
        }
        if (const auto on = records::as<records::EscalationResolved>(record)) {
            add(*on->stage, *on->resolved_by, "answered " + on->escalation_id, on->resolution_blob,
                answer_in(evidence, on->resolution_blob));
        }
    }
    return section;
}

/// `network none, landlock 4, …`
std::string confinement_text(const std::optional<json::value>& confinement) {
    if (!confinement || confinement->is_null()) { return "not recorded"; }
    if (!confinement->is_object()) { return cell_text(*confinement); }
    std::string text;
    for (const auto& [key, each] : confinement->get_object()) {
        text += (text.empty() ? "" : ", ") + std::string(key) + " " + cell_text(each);
    }
    return text;
}

std::string commands_text(const records::Gate& gate) {
    std::string text;
    std::set<std::string> seen;
    for (const records::CommandRun& each : gate.commands.value_or(std::vector<records::CommandRun>())) {
        const std::string command = *each.command + (each.purpose ? " (" + *each.purpose + ")" : "");
        if (!seen.insert(command).second) { continue; }
        text += (text.empty() ? "" : "; ") + command + (each.argv ? ": " + *each.argv : "");
    }
    return text;
}

DocumentSection gates_of(const TaskEvidence& evidence) {
    DocumentSection section{"gates",
                            "Gates",
                            "Each was run by the kernel on the recorded tree.",
                            {{"record", "Record", 0.7},
                             {"stage", "Stage", 0.9},
                             {"gate", "Gate", 0.9},
                             {"passed", "Passed", 0.8},
                             {"tree", "Tree", 1.6},
                             {"summary", "Found", 2.4},
                             {"commands", "Ran", 2},
                             {"confinement", "Confined by", 2}},
                            {},
                            "No gate was run."};
    for (const Record& record : evidence.records) {
        const auto gate = records::as<records::Gate>(record);
        if (!gate) { continue; }
        section.rows.push_back({json::value(record.seq), json::value(*gate->stage),
                                json::value(gate->gate + (*gate->partial ? " (some paths)" : "")), json::value(gate->passed),
                                json::value(gate->tree), json::value(gate->summary), json::value(commands_text(*gate)),
                                json::value(confinement_text(gate->confinement))});
    }
    return section;
}

DocumentSection models_of(const TaskEvidence& evidence) {
    const Ledger& ledger = evidence.state.ledger;
    DocumentSection section{"models",
                            "Models and cost",
                            "Total: " + cost_in_words(ledger.total(), ledger.unpriced_models()) + ", " +
                                std::to_string(ledger.total().tokens()) + " tokens.",
                            {{"stage", "Stage", 1},
                             {"agent", "Agent", 1.4},
                             {"model", "Model", 2},
                             {"calls", "Calls", 0.7},
                             {"input_tokens", "Tokens in", 1},
                             {"output_tokens", "Tokens out", 1},
                             {"cost", "Cost", 1.2}},
                            {},
                            "No model was called."};
    for (const LedgerEntry& each : ledger.entries()) {
        section.rows.push_back({json::value(each.stage), json::value(each.agent), json::value(each.model),
                                json::value(each.spend.calls + each.spend.lost), json::value(each.spend.input_tokens),
                                json::value(each.spend.output_tokens),
                                json::value(each.spend.cost_known() ? money(each.spend.cost_microusd) : "unknown")});
    }
    return section;
}

DocumentSection violations_of(const TaskEvidence& evidence) {
    DocumentSection section{
        "violations", "Violations",
        "",           {{"record", "Record", 0.6}, {"time", "Time", 1.8}, {"stage", "Stage", 1}, {"what", "What", 5}},
        {},           "None."};
    for (const Record& record : evidence.records) {
        const auto add = [&](const std::string& stage, std::string what) {
            section.rows.push_back({json::value(record.seq), time_of(record), json::value(stage), json::value(std::move(what))});
        };
        if (const auto violation = records::as<records::Violation>(record)) {
            add(*violation->stage,
                "a program wrote where it may not, so all its writes were undone: " + joined(*violation->paths, ", "));
        }
        const auto step = records::as<records::Step>(record);
        const std::string error = step ? step->result->error.value_or("") : std::string();
        if (error.find("AF-TOOL-") != std::string::npos) { add(step->phase, "an action was refused: " + error); }
    }
    return section;
}

/// An override by people or settings. Empty: none.
struct Override {
    bool& has_costing;  ///< The first costing record is part of a task's beginning.

    template <class Other>
    std::string operator()(const Other&) const {
        return {};
    }
    std::string operator()(const records::Delivered& on) const { return hooks(*on.commit_hooks); }
    std::string operator()(const records::Rebased& on) const { return hooks(*on.commit_hooks); }
    std::string operator()(const records::ActionDecided& on) const {
        if (on.decision == "rejected") { return with_feedback("an action was rejected by " + *on.decided_by, *on.feedback); }
        return on.decision == "edited" ? "an action was changed before it ran, by " + *on.decided_by : "";
    }
    std::string operator()(const records::StageSkipped& on) const { return "a stage was left out: " + on.reason; }
    std::string operator()(const records::Costing&) const {
        return std::exchange(has_costing, true) ? "limits or prices were changed during the task" : "";
    }
    std::string operator()(const records::ApprovalDecided& on) const {
        return with_feedback("the artifact of stage " + *on.stage + " was " + decided_by(on), *on.feedback);
    }
    std::string operator()(const records::EscalationResolved& on) const {
        return "the question of stage " + *on.stage + " was " + Decision{}(on);
    }
    std::string operator()(const records::TaskContinued& on) const { return Decision{}(on); }
    std::string operator()(const records::TaskAborted& on) const { return Decision{}(on); }
    std::string operator()(const records::TaskStarted& on) const { return text_of_guidance(on.guidance); }
    std::string operator()(const records::TaskResumed& on) const { return text_of_guidance(on.guidance); }
    std::string operator()(const records::HeldOut& on) const {
        return on.shown.empty() ? "" : "tests that were held out are shown from now on: " + joined(on.shown, ", ");
    }

private:
    static std::string hooks(const std::string& ran) { return ran.starts_with("not run") ? "commit hooks " + ran : ""; }
    static std::string text_of_guidance(const std::optional<std::string>& guidance) {
        return guidance.value_or("").empty() ? "" : "a person told the model: " + *guidance;
    }
};

DocumentSection overrides_of(const TaskEvidence& evidence) {
    DocumentSection section{"overrides",
                            "Overrides",
                            "What people or settings decided instead of the pipeline.",
                            {{"record", "Record", 0.6}, {"time", "Time", 1.8}, {"what", "What", 6}},
                            {},
                            "There were none."};
    bool has_costing = false;
    for (const Record& record : evidence.records) {
        const auto typed = records::read_record(record.body);
        if (!typed.ok()) { continue; }
        std::string text = std::visit(Override{has_costing}, typed->body);
        if (!text.empty()) { section.rows.push_back({json::value(record.seq), time_of(record), json::value(std::move(text))}); }
    }
    return section;
}

DocumentSection steps_of(const TaskEvidence& evidence) {
    DocumentSection section{"steps",
                            "Steps",
                            "`agentforge inspect TASK --step N` shows what the model saw and answered at each.",
                            {{"step", "Step", 0.6},
                             {"time", "Time", 1.8},
                             {"stage", "Stage", 1},
                             {"agent", "Agent", 1.4},
                             {"action", "Action", 1.2},
                             {"result", "Result", 3.2},
                             {"tree", "Tree", 1.6}},
                            {},
                            "none"};
    for (const Record& record : evidence.records) {
        const auto step = records::as<records::Step>(record);
        if (!step) { continue; }
        const records::Envelope envelope = records::envelope_in(record);
        section.rows.push_back({json::value(envelope.step), time_of(record), json::value(step->phase),
                                json::value(envelope.agent ? *envelope.agent->role : std::string()),
                                json::value(*step->action->type),
                                json::value(*step->result->status + ": " + *step->result->summary), json::value(*step->tree)});
    }
    return section;
}

}  // namespace

Document audit_report(const TaskEvidence& evidence, const AuditVerdict& verdict) {
    Document document{"Audit of task " + evidence.state.task_id, {}};
    document.sections = {facts_of(evidence),          verification_of(verdict), stages_of(evidence), decisions_of(evidence),
                         approvals_section(evidence), gates_of(evidence),       models_of(evidence), violations_of(evidence),
                         overrides_of(evidence),      steps_of(evidence)};
    return document;
}

}  // namespace agentforge::kernel
