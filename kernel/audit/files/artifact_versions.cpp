// SPDX-License-Identifier: Apache-2.0
#include "audit/files/artifact_versions.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <agentforge/artifact.hpp>

#include "base/clock.hpp"
#include "base/plain_file.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "task/artifact_files.hpp"

namespace agentforge::kernel {

namespace {

constexpr YamlLimits artifact_limits{64UL << 20U, 4'000'000, 200};

class ArtifactComparison {
public:
    ArtifactComparison(const TaskEvidence& evidence, const RecordedHistory& history, FileFindings& findings)
        : evidence_(evidence), history_(history), findings_(findings) {}

    void run() {
        contents();
        for (const auto& [file, blob] : blobs_of_files()) { envelope(file, blob); }
    }

private:
    void contents() {
        std::vector<std::string> changed = changed_artifact_files(evidence_.paths, evidence_.state, evidence_.blobs);
        const auto newest = artifact_files(evidence_.blobs, evidence_.state);
        for (const auto& [file, blob] : history_.versions) {
            if (!newest.contains(file) && is_changed_artifact_file(evidence_.paths, file, blob, evidence_.blobs)) {
                changed.push_back(file);
            }
        }
        for (const std::string& file : changed) {
            if (history_.accepted_files.contains(file)) { continue; }  // The audit compares these elsewhere.
            const auto kind = irregular_kind(evidence_.paths.root, file);
            findings_.faults.push_back(file + (kind ? " is " + *kind : " is not what the journal says"));
        }
    }

    [[nodiscard]] std::map<std::string, std::string> blobs_of_files() const {
        std::map<std::string, std::string> blobs = history_.versions;
        for (const StageState& stage : evidence_.state.stages) {
            if (stage.artifact.empty() || stage.artifact_hash.empty()) { continue; }
            blobs[stage.artifact] = stage.artifact_hash;
            blobs[artifact_version_file(stage.artifact, "final")] = stage.artifact_hash;
            for (const auto& [file, review] : stage.review_files) { blobs[file] = review.artifact_hash; }
        }
        return blobs;
    }

    void envelope(const std::string& file, const std::string& blob) {
        const auto text = read_plain_file(evidence_.paths.root, file);
        const auto read = text.ok() ? parse_yaml(*text, file, artifact_limits) : Result<YamlDocument>(text.error());
        if (!read.ok() || !read->value.is_object()) { return; }
        const auto given = StageArtifact::from_json(read->value.get_object());
        const auto [begin, end] = history_.envelopes.equal_range(blob);
        if (!given.ok() || begin == end) { return; }
        const bool is_recorded = std::any_of(begin, end, [&](const auto& each) { return is_envelope(*given, each.second); });
        if (!is_recorded) {
            findings_.faults.push_back(file + ": the envelope (_artifact_meta, _metadata) is not what the journal says");
        }
    }

    /// A file that was lost is written again without figures, and with another time.
    [[nodiscard]] bool is_envelope(const StageArtifact& given, const RecordedEnvelope& recorded) const {
        const json::object lost{{"task_id", evidence_.state.task_id}};
        json::object written = lost;
        for (const auto& [key, value] : recorded.figures) { written[key] = value; }
        const bool is_version = recorded.contract_version.empty() || given.version == recorded.contract_version ||
                                (given.metadata == lost && given.version == StageArtifact().version);
        return given.stage_name == recorded.stage && is_version &&
               (recorded.contract.empty() || given.artifact_type == recorded.contract) &&
               (given.metadata == lost || given.metadata == written) && is_time_of_task(given.created_at);
    }

    [[nodiscard]] bool is_time_of_task(const std::string& text) const {
        const auto time = parse_time(text);
        return time.ok() && history_.earliest && *history_.earliest <= *time && *time <= *history_.latest;
    }

    const TaskEvidence& evidence_;
    const RecordedHistory& history_;
    FileFindings& findings_;
};

}  // namespace

void compare_artifacts(const TaskEvidence& evidence, const RecordedHistory& history, FileFindings& findings) {
    ArtifactComparison(evidence, history, findings).run();
}

}  // namespace agentforge::kernel
