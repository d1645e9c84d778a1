// SPDX-License-Identifier: Apache-2.0
// Fields of a progress event; what is missing or of another type is empty, 0 or false.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

[[nodiscard]] inline std::string event_text(const json::object& fields, std::string_view key) {
    const json::value* value = fields.if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

[[nodiscard]] inline std::uint64_t event_number(const json::object& fields, std::string_view key) {
    const json::value* value = fields.if_contains(key);
    if (value == nullptr || !value->is_number()) { return 0; }
    return value->to_number<std::uint64_t>();
}

/// The files that a step's command changed by itself, prefixed with `before`; empty if there are none.
[[nodiscard]] inline std::string text_of_files(const json::object& fields, std::string_view before) {
    const json::value* files = fields.if_contains("files");
    if (files == nullptr || !files->is_array()) { return {}; }
    std::string text;
    for (const json::value& file : files->get_array()) {
        if (!file.is_string()) { continue; }
        text += text.empty() ? before : std::string_view(", ");
        text += std::string_view(file.get_string());
    }
    return text;
}
[[nodiscard]] inline bool event_flag(const json::object& fields, std::string_view key) {
    const json::value* value = fields.if_contains(key);
    return value != nullptr && value->is_bool() && value->get_bool();
}

}  // namespace agentforge::kernel
