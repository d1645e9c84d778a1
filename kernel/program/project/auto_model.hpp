// SPDX-License-Identifier: Apache-2.0
// `llm.backend: auto`: the models that a user may have, in the order in which they are tried (docs/models.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

#include "program/project/model_settings.hpp"

namespace agentforge::kernel {

/// One way to reach a model.
struct ModelCandidate {
    std::string name;  ///< `anthropic`, `claude`, `ollama`, …
    ModelSettings settings;
    std::string missing;       ///< Why it is not tried: `ANTHROPIC_API_KEY is not set`. Empty: it is tried.
    bool needs_model = false;  ///< It may answer, but `llm.model` must name its model.
};

/// Returns the candidates in the documented order. If the settings name an address, a command or a preset, that is the only
/// candidate: a private server that is down is never replaced by a public one. Errors (`unavailable`): AF-LLM-002 the settings
/// contain keys of a backend that they do not name.
[[nodiscard]] Result<std::vector<ModelCandidate>> model_candidates(const ModelSettings& settings,
                                                                   const std::map<std::string, std::string>& environment);

}  // namespace agentforge::kernel
