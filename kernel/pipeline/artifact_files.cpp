// SPDX-License-Identifier: Apache-2.0
#include "pipeline/artifact_files.hpp"

#include <filesystem>
#include <map>

#include <agentforge/artifact.hpp>

#include "base/yaml.hpp"
#include "journal/blobs.hpp"

namespace agentforge::kernel {

namespace {

/// Whether the file's artifact is the one of that hash. What cannot be known, because the blob is gone, is left to `audit verify`.
bool holds(const std::filesystem::path& file, const BlobStore& blobs, const std::string& hash) {
    const auto text = blobs.get(hash);
    if (!text.ok()) { return true; }
    auto written = parse_json(*text, "blob");
    if (!written.ok() || !written->is_object()) { return true; }
    for (const std::string_view key : {"_artifact_meta", "_metadata"}) { written->get_object().erase(key); }
    const auto read = load_artifact(file);
    const auto parts = read.ok() ? StageArtifact::from_json(*read) : Result<StageArtifact>(read.error());
    if (!parts.ok()) { return false; }
    // Numbers as a file that was read again has them.
    const auto again = parse_yaml(to_yaml(*written), "blob", YamlLimits{64UL << 20U, 4'000'000, 200});
    return again.ok() && again->value == json::value(parts->data);
}

}  // namespace

std::string artifact_version_file(const std::string& artifact, const std::string& version) {
    const std::filesystem::path file(artifact);
    return (file.parent_path() / (file.stem().string() + "_" + version + ".yaml")).string();
}

std::vector<std::string> changed_artifact_files(const TaskPaths& paths, const TaskState& state) {
    const BlobStore blobs(paths.blobs());
    std::vector<std::string> changed;
    for (const StageState& stage : state.stages) {
        if (stage.artifact.empty() || stage.artifact_hash.empty()) { continue; }
        const auto check = [&](const std::string& name, const std::string& hash, bool must_be_there) {
            std::error_code error;
            const bool there = std::filesystem::exists(paths.root / name, error);
            if (there ? !holds(paths.root / name, blobs, hash) : must_be_there) { changed.push_back(name); }
        };
        check(stage.artifact, stage.artifact_hash, true);
        std::map<unsigned, std::string> versions;
        for (const ShownVersion& shown : stage.history) { versions[shown.version] = shown.artifact_hash; }
        for (const auto& [version, hash] : versions) { check(artifact_version_file(stage.artifact, "v" + std::to_string(version)), hash, false); }
        if (stage.status == StageStatus::completed) { check(artifact_version_file(stage.artifact, "final"), stage.artifact_hash, false); }
    }
    return changed;
}

Result<void> check_artifact_files(const TaskPaths& paths, const TaskState& state) {
    const std::vector<std::string> changed = changed_artifact_files(paths, state);
    if (changed.empty()) { return {}; }
    std::string names;
    for (const std::string& name : changed) { names += (names.empty() ? "" : ", ") + name; }
    return Error{"AF-ORCH-051", "artifacts of task " + state.task_id + " were changed on disk since they were accepted, or are gone: " + names, paths.root.string(),
                 "put the files back (the journal's blobs have their content); to have an artifact otherwise, say so: agentforge continue " + state.task_id + " --revise", ErrorKind::conflict};
}

}  // namespace agentforge::kernel
