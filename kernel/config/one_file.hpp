// SPDX-License-Identifier: Apache-2.0
// One definition that a user is writing, looked at as if it lay in the project's folder already.
#pragma once

#include <string>

#include "config/agents.hpp"
#include "config/pipelines.hpp"

namespace agentforge::kernel {

/// The agent of `file`, laid over the shipped ones and the project's. Errors: those of AgentSet::load.
[[nodiscard]] Result<AgentDefinition> check_agent_file(const std::string& product_directory, const std::string& project_directory,
                                                       const std::string& file, const ContractSet& contracts);
struct CheckedPipeline {
    PipelineTemplate pipeline;
    std::vector<StageOrigin> origins;  ///< In the order of its stages.
};

/// The same for a pipeline. Errors: those of PipelineSet::load.
[[nodiscard]] Result<CheckedPipeline> check_pipeline_file(const std::string& product_directory,
                                                          const std::string& project_directory,
                                                          const std::string& orchestration_file, const std::string& file,
                                                          const ContractSet& contracts);

}  // namespace agentforge::kernel
