// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <stdexcept>

namespace agentforge::cli {
namespace {

[[noreturn]] void refuse(std::string_view key, std::string_view rule) {
    throw std::invalid_argument("setting '" + std::string(key) + "' " + std::string(rule));
}

std::string text(std::string_view key, const json::value& value) {
    if (!value.is_string()) { refuse(key, "must be a string"); }
    return std::string(value.as_string());
}

std::vector<std::string> texts(std::string_view key, const json::value& value) {
    if (!value.is_array()) { refuse(key, "must be a list of strings"); }
    std::vector<std::string> read;
    for (const json::value& item : value.as_array()) { read.push_back(text(key, item)); }
    return read;
}

std::vector<std::string> paths(std::string_view key, const json::value& value) {
    std::vector<std::string> read = texts(key, value);
    for (const std::string& path : read) {
        if (!path.starts_with('/')) { refuse(key, "must hold absolute paths, not '" + path + "'"); }
    }
    return read;
}

std::int64_t number(std::string_view key, const json::value& value, std::int64_t low, std::int64_t high) {
    std::int64_t read = 0;
    if (value.is_int64()) {
        read = value.as_int64();
    } else if (value.is_uint64()) {
        read = high;
        if (value.as_uint64() <= static_cast<std::uint64_t>(high)) {
            read = static_cast<std::int64_t>(value.as_uint64());
        } else {
            read = low - 1;
        }
    } else {
        refuse(key, "must be a whole number");
    }
    if (read < low || read > high) { refuse(key, "must lie between " + std::to_string(low) + " and " + std::to_string(high)); }
    return read;
}

Preset preset_of(std::string_view key, const json::value& value) {
    const std::string name = text(key, value);
    if (name == "claude") { return Preset::claude; }
    if (name == "codex") { return Preset::codex; }
    if (!name.empty()) { refuse(key, "must be 'claude', 'codex' or empty, not '" + name + "'"); }
    return Preset::none;
}

PromptBy prompt_by(std::string_view key, const json::value& value) {
    const std::string by = text(key, value);
    if (by != "stdin" && by != "argument") { refuse(key, "must be 'stdin' or 'argument', not '" + by + "'"); }
    return by == "stdin" ? PromptBy::standard_input : PromptBy::argument;
}

OutputAs output_as(std::string_view key, const json::value& value) {
    const std::string as = text(key, value);
    if (as != "text" && as != "json") { refuse(key, "must be 'text' or 'json', not '" + as + "'"); }
    return as == "text" ? OutputAs::text : OutputAs::json;
}

Mode mode_of(std::string_view key, const json::value& value) {
    const std::string mode = text(key, value);
    if (mode != "plain" && mode != "agentic") { refuse(key, "must be 'plain' or 'agentic', not '" + mode + "'"); }
    return mode == "agentic" ? Mode::agentic : Mode::plain;
}

std::string session_id_pattern(std::string_view key, const json::value& value) {
    std::string read = text(key, value);
    const re2::RE2 pattern(read, re2::RE2::Quiet);
    if (!pattern.ok()) { refuse(key, "is not a regular expression: " + pattern.error()); }
    if (!read.empty() && pattern.NumberOfCapturingGroups() < 1) { refuse(key, "must have a group '(…)' around the id"); }
    return read;
}

void read_setting(Settings& settings, std::string_view key, const json::value& value) {
    if (key == "preset") {
        settings.preset = preset_of(key, value);
    } else if (key == "command") {
        settings.command = texts(key, value);
    } else if (key == "timeout_seconds") {
        settings.timeout = std::chrono::seconds(number(key, value, 1, 86'400));
    } else if (key == "model") {
        settings.model = text(key, value);
    } else if (key == "prompt") {
        settings.prompt = prompt_by(key, value);
    } else if (key == "output") {
        settings.output = output_as(key, value);
    } else if (key == "session_id_pattern") {
        settings.session_id_pattern = session_id_pattern(key, value);
    } else if (key == "environment") {
        settings.environment = texts(key, value);
    } else if (key == "max_output_bytes") {
        settings.max_output_bytes = static_cast<std::size_t>(number(key, value, 1'024, 50 << 20));
    } else if (key == "mode") {
        settings.mode = mode_of(key, value);
    } else if (key == "readable") {
        settings.readable = paths(key, value);
    } else if (key == "writable") {
        settings.writable = paths(key, value);
    } else if (key == "max_requests") {
        settings.max_requests = static_cast<unsigned>(number(key, value, 1, 1'000));
    } else if (key == "max_turns") {
        settings.max_turns = static_cast<unsigned>(number(key, value, 1, 1'000));
    } else {
        refuse(
            key,
            "is unknown; known are preset, command, timeout_seconds, model, prompt, output, session_id_pattern, environment, max_output_bytes, mode, readable, writable, max_requests, max_turns");
    }
}

}  // namespace

Settings read_settings(const json::object& object) {
    Settings settings;
    for (const auto& [key, value] : object) { read_setting(settings, key, value); }
    if (settings.preset == Preset::none && settings.command.empty()) { refuse("command", "is needed where no preset is chosen"); }
    if (!settings.command.empty() && settings.command.front().empty()) { refuse("command", "must begin with a program"); }
    if (settings.preset != Preset::none && object.contains("output")) { refuse("output", "is decided by the preset"); }
    if (settings.preset != Preset::none) { settings.output = OutputAs::json; }
    return settings;
}

json::object settings_schema() {
    const json::object texts_schema{{"type", "array"}, {"items", {{"type", "string"}}}};
    return {{"type", "object"},
            {"additionalProperties", false},
            {"examples", json::array{json::object{{"command", json::array{"my-model", "--stdin"}}}}},
            {"properties",
             {{"preset", {{"enum", {"", "claude", "codex"}}}},
              {"command", texts_schema},
              {"timeout_seconds", {{"type", "integer"}, {"minimum", 1}, {"maximum", 86'400}}},
              {"model", {{"type", "string"}}},
              {"prompt", {{"enum", {"stdin", "argument"}}}},
              {"output", {{"enum", {"text", "json"}}}},
              {"session_id_pattern", {{"type", "string"}}},
              {"environment", texts_schema},
              {"max_output_bytes", {{"type", "integer"}, {"minimum", 1'024}, {"maximum", 50 << 20}}},
              {"mode", {{"enum", {"plain", "agentic"}}}},
              {"readable", texts_schema},
              {"writable", texts_schema},
              {"max_requests", {{"type", "integer"}, {"minimum", 1}, {"maximum", 1'000}}},
              {"max_turns", {{"type", "integer"}, {"minimum", 1}, {"maximum", 1'000}}}}}};
}

}  // namespace agentforge::cli
