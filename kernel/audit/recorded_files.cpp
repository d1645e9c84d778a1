// SPDX-License-Identifier: Apache-2.0
#include "audit/recorded_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <re2/re2.h>

#include <agentforge/json_fields.hpp>

#include "audit/statement.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "base/plain_file.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "escalation/decision_file.hpp"
#include "escalation/escalation_store.hpp"
#include "journal/blob_store.hpp"
#include "records/records.hpp"
#include "secrets/restore.hpp"
#include "task/artifact_files.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr YamlLimits limits{64UL << 20U, 4'000'000, 200};

/// Adds the texts of these fields, at any depth.
void add_texts(const json::value& value, std::span<const std::string_view> keys, std::set<std::string>& texts) {
    if (const json::object* object = value.if_object()) {
        for (const auto& [key, item] : *object) {
            if (item.is_string() && std::ranges::find(keys, std::string_view(key)) != keys.end()) {
                texts.emplace(item.get_string());
            } else {
                add_texts(item, keys, texts);
            }
        }
    }
    if (const json::array* array = value.if_array()) {
        for (const json::value& each : *array) { add_texts(each, keys, texts); }
    }
}

constexpr std::array<std::string_view, 4> names_of_files{"artifact", "patch", "patch_file", "review"};
constexpr std::array<std::string_view, 2> ids_of_questions{"approval_id", "escalation_id"};

/// Compares what a record says with what a file says. The file may have secrets where the record has placeholders.
class Likeness {
public:
    bool of_text(std::string_view recorded, std::string_view given) {
        if (recorded == given) { return true; }
        const bool is_alike = equals_but_for_secrets(recorded, given);
        hides_ = hides_ || is_alike;
        return is_alike;
    }

    bool of_value(const json::value& recorded, const json::value& given) {
        if (recorded.is_string() && given.is_string()) { return of_text(recorded.get_string(), given.get_string()); }
        if (recorded.is_array() && given.is_array()) {
            return std::ranges::equal(recorded.get_array(), given.get_array(),
                                      [this](const auto& left, const auto& right) { return of_value(left, right); });
        }
        if (!recorded.is_object() || !given.is_object()) { return recorded == given; }
        return recorded.get_object().size() == given.get_object().size() &&
               std::ranges::all_of(recorded.get_object(), [&](const auto& wanted) {
                   return std::ranges::any_of(given.get_object(), [&](const auto& field) {
                       return of_text(wanted.key(), field.key()) && of_value(wanted.value(), field.value());
                   });
               });
    }

    bool of_decision(const records::ApprovalDecided& recorded, const std::string& decision, const Feedback& feedback) {
        if (decision != records::decision_of(recorded)) { return false; }
        if (decision != "revise") { return feedback.issues.empty() && of_text(*recorded.feedback, feedback.overall); }
        // The record has the reasons as one text, and the issues by themselves. Older records lack these.
        return of_text(*recorded.feedback, in_words(feedback)) &&
               (recorded.decision->empty() ||
                std::ranges::equal(*recorded.issues, feedback.issues,
                                   [this](const auto& left, const auto& right) { return of_issue(left, right); }));
    }

    /// True if something was alike only because of placeholders since the last call.
    [[nodiscard]] bool take_hidden() { return std::exchange(hides_, false); }

private:
    bool of_issue(const records::FeedbackIssue& recorded, const FeedbackIssue& given) {
        return of_text(recorded.issue, given.issue) && of_text(recorded.location.value_or(""), given.location) &&
               of_text(recorded.suggestion.value_or(""), given.suggestion) &&
               *recorded.priority == (given.must_address ? "must_address" : "should_consider");
    }

    bool hides_ = false;
};

class Comparison {
public:
    explicit Comparison(const TaskEvidence& evidence) : evidence_(evidence) {
        TaskState then;
        for (const Record& record : evidence.records) {
            if (const auto accepted = records::as<records::ArtifactAccepted>(record)) {
                artifacts_[accepted->stage] = accepted->artifact;
            }
            auto decided = records::as<records::ApprovalDecided>(record);
            add_texts(record.body, names_of_files, known_);
            add_texts(record.body, ids_of_questions, questions_);
            if (!fold(then, record.body).ok() || !decided) { continue; }
            decisions_.push_back(std::move(*decided));
            add_versions(then);
        }
        std::set<std::string> newest = artifact_files(evidence.blobs, evidence.state);
        for (const std::string& name : newest) { earlier_.erase(name); }
        known_.merge(newest);
        known_.insert({"task.yaml", "actions.yaml", "artifacts/inputs/original_request.yaml", "artifacts/blobs/blobs.yaml"});
    }

