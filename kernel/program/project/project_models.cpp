// SPDX-License-Identifier: Apache-2.0
// The models of a project: chooses the backend of a role, and makes the clients that call it.
#include "program/project/project.hpp"

#include <algorithm>
#include <ctime>
#include <random>

#include "backends/redacting_client.hpp"
#include "base/text.hpp"
#include "pipeline/guarded_call.hpp"
#include "program/project/network.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

void wait_interruptibly(const CancelToken& cancel, std::chrono::milliseconds time) {
    constexpr std::chrono::milliseconds slice{50};
    for (; time.count() > 0 && !cancel.requested(); time -= slice) {
        const auto part = std::min(time, slice);
        timespec request{0, static_cast<long>(part.count()) * 1'000'000L};
        nanosleep(&request, nullptr);
    }
}

class BackendCheckContext final : public CallContext {
public:
    explicit BackendCheckContext(bool cancelled = false) : cancelled_(cancelled) {}
    [[nodiscard]] bool cancelled() const noexcept override { return cancelled_; }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
        return start_ + std::chrono::seconds(10);
    }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view) override {}
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return std::chrono::system_clock::now(); }

private:
    bool cancelled_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

std::string model_help() {
    return "  Claude Code:       agentforge start --set llm.backend=cli --set llm.preset=claude \"…\"   (the `claude` command, logged in)\n"
           "  Anthropic key:     agentforge start --backend anthropic --model MODEL \"…\"   (with ANTHROPIC_API_KEY set)\n"
           "  OpenAI key:        agentforge start --backend openai --model MODEL \"…\"   (with OPENAI_API_KEY set)\n"
           "  OpenAI-compatible: the same with --set llm.base_url=http://HOST:PORT/v1, and --set llm.api_key_env=NAME if it wants a key\n"
           "  Ollama:            agentforge start --backend openai --set llm.base_url=http://localhost:11434/v1 --model MODEL \"…\"\n"
           "  Permanently:       put the same keys under `llm:` in .agentforge/config/settings.yaml\n";
}

Result<std::string> check_backend(const std::shared_ptr<LLMBackend>& backend, Program& program) {
    const auto watch = std::make_shared<CallWatch>();
    const auto context = std::make_shared<BackendCheckContext>();
    auto answer = call_guarded<Result<std::string>>(
        [backend, context] { return backend->check(*context); }, watch,
        [&] { return std::chrono::steady_clock::now() >= *context->deadline() + std::chrono::seconds(5); });
    if (answer) { return std::move(*answer); }
    program.skip_destructors = true;
    return Error{"AF-LLM-107", "the model backend did not return by its deadline of 10 s and was abandoned" + watch->culprit(),
                 backend->info().name, "choose another backend, or fix the plugin: it must watch deadline()", ErrorKind::timeout};
}

namespace {

/// Checks what needs no call of the model: that a transcript can be read, and that a server's model has a key and a name.
Result<void> check_without_call(const std::shared_ptr<LLMBackendV2>& plugin, const ModelSettings& chosen,
                                const json::object& config, Program& program) {
    if (plugin->info().offline) {
        if (const auto answer = check_backend(plugin, program); !answer.ok()) {
            Error error = answer.error();
            error.kind = ErrorKind::unavailable;  // No stage can fix this, so the task waits for the user.
            return error;
        }
    }
    if (chosen.backend == "anthropic" || chosen.backend == "openai") {
        // A cancelled call checks only what needs no server: the key.
        BackendCheckContext known_here(true);
        const auto answer = plugin->check(known_here);
        if (!answer.ok() && answer.error().code == "AF-LLM-401") { return answer.error(); }
        if (chosen.model.empty() && !config.contains("model")) {
            return Error{"AF-CLI-139", "no model is named for the backend `" + chosen.backend + "`", "llm.model",
                         "Set llm.model, or give --model NAME; `agentforge doctor` says which the server has.",
                         ErrorKind::unavailable};
        }
    }
    return {};
}

}  // namespace

