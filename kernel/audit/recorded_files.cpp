// SPDX-License-Identifier: Apache-2.0
#include "audit/recorded_files.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <agentforge/json_fields.hpp>

#include "audit/files/artifact_versions.hpp"
#include "audit/files/likeness.hpp"
#include "audit/files/question_files.hpp"
#include "audit/files/recorded_history.hpp"
#include "audit/statement.hpp"
#include "base/clock.hpp"
#include "base/plain_file.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "escalation/decision_file.hpp"
#include "task/artifact_files.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr YamlLimits limits{64UL << 20U, 4'000'000, 200};

class Comparison {
public:
    explicit Comparison(const TaskEvidence& evidence) : evidence_(evidence), history_(read_history(evidence)) {}

    FileFindings run() && {
        compare_artifacts(evidence_, history_, findings_);
        files();
        if (!evidence_.header.contains("forked_from")) { missing_files(); }  // A fork has no copies of earlier decisions.
        if (evidence_.escalations.filename() == "escalations") { compare_questions(evidence_, history_, findings_); }
        return std::move(findings_);
    }

private:
    /// Reports files that no record accounts for, and people's decisions that differ from the recorded ones.
    void files() {
        std::error_code error;
        for (fs::recursive_directory_iterator it(evidence_.paths.root, error), end; !error && it != end; it.increment(error)) {
            std::error_code none;
            const std::string name = it->path().lexically_relative(evidence_.paths.root).string();
            if (!it->is_regular_file(none) || it->is_symlink(none)) { continue; }
            if (is_left_over(name)) {
                findings_.unchecked.push_back("nothing vouches for " + name + ": a crash can leave such a file");
            } else if (is_transient_file(name)) {
                continue;
            } else if (name.starts_with("iteration_history/")) {
                decision_file_of(name);
            } else if (!history_.files.contains(name)) {
                unaccounted(evidence_, name, findings_);
            }
        }
    }

    /// Reports missing files of people's decisions, and of the versions that they decided on. The journal has both.
    void missing_files() {
        for (StageState stage : evidence_.state.stages) {
            stage.artifact = artifact_of(stage.name);
            for (const ShownVersion& shown : stage.history) {
                const bool is_approved = shown.decision == "approve" || shown.decision == "exit" || shown.decision == "extend";
                if (!shown.decision.empty()) { missing_file(decision_file(stage.name, shown.version, is_approved)); }
            }
            for (const auto& each : version_files(evidence_.state, stage)) { missing_file(each.first); }
        }
    }

    /// Returns the name of the stage's artifact file. Empty if it never handed one in.
    [[nodiscard]] std::string artifact_of(const std::string& stage) const {
        const auto found = history_.artifacts.find(stage);
        return found == history_.artifacts.end() ? std::string() : found->second;
    }

    void missing_file(const std::string& name) {
        std::error_code error;
        if (fs::exists(fs::symlink_status(evidence_.paths.root / name, error))) { return; }
        findings_.unchecked.push_back(name + " is missing; the journal says what it held");
    }

    void decision_file_of(const std::string& name) {
        const auto text = read_plain_file(evidence_.paths.root, name);
        const auto recorded = history_.decision_files.find(name);
        if (!text.ok()) {
            findings_.faults.push_back(name + " cannot be read: " + text.error().message);
        } else if (recorded == history_.decision_files.end() || !is_decision(name, *text, recorded->second)) {
            auto& list = may_be_unrecorded(name) ? findings_.unchecked : findings_.faults;
            list.push_back(recorded == history_.decision_files.end() ? "no record accounts for " + name
                                                                     : name + " is not the decision in the journal");
        } else if (likeness_.take_hidden()) {
            not_compared_fully(name, findings_);
        }
    }

    /// True for the file of the decision that the task waits for: it is written before its record.
    [[nodiscard]] bool may_be_unrecorded(const std::string& name) const {
        const TaskState& now = evidence_.state;
        if (!now.approval || now.stage().history.empty()) { return false; }
        const unsigned version = now.stage().history.back().version;
        return name == decision_file(now.stage().name, version, true) || name == decision_file(now.stage().name, version, false);
    }

    /// Reads what only the file has, and compares it with the file that the program writes for that.
    [[nodiscard]] bool is_decision(const std::string& name, const std::string& text, const RecordedDecision& recorded) {
        const auto read = parse_yaml(text, name, limits);
        const json::object* const entry =
            read.ok() && read->value.is_object()
                ? object_at(read->value.get_object(), recorded.decided.approved ? "approval" : "feedback")
                : nullptr;
        if (entry == nullptr) { return false; }
        auto issues = issues_from(entry->contains("specific_issues") ? entry->at("specific_issues") : json::value(json::array()),
                                  [&](const std::string&) { return name; });
        const std::string time = text_of(*entry, "timestamp");
        if (!issues.ok() || !is_between(recorded.asked_at, time, recorded.decided_at)) { return false; }
        const Feedback feedback{text_of(*entry, "overall_comments"), std::move(*issues)};
        const ArtifactDecision decision{
            records::decision_of(recorded.decided), feedback.overall, feedback.issues, "", "", "", *recorded.decided.decided_by};
        return to_yaml(decision_document(recorded.version, decision, time)) == text &&
               likeness_.of_decision(recorded.decided, decision.decision, feedback);
    }

    /// False only if the clock was not set back meanwhile.
    [[nodiscard]] static bool is_between(const std::string& first, const std::string& time, const std::string& last) {
        const auto from = parse_time(first);
        const auto decided = parse_time(time);
        const auto until = parse_time(last);
        if (!decided.ok()) { return false; }
        return !from.ok() || !until.ok() || *until < *from || (*from <= *decided && *decided <= *until);
    }

    const TaskEvidence& evidence_;
    const RecordedHistory history_;
    FileFindings findings_;
    Likeness likeness_;
};

}  // namespace

void unaccounted(const TaskEvidence& evidence, const std::string& name, FileFindings& findings) {
    auto& list = evidence.state.status == TaskStatus::completed ? findings.faults : findings.unchecked;
    list.push_back("no record accounts for " + name);
}

void not_compared_fully(const std::string& name, FileFindings& findings) {
    findings.unchecked.push_back(name + " was not compared where the journal hides a secret");
}

FileFindings compare_with_journal(const TaskEvidence& evidence) { return Comparison(evidence).run(); }

}  // namespace agentforge::kernel