    FileFindings run() && {
        versions();
        files();
        if (!evidence_.header.contains("forked_from")) { missing_files(); }  // A fork has no copies of earlier decisions.
        if (evidence_.escalations.filename() == "escalations") { answers(); }
        return std::move(findings_);
    }

private:
    /// Adds the files of versions that people had decided on by then. A stage that begins again loses its versions.
    void add_versions(const TaskState& then) {
        const auto changed = changed_artifact_files(evidence_.paths, then, evidence_.blobs);
        for (const std::string& name : artifact_files(evidence_.blobs, then)) {
            known_.insert(name);
            bool& is_unchanged = earlier_[name];
            is_unchanged = is_unchanged || std::ranges::find(changed, name) == changed.end();
        }
    }

    /// Compares the earlier and final versions of artifacts, and the imported ones.
    void versions() {
        std::set<std::string> accepted;  // The audit compares these byte for byte.
        for (const Record& record : evidence_.records) {
            if (const auto stage = records::as<records::ArtifactAccepted>(record)) { accepted.insert(stage->artifact); }
            if (const auto review = records::as<records::ReviewFinished>(record)) { accepted.insert(*review->review); }
        }
        std::vector<std::string> changed = changed_artifact_files(evidence_.paths, evidence_.state, evidence_.blobs);
        for (const auto& [name, is_unchanged] : earlier_) {
            std::error_code error;
            if (!is_unchanged && fs::exists(fs::symlink_status(evidence_.paths.root / name, error))) { changed.push_back(name); }
        }
        for (const std::string& file : changed) {
            if (accepted.contains(file)) { continue; }
            const auto kind = irregular_kind(evidence_.paths.root, file);
            findings_.faults.push_back(file + (kind ? " is " + *kind : " is not what the journal says"));
        }
    }

    /// Reports files that no record accounts for, and people's decisions that differ from the recorded ones.
    void files() {
        std::error_code error;
        for (fs::recursive_directory_iterator it(evidence_.paths.root, error), end; !error && it != end; it.increment(error)) {
            std::error_code none;
            const std::string name = it->path().lexically_relative(evidence_.paths.root).string();
            if (!it->is_regular_file(none) || it->is_symlink(none) || is_transient_file(name)) { continue; }
            if (name.starts_with("actions.yaml.torn-")) {
                findings_.unchecked.push_back(name + " holds a record that a crash cut short; nothing else has it");
            } else if (name.starts_with("iteration_history/")) {
                decision_file(name);
            } else if (!known_.contains(name)) {
                unknown(name);
            }
        }
    }

    /// Reports missing files of people's decisions, and of the versions that they decided on. The journal has both.
    void missing_files() {
        for (StageState stage : evidence_.state.stages) {
            stage.artifact = artifact_of(stage.name);
            for (const ShownVersion& shown : stage.history) {
                const bool is_approved = shown.decision == "approve" || shown.decision == "exit" || shown.decision == "extend";
                if (shown.decision.empty()) { continue; }
                missing_file("iteration_history/" + stage.name + "/v" + std::to_string(shown.version) +
                             (is_approved ? "_approval.yaml" : "_feedback.yaml"));
            }
            for (const auto& each : version_files(evidence_.state, stage)) { missing_file(each.first); }
        }
    }

    void missing_answer(const std::string& id) {
        if (!is_question_of_task(id, evidence_.state.task_id)) { return; }  // Of the task that this one continues.
        findings_.unchecked.push_back("escalations/" + id + ".resolution.yaml is missing; the journal has the answer");
    }

    void missing_file(const std::string& name) {
        std::error_code error;
        if (fs::exists(fs::symlink_status(evidence_.paths.root / name, error))) { return; }
        findings_.unchecked.push_back(name + " is missing; the journal says what it held");
    }

    void hides_secret(const std::string& name) {
        findings_.unchecked.push_back(name + " was not compared where the journal hides a secret");
    }

    void unknown(const std::string& name) {
        auto& list = evidence_.state.status == TaskStatus::completed ? findings_.faults : findings_.unchecked;
        list.push_back("no record accounts for " + name);
    }

    void decision_file(const std::string& name) {
        const auto text = read_plain_file(evidence_.paths.root, name);
        if (!text.ok()) {
            findings_.faults.push_back(name + " cannot be read: " + text.error().message);
        } else if (!is_recorded_decision(name, *text)) {
            unknown(name);
        } else if (likeness_.take_hidden()) {
            hides_secret(name);
        }
    }

