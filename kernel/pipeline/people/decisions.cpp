// SPDX-License-Identifier: Apache-2.0
#include "pipeline/people/decisions.hpp"

#include <agentforge/artifact.hpp>

#include "base/advice.hpp"
#include "base/files.hpp"
#include "base/ids.hpp"
#include "base/plain_file.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "config/template_checks.hpp"
#include "journal/blob_store.hpp"
#include "task/artifact_files.hpp"
#include "tools/arguments_check.hpp"

namespace agentforge::kernel {

Result<void> check_shown(const ControllerSetup& setup, const TaskState& state, const OpenQuestion& open) {
    const bool action = open.kind == QuestionKind::action;
    const TaskPaths paths = setup.store.paths(state.task_id);
    const auto other = [&](const std::filesystem::path& file) {
        return Error{"AF-ESC-047", "the item changed after it was shown to you", file.string(),
                     "undo the change, or remove the file and `agentforge resume " + short_id(state.task_id) +
                         "` writes it again" +
                         (action ? "" : "; to change it: agentforge feedback " + short_id(state.task_id) + " \"…\""),
                     ErrorKind::conflict};
    };
    AF_TRY(const std::string text, BlobStore(paths.blobs()).get(open.blob));
    AF_TRY(json::value shown, parse_json(text, "the blob of what was shown"));
    if (!shown.is_object()) { return {}; }
    // Part of the envelope, and never shown.
    for (const std::string_view key : {"_artifact_meta", "_metadata"}) { shown.get_object().erase(key); }
    AF_TRY(const ApprovalRequest asked, setup.escalations.approval(open.id));
    if (!reads_as(asked.artifact, shown)) { return other(setup.escalations.directory() / (open.id + ".yaml")); }
    if (action) { return {}; }
    const std::filesystem::path file = paths.root / state.stage().artifact;
    const auto artifact = load_artifact(file);
    if (!artifact.ok() && artifact.error().kind == ErrorKind::io) { return artifact.error(); }
    const auto parts = artifact.ok() ? StageArtifact::from_json(*artifact) : Result<StageArtifact>(artifact.error());
    if (!parts.ok() || !reads_as(parts->data, shown)) { return other(file); }
    AF_TRY(const std::string written, read_plain_file(paths.root, state.stage().artifact));
    return is_as_written(written, *artifact) ? Result<void>() : other(file);
}

Result<void> check_edited(const ControllerSetup& setup, const ApprovalRequest& request, json::object& edited) {
    const auto text = [](const json::object& object, std::string_view key) {
        const json::value* value = object.if_contains(key);
        return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
    };
    const auto wrong = [&](const std::string& why, std::string remedy) {
        return Error{"AF-ESC-039", "the changed action for " + request.id + " " + why, "", std::move(remedy), ErrorKind::invalid};
    };
    AF_TRY(edited, changed_action(edited, request));
    const std::string tool = text(edited, "tool");
    AF_TRY(const AgentDefinition agent, setup.services.agents.get(text(request.artifact, "role")));
    if (std::find(agent.allowed_tools.begin(), agent.allowed_tools.end(), tool) == agent.allowed_tools.end()) {
        const std::string near = nearest(tool, agent.allowed_tools);
        return wrong("names the tool `" + ellipsis(tool, 80) + "`, which role `" + agent.role + "` may not use" +
                         (near.empty() ? "" : "; did you mean `" + near + "`?"),
                     "`agentforge agents show " + agent.role + "` lists its tools");
    }
    // A server's tool: the server checks its parameters itself.
    if (!setup.services.plugins.has(PluginKind::tool, tool)) { return {}; }
    AF_TRY(const auto loaded, setup.services.plugins.tool(tool));
    const ToolSpec spec = loaded->spec();
    if (has(spec.effects, ToolEffect::completes)) { return {}; }  // The contract checks it.
    if (auto fits = check_arguments(tool, spec.parameters, edited.at("arguments").get_object()); !fits.ok()) {
        return wrong("does not fit its tool: " + fits.error().message, fits.error().remedy);
    }
    return {};
}

Result<MoreStages> more_stages(const ControllerSetup& setup, const TaskState& state, const ArtifactDecision& decision) {
    if (!is_last(state)) {
        return Error{
            "AF-ORCH-053",
            "task " + state.task_id + " continues after stage `" + state.stage().name + "` anyway: it does not end there", "",
            "approve it: agentforge approve " + short_id(state.task_id), ErrorKind::invalid};
    }
    if (!setup.extend) {
        return Error{"AF-ORCH-052", "nothing follows stage `" + state.stage().name + "`", "task " + state.task_id,
                     "approve it: agentforge approve " + short_id(state.task_id), ErrorKind::invalid};
    }
    AF_TRY(records::Extension extension, setup.extend(state, decision.extend_to));
    std::map<std::string, json::object, std::less<>> artifacts;
    const BlobStore blobs(setup.store.paths(state.task_id).blobs());
    for (const StageState& stage : state.stages) {
        if (stage.artifact_hash.empty()) { continue; }
        AF_TRY(const std::string text, blobs.get(stage.artifact_hash));
        AF_TRY(const json::value value, parse_json(text, "the artifact of stage " + stage.name));
        if (value.is_object()) { artifacts.emplace(stage.name, value.get_object()); }
    }
    AF_TRY(const Staleness staleness, setup.task_workspaces.staleness(state, artifacts));
    AF_TRY(records::Freshness freshness, check_freshness(staleness, state.task_id, decision.accept_stale));
    return MoreStages{std::move(extension), std::move(freshness)};
}

Result<void> check_may_end(const TaskState& state) {
    if (may_be_last(state)) { return {}; }
    Error error = check_exit_point(state.pipeline, state.stage().name).error();
    error.remedy = "approve it without ending there: agentforge approve " + short_id(state.task_id);
    return error;
}

Result<void> check_feedback(std::string_view feedback) {
    if (feedback.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return Error{"AF-ORCH-044", "the feedback is empty", "", "say what to change, or use `agentforge reject`",
                     ErrorKind::invalid};
    }
    return {};
}

Result<void> PipelineController::approve(std::string_view task_id) {
    AF_CHECK(decide(task_id, PersonDecision{.approved = true}));
    return {};
}
Result<void> PipelineController::reject(std::string_view task_id) {
    AF_CHECK(decide(task_id, PersonDecision{}));
    return {};
}
Result<void> PipelineController::provide_feedback(std::string_view task_id, std::string_view feedback) {
    AF_CHECK(check_feedback(feedback));
    AF_CHECK(decide(task_id, PersonDecision{.feedback = std::string(feedback)}));
    return {};
}

namespace {

/// One decision of a person about what a task shows.
class ItemDecision {
public:
    ItemDecision(const ControllerSetup& setup, std::string_view task_id, TaskState state, const PersonDecision& decision)
        : setup_(setup), task_id_(task_id), state_(std::move(state)), decision_(decision) {
        const auto open = open_question(state_);
        if (open && open->kind != QuestionKind::escalation) { open_ = *open; }
    }

