// SPDX-License-Identifier: Apache-2.0
// The pipeline templates in force: the product's, and the project's over them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/pipeline_template.hpp"
#include "contracts/contract.hpp"

namespace agentforge::kernel {

/// Where a stage of a template in force comes from.
struct StageOrigin {
    std::string stage;
    std::string where;     ///< `file:line:column`.
    std::string change;    ///< `inserted`, `replaced` or `removed` by the project's overlay. Empty: unchanged from its file.
    std::string defaults;  ///< `file:line:column` of the shipped stage that supplies the missing fields. Empty: none.
    std::string contract;  ///< Of a removed stage.
};

class PipelineSet {
public:
    /// Loads the product's templates, then the project's over them by name. A stage takes fields that it leaves out (agent,
    /// contract, prerequisites, limits, config …) from the stage of that name in the shipped `implement`. The stage → agent
    /// mapping of `orchestration/pipeline.yaml` then applies, except where a project's own template names an agent or reviewers.
    /// Folders and file may be missing. Validates against contract `pipeline_template`. Errors: AF-PIPE-001… with file, line,
    /// field.
    [[nodiscard]] static Result<PipelineSet> load(const std::string& product_directory, const std::string& project_directory,
                                                  const std::string& orchestration_file, const ContractSet& contracts);
    [[nodiscard]] Result<PipelineTemplate> get(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> names() const;
    /// In the order of the stages, then the removed ones. Empty for an unknown name.
    [[nodiscard]] std::vector<StageOrigin> origins(std::string_view name) const;

private:
    std::map<std::string, PipelineTemplate, std::less<>> pipelines_;
    std::map<std::string, std::vector<StageOrigin>, std::less<>> origins_;
};

}  // namespace agentforge::kernel
