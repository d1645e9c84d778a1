// SPDX-License-Identifier: Apache-2.0
// Reads fields of a JSON object. A field that is missing or has another type reads as empty.
#pragma once

#include <string>
#include <string_view>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

[[nodiscard]] inline std::string_view view(const json::string& text) noexcept { return {text.data(), text.size()}; }

[[nodiscard]] inline std::string text_of(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

[[nodiscard]] inline const json::array& list_of(const json::object& object, std::string_view key) {
    static const json::array none;
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_array() ? value->get_array() : none;
}

}  // namespace agentforge::kernel
