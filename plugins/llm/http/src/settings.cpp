// SPDX-License-Identifier: Apache-2.0
#include <agentforge_http/settings.hpp>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace agentforge::http {
namespace {

[[noreturn]] void refuse(std::string_view key, std::string_view rule) {
    throw std::invalid_argument("setting '" + std::string(key) + "' " + std::string(rule));
}

std::string text(std::string_view key, const json::value& value) {
    if (!value.is_string()) { refuse(key, "must be a string"); }
    return std::string(value.get_string());
}

std::uint64_t number(std::string_view key, const json::value& value, std::uint64_t most) {
    std::uint64_t read = 0;
    if (value.is_uint64()) {
        read = value.get_uint64();
    } else if (value.is_int64() && value.get_int64() > 0) {
        read = static_cast<std::uint64_t>(value.get_int64());
    }
    if (read < 1 || read > most) { refuse(key, "must be a whole number between 1 and " + std::to_string(most)); }
    return read;
}

std::string one_of(std::string_view key, const json::value& value, const std::vector<std::string_view>& values) {
    std::string read = text(key, value);
    std::string list;
    for (const std::string_view allowed : values) {
        if (read == allowed) { return read; }
        list += (list.empty() ? "" : " or ") + std::string(allowed);
    }
    refuse(key, "must be " + list + ", not '" + read + "'");
}

bool is_header_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    });
}

bool is_header_value(std::string_view value) {
    return std::all_of(value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != '\x7f'; });
}

bool is_one_of_ours(std::string_view name) {
    std::string small(name);
    std::transform(small.begin(), small.end(), small.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return small == "host" || small == "content-length" || small == "transfer-encoding" || small == "connection" ||
           small == "expect" || small == "accept-encoding";
}

Headers headers(std::string_view key, const json::value& value) {
    if (!value.is_object()) { refuse(key, "must be a map of header names to texts"); }
    Headers read;
    for (const auto& [name, content] : value.get_object()) {
        if (!is_header_name(name)) { refuse(key, "names '" + std::string(name) + "', which is not a header's name"); }
        if (!content.is_string() || !is_header_value({content.get_string().data(), content.get_string().size()})) {
            refuse(key, "must give '" + std::string(name) + "' a string of one line");
        }
        if (is_one_of_ours(name)) { refuse(key, "must not set '" + std::string(name) + "', which belongs to the connection"); }
        read.emplace_back(name, content.get_string());
    }
    return read;
}

std::string variable(const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::string() : std::string(value);
}

const std::vector<std::string_view> tool_choices{"required", "auto"};
const std::vector<std::string_view> max_tokens_fields{"max_tokens", "max_completion_tokens"};

}  // namespace

Settings read_settings(const json::object& object, const Service& service, const std::vector<std::string_view>& known) {
    Settings settings;
    std::string base_url = service.base_url;
    for (const auto& [key, value] : object) {
        if (std::find(known.begin(), known.end(), std::string_view(key)) == known.end()) {
            refuse(key, "is unknown to the " + service.name + " backend");
        }
        if (key == "base_url") {
            base_url = text(key, value);
        } else if (key == "model") {
            settings.model = text(key, value);
        } else if (key == "api_key_env") {
            settings.key_variable = text(key, value);
        } else if (key == "headers") {
            settings.headers = headers(key, value);
        } else if (key == "timeout_seconds") {
            settings.timeout = std::chrono::seconds(number(key, value, 86'400));
        } else if (key == "stream") {
            if (!value.is_bool()) { refuse(key, "must be true or false"); }
            settings.stream = value.get_bool();
        } else if (key == "max_tokens") {
            settings.max_tokens = number(key, value, 10'000'000);
        } else if (key == "ca_file") {
            settings.ca_file = text(key, value);
        } else if (key == "version") {
            settings.version = text(key, value);
        } else if (key == "tool_choice") {
            settings.tool_choice = one_of(key, value, tool_choices);
        } else if (key == "max_tokens_field") {
            settings.max_tokens_field = one_of(key, value, max_tokens_fields);
        } else {
            refuse(key, "is not read");
        }
    }
    if (!is_header_value(settings.version)) { refuse("version", "must be a string of one line"); }
    auto server = read_address(base_url);
    if (!server.ok()) {
        throw std::invalid_argument(server.error().message + ": '" + (base_url.find('@') == std::string::npos ? base_url : "…") +
                                    "'");
    }
    settings.server = std::move(server).value();
    const auto own = read_address(service.base_url);
    const bool at_home = own.ok() && own.value().host == settings.server.host;
    if (settings.key_variable.empty() && at_home) { settings.key_variable = service.key_variable; }
    settings.needs_key = !settings.key_variable.empty();
    if (settings.needs_key) { settings.key = variable(settings.key_variable); }
    if (!is_header_value(settings.key)) {
        throw std::invalid_argument("the key in " + settings.key_variable + " contains a line end or control character");
    }
    return settings;
}

json::object settings_schema(const std::vector<std::string_view>& known) {
    const auto choice = [](const std::vector<std::string_view>& values) {
        json::array list;
        for (const std::string_view value : values) { list.emplace_back(value); }
        return json::object{{"enum", std::move(list)}};
    };
    const json::object any_text{{"type", "string"}};
    const json::object all{{"base_url", {{"type", "string"}, {"minLength", 1}}},
                           {"model", any_text},
                           {"api_key_env", any_text},
                           {"headers", {{"type", "object"}, {"additionalProperties", any_text}}},
                           {"timeout_seconds", {{"type", "integer"}, {"minimum", 1}, {"maximum", 86'400}}},
                           {"stream", {{"type", "boolean"}}},
                           {"max_tokens", {{"type", "integer"}, {"minimum", 1}, {"maximum", 10'000'000}}},
                           {"ca_file", any_text},
                           {"version", any_text},
                           {"tool_choice", choice(tool_choices)},
                           {"max_tokens_field", choice(max_tokens_fields)}};
    json::object properties;
    for (const std::string_view name : known) { properties[name] = all.at(name); }
    return {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

}  // namespace agentforge::http