Result<ModelSettings> Project::configured_model(const std::string& role) const {
    ModelSettings asked = read_model_settings(*settings_, role);
    const GuardedSetting* missed = missed_by_model(*settings_, trust_.left_out(), role);
    const PluginManifest* const plugin = plugins_.owner(PluginKind::llm, asked.backend);
    if (missed == nullptr && plugin != nullptr) {
        missed = missed_by_plugin(*settings_, trust_.left_out(), asked.backend, plugin->id);
    }
    if (missed != nullptr) { return required_setting_error(*missed); }
    return asked;
}

Result<json::object> Project::backend_config(const std::string& name, const std::string& model_name, const ModelSettings& chosen,
                                             const std::string& role) const {
    json::object config = chosen.settings;
    if (name == "replay") {
        const std::string transcript = resolve_path(chosen.transcript);
        if (!is_valid_utf8(transcript)) {
            return Error{"AF-LLM-004", "the path of the transcript is not UTF-8", "llm.transcript",
                         "Run the command in the folder itself, without -C, or move the transcript.", ErrorKind::unavailable};
        }
        config["transcript"] = transcript;
        config["match"] = chosen.replay_match;
        if (!role.empty()) { config["role"] = role; }
    } else if (name == "cli") {
        if (!chosen.preset.empty()) { config["preset"] = chosen.preset; }
        json::array command;
        for (const std::string& word : chosen.command) { command.emplace_back(word); }
        if (!command.empty()) { config["command"] = std::move(command); }
        config["timeout_seconds"] = chosen.timeout_seconds;
    } else if (name == "anthropic" || name == "openai") {
        if (!chosen.base_url.empty()) { config["base_url"] = chosen.base_url; }
        if (!chosen.api_key_env.empty()) { config["api_key_env"] = chosen.api_key_env; }
        if (!config.contains("timeout_seconds")) { config["timeout_seconds"] = chosen.timeout_seconds; }
    }
    if (name != "replay" && !model_name.empty()) { config["model"] = model_name; }
    if (chosen.mode == "agentic") {
        if (name == "anthropic" || name == "openai") {
            return Error{"AF-LLM-313",
                         "the backend `" + name + "` has no agentic mode: it only answers and cannot work in a folder",
                         "llm.mode", "Set `llm.mode: plain`, or `llm.backend: cli`.", ErrorKind::unavailable};
        }
        if (name != "replay") { config["mode"] = "agentic"; }  // A recording contains its own mode.
    }
    return config;
}

bool Project::agentic(const std::string& role) const { return read_model_settings(*settings_, role).mode == "agentic"; }

Result<std::shared_ptr<LLMBackendV2>> Project::backend(const std::string& name, const std::string& model_name,
                                                       const std::string& role) {
    AF_TRY(ModelSettings chosen, configured_model(role));
    chosen.backend = name;
    chosen.model = model_name;
    AF_TRY(chosen, resolve_auto(std::move(chosen)));
    AF_TRY(const json::object config, backend_config(chosen.backend, chosen.model, chosen, role));
    return make_backend(chosen.backend, config);
}

Result<std::shared_ptr<LLMBackendV2>> Project::make_backend(const std::string& name, const json::object& config) {
    AF_CHECK(check_network(network_, name, config));
    return plugins_.backend(name, config);
}

Result<std::vector<Project::Reached>> Project::reach_models(const ModelSettings& settings, bool first_only) {
    AF_TRY(std::vector<ModelCandidate> candidates, model_candidates(settings, program_.environment));
    std::vector<Reached> reached;
    for (ModelCandidate& candidate : candidates) {
        const auto ask = [&]() -> Result<std::string> {
            if (!candidate.missing.empty()) { return Error{"AF-LLM-002", candidate.missing, "", "", ErrorKind::unavailable}; }
            AF_TRY(const json::object config,
                   backend_config(candidate.settings.backend, candidate.settings.model, candidate.settings, ""));
            AF_TRY(const std::shared_ptr<LLMBackendV2> plugin, make_backend(candidate.settings.backend, config));
            AF_TRY(std::string said, check_backend(plugin, program_));
            if (candidate.needs_model) {
                return Error{"AF-LLM-002", std::move(said), "llm.model", "set llm.model", ErrorKind::unavailable};
            }
            return said;
        };
        Result<std::string> answer = ask();
        const bool found = answer.ok();
        reached.push_back({std::move(candidate), std::move(answer)});
        if ((found && first_only) || program_.skip_destructors) { break; }
    }
    return reached;
}