    [[nodiscard]] bool is_recorded_decision(const std::string& name, const std::string& text) {
        static const RE2 names("iteration_history/([^/]+)/(v([0-9]+))_(approval|feedback)\\.yaml");
        DecidedVersion version{evidence_.state.task_id, {}, 0, {}, {}};
        std::string label;
        std::string kind;
        if (!RE2::FullMatch(name, names, &version.stage, &label, &version.number, &kind)) { return false; }
        const auto read = parse_yaml(text, name, limits);
        const json::object* const entry =
            read.ok() && read->value.is_object() ? object_at(read->value.get_object(), kind) : nullptr;
        if (entry == nullptr) { return false; }
        auto issues = issues_from(entry->contains("specific_issues") ? entry->at("specific_issues") : json::value(json::array()),
                                  [&](const std::string&) { return name; });
        const std::string time = text_of(*entry, "timestamp");
        if (!issues.ok() || !parse_time(time).ok()) { return false; }
        const Feedback feedback{text_of(*entry, "overall_comments"), std::move(*issues)};
        const std::string artifact = artifact_of(version.stage);
        return std::ranges::any_of(decisions_, [&](const records::ApprovalDecided& decided) {
            const ArtifactDecision decision{
                records::decision_of(decided), feedback.overall, feedback.issues, "", "", "", *decided.decided_by};
            version.artifact_hash = *decided.artifact_blob;
            const auto is_file_for = [&](const std::string& file) {
                version.artifact = file;
                return to_yaml(decision_document(version, decision, time)) == text;
            };
            return *decided.stage == version.stage && decided.approved == (kind == "approval") &&
                   likeness_.of_decision(decided, decision.decision, feedback) &&
                   (is_file_for(artifact) || is_file_for(artifact_version_file(artifact, label)));
        });
    }

    /// Returns the name of the stage's artifact file. Empty if it never handed one in.
    [[nodiscard]] std::string artifact_of(const std::string& stage) const {
        const auto found = artifacts_.find(stage);
        return found == artifacts_.end() ? std::string() : found->second;
    }

    /// Compares each answer with its record. An answer that came too late has none.
    void answers() {
        const EscalationStore store(evidence_.escalations.parent_path());
        question_files();
        std::optional<records::StageEscalated> reason;  // Of the next question.
        std::string at;
        std::string proposed;  // The next action's blob, and its time.
        std::string proposed_at;
        std::string accepted_at;
        for (const Record& record : evidence_.records) {
            const std::string time = records::envelope_in(record).timestamp;
            if (auto escalated = records::as<records::StageEscalated>(record)) {
                reason = std::move(escalated);
                at = time;
            }
            if (record.type() == records::ArtifactAccepted::type) { accepted_at = time; }
            if (const auto raised = records::as<records::EscalationRaised>(record); raised && reason) {
                question(store, *raised, *reason, at);
            }
            if (const auto proposal = records::as<records::ActionProposed>(record)) {
                proposed = proposal->action_blob;
                proposed_at = time;
            }
            if (const auto asked = records::as<records::ActionAsked>(record)) {
                asked_action(store, *asked, proposed, proposed_at);
            }
            if (const auto requested = records::as<records::ApprovalRequested>(record)) {
                request(store, *requested, accepted_at);
            }
            if (const auto resolved = records::as<records::EscalationResolved>(record)) { resolution(store, *resolved); }
            if (const auto decided = records::as<records::ActionDecided>(record)) { action(store, *decided); }
        }
        for (const records::ApprovalDecided& decided : decisions_) { approval(store, decided); }
    }

    /// Reports files of questions that the task did not ask, and questions that are not as the program writes them.
    void question_files() {
        std::error_code error;
        for (fs::directory_iterator it(evidence_.escalations, error), end; !error && it != end; it.increment(error)) {
            std::error_code none;
            const std::string file = it->path().filename().string();
            if (!it->is_regular_file(none) || !is_question_of_task(file, evidence_.state.task_id)) { continue; }
            const std::string name = "escalations/" + file;
            const std::string id = file.substr(0, file.find('.'));
            const std::string kind = file.substr(id.size());
            if (is_early_answer(kind)) {
                findings_.unchecked.push_back(name + " is an answer from before the question, which did not count");
            } else if (!questions_.contains(id) || (kind != ".yaml" && kind != ".resolution.yaml")) {
                unknown(name);
            }
            if (kind != ".yaml") { continue; }
            const auto text = read_file(it->path(), limits.max_bytes);
            const auto read = text.ok() ? parse_yaml(*text, name, limits) : Result<YamlDocument>(text.error());
            if (!read.ok() || to_yaml(read->value) != *text) { findings_.faults.push_back(name + " is not as it was written"); }
        }
    }

