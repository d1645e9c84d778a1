// SPDX-License-Identifier: Apache-2.0
#include "audit/files/question_files.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <agentforge/json_fields.hpp>

#include "audit/files/likeness.hpp"
#include "base/files.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "escalation/escalation_store.hpp"
#include "journal/blob_store.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_question = 64UL << 20U;

class QuestionComparison {
public:
    QuestionComparison(const TaskEvidence& evidence, const RecordedHistory& history, FileFindings& findings)
        : evidence_(evidence), history_(history), findings_(findings), store_(evidence.escalations.parent_path()) {}

    void run() {
        files();
        for (const auto& [id, asked] : history_.questions) { question(id, asked); }
        // An answer that came too late has no record.
        for (const records::EscalationResolved& resolved : history_.resolutions) { resolution(resolved); }
        for (const records::ActionDecided& decided : history_.action_decisions) { action(decided); }
        for (const records::ApprovalDecided& decided : history_.decisions) { approval(decided); }
    }

private:
    /// Reports files that belong to no question of the task.
    void files() {
        std::error_code error;
        for (fs::directory_iterator it(evidence_.escalations, error), end; !error && it != end; it.increment(error)) {
            std::error_code none;
            const std::string file = it->path().filename().string();
            if (!it->is_regular_file(none) || !is_question_of_task(file, evidence_.state.task_id)) { continue; }
            const std::string name = "escalations/" + file;
            const std::string id = file.substr(0, file.find('.'));
            const std::string ending = file.substr(id.size());
            if (history_.ids.contains(id) && is_left_over(name)) {
                findings_.unchecked.push_back("nothing vouches for " + name +
                                              ": an answer from before its question does not count");
            } else if (!history_.ids.contains(id) || (ending != ".yaml" && ending != ".resolution.yaml")) {
                unaccounted(evidence_, name, findings_);
            }
        }
    }

    /// Compares what a person was asked with what the program writes for it.
    void question(const std::string& id, const RecordedQuestion& recorded) {
        const auto text = read_file(evidence_.escalations / (id + ".yaml"), largest_question);
        if (!text.ok() && text.error().kind == ErrorKind::not_found) { return; }
        if (!text.ok() || *text != text_of_question(id, recorded)) {
            findings_.faults.push_back("escalations/" + id + ".yaml is not the question in the journal");
        }
    }

    [[nodiscard]] std::string text_of_question(const std::string& id, const RecordedQuestion& recorded) const {
        AnswerDeadline deadline{recorded.time, recorded.then.value_or(""), recorded.default_answer.value_or("")};
        // Older records lack these.
        if (const auto written = store_.answer_deadline(id); written.ok()) {
            if (!recorded.then) { deadline.then = written->then; }
            const bool is_approval = std::holds_alternative<ApprovalRequest>(recorded.asked);
            if (!recorded.default_answer && !is_approval) { deadline.default_answer = written->default_answer; }
        }
        return std::visit([&](const auto& asked) { return question_text(asked, deadline); }, recorded.asked);
    }

    void resolution(const records::EscalationResolved& recorded) {
        const auto given = store_.resolution(recorded.escalation_id);
        if (is_gone(recorded.escalation_id, given)) { return missing_answer(recorded.escalation_id); }
        auto answer = object_in_blob(evidence_, recorded.resolution_blob);
        if (!answer) { return; }
        answer->erase("resolved_by");
        answer->erase("resolved_at");
        report(recorded.escalation_id, given,
               given.ok() && (*given)->abort == recorded.abort &&
                   likeness_.of_text(*recorded.resolved_by, (*given)->resolved_by) &&
                   likeness_.of_value(*answer, (*given)->context));
    }

    void approval(const records::ApprovalDecided& recorded) {
        const auto given = store_.artifact_decision(recorded.approval_id);
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

    void action(const records::ActionDecided& recorded) {
        const auto given = store_.action_decision(recorded.approval_id);
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
        const auto action = object_in_blob(evidence_, recorded->blob);
        return !action || likeness_.of_value(*action, *given);
    }

    void missing_answer(const std::string& id) {
        if (!is_question_of_task(id, evidence_.state.task_id)) { return; }  // Of the task that this one continues.
        findings_.unchecked.push_back("escalations/" + id + ".resolution.yaml is missing; the journal has the answer");
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
        const bool hides_secret = likeness_.take_hidden();
        if (!given.ok()) {
            findings_.faults.push_back(name + " cannot be compared: " + given.error().message +
                                       (given.error().where.empty() ? "" : " (" + given.error().where + ")"));
        } else if (!is_same) {
            findings_.faults.push_back(name + " is not the answer in the journal");
        } else if (hides_secret) {
            not_compared_fully(name, findings_);
        }
    }

    const TaskEvidence& evidence_;
    const RecordedHistory& history_;
    FileFindings& findings_;
    EscalationStore store_;
    Likeness likeness_;
};

}  // namespace

void compare_questions(const TaskEvidence& evidence, const RecordedHistory& history, FileFindings& findings) {
    QuestionComparison(evidence, history, findings).run();
}

}  // namespace agentforge::kernel
