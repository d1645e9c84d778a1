// SPDX-License-Identifier: Apache-2.0
#include "backend.hpp"

#include "answer.hpp"

namespace agentforge::anthropic {
namespace {

const std::vector<std::string_view> known{"base_url", "model",      "api_key_env", "headers", "timeout_seconds",
                                          "stream",   "max_tokens", "ca_file",     "version"};
constexpr std::string_view default_version = "2023-06-01";

json::object cache_mark() { return {{"type", "ephemeral"}}; }

/// Splits the context into blocks that end where the next request may begin to differ, because the server looks up its cache at
/// the ends of blocks. It accepts four marks, of which tools and system prompt use two. So marks the first end, before which the
/// whole run is the same, and the last one.
json::array user_blocks(const std::string& user, const CacheMarks& marks) {
    json::array blocks;
    std::size_t begin = 0;
    const auto add = [&](std::size_t end, bool marked) {
        if (end == begin && !blocks.empty()) { return; }
        json::object block{{"type", "text"}, {"text", user.substr(begin, end - begin)}};
        if (marked) { block["cache_control"] = cache_mark(); }
        blocks.push_back(std::move(block));
        begin = end;
    };
    for (const std::size_t end : marks.user_ends) { add(end, end == marks.user_ends.front() || end == marks.user_ends.back()); }
    add(user.size(), false);
    return blocks;
}

/// The API requires an object schema, whatever else it contains.
json::object input_schema(const json::object& parameters) {
    json::object schema = parameters;
    if (!schema.contains("type")) { schema["type"] = "object"; }
    return schema;
}

}  // namespace

AnthropicBackend::AnthropicBackend(json::object settings)
    : HttpBackend(settings, {"anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"}, known) {}

BackendInfo AnthropicBackend::info() const {
    BackendInfo about;
    about.name = "anthropic";
    about.description = "Claude through Anthropic's Messages API";
    about.native_tool_calls = true;
    about.config_schema = http::settings_schema(known);
    return about;
}

// A base_url with or without /v1 means the same: both are common.
std::string AnthropicBackend::answer_path() const {
    return settings().server.path.ends_with("/v1") ? "/messages" : "/v1/messages";
}
std::string AnthropicBackend::models_path() const { return settings().server.path.ends_with("/v1") ? "/models" : "/v1/models"; }

http::Headers AnthropicBackend::headers() const {
    http::Headers list{{"anthropic-version", settings().version.empty() ? std::string(default_version) : settings().version}};
    if (!settings().key.empty()) { list.emplace_back("x-api-key", settings().key); }
    return list;
}

json::object AnthropicBackend::body(const CompletionRequest& request, const CacheMarks& marks, const std::string& model) const {
    // The order of the keys is the order of the cached prefix: tools, system, messages.
    json::object body{{"model", model}, {"max_tokens", max_tokens(request)}, {"stream", settings().stream}};
    if (request.temperature_permille) { body["temperature"] = *request.temperature_permille / 1000.0; }
    if (!request.tools.empty()) {
        json::array tools;
        for (const ToolDescription& tool : request.tools) {
            tools.push_back(json::object{
                {"name", tool.name}, {"description", tool.description}, {"input_schema", input_schema(tool.parameters)}});
        }
        tools.back().get_object()["cache_control"] = cache_mark();
        body["tools"] = std::move(tools);
        body["tool_choice"] = {{"type", "any"}, {"disable_parallel_tool_use", true}};
    }
    if (!request.system.empty()) {
        body["system"] = json::array{json::object{{"type", "text"}, {"text", request.system}, {"cache_control", cache_mark()}}};
    }
    body["messages"] = json::array{json::object{{"role", "user"}, {"content", user_blocks(request.user, marks)}}};
    return body;
}

std::unique_ptr<http::AnswerReader> AnthropicBackend::reader() const { return std::make_unique<Answer>(settings().server); }

}  // namespace agentforge::anthropic
