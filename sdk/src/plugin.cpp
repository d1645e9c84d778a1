// SPDX-License-Identifier: Apache-2.0
#include <agentforge/plugin.hpp>

#include <cstring>
#include <stdexcept>
#include <string_view>

static_assert(std::string_view(agentforge::sdk_version) == std::string_view(AGENTFORGE_PROJECT_VERSION),
              "sdk_version in plugin.hpp and the project's version differ");

namespace agentforge {

namespace detail {

void report_create_failure(char* buffer, std::size_t size, const char* what) noexcept {
    if (buffer == nullptr || size == 0) { return; }
    const std::size_t length = what == nullptr ? 0 : strnlen(what, size - 1);
    if (length != 0) { std::memcpy(buffer, what, length); }
    buffer[length] = '\0';
}

json::object parse_config(const char* text) {
    if (text == nullptr || *text == '\0') { return {}; }
    json::error_code failure;
    json::value value = json::parse(text, failure);
    if (failure) { throw std::invalid_argument("the settings are not JSON: " + failure.message()); }
    if (!value.is_object()) { throw std::invalid_argument("the settings are not a JSON object"); }
    return std::move(value.get_object());
}

}  // namespace detail

ToolResult ToolResult::done(std::string output, std::string summary, json::object data) {
    ToolResult result;
    result.success = true;
    result.output = std::move(output);
    result.summary = std::move(summary);
    result.data = std::move(data);
    return result;
}

ToolResult ToolResult::failed(Error error) {
    ToolResult result;
    result.output = error.to_string();
    result.summary = error.message;
    result.error = std::move(error);
    return result;
}

Result<std::string> LLMBackend::check(CallContext&) { return "`" + info().name + "` is loaded; it has no separate check"; }

}  // namespace agentforge
