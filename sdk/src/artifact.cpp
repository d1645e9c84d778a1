// SPDX-License-Identifier: Apache-2.0
#include <agentforge/artifact.hpp>

namespace agentforge {

namespace {

constexpr const char* meta_key = "_artifact_meta";
constexpr const char* metadata_key = "_metadata";

Error wrong_shape(std::string field, std::string expected) {
    return {"AF-STAGE-030", "The artifact's envelope is broken: `" + field + "` must be " + expected, field,
            "Write the artifact again, or correct the field by hand.", ErrorKind::invalid};
}

/// Returns the field of the envelope with this name, or null if there is none.
std::string* meta_field(StageArtifact& artifact, std::string_view name) {
    if (name == "stage_name") { return &artifact.stage_name; }
    if (name == "artifact_type") { return &artifact.artifact_type; }
    if (name == "version") { return &artifact.version; }
    return name == "created_at" ? &artifact.created_at : nullptr;
}

}  // namespace

json::object StageArtifact::to_json() const {
    json::object result;
    result[meta_key] = json::object{
        {"stage_name", stage_name}, {"artifact_type", artifact_type}, {"version", version}, {"created_at", created_at}};
    for (const auto& [key, value] : data) {
        // Skips fields of `data` that have a reserved name.
        if (key != meta_key && key != metadata_key) { result[key] = value; }
    }
    result[metadata_key] = metadata;
    return result;
}

Result<StageArtifact> StageArtifact::from_json(const json::object& value) {
    StageArtifact artifact;
    for (const auto& [key, field] : value) {
        if (key == metadata_key) {
            if (!field.is_object()) { return wrong_shape(metadata_key, "a mapping"); }
            artifact.metadata = field.get_object();
        } else if (key != meta_key) {
            artifact.data[key] = field;
        } else {
            if (!field.is_object()) { return wrong_shape(meta_key, "a mapping"); }
            for (const auto& [name, text] : field.get_object()) {
                std::string* target = meta_field(artifact, name);
                const std::string where = std::string(meta_key) + "." + std::string(name);
                if (target == nullptr) { return wrong_shape(where, "absent: it is not a field of the envelope"); }
                if (!text.is_string()) { return wrong_shape(where, "a string"); }
                *target = std::string(text.get_string());
            }
        }
    }
    return artifact;
}

}  // namespace agentforge