Result<ModelSettings> Project::resolve_auto(ModelSettings chosen) {
    if (chosen.backend != "auto") { return chosen; }
    for (const auto& [asked, resolved] : resolved_) {
        if (asked == chosen) { return resolved; }
    }
    AF_TRY(const std::vector<Reached> reached, reach_models(chosen, true));
    std::string tried;
    for (const Reached& one : reached) {
        if (!one.answer.ok()) {
            tried += "\n  " + one.candidate.name + ": " + secrets_.redactor->redact(one.answer.error()).message;
            continue;
        }
        const ModelSettings& resolved = one.candidate.settings;
        if (!program_.quiet) {
            program_.err << "agentforge: the model is " << printable(one.candidate.name, 60)
                         << (resolved.model.empty() ? "" : " (" + printable(resolved.model, 100) + ")")
                         << ", found by `llm.backend: auto`\n";
        }
        resolved_.emplace_back(std::move(chosen), resolved);
        return resolved;
    }
    const bool none_configured = settings_->text("llm.backend").empty();
    return Error{none_configured ? "AF-LLM-001" : "AF-LLM-002",
                 (none_configured ? "no model is configured, and none is reachable:"
                                  : "`llm.backend: auto` found no model that is reachable:") +
                     tried,
                 "llm.backend", "set one up, or name a backend:\n" + model_help(), ErrorKind::unavailable};
}

std::string Project::model_name(const AgentDefinition& agent) const {
    const ModelSettings asked = read_model_settings(*settings_, agent.role);
    const auto resolved =
        std::ranges::find(resolved_, asked, [](const auto& pair) -> const ModelSettings& { return pair.first; });
    return resolved == resolved_.end() ? asked.model : resolved->second.model;
}

Result<void> Project::check_price(const AgentDefinition& agent) {
    if (!services_->limits.limits_cost()) { return {}; }
    AF_TRY(ModelSettings asked, configured_model(agent.role));
    AF_TRY(const ModelSettings chosen, resolve_auto(std::move(asked)));
    // These two never report the cost of a call. For others, the first answer shows whether they do.
    if ((chosen.backend != "anthropic" && chosen.backend != "openai") || prices_.find(chosen.model) != nullptr) { return {}; }
    return price_is_unknown(chosen.model);
}

Result<ModelClient*> Project::model(const AgentDefinition& agent) {
    AF_TRY(ModelSettings asked, configured_model(agent.role));
    AF_TRY(const ModelSettings chosen, resolve_auto(std::move(asked)));
    AF_TRY(const json::object config, backend_config(chosen.backend, chosen.model, chosen, agent.role));
    const std::string record = resolve_path(chosen.record);
    const std::string key = chosen.backend + "\n" + json::serialize(config) + "\n" + record;
    if (const auto known = models_.find(key); known != models_.end()) { return known->second.get(); }
    AF_TRY(std::shared_ptr<LLMBackendV2> plugin, make_backend(chosen.backend, config));
    AF_CHECK(check_without_call(plugin, chosen, config, program_));
    CancelToken* const cancel = program_.cancel;
    // One for each server, shared by all models and roles that use it.
    std::shared_ptr<CircuitBreaker>& breaker = breakers_[chosen.backend + "\n" + chosen.base_url];
    if (!breaker) { breaker = std::make_shared<CircuitBreaker>(); }
    RetryPolicy retries;
    retries.random = [source = std::make_shared<std::minstd_rand>(std::random_device()())] {
        return std::generate_canonical<double, 32>(*source);
    };
    auto client = make_model_client(
        std::move(plugin), std::move(retries), [cancel](std::chrono::milliseconds time) { wait_interruptibly(*cancel, time); },
        breaker);
    client = make_redacting_client(std::move(client), *secrets_.redactor);
    if (!record.empty()) {
        std::shared_ptr<Recording>& recording = recordings_[record];
        if (!recording) { recording = make_recording(record); }
        AF_CHECK(open_recording(*recording));
        client = make_recorder(std::move(client), recording);
        // Recorded hashes are those of the sent request.
        client = make_redacting_client(std::move(client), *secrets_.redactor);
    }
    ModelClient* const made = client.get();
    models_.emplace(key, std::move(client));
    return made;
}

}  // namespace agentforge::kernel
