// SPDX-License-Identifier: Apache-2.0
#include "task/artifact_files.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>

#include <agentforge/artifact.hpp>

#include "base/ids.hpp"
#include "base/json_fields.hpp"
#include "base/plain_file.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "escalation/decision_file.hpp"
#include "journal/blob_store.hpp"

namespace agentforge::kernel {

namespace {

constexpr YamlLimits limits{64UL << 20U, 4'000'000, 200};

/// A file of the task whose contents the journal knows.
struct TaskFile {
    std::string name;  ///< Relative to the task's folder.
    std::string hash;  ///< The blob of its artifact or text. Empty: only the journal counts.
    bool must_be_there = false;
    bool is_text = false;
    bool is_input = false;  ///< An artifact from outside: its envelope may differ.
};

/// Adds imported tests; they are kept unchanged, one file each.
void add_imported_files(const BlobStore& blobs, const ExternalInput& input, std::vector<TaskFile>& files) {
    const auto text = blobs.get(input.hash);
    const auto manifest = text.ok() ? parse_json(*text, "blob") : Result<json::value>(text.error());
    if (!manifest.ok() || !manifest->is_object()) { return; }
    for (const json::value& each : list_of(manifest->get_object(), "files")) {
        if (!each.is_object() || text_of(each.get_object(), "blob").empty()) { continue; }
        files.push_back({"external_inputs/" + input.name + "/" + text_of(each.get_object(), "path"),
                         text_of(each.get_object(), "blob"), false, true});
    }
}

std::vector<TaskFile> files_of(const BlobStore& blobs, const TaskState& state) {
    std::vector<TaskFile> files;
    for (const auto& [contract, input] : state.external_inputs) {
        if (!input.artifact.empty()) { files.push_back({input.artifact, input.hash, true, false, true}); }
        add_imported_files(blobs, input, files);
    }
    for (const StageState& stage : state.stages) {
        if (stage.artifact.empty() || stage.artifact_hash.empty()) { continue; }
        files.push_back({stage.artifact, stage.artifact_hash, true});
        for (const ShownVersion& shown : stage.history) {
            for (const bool is_approval : {true, false}) {
                files.push_back({decision_file(stage.name, shown.version, is_approval), ""});
            }
        }
        for (const auto& [name, shown] : version_files(state, stage)) { files.push_back({name, shown.artifact_hash}); }
        for (const auto& [name, review] : stage.review_files) { files.push_back({name, review.artifact_hash, true}); }
        if (stage.status == StageStatus::completed) {
            files.push_back({artifact_version_file(stage.artifact, "final"), stage.artifact_hash});
        }
    }
    return files;
}

constexpr std::string_view envelope_keys[] = {"_artifact_meta", "_metadata"};

json::value without_envelope(json::object artifact) {
    for (const std::string_view key : envelope_keys) { artifact.erase(key); }
    return artifact;
}

/// Returns the envelope of an artifact's file if the file consists of `data`, the artifact's other fields as `to_yaml` writes
/// them, and an envelope that `to_yaml` writes the same way. Files that the program wrote are of this form, and finding it takes
/// a tenth of the time of parsing them.
std::optional<json::object> envelope_around(std::string text, const std::string& data) {
    const auto at = text.starts_with(data) ? 0 : text.find("\n" + data);
    if (at == std::string::npos) { return std::nullopt; }
    text.erase(at == 0 ? 0 : at + 1, data.size());
    auto read = parse_yaml(text, "envelope", limits);
    if (!read.ok() || !read->value.is_object() || to_yaml(read->value) != text) { return std::nullopt; }
    for (const auto& field : read->value.get_object()) {
        if (std::ranges::find(envelope_keys, std::string_view(field.key())) == std::end(envelope_keys)) { return std::nullopt; }
    }
    return std::move(read->value.get_object());
}

/// True if the text equals the blob. Also true if the blob is gone: `audit verify` reports that.
bool says(const std::string& text, const TaskFile& file, const BlobStore& blobs) {
    const auto kept = blobs.get(file.hash);
    if (!kept.ok()) { return true; }
    if (file.is_text) { return text == *kept; }
    const auto written = parse_json(*kept, "blob");
    if (!written.ok() || !written->is_object()) { return true; }
    const json::value data = without_envelope(written->get_object());
    const std::string lines = to_yaml(data);
    if (auto artifact = envelope_around(text, lines)) {
        for (const auto& [key, value] : data.get_object()) { (*artifact)[key] = value; }
        return StageArtifact::from_json(*artifact).ok();
    }
    const auto read = parse_yaml(text, file.name, limits);
    if (!read.ok() || !read->value.is_object()) { return false; }
    const json::object& artifact = read->value.get_object();
    const bool is_unchanged =
        file.is_input ? StageArtifact::from_json(artifact).ok() && to_yaml(artifact) == text : is_as_written(text, artifact);
    if (!is_unchanged) { return false; }
    // Reads the file again, so that numbers have the same types on both sides.
    const auto again = parse_yaml(lines, "blob", limits);
    return again.ok() && again->value == without_envelope(read->value.get_object());
}

bool differs(const TaskPaths& paths, const TaskFile& file, const BlobStore& blobs) {
    const auto text = read_plain_file(paths.root, file.name);
    if (!text.ok()) { return text.error().kind != ErrorKind::not_found || file.must_be_there; }
    return !file.hash.empty() && !says(*text, file, blobs);
}

}  // namespace

bool is_as_written(const std::string& text, const json::object& artifact) {
    const auto envelope = StageArtifact::from_json(artifact);
    return envelope.ok() && to_yaml(envelope->to_json()) == text;
}

std::string artifact_version_file(const std::string& artifact, const std::string& version) {
    const std::filesystem::path file(artifact);
    return (file.parent_path() / (file.stem().string() + "_" + version + ".yaml")).string();
}

std::map<std::string, ShownVersion> version_files(const TaskState& state, const StageState& stage) {
    std::map<std::string, ShownVersion> files;
    for (const ShownVersion& shown : stage.history) {
        const bool kept = shown.decision == "revise" || (!shown.decision.empty() && state.iterate_stages.contains(stage.name));
        if (kept) { files[artifact_version_file(stage.artifact, "v" + std::to_string(shown.version))] = shown; }
    }
    return files;
}

void remove_final_file(const TaskPaths& paths, const StageState& stage) {
    if (stage.artifact.empty()) { return; }
    std::error_code ignored;  // A file that stays is compared with the next version and reported.
    std::filesystem::remove(paths.root / artifact_version_file(stage.artifact, "final"), ignored);
}

bool reads_as(const json::object& read, const json::value& value) {
    const auto written = parse_yaml(to_yaml(value), "a file of the task", limits);
    return written.ok() && written->value == json::value(read);
}

std::set<std::string> artifact_files(const std::filesystem::path& blobs, const TaskState& state) {
    std::set<std::string> names;
    for (const TaskFile& file : files_of(BlobStore(blobs), state)) { names.insert(file.name); }
    return names;
}

std::vector<std::string> changed_artifact_files(const TaskPaths& paths, const TaskState& state,
                                                const std::filesystem::path& blobs) {
    const BlobStore store(blobs.empty() ? paths.blobs() : blobs);
    std::vector<std::string> changed;
    for (const TaskFile& file : files_of(store, state)) {
        if (differs(paths, file, store)) { changed.push_back(file.name); }
    }
    return changed;
}

bool is_changed_artifact_file(const TaskPaths& paths, const std::string& file, const std::string& blob,
                              const std::filesystem::path& blobs) {
    return differs(paths, {file, blob}, BlobStore(blobs));
}

Result<void> check_artifact_files(const TaskPaths& paths, const TaskState& state) {
    AF_CHECK(check_files_are_own(paths, state));
    const std::vector<std::string> changed = changed_artifact_files(paths, state);
    if (changed.empty()) { return {}; }
    std::string names;
    for (const std::string& name : changed) { names += (names.empty() ? "" : ", ") + name; }
    return Error{"AF-ORCH-051", "artifacts of task " + state.task_id + " were changed on disk since they were accepted: " + names,
                 paths.root.string(),
                 "remove these files: `agentforge continue " + short_id(state.task_id) +
                     "` writes them again from the journal; to change an artifact, revise it with --revise",
                 ErrorKind::conflict};
}

Result<void> check_files_are_own(const TaskPaths& paths, const TaskState& state) {
    const BlobStore blobs(paths.blobs());
    for (const TaskFile& file : files_of(blobs, state)) {
        const auto instead = irregular_kind(paths.root, file.name);
        if (!instead) { continue; }
        return Error{"AF-ORCH-077",
                     "a file of task " + state.task_id + " was replaced: " + file.name + " is " + *instead +
                         ", which AgentForge does not follow",
                     (paths.root / file.name).string(),
                     "find out who put it there, remove it, then resume: AgentForge then writes the file again from the journal",
                     ErrorKind::conflict};
    }
    return {};
}

}  // namespace agentforge::kernel
