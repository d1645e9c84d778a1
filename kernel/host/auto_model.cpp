// SPDX-License-Identifier: Apache-2.0
#include "host/auto_model.hpp"

#include <array>
#include <utility>

namespace agentforge::kernel {
namespace {

struct Service { const char* name; const char* variable; const char* model; };
constexpr std::array<Service, 2> services{{{"anthropic", "ANTHROPIC_API_KEY", "claude-sonnet-4-5"}, {"openai", "OPENAI_API_KEY", "gpt-5-mini"}}};
constexpr std::array<const char*, 2> commands{"claude", "codex"};
constexpr std::array<std::pair<const char*, const char*>, 4> servers{{{"ollama", "http://localhost:11434/v1"},
                                                                      {"lm-studio", "http://localhost:1234/v1"},
                                                                      {"llama.cpp", "http://localhost:8080/v1"},
                                                                      {"vllm", "http://localhost:8000/v1"}}};

}  // namespace

Result<std::vector<ModelCandidate>> model_candidates(const AutoModelSettings& settings, const std::map<std::string, std::string>& environment) {
    std::vector<ModelCandidate> found;
    if (!settings.base_url.empty()) {
        ModelCandidate named{"llm.base_url", "openai", settings.model, settings.settings, "", settings.model.empty()};
        named.config["base_url"] = settings.base_url;
        if (!settings.api_key_env.empty()) { named.config["api_key_env"] = settings.api_key_env; }
        found.push_back(std::move(named));
        return found;
    }
    if (!settings.command.empty() || !settings.preset.empty()) {
        ModelCandidate named{settings.command.empty() ? "llm.preset" : "llm.command", "cli", settings.model, settings.settings, "", false};
        if (!settings.preset.empty()) { named.config["preset"] = settings.preset; }
        json::array words;
        for (const std::string& word : settings.command) { words.emplace_back(word); }
        if (!words.empty()) { named.config["command"] = std::move(words); }
        found.push_back(std::move(named));
        return found;
    }
    if (!settings.settings.empty() || !settings.api_key_env.empty()) {
        const std::string key = settings.api_key_env.empty() ? "llm.settings" : "llm.api_key_env";
        return Error{"AF-LLM-002", "`llm.backend: auto` cannot tell which backend `" + key + "` belongs to", key, "name the backend, or llm.base_url, too", ErrorKind::invalid};
    }
    for (const Service& service : services) {
        const auto key = environment.find(service.variable);
        const bool set = key != environment.end() && !key->second.empty();
        found.push_back({service.name, service.name, settings.model.empty() ? service.model : settings.model, {},
                         set ? "" : std::string(service.variable) + " is not set", false});
    }
    for (const char* const command : commands) { found.push_back({command, "cli", settings.model, {{"preset", command}}, "", false}); }
    for (const auto& [name, address] : servers) { found.push_back({name, "openai", settings.model, {{"base_url", address}}, "", settings.model.empty()}); }
    return found;
}

}  // namespace agentforge::kernel