    /// Compares what a person was asked.
    void question(const EscalationStore& store, const records::EscalationRaised& raised, const records::StageEscalated& recorded,
                  const std::string& at) {
        const auto asked = store.escalation(raised.escalation_id);
        if (!asked.ok()) { return; }  // Gone, or already reported.
        const auto context = recorded.context_blob->empty() ? std::optional(json::object()) : blob(*recorded.context_blob);
        if (!context) { return; }  // Reported with the blobs.
        const bool is_asked = is_question_of_task(asked->id, asked->task_id) && asked->stage == recorded.stage &&
                              asked->issue == recorded.reason && asked->question == recorded.question &&
                              asked->options == recorded.options && reads_as(asked->context, *context) && asked->created_at == at;
        const auto deadline = store.answer_deadline(raised.escalation_id);
        const bool has_default =
            deadline.ok() && deadline->default_answer == raised.default_answer.value_or(deadline->default_answer);
        if (!is_asked || !has_default || !has_deadline(store, raised.escalation_id, raised.deadline, raised.at_deadline)) {
            findings_.faults.push_back("escalations/" + raised.escalation_id + ".yaml is not the question in the journal");
        }
    }

    void request(const EscalationStore& store, const records::ApprovalRequested& recorded, const std::string& at) {
        const auto asked = store.approval(recorded.approval_id);
        if (!asked.ok()) { return; }
        const bool is_asked =
            asked->stage == recorded.stage && asked->artifact_hash == recorded.artifact_hash && asked->created_at == at;
        if (!is_asked || !has_deadline(store, recorded.approval_id, recorded.deadline, recorded.at_deadline)) {
            findings_.faults.push_back("escalations/" + recorded.approval_id + ".yaml is not the question in the journal");
        }
    }

    [[nodiscard]] static bool has_deadline(const EscalationStore& store, const std::string& id,
                                           const std::optional<std::string>& time, const std::optional<std::string>& then) {
        const auto deadline = store.answer_deadline(id);
        return deadline.ok() && deadline->time == time.value_or("") && (!then || deadline->then == *then);
    }

    void resolution(const EscalationStore& store, const records::EscalationResolved& recorded) {
        const auto given = store.resolution(recorded.escalation_id);
        if (is_gone(recorded.escalation_id, given)) { return missing_answer(recorded.escalation_id); }
        auto answer = blob(recorded.resolution_blob);
        if (!answer) { return; }  // Reported with the blobs.
        answer->erase("resolved_by");
        answer->erase("resolved_at");
        report(recorded.escalation_id, given,
               given.ok() && (*given)->abort == recorded.abort &&
                   likeness_.of_text(*recorded.resolved_by, (*given)->resolved_by) &&
                   likeness_.of_value(*answer, (*given)->context));
    }

    void approval(const EscalationStore& store, const records::ApprovalDecided& recorded) {
        shown(store, recorded.approval_id, recorded.artifact_hash, *recorded.artifact_blob);
        const auto given = store.artifact_decision(recorded.approval_id);
        if (is_gone(recorded.approval_id, given)) { return missing_answer(recorded.approval_id); }
        report(recorded.approval_id, given,
               given.ok() && (*given)->artifact_hash == recorded.artifact_hash &&
                   likeness_.of_text(*recorded.decided_by, (*given)->decided_by) &&
                   likeness_.of_decision(recorded, (*given)->decision, {(*given)->feedback, (*given)->issues}) &&
                   extends_as_recorded(recorded, **given));
    }

    [[nodiscard]] bool extends_as_recorded(const records::ApprovalDecided& recorded, const ArtifactDecision& given) {
        if (!recorded.extension) { return given.extend_to.empty() && given.accept_stale.empty(); }
        std::string last = given.extend_to;
        if (const json::array& stages = list_of(recorded.extension->pipeline, "stages"); last.empty() && !stages.empty()) {
            last = stages.back().is_object() ? text_of(stages.back().get_object(), "name") : std::string();
        }
        const std::string accepted = recorded.freshness ? recorded.freshness->accepted : std::string();
        return last == recorded.extension->exit_stage && likeness_.of_text(accepted, given.accept_stale);
    }

