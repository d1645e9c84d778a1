// SPDX-License-Identifier: Apache-2.0
// `llm.backend: auto`: what a user has, in the order in which it is tried (docs/models.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

#include "program/project/model_settings.hpp"

namespace agentforge::kernel {

/// One way to a model.
struct ModelCandidate {
    std::string name;  ///< `anthropic`, `claude`, `ollama`, …
    ModelSettings settings;
    std::string missing;       ///< Why it is not asked: `ANTHROPIC_API_KEY is not set`. Empty: it is.
    bool needs_model = false;  ///< It may answer, but only `llm.model` says with what.
};

/// In the documented order. Where the settings name an address, a command or a preset it is the only one: a private server that
/// is down is not replaced by somebody else's. Errors (`unavailable`): AF-LLM-002 the settings hold what belongs to a backend
/// that they do not name.
[[nodiscard]] Result<std::vector<ModelCandidate>> model_candidates(const ModelSettings& settings,
                                                                   const std::map<std::string, std::string>& environment);

}  // namespace agentforge::kernel