    /// Returns the id of the item that was decided on.
    Result<std::string> decide();

private:
    [[nodiscard]] Result<void> check_id() const;
    [[nodiscard]] Result<void> check_hash() const;
    [[nodiscard]] Result<void> check_item() const;
    [[nodiscard]] Result<void> decide_action() const;
    [[nodiscard]] Result<void> decide_artifact() const;
    [[nodiscard]] std::string verdict(const ArtifactDecision& made) const;
    [[nodiscard]] std::string redacted(const std::string& text) const { return setup_.services.redactor.redact(text); }

    const ControllerSetup& setup_;
    const std::string_view task_id_;
    const TaskState state_;
    const PersonDecision& decision_;
    OpenQuestion open_;  ///< Without an id: the task shows nothing.
};

Result<std::string> ItemDecision::decide() {
    AF_CHECK(check_id());
    AF_CHECK(check_hash());
    AF_CHECK(check_item());
    AF_CHECK(open_.kind == QuestionKind::action ? decide_action() : decide_artifact());
    return open_.id;
}

Result<void> ItemDecision::check_id() const {
    const std::string& id = open_.id;
    if (!decision_.id.empty() && decision_.id != id) {
        // If the question is already answered, tells the caller the first answer.
        AF_CHECK(setup_.escalations.approval(decision_.id));
        AF_CHECK(setup_.escalations.check_unanswered(decision_.id));
        return Error{
            "AF-ESC-035",
            "task " + std::string(task_id_) + " does not ask for " + decision_.id + (id.empty() ? "" : " now, but for " + id), "",
            "`agentforge status " + short_id(task_id_) + "` shows what it waits for", ErrorKind::conflict};
    }
    if (id.empty()) {
        return Error{"AF-ORCH-043", "task " + std::string(task_id_) + " has nothing to approve", "", see_status,
                     ErrorKind::conflict};
    }
    return {};
}

Result<void> ItemDecision::check_hash() const {
    const auto& given = decision_.hash;
    if (!given || (given->size() >= 6 && open_.hash.starts_with(*given))) { return {}; }
    return Error{
        "AF-ESC-035",
        "task " + std::string(task_id_) + " shows " + open_.hash.substr(0, 16) + "… now, not `" + ellipsis(*given, 80) + "`",
        open_.id,
        "look at it with `agentforge escalations show " + open_.id + "`, and decide on that (at least 6 characters of its hash)",
        ErrorKind::conflict};
}

/// Checks that the item is unchanged since it was shown.
Result<void> ItemDecision::check_item() const {
    if (const auto there = setup_.escalations.approval(open_.id); !there.ok() && there.error().kind == ErrorKind::not_found) {
        return setup_.escalations.missing_question_error(open_.id, task_id_);
    }
    AF_CHECK(check_files_are_own(setup_.store.paths(task_id_), state_));
    // Reports an existing answer first: neither approval nor feedback can follow it.
    const auto has_answer = setup_.escalations.has_answer(open_.id);
    return decision_.approved && has_answer.ok() && !*has_answer ? check_shown(setup_, state_, open_) : Result<void>();
}

Result<void> ItemDecision::decide_action() const {
    const std::string& id = open_.id;
    if (!decision_.decision.empty() || !decision_.issues.empty()) {
        return Error{"AF-ESC-066", id + " is an action, but this command decides on artifacts", id,
                     "approve or reject the action: agentforge approve " + id + ", agentforge reject " + id, ErrorKind::invalid};
    }
    AF_TRY(const ApprovalRequest asked, setup_.escalations.approval(id));
    if (decision_.id.empty() && !decision_.hash) {
        return Error{"AF-ESC-036",
                     "task " + std::string(task_id_) + " shows an action (" + action_line(asked.artifact) +
                         "); by the time you decide, it may be a different one",
                     id, "name the action: " + id + ", or the task with --hash " + open_.hash.substr(0, 12), ErrorKind::invalid};
    }
    ActionDecision made{decision_.approved, decision_.edited, redacted(decision_.feedback), open_.hash, "user"};
    if (made.edited) {
        AF_CHECK(check_edited(setup_, asked, *made.edited));
        setup_.services.redactor.redact(*made.edited);
    }
    return setup_.escalations.decide_action(id, made);
}

Result<void> ItemDecision::decide_artifact() const {
    if (decision_.edited) {
        return Error{"AF-ESC-037", open_.id + " asks about an artifact, which only the stage can write", open_.id,
                     "say what to change: agentforge feedback " + short_id(task_id_) + " \"…\"", ErrorKind::invalid};
    }
    ArtifactDecision made;
    made.feedback = redacted(decision_.feedback);
    made.issues = decision_.issues;
    for (FeedbackIssue& issue : made.issues) {
        for (std::string* text : {&issue.location, &issue.issue, &issue.suggestion}) { *text = redacted(*text); }
    }
    made.decision = verdict(made);
    made.extend_to = decision_.extension.extend_to;
    made.accept_stale = redacted(decision_.extension.accept_stale);
    made.artifact_hash = open_.hash;
    made.decided_by = "user";
    if (made.decision == "exit") { AF_CHECK(check_may_end(state_)); }
    if (made.decision == "extend") { AF_CHECK(more_stages(setup_, state_, made)); }
    return setup_.escalations.decide_artifact(open_.id, made);
}

std::string ItemDecision::verdict(const ArtifactDecision& made) const {
    if (!decision_.decision.empty()) { return decision_.decision; }
    if (decision_.approved) { return "approve"; }
    return made.feedback.empty() && made.issues.empty() ? "reject" : "revise";
}

}  // namespace

Result<std::string> PipelineController::decide(std::string_view task_id, const PersonDecision& decision) {
    AF_TRY(TaskState state, read_task_state(setup_.store, task_id));  // The projection may be one record behind.
    return ItemDecision(setup_, task_id, std::move(state), decision).decide();
}

}  // namespace agentforge::kernel
