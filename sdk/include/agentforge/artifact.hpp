// SPDX-License-Identifier: Apache-2.0
// The envelope of every artifact file.
#pragma once

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include <string>

namespace agentforge {

struct StageArtifact {
    std::string stage_name = "unknown";
    std::string artifact_type = "generic";
    std::string version = "1.0";
    std::string created_at;  ///< RFC 3339, UTC.
    json::object data;
    json::object metadata;

    /// Writes `_artifact_meta` first, then the fields of `data`, then `_metadata`.
    [[nodiscard]] json::object to_json() const;
    /// Missing envelope fields take the defaults above. Errors: `invalid` if the envelope has the wrong shape.
    [[nodiscard]] static Result<StageArtifact> from_json(const json::object& value);
};

}  // namespace agentforge
