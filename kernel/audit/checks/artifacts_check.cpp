// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>

#include <agentforge/artifact.hpp>

#include "audit/checks/audit_part.hpp"
#include "audit/checks/checks.hpp"
#include "base/counted.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "journal/blob_store.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

namespace {

/// Returns the files of accepted artifacts and reviews with the hashes of their newest versions.
std::map<std::string, std::string> newest_artifacts(const std::vector<Record>& records) {
    std::map<std::string, std::string> newest;
    for (const Record& each : records) {
        if (const auto accepted = records::as<records::ArtifactAccepted>(each)) {
            newest[accepted->artifact] = accepted->artifact_hash;
        }
        if (const auto reviewed = records::as<records::ReviewFinished>(each); reviewed && !reviewed->review->empty()) {
            newest[*reviewed->review] = *reviewed->review_blob;
        }
    }
    return newest;
}

std::optional<json::object> accepted_document(const TaskEvidence& evidence, const std::string& hash) {
    const auto text = BlobStore(evidence.blobs).get(hash);
    if (!text.ok()) { return std::nullopt; }
    auto value = parse_json(*text, "blob");
    return value.ok() && value->is_object() ? std::optional(std::move(value->get_object())) : std::nullopt;
}

/// True if the text is the file of this document, as the kernel writes it for the task.
bool is_file_of(const std::string& text, const std::string& name, json::object accepted, const std::string& task_id) {
    const auto document = parse_yaml(text, name, {largest_file, 4'000'000, 200});
    static const json::object nothing;
    const json::object* const fields = document.ok() ? document->value.if_object() : nullptr;
    const auto envelope = StageArtifact::from_json(fields == nullptr ? nothing : *fields);
    accepted.erase("_artifact_meta");
    accepted.erase("_metadata");
    return envelope.ok() && envelope->data == accepted && to_yaml(envelope->to_json()) == text &&
           text_of(envelope->metadata, "task_id") == task_id;
}

void check_delivered_patches(const AuditContext& context, AuditPart& part) {
    for (const Record& each : context.records()) {
        const auto delivered = records::as<records::Delivered>(each);
        if (!delivered || !delivered->patch_file) { continue; }
        const auto text = read_file(context.file(*delivered->patch_file), largest_file);
        if (!text.ok() || sha256(*text) != delivered->patch_sha256) {
            part.fault(*delivered->patch_file + " is not the patch that was delivered");
        }
    }
}

}  // namespace

void check_artifacts(AuditContext& context) {
    AuditPart part(context.verdict, "artifacts");
    const auto newest = newest_artifacts(context.records());
    std::size_t gone = 0;
    for (const auto& [name, hash] : newest) {
        const auto text = read_file(context.file(name), largest_file);
        if (!text.ok() && context.is_fork()) {
            ++gone;  // A fork has only the files of its state: older artifacts of repeated stages are blobs.
            continue;
        }
        if (!text.ok()) {
            part.fault(name + " cannot be read");
            continue;
        }
        auto accepted = accepted_document(context.evidence, hash);
        if (!accepted) { continue; }  // Reported with the blobs.
        if (!is_file_of(*text, name, std::move(*accepted), context.verdict.task_id)) {
            part.fault(name + " is not the artifact that was accepted (blob " + hash + ")");
        }
    }
    check_delivered_patches(context, part);
    if (gone != 0) {
        part.unchecked(counted(gone, "artifact", "artifacts") +
                       " of the task that this one continues from: their blobs are here, not their files");
    }
    part.passed(counted(newest.size() - gone, "artifact", "artifacts") + " and reviews are those that were accepted");
}

}  // namespace agentforge::kernel
