// SPDX-License-Identifier: Apache-2.0
// Reads the form of a pipeline template that files and task.yaml share. PipelineTemplate::to_json writes it.
#pragma once

#include <string>

#include "config/pipeline_template.hpp"

namespace agentforge::kernel {

/// Errors, with a JSON pointer below `pointer` in `where`: AF-PIPE-001.
[[nodiscard]] Result<PipelineTemplate> read_pipeline(const json::object& value, const std::string& pointer);

}  // namespace agentforge::kernel
