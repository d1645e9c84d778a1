// SPDX-License-Identifier: Apache-2.0
#include "program/project/auto_model.hpp"

#include <array>
#include <utility>

namespace agentforge::kernel {
namespace {

struct Service {
    const char* name;
    const char* variable;
    const char* model;
};
constexpr std::array<Service, 2> services{
    {{"anthropic", "ANTHROPIC_API_KEY", "claude-sonnet-4-5"}, {"openai", "OPENAI_API_KEY", "gpt-5-mini"}}};
constexpr std::array<const char*, 2> model_commands{"claude", "codex"};
constexpr std::array<std::pair<const char*, const char*>, 4> servers{{{"ollama", "http://localhost:11434/v1"},
                                                                      {"lm-studio", "http://localhost:1234/v1"},
                                                                      {"llama.cpp", "http://localhost:8080/v1"},
                                                                      {"vllm", "http://localhost:8000/v1"}}};

}  // namespace

Result<std::vector<ModelCandidate>> model_candidates(const ModelSettings& settings,
                                                     const std::map<std::string, std::string>& environment) {
    std::vector<ModelCandidate> found;
    if (!settings.base_url.empty()) {
        ModelCandidate named{"llm.base_url", settings, "", settings.model.empty()};
        named.settings.backend = "openai";
        return std::vector{std::move(named)};
    }
    if (!settings.command.empty() || !settings.preset.empty()) {
        ModelCandidate named{settings.command.empty() ? "llm.preset" : "llm.command", settings, "", false};
        named.settings.backend = "cli";
        return std::vector{std::move(named)};
    }
    if (!settings.settings.empty() || !settings.api_key_env.empty()) {
        const std::string key = settings.api_key_env.empty() ? "llm.settings" : "llm.api_key_env";
        return Error{"AF-LLM-002", "`llm.backend: auto` cannot tell which backend `" + key + "` belongs to", key,
                     "also set the backend or llm.base_url", ErrorKind::unavailable};
    }
    for (const Service& service : services) {
        const auto key = environment.find(service.variable);
        const bool set = key != environment.end() && !key->second.empty();
        ModelCandidate& one = found.emplace_back(
            ModelCandidate{service.name, settings, set ? "" : std::string(service.variable) + " is not set", false});
        one.settings.backend = service.name;
        if (one.settings.model.empty()) { one.settings.model = service.model; }
    }
    for (const char* const command : model_commands) {
        ModelCandidate& one = found.emplace_back(ModelCandidate{command, settings, "", false});
        one.settings.backend = "cli";
        one.settings.preset = command;
    }
    for (const auto& [name, address] : servers) {
        ModelCandidate& one = found.emplace_back(ModelCandidate{name, settings, "", settings.model.empty()});
        one.settings.backend = "openai";
        one.settings.base_url = address;
    }
    return found;
}

}  // namespace agentforge::kernel
