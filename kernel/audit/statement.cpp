// SPDX-License-Identifier: Apache-2.0
#include "audit/statement.hpp"

#include <algorithm>
#include <set>

#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "journal/blob_store.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

namespace {

/// Returns a gate's entry, without the texts that its record has.
json::object gate_entry(const Record& record, const records::Gate& measured) {
    json::object gate{{"gate", measured.gate},
                      {"tree", measured.tree},
                      {"passed", measured.passed},
                      {"record", record.seq},
                      {"record_sha256", record.hash}};
    if (measured.tests) { gate["tests"] = *measured.tests; }
    if (measured.tests_passed) { gate["tests_passed"] = *measured.tests_passed; }
    if (measured.inputs) { gate["inputs"] = *measured.inputs; }
    if (measured.confinement) { gate["confinement"] = *measured.confinement; }
    json::array commands;
    std::set<std::string> seen;
    for (const records::CommandRun& each : measured.commands.value_or(std::vector<records::CommandRun>())) {
        if (seen.insert(*each.command).second) { commands.emplace_back(*each.command); }
    }
    gate["commands"] = std::move(commands);
    return gate;
}

/// Returns the latest complete measurement of each gate, in journal order.
json::array newest_gates(const TaskEvidence& evidence) {
    constexpr std::string_view after_rebase = "rebase";
    std::map<std::string, std::pair<Sequence, json::object>, std::less<>> newest;
    for (const Record& record : evidence.records) {
        if (const auto gate = records::as<records::Gate>(record); gate && !*gate->partial) {
            newest.insert_or_assign(gate->gate, std::pair(record.seq, gate_entry(record, *gate)));
        }
        if (const auto rebased = records::as<records::Rebased>(record)) {
            json::object entry{{"gate", gate_name::deliver},
                               {"tree", rebased->tree},
                               {"passed", rebased->gate_passed},
                               {"record", record.seq},
                               {"record_sha256", record.hash}};
            newest.insert_or_assign(std::string(after_rebase), std::pair(record.seq, std::move(entry)));
        }
    }
    std::map<Sequence, json::object> in_order;
    for (auto& [gate, entry] : newest) { in_order.insert(std::move(entry)); }
    json::array gates;
    for (auto& [seq, entry] : in_order) { gates.push_back(std::move(entry)); }
    return gates;
}

json::array approvals_of(const TaskEvidence& evidence) {
    json::array approvals;
    for (const Record& record : evidence.records) {
        const auto decided = records::as<records::ApprovalDecided>(record);
        if (!decided) { continue; }
        approvals.push_back(json::object{{"stage", *decided->stage},
                                         {"approved", decided->approved},
                                         {"artifact_sha256", decided->artifact_hash},
                                         {"decided_by", *decided->decided_by},
                                         {"record", record.seq}});
    }
    return approvals;
}

/// Returns the files of the suite as they are in the delivered tree.
Result<json::array> tests_of(const TaskEvidence& evidence, const Repository& repository, const std::string& tree) {
    json::array tests;
    AF_TRY(const auto paths, test_files(evidence));
    for (const std::string& path : paths) {
        AF_TRY(const auto bytes, repository.file_in_tree(tree, path));
        if (bytes) { tests.push_back(json::object{{"path", path}, {"sha256", sha256(*bytes)}}); }
    }
    return tests;
}

json::object policy_of(const TaskEvidence& evidence) {
    json::object policy{{"pipeline", evidence.state.pipeline.name}};
    for (const Record& record : evidence.records) {
        if (const auto created = records::as<records::TaskCreated>(record)) {
            policy["pipeline_sha256"] = sha256(to_json_line(created->pipeline));
        }
        if (const auto gate = records::as<records::Gate>(record); gate && !gate->inputs.value_or("").empty()) {
            policy["gate_inputs"] = *gate->inputs;
        }
    }
    if (const std::string task = text_of(evidence.header, "task_sha256"); !task.empty()) { policy["settings_sha256"] = task; }
    return policy;
}

}  // namespace

bool has_statement(const TaskState& state) {
    return state.status == TaskStatus::completed && state.delivery.deliverable_type.has_value();
}

Result<std::set<std::string>> test_files(const TaskEvidence& evidence) {
    const BlobStore blobs(evidence.blobs);
    std::set<std::string> paths;
    for (const StageState& stage : evidence.state.stages) {
        if (stage.artifact_hash.empty()) { continue; }
        AF_TRY(const std::string text, blobs.get(stage.artifact_hash));
        AF_TRY(const json::value artifact, parse_json(text, "blob " + stage.artifact_hash));
        if (!artifact.is_object()) { continue; }
        for (const json::value& file : list_of(artifact.get_object(), "test_files")) {
            if (file.is_object()) { paths.insert(text_of(file.get_object(), "path")); }
        }
    }
    return paths;
}

Result<std::string> make_statement(const TaskEvidence& evidence, const Repository& repository,
                                   const std::map<std::string, std::string>& questions) {
    AF_TRY(json::array tests, tests_of(evidence, repository, delivered_tree(evidence.state)));
    return make_statement(evidence, std::move(tests), questions);
}

Result<std::string> make_statement(const TaskEvidence& evidence, json::array tests,
                                   const std::map<std::string, std::string>& questions) {
    const TaskState& state = evidence.state;
    const DeliveryBase base = delivery_base(state);
    const std::string tree = delivered_tree(state);
    AF_TRY(auto files, files_of_task(evidence));
    files.insert(questions.begin(), questions.end());
    json::object manifest;
    for (const auto& [name, hash] : files) { manifest[name] = hash; }
    json::object predicate{{"task", state.task_id},
                           {"request", state.request},
                           {"base", json::object{{"commit", base.commit}, {"tree", base.tree}}},
                           {"commit", state.commit},
                           {"journal", json::object{{"records", state.seq}, {"head", state.hash}}},
                           {"policy", policy_of(evidence)},
                           {"gates", newest_gates(evidence)},
                           {"tests", std::move(tests)},
                           {"approvals", approvals_of(evidence)},
                           {"files", std::move(manifest)}};
    return to_json_pretty(
        json::object{{"_type", statement_type},
                     {"subject", json::array{json::object{{"name", state.branch.empty() ? "change" : state.branch},
                                                          {"digest", json::object{{"gitTree", tree}}}}}},
                     {"predicateType", predicate_type},
                     {"predicate", std::move(predicate)}});
}

const json::object* object_at(const json::object& parent, std::string_view key) {
    const json::value* const value = parent.if_contains(key);
    return value == nullptr ? nullptr : value->if_object();
}

const json::object* predicate_of(const Result<json::value>& statement) {
    const json::object* const whole = statement.ok() ? statement->if_object() : nullptr;
    return whole == nullptr ? nullptr : object_at(*whole, "predicate");
}

JournalHead stated_head(const json::object& predicate) {
    const json::object* const head = object_at(predicate, "journal");
    if (head == nullptr) { return {}; }
    const json::value* const records = head->if_contains("records");
    const bool is_number = records != nullptr && records->is_int64() && records->get_int64() >= 0;
    return {is_number ? static_cast<Sequence>(records->get_int64()) : 0, text_of(*head, "head")};
}

std::pair<std::string, std::string> split_signed(const std::string& text) {
    const std::size_t at = text.find("\n-----BEGIN ");
    return at == std::string::npos ? std::pair(text, std::string()) : std::pair(text.substr(0, at + 1), text.substr(at + 1));
}

}  // namespace agentforge::kernel
