// SPDX-License-Identifier: Apache-2.0
// Checks a definition that a user is writing, as if it were already in the project's folder.
#pragma once

#include <string>

#include "config/agent_set.hpp"
#include "config/pipeline_set.hpp"

namespace agentforge::kernel {

/// Returns the agent in `file`, merged over the shipped ones and the project's. Errors: those of AgentSet::load.
[[nodiscard]] Result<AgentDefinition> check_agent_file(const std::string& product_directory, const std::string& project_directory,
                                                       const std::string& file, const ContractSet& contracts);
struct CheckedPipeline {
    PipelineTemplate pipeline;
    std::vector<StageOrigin> origins;  ///< As PipelineSet::origins.
};

/// The same for a pipeline. Errors: those of PipelineSet::load.
[[nodiscard]] Result<CheckedPipeline> check_pipeline_file(const std::string& product_directory,
                                                          const std::string& project_directory,
                                                          const std::string& orchestration_file, const std::string& file,
                                                          const ContractSet& contracts);

}  // namespace agentforge::kernel
