// SPDX-License-Identifier: Apache-2.0
// `llm.backend: auto`: what a user has, in the order in which it is tried (docs/models.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// One way to a model.
struct ModelCandidate {
    std::string name;           ///< `anthropic`, `claude`, `ollama`, …
    std::string backend;
    std::string model;          ///< Empty: the backend's own choice.
    json::object config;        ///< Further settings of the backend.
    std::string missing;        ///< Why it is not asked: `ANTHROPIC_API_KEY is not set`. Empty: it is.
    bool needs_model = false;   ///< It answers, but only `llm.model` says with what.
};

/// What `llm:` says besides the backend.
struct AutoModelSettings {
    std::string model;
    std::string base_url;
    std::string api_key_env;
    std::string preset;
    std::vector<std::string> command;
    json::object settings;
};

/// In the documented order. Where the settings name an address, a command or a preset it is the only one: a private server that is down is not
/// replaced by somebody else's.
/// Errors (`invalid`): AF-LLM-002 the settings hold what belongs to a backend that they do not name.
[[nodiscard]] Result<std::vector<ModelCandidate>> model_candidates(const AutoModelSettings& settings, const std::map<std::string, std::string>& environment);

}  // namespace agentforge::kernel
