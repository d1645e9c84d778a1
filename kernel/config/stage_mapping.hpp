// SPDX-License-Identifier: Apache-2.0
// `orchestration/pipeline.yaml`: which agents work in a stage, whatever the template says.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

#include "base/yaml.hpp"

namespace agentforge::kernel {

/// What the file says of a stage. A field without a value leaves the template's.
struct StageAgents {
    std::optional<std::string> primary;
    std::optional<std::vector<std::string>> reviewers;
    std::optional<bool> review_blocking;
};

struct StageMapping {
    std::optional<YamlDocument> document;       ///< Nothing if there is no such file.
    std::map<std::string, StageAgents> stages;  ///< By the stage's name.
};

/// Reads the file. A missing one maps nothing. Errors: those of load_yaml; AF-PIPE-007 with file and line.
[[nodiscard]] Result<StageMapping> read_stage_mapping(const std::string& file);

}  // namespace agentforge::kernel
