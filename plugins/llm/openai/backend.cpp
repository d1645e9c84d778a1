// SPDX-License-Identifier: Apache-2.0
#include "backend.hpp"

#include "answer.hpp"

namespace agentforge::openai {
namespace {

const std::vector<std::string_view> known{"base_url", "model",      "api_key_env", "headers",     "timeout_seconds",
                                          "stream",   "max_tokens", "ca_file",     "tool_choice", "max_tokens_field"};
constexpr std::string_view own_host = "api.openai.com";

}  // namespace

OpenAiBackend::OpenAiBackend(json::object settings)
    : HttpBackend(settings, {"openai", "https://api.openai.com/v1", "OPENAI_API_KEY"}, known) {}

BackendInfo OpenAiBackend::info() const {
    BackendInfo about;
    about.name = "openai";
    about.description = "OpenAI's chat completions and everything that speaks them";
    about.native_tool_calls = true;
    about.config_schema = http::settings_schema(known);
    return about;
}

http::Headers OpenAiBackend::headers() const {
    if (settings().key.empty()) { return {}; }
    return {{"Authorization", "Bearer " + settings().key}};
}

json::object OpenAiBackend::body(const CompletionRequest& request, const CacheMarks&, const std::string& model) const {
    // The API has no marks: its servers cache the beginning of a request by themselves.
    json::object body{{"model", model}};
    json::array messages;
    if (!request.system.empty()) { messages.push_back(json::object{{"role", "system"}, {"content", request.system}}); }
    messages.push_back(json::object{{"role", "user"}, {"content", request.user}});
    if (!request.tools.empty()) {
        json::array tools;
        for (const ToolDescription& tool : request.tools) {
            tools.push_back(json::object{
                {"type", "function"},
                {"function",
                 json::object{{"name", tool.name}, {"description", tool.description}, {"parameters", tool.parameters}}}});
        }
        body["tools"] = std::move(tools);
        body["tool_choice"] = settings().tool_choice.empty() ? "required" : settings().tool_choice;
        body["parallel_tool_calls"] = false;
    }
    // OpenAI's newer models refuse `max_tokens`; other servers accept nothing else.
    const std::string usual = settings().server.host == own_host ? "max_completion_tokens" : "max_tokens";
    body[settings().max_tokens_field.empty() ? usual : settings().max_tokens_field] = max_tokens(request);
    if (request.temperature_permille) { body["temperature"] = *request.temperature_permille / 1000.0; }
    body["stream"] = settings().stream;
    if (settings().stream) { body["stream_options"] = {{"include_usage", true}}; }
    body["messages"] = std::move(messages);
    return body;
}

std::unique_ptr<http::AnswerReader> OpenAiBackend::reader() const { return std::make_unique<Answer>(settings().server); }

}  // namespace agentforge::openai
