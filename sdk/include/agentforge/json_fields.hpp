// SPDX-License-Identifier: Apache-2.0
// Reads optional fields of a JSON object: artifacts, settings and answers of models. A field that is missing or has another type
// reads as empty.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>

namespace agentforge {

[[nodiscard]] inline std::string text_of(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

/// Returns the list by reference; it is valid as long as the object.
[[nodiscard]] inline const json::array& list_of(const json::object& object, std::string_view key) {
    static const json::array none;
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_array() ? value->get_array() : none;
}

/// Returns the strings of a list and skips other items.
[[nodiscard]] inline std::vector<std::string> texts_of(const json::object& object, std::string_view key) {
    std::vector<std::string> texts;
    for (const json::value& item : list_of(object, key)) {
        if (item.is_string()) { texts.emplace_back(item.get_string()); }
    }
    return texts;
}

/// Returns the objects of a list and skips other items.
[[nodiscard]] inline std::vector<json::object> objects_of(const json::object& object, std::string_view key) {
    std::vector<json::object> objects;
    for (const json::value& item : list_of(object, key)) {
        if (item.is_object()) { objects.push_back(item.get_object()); }
    }
    return objects;
}

/// Returns a whole number, or `otherwise` if there is none.
[[nodiscard]] inline std::int64_t number_of(const json::object& object, std::string_view key, std::int64_t otherwise = 0) {
    const json::value* value = object.if_contains(key);
    if (value == nullptr || !value->is_number()) { return otherwise; }
    boost::system::error_code not_whole;
    const auto number = value->to_number<std::int64_t>(not_whole);
    return not_whole ? otherwise : number;
}

}  // namespace agentforge
