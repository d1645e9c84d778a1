// SPDX-License-Identifier: Apache-2.0
#include "audit/statement.hpp"

#include <algorithm>
#include <set>

#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "journal/blobs.hpp"

namespace agentforge::kernel {

namespace {

const json::value* field_of(const json::object& object, std::string_view key) { return object.if_contains(key); }

/// A gate as its record tells it, without texts that a reader finds there.
json::object gate_entry(const Record& record) {
    json::object gate{{"gate", text_of(record.body, "gate")}, {"tree", text_of(record.body, "tree")}, {"passed", record.body.at("passed")}, {"record", record.seq}, {"record_sha256", record.hash}};
    for (const char* key : {"tests", "tests_passed", "inputs", "confinement"}) {
        if (const json::value* value = field_of(record.body, key)) { gate[key] = *value; }
    }
    json::array commands;
    std::set<std::string> seen;
    for (const json::value& each : list_of(record.body, "commands")) {
        std::string command = each.is_object() ? text_of(each.get_object(), "command") : std::string();
        if (seen.insert(command).second) { commands.emplace_back(std::move(command)); }
    }
    gate["commands"] = std::move(commands);
    return gate;
}

/// The newest measurement of each gate, in the order of the journal.
json::array newest_gates(const TaskEvidence& evidence) {
    std::map<std::string, const Record*> newest;
    for (const Record& record : evidence.records) {
        const json::value* partial = field_of(record.body, "partial");
        if (record.type() == "gate" && (partial == nullptr || *partial == json::value(false))) { newest[text_of(record.body, "gate")] = &record; }
        if (record.type() == "rebased") { newest["rebase"] = &record; }
    }
    std::vector<const Record*> order;
    for (const auto& [gate, record] : newest) { order.push_back(record); }
    std::ranges::sort(order, {}, [](const Record* record) { return record->seq; });
    json::array gates;
    for (const Record* record : order) {
        if (record->type() == "gate") {
            gates.push_back(gate_entry(*record));
        } else {
            gates.push_back(json::object{{"gate", gate_name::deliver}, {"tree", text_of(record->body, "tree")}, {"passed", record->body.at("gate_passed")}, {"record", record->seq}, {"record_sha256", record->hash}});
        }
    }
    return gates;
}

json::array approvals_of(const TaskEvidence& evidence) {
    json::array approvals;
    for (const Record& record : evidence.records) {
        if (record.type() != "approval_decided") { continue; }
        approvals.push_back(json::object{{"stage", text_of(record.body, "stage")}, {"approved", record.body.at("approved")}, {"artifact_sha256", text_of(record.body, "artifact_hash")},
                                         {"decided_by", text_of(record.body, "decided_by")}, {"record", record.seq}});
    }
    return approvals;
}

/// The files of the suite that the tests' stage handed in, as they are in the delivered tree.
Result<json::array> tests_of(const TaskEvidence& evidence, const Repository& repository, const std::string& tree) {
    json::array tests;
    const BlobStore blobs(evidence.paths.blobs());
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
    for (const std::string& path : paths) {
        AF_TRY(const auto bytes, repository.file_in_tree(tree, path));
        if (bytes) { tests.push_back(json::object{{"path", path}, {"sha256", sha256(*bytes)}}); }
    }
    return tests;
}

json::object policy_of(const TaskEvidence& evidence) {
    json::object policy{{"pipeline", evidence.state.pipeline.name}};
    for (const Record& record : evidence.records) {
        if (const json::value* pipeline = record.type() == "task_created" ? field_of(record.body, "pipeline") : nullptr) { policy["pipeline_sha256"] = sha256(to_json_line(*pipeline)); }
        if (const std::string inputs = record.type() == "gate" ? text_of(record.body, "inputs") : std::string(); !inputs.empty()) { policy["gate_inputs"] = inputs; }
    }
    if (const std::string task = text_of(evidence.header, "task_sha256"); !task.empty()) { policy["settings_sha256"] = task; }
    return policy;
}

}  // namespace

bool has_delivered(const TaskState& state) { return state.status == TaskStatus::completed && state.delivery.contains("deliverable_type"); }

Result<std::string> make_statement(const TaskEvidence& evidence, const Repository& repository) {
    const TaskState& state = evidence.state;
    const DeliveryBase base = delivery_base(state);
    const std::string tree = delivered_tree(state);
    AF_TRY(json::array tests, tests_of(evidence, repository, tree));
    AF_TRY(const auto files, files_of_task(evidence));
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
    return to_json_pretty(json::object{{"_type", statement_type},
                                       {"subject", json::array{json::object{{"name", state.branch.empty() ? "change" : state.branch}, {"digest", json::object{{"gitTree", tree}}}}}},
                                       {"predicateType", predicate_type},
                                       {"predicate", std::move(predicate)}});
}

std::pair<std::string, std::string> split_signed(const std::string& text) {
    const std::size_t at = text.find("\n-----BEGIN ");
    return at == std::string::npos ? std::pair(text, std::string()) : std::pair(text.substr(0, at + 1), text.substr(at + 1));
}

}  // namespace agentforge::kernel