    void action(const EscalationStore& store, const records::ActionDecided& recorded) {
        const auto given = store.action_decision(recorded.approval_id);
        if (is_gone(recorded.approval_id, given)) { return missing_answer(recorded.approval_id); }
        report(recorded.approval_id, given,
               given.ok() && (*given)->approved == (recorded.decision != "rejected") &&
                   is_recorded_change((*given)->edited, recorded.edited) && (*given)->action_hash == recorded.action_hash &&
                   likeness_.of_text(*recorded.decided_by, (*given)->decided_by) &&
                   likeness_.of_text(*recorded.feedback, (*given)->feedback));
    }

    [[nodiscard]] bool is_recorded_change(const std::optional<json::object>& given,
                                          const std::optional<records::Kept>& recorded) {
        if (!given || !recorded) { return given.has_value() == recorded.has_value(); }
        if (recorded->value) { return likeness_.of_value(*recorded->value, *given); }
        const auto action = blob(recorded->blob);
        return !action || likeness_.of_value(*action, *given);  // A missing blob is reported with the others.
    }

    /// Compares the action that a person was shown.
    void asked_action(const EscalationStore& store, const records::ActionAsked& recorded, const std::string& proposed,
                      const std::string& at) {
        const auto asked = store.approval(recorded.approval_id);
        if (!asked.ok()) { return; }  // Gone, or already reported.
        const auto action = blob(proposed);
        if (!action) { return; }  // Reported with the blobs.
        if (asked->stage != recorded.stage || asked->artifact_hash != recorded.action_hash || asked->created_at != at ||
            !reads_as(asked->artifact, *action)) {
            findings_.faults.push_back("escalations/" + recorded.approval_id + ".yaml is not the action in the journal");
        }
    }

    /// Compares what a person was shown.
    void shown(const EscalationStore& store, const std::string& id, const std::string& hash, const std::string& artifact) {
        const auto asked = store.approval(id);
        if (!asked.ok()) { return; }
        auto data = blob(artifact);
        if (!data) { return; }
        data->erase("_artifact_meta");
        data->erase("_metadata");
        if (asked->artifact_hash != hash || !reads_as(asked->artifact, *data)) {
            findings_.faults.push_back("escalations/" + id + ".yaml is not what the journal says was shown");
        }
    }

    /// True if there is no answer's file any more: then the journal alone has the answer.
    template <class Given>
    [[nodiscard]] bool is_gone(const std::string& id, const Result<std::optional<Given>>& given) const {
        std::error_code error;
        return given.ok() ? !given->has_value()
                          : given.error().kind == ErrorKind::not_found &&
                                !fs::exists(evidence_.escalations / (id + ".resolution.yaml"), error);
    }

    template <class Given>
    void report(const std::string& id, const Result<std::optional<Given>>& given, bool is_same) {
        const std::string name = "escalations/" + id + ".resolution.yaml";
        if (!given.ok()) {
            findings_.faults.push_back(name + " cannot be compared: " + given.error().message +
                                       (given.error().where.empty() ? "" : " (" + given.error().where + ")"));
        } else if (!is_same) {
            findings_.faults.push_back(name + " is not the answer in the journal");
        } else if (likeness_.take_hidden()) {
            hides_secret(name);
        }
        static_cast<void>(likeness_.take_hidden());
    }

    [[nodiscard]] std::optional<json::object> blob(const std::string& hash) const {
        const auto text = BlobStore(evidence_.blobs).get(hash);
        if (!text.ok()) { return std::nullopt; }
        auto value = parse_json(*text, "blob");
        return value.ok() && value->is_object() ? std::optional(std::move(value->get_object())) : std::nullopt;
    }

    const TaskEvidence& evidence_;
    std::vector<records::ApprovalDecided> decisions_;
    std::map<std::string, std::string> artifacts_;  ///< Of each stage, the name of its artifact's file.
    std::map<std::string, bool> earlier_;  ///< Files of decided versions, and if they are unchanged. Without the newest state's.
    std::set<std::string> known_;          ///< The names of the task's files.
    std::set<std::string> questions_;      ///< The ids of the questions that the task asked.
    FileFindings findings_;
    Likeness likeness_;
};

}  // namespace

FileFindings compare_with_journal(const TaskEvidence& evidence) { return Comparison(evidence).run(); }

}  // namespace agentforge::kernel
