// SPDX-License-Identifier: Apache-2.0
#include "pipeline/acceptance.hpp"

#include <limits>

#include <agentforge/artifact.hpp>

#include "base/files.hpp"
#include "base/plain_file.hpp"
#include "base/yaml.hpp"
#include "contracts/names.hpp"
#include "escalation/decision_file.hpp"
#include "pipeline/dependencies.hpp"
#include "pipeline/gate_runs.hpp"
#include "pipeline/people/acting_changes.hpp"
#include "pipeline/people/iteration.hpp"
#include "pipeline/set_parts.hpp"
#include "pipeline/tests/changed_tests.hpp"
#include "pipeline/tests/hand_back.hpp"
#include "task/artifact_files.hpp"
#include "task/exit_gate.hpp"
#include "task/task_set.hpp"

namespace agentforge::kernel {
namespace {

std::string issue_text(const json::object& issue) {
    const auto field = [&](std::string_view key) {
        const json::value* value = issue.if_contains(key);
        return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
    };
    return field("id") + " (" + field("severity") + "): " + field("description") + " Remedy: " + field("remediation");
}

/// JSON Schema has a single integer type, and its reader accepts only signed ones.
void sign_integers(json::value& value) {
    if (value.is_uint64() && value.get_uint64() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        value = static_cast<std::int64_t>(value.get_uint64());
    } else if (json::object* object = value.if_object()) {
        for (auto& entry : *object) { sign_integers(entry.value()); }
    } else if (json::array* array = value.if_array()) {
        for (json::value& item : *array) { sign_integers(item); }
    }
}

json::object with_measured(const Contract& contract, json::object artifact, const json::object& facts) {
    contract.fill_measured(artifact, facts);
    json::value whole = std::move(artifact);
    sign_integers(whole);
    return std::move(whole.get_object());
}

const json::array& array_field(const json::object& object, std::string_view key) {
    static const json::array empty;
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_array() ? value->get_array() : empty;
}

}  // namespace

Result<void> Acceptance::accept(json::object artifact, std::uint64_t spent) {
    const StageTemplate stage = task_.state().stage_template();  // A copy, because every record replaces the state.
    AF_TRY(const Contract contract, task_.services.contracts.get(stage.contract));
    // The stage may have been measured by another process, or before a fork.
    if (const std::string gate = exit_gate(stage);
        !gate.empty() && unmeasured_gate(task_.state(), gate, task_.state().tree).empty()) {
        AF_CHECK(measure_again_if_stale(&artifact));
    }
    AF_TRY(const json::object facts,
           measured_facts(*task_.session, *task_.task_workspace, artifact, format_time(task_.services.clock.now())));
    artifact = with_measured(contract, std::move(artifact), facts);
    AF_TRY(const auto artifacts, task_.session->artifacts_by_contract());
    RuleContext rules;
    rules.artifacts = &artifacts;
    AF_TRY(std::vector<std::string> errors, faults_of(contract, artifact, rules));
    AF_TRY(const auto answers, answers_of(artifact));
    // Tells the agent once. A person sees the issues that the agent still leaves unanswered.
    if (errors.empty() && task_.state().stage().contract_retries == 0 && stage.max_contract_retries > 0) {
        for (const std::string& left : unanswered(answers)) {
            errors.push_back("a person said that this must be addressed, but it is unchanged: " + left);
        }
    }
    if (!errors.empty()) {
        AF_TRY(const std::string blob, task_.session->put(artifact));
        AF_CHECK(task_.session->record(records::ArtifactRejected{stage.name, errors, blob, spent}));
        return {};
    }
    AF_TRY(const std::string path, save(stage.artifact, contract, artifact));
    AF_TRY(const std::string hash, task_.session->put(artifact));
    AF_TRY(const auto acting, acting_changes(*task_.session, *task_.task_workspace, delivered_tree(task_.state())));
    const auto acts_later = not_yet_approved(*task_.session, acting);
    AF_TRY(const auto changed, writes_tests(stage) ? changed_test_notes(*task_.session)
                                                   : Result<std::vector<ChangedTestNote>>(std::vector<ChangedTestNote>()));
    const auto changed_tests =
        not_yet_approved(*task_.session, descriptions(without_allowed(changed, task_.services.outdated_tests)));
    auto by_content = acting;
    std::ranges::move(descriptions(changed), std::back_inserter(by_content));
    const bool asks = !acts_later.empty() || !changed_tests.empty() ||
                      (task_.services.ask_about_suspicions && has_suspicions(facts, by_content));
    AF_CHECK(task_.session->record(records::ArtifactAccepted{.stage = stage.name,
                                                             .contract = contract.name(),
                                                             .contract_version = contract.version(),
                                                             .artifact = path,
                                                             .artifact_hash = hash,
                                                             .conditions = contract.conditions_of(artifact, rules),
                                                             .asks = asks,
                                                             .acts_later = acts_later,
                                                             .changed_tests = changed_tests,
                                                             .answers = answers,
                                                             .duration_ms = spent}));
    return {};
}

Result<std::vector<std::string>> Acceptance::faults_of(const Contract& contract, const json::object& artifact,
                                                       const RuleContext& rules) {
    std::vector<std::string> faults = contract.validate(artifact, rules).messages();
    AF_TRY(const std::vector<std::string> uncorrected, faults_of_correction(*task_.session, artifact));
    faults.insert(faults.end(), uncorrected.begin(), uncorrected.end());
    if (makes(task_.state().stage_template(), contract_name::specification)) {
        const std::vector<std::string> wrong =
            kernel::faults_of(dependencies_of(artifact), task_.state(), task_.setup.store, task_.services.other_repository);
        faults.insert(faults.end(), wrong.begin(), wrong.end());
        AF_TRY(const std::vector<std::string> divided_wrongly, faults_of_set_parts(artifact));
        faults.insert(faults.end(), divided_wrongly.begin(), divided_wrongly.end());
    }
    if (!faults.empty()) { return faults; }
    if (makes_delivery(task_.state().stage_template()) && !has_delivered(task_.state())) {
        faults.push_back("stage `" + task_.stage_name() + "` must deliver, but has delivered nothing: its executor `" +
                         task_.state().stage_template().executor + "` does not");
        return faults;
    }
    // Without a gate passed on this exact tree, the stage has verified nothing.
    if (exit_gate(task_.state().stage_template()).empty()) { return faults; }
    AF_TRY(const std::string inputs, task_.task_workspace->gate_inputs());
    if (std::string unmet = unmet_exit_gate(task_.state(), &inputs); !unmet.empty()) { faults.push_back(std::move(unmet)); }
    return faults;
}

Result<std::vector<std::string>> Acceptance::faults_of_set_parts(const json::object& specification) const {
    std::vector<std::string> faults;
    if (task_.state().set_file.empty()) { return faults; }
    AF_TRY(const TaskSet set, load_set(task_.state().set_file));
    if (set.specification_task != task_.state().task_id) { return faults; }
    std::vector<std::string> repositories;
    for (const SetPart& part : set.parts) { repositories.push_back(part.repo); }
    for (const std::string& fault : faults_of_parts(specification, repositories)) { faults.push_back("parts: " + fault); }
    return faults;
}

Result<std::optional<std::string>> Acceptance::accept_review(const AgentDefinition& reviewer, json::object review,
                                                             std::uint64_t spent) {
    AF_TRY(const Contract contract, task_.services.contracts.get(reviewer.output_contract(task_.stage_name())));
    AF_TRY(const json::object facts,
           measured_facts(*task_.session, *task_.task_workspace, review, format_time(task_.services.clock.now())));
    review = with_measured(contract, std::move(review), facts);
    task_.services.redactor.redact(review);  // The review is also written to a file, which must match its blob.
    AF_TRY(const auto artifacts, task_.session->artifacts_by_contract());
    RuleContext rules;
    rules.artifacts = &artifacts;
    const ContractVerdict verdict = contract.validate(review, rules);
    if (!verdict.valid()) {
        return std::optional("the review by `" + reviewer.role + "` violates its contract: " + verdict.messages().front());
    }
    AF_TRY(const std::string path, save(contract.name(), contract, review));
    AF_TRY(const std::string review_blob, task_.session->put(review));
    std::vector<std::string> issues;
    for (const json::value& issue : array_field(review, "blocking_issues")) { issues.push_back(issue_text(issue.as_object())); }
    const std::size_t advisory = array_field(review, "advisory_issues").size();
    const RecordAgent who{reviewer.role, reviewer.version, "review"};
    AF_CHECK(task_.session->record(records::ReviewFinished{.stage = task_.stage_name(),
                                                           .reviewer = reviewer.role,
                                                           .blocking = issues.size(),
                                                           .advisory = advisory,
                                                           .issues = issues,
                                                           .review = path,
                                                           .review_blob = review_blob,
                                                           .artifact_blob = task_.state().stage().artifact_hash,
                                                           .duration_ms = spent},
                                   &who));
    return std::optional<std::string>();
}

Result<bool> Acceptance::measure_again_if_stale(const json::object* candidate) {
    const std::string gate = exit_gate(task_.state().stage_template());
    if (gate.empty()) { return false; }
    AF_CHECK(task_.open_workspace());
    AF_TRY(const std::string inputs, task_.task_workspace->gate_inputs());
    if (measured_with(*task_.session, gate, inputs)) { return false; }
    GateRequest request;
    request.gate = gate;
    std::optional<json::object> accepted;
    if (candidate == nullptr) { AF_TRY(accepted, task_.session->artifact(task_.stage_name())); }
    const json::object* const artifact = accepted ? &*accepted : candidate;
    AF_CHECK(run_and_record_gate(*task_.session, *task_.task_workspace, task_.services.events, request, task_.state().tree,
                                 artifact, Stop{&task_.services.cancel, std::nullopt}));
    return true;
}

Result<std::string> Acceptance::save(const std::string& given, const Contract& contract, const json::object& artifact) {
    StageArtifact envelope;
    envelope.stage_name = task_.stage_name();
    envelope.artifact_type = contract.name();
    envelope.version = contract.version();
    envelope.created_at = format_time(task_.services.clock.now());
    envelope.data = artifact;
    envelope.metadata = {{"task_id", task_.state().task_id},
                         {"iteration", task_.state().stage().iterations},
                         {"tokens_used", task_.state().stage().input_tokens + task_.state().stage().output_tokens}};
    const std::string name = given.empty() ? contract.name() : given;
    const std::filesystem::path file = task_.session->paths().artifact(task_.stage_name(), name);
    AF_CHECK(make_directories(file.parent_path()));
    AF_CHECK(save_artifact(file, envelope.to_json()));
    return file.lexically_relative(task_.session->paths().root).string();
}

Result<std::vector<records::IssueAnswer>> Acceptance::answers_of(const json::object& artifact) const {
    const TaskState& state = task_.state();
    std::vector<records::IssueAnswer> none;
    if (state.feedback_issues.empty() || state.stage().history.empty()) { return none; }
    AF_TRY(json::value before, task_.session->get(state.stage().history.back().artifact_hash));
    AF_TRY(const std::string own, task_.session->put(artifact));  // In its recorded form, with the same secrets hidden.
    AF_TRY(const json::value after, task_.session->get(own));
    if (!before.is_object() || !after.is_object()) { return none; }
    return answers_to(state.feedback_issues, before.get_object(), after.get_object());
}

Result<std::filesystem::path> Acceptance::save_version(const StageState& stage, const std::string& version) {
    const std::filesystem::path root = task_.session->paths().root;
    AF_TRY(const std::string bytes, read_plain_file(root, stage.artifact));
    std::filesystem::path file = root / artifact_version_file(stage.artifact, version);
    AF_CHECK(write_file_atomic(file, bytes, Durability::synced));
    return file;
}

Result<void> Acceptance::save_finals() {
    AF_CHECK(task_.session->write_missing_artifacts());
    for (const StageState& stage : task_.state().stages) {
        const bool keeps_versions = stage.versions > 0 || task_.state().iterate_stages.contains(stage.name);
        if (!keeps_versions || stage.status != StageStatus::completed) { continue; }
        AF_TRY(const std::filesystem::path file, save_version(stage, "final"));
        constexpr auto readable =
            std::filesystem::perms::owner_read | std::filesystem::perms::group_read | std::filesystem::perms::others_read;
        std::error_code ignored;  // A file system without permissions leaves the file writable. A change is detected anyway.
        std::filesystem::permissions(file, readable, ignored);
    }
    return {};
}

Result<void> Acceptance::save_decision(const ArtifactDecision& decision) {
    const StageState& stage = task_.state().stage();
    const unsigned number = stage.history.empty() ? stage.versions + 1 : stage.history.back().version;
    const std::string version = "v" + std::to_string(number);
    const bool keeps = iterates(task_.state()) || decision.decision == "revise";
    if (keeps) { AF_CHECK(save_version(stage, version)); }
    const std::filesystem::path path =
        task_.session->paths().root / decision_file(task_.stage_name(), number, decision.approved());
    AF_CHECK(make_directories(path.parent_path()));
    json::object file =
        decision_document({task_.state().task_id, task_.stage_name(), number,
                           keeps ? artifact_version_file(stage.artifact, version) : stage.artifact, stage.artifact_hash},
                          decision, format_time(task_.services.clock.now()));
    task_.services.redactor.redact(file);
    return write_file_atomic(path, to_yaml(file), Durability::synced);
}

}  // namespace agentforge::kernel
