// SPDX-License-Identifier: Apache-2.0
#include "audit/files/recorded_history.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "journal/blob_store.hpp"
#include "task/artifact_files.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::array<std::string_view, 4> names_of_files{"artifact", "patch", "patch_file", "review"};
constexpr std::array<std::string_view, 2> ids_of_questions{"approval_id", "escalation_id"};

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

class HistoryReader {
public:
    explicit HistoryReader(const TaskEvidence& evidence) : evidence_(evidence) {}

    RecordedHistory run() && {
        add_time(evidence_.state.created_at);
        for (const Record& record : evidence_.records) {
            add_time(records::envelope_in(record).timestamp);
            add_texts(record.body, names_of_files, history_.files);
            add_texts(record.body, ids_of_questions, history_.ids);
            before(record);
            if (!fold(then_, record.body).ok()) { break; }
            after(record);
        }
        for (const auto& [file, decision] : history_.decision_files) { history_.files.insert(file); }
        for (const auto& [file, blob] : history_.versions) { history_.files.insert(file); }
        history_.files.merge(artifact_files(evidence_.blobs, evidence_.state));
        history_.files.insert(
            {"task.yaml", "actions.yaml", "artifacts/inputs/original_request.yaml", "artifacts/blobs/blobs.yaml"});
        return std::move(history_);
    }

private:
    void add_time(const std::string& text) {
        const auto time = parse_time(text);
        if (!time.ok()) { return; }
        history_.earliest = std::min(history_.earliest.value_or(*time), *time);
        history_.latest = std::max(history_.latest.value_or(*time), *time);
    }

    /// Adds what the program wrote before it appended the record.
    void before(const Record& record) {
        if (const auto accepted = records::as<records::ArtifactAccepted>(record)) { accept(*accepted); }
        if (const auto review = records::as<records::ReviewFinished>(record)) { accept(*review); }
        if (auto resolved = records::as<records::EscalationResolved>(record)) {
            history_.resolutions.push_back(std::move(*resolved));
        }
        if (auto decided = records::as<records::ActionDecided>(record)) {
            history_.action_decisions.push_back(std::move(*decided));
        }
        if (auto decided = records::as<records::ApprovalDecided>(record)) {
            decide(*decided, records::envelope_in(record).timestamp);
            history_.decisions.push_back(std::move(*decided));
        }
    }

    void after(const Record& record) {
        if (record.type() == records::EscalationRaised::type) {
            escalation();
        } else if (record.type() == records::ApprovalRequested::type && then_.approval) {
            request(then_.approval->id, then_.stage().artifact_hash, then_.stage().artifact_hash, then_.resumption.accepted_at);
        } else if (record.type() == records::ActionAsked::type && then_.action) {
            request(then_.action->id, then_.action->blob, then_.action->hash, then_.resumption.proposed_at);
        } else if (record.type() == records::ApprovalDecided::type) {
            add_versions();
        }
    }

    void accept(const records::ReviewFinished& finished) {
        if (finished.review->empty()) { return; }
        const std::string contract = std::filesystem::path(*finished.review).stem().string();
        history_.accepted_files.insert(*finished.review);
        history_.envelopes.emplace(*finished.review_blob, RecordedEnvelope{finished.stage, contract, {}, figures()});
    }

    void accept(const records::ArtifactAccepted& accepted) {
        history_.accepted_files.insert(accepted.artifact);
        history_.artifacts[accepted.stage] = accepted.artifact;
        history_.envelopes.emplace(accepted.artifact_hash,
                                   RecordedEnvelope{accepted.stage, *accepted.contract, *accepted.contract_version, figures()});
    }

    [[nodiscard]] json::object figures() const {
        if (then_.stages.empty()) { return {}; }
        return {{"iteration", then_.stage().iterations},
                {"tokens_used", then_.stage().input_tokens + then_.stage().output_tokens}};
    }

    void decide(const records::ApprovalDecided& decided, const std::string& time) {
        if (then_.stages.empty()) { return; }
        const StageState& stage = then_.stage();
        const unsigned number = stage.history.empty() ? stage.versions + 1 : stage.history.back().version;
        const bool has_copy = iterates(then_) || records::decision_of(decided) == "revise";
        const std::string artifact =
            has_copy ? artifact_version_file(stage.artifact, "v" + std::to_string(number)) : stage.artifact;
        history_.decision_files.insert_or_assign(
            decision_file(stage.name, number, decided.approved),
            RecordedDecision{decided,
                             {then_.task_id, stage.name, number, artifact, stage.artifact_hash},
                             stage.history.empty() ? std::string() : stage.history.back().presented_at,
                             time});
    }

    /// Adds the versions that people had decided on by then. A stage that begins again loses them, but not their files.
    void add_versions() {
        for (const StageState& stage : then_.stages) {
            for (const auto& [file, shown] : version_files(then_, stage)) { history_.versions[file] = shown.artifact_hash; }
        }
    }

    void escalation() {
        const auto& open = then_.escalation;
        auto context = open->context_blob.empty() ? std::optional(json::object()) : object_in_blob(evidence_, open->context_blob);
        if (!context) { return; }
        Escalation asked{open->id,
                         then_.task_id,
                         then_.stage().name,
                         open->reason,
                         open->question,
                         open->options,
                         std::move(*context),
                         then_.resumption.escalated_at,
                         {}};
        add(open->id, std::move(asked));
    }

    void request(const std::string& id, const std::string& blob, const std::string& hash, const std::string& time) {
        auto shown = object_in_blob(evidence_, blob);
        if (!shown) { return; }
        shown->erase("_artifact_meta");
        shown->erase("_metadata");
        add(id, ApprovalRequest{id, then_.task_id, then_.stage().name, std::move(*shown), hash, time, {}});
    }

    void add(const std::string& id, std::variant<Escalation, ApprovalRequest> asked) {
        RecordedQuestion question{std::move(asked), {}, {}, {}};
        if (const auto& deadline = then_.resumption.deadline; deadline.id == id) {
            question.time = deadline.time;
            if (!deadline.then.empty()) { question.then = deadline.then; }
            question.default_answer = deadline.default_answer;
        }
        history_.questions.insert_or_assign(id, std::move(question));
    }

    const TaskEvidence& evidence_;
    TaskState then_;
    RecordedHistory history_;
};

}  // namespace

RecordedHistory read_history(const TaskEvidence& evidence) { return HistoryReader(evidence).run(); }

std::optional<json::object> object_in_blob(const TaskEvidence& evidence, const std::string& hash) {
    const auto text = BlobStore(evidence.blobs).get(hash);
    if (!text.ok()) { return std::nullopt; }
    auto value = parse_json(*text, "blob");
    return value.ok() && value->is_object() ? std::optional(std::move(value->get_object())) : std::nullopt;
}

}  // namespace agentforge::kernel
