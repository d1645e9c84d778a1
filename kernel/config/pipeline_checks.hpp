// SPDX-License-Identifier: Apache-2.0
// Rules for every pipeline template, wherever it comes from.
#pragma once

#include <string>

#include "config/pipeline_template.hpp"
#include "contracts/contract.hpp"

namespace agentforge::kernel {

/// Checks what a template says of itself. Errors, with a JSON pointer below `pointer` in `where`: AF-PIPE-001, -003, -004,
/// -006, -008, -015.
[[nodiscard]] Result<void> check_pipeline(const PipelineTemplate& pipeline, const std::string& pointer);
/// Checks that the contracts which it names exist and fit. Errors, with a JSON pointer below `/pipeline` in `where`: AF-PIPE-005,
/// -008, -009, -015, -023.
[[nodiscard]] Result<void> check_contracts(const PipelineTemplate& pipeline, const ContractSet& contracts);

}  // namespace agentforge::kernel
