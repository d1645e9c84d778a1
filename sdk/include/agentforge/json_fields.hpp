// SPDX-License-Identifier: Apache-2.0
// Reads fields of a JSON object that may be missing: artifacts, settings and answers of models. A field that is missing or has
// another type reads as empty.
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

/// Valid as long as the object is.
[[nodiscard]] inline const json::array& list_of(const json::object& object, std::string_view key) {
    static const json::array none;
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_array() ? value->get_array() : none;
}

/// The strings of a list; other items are left out.
[[nodiscard]] inline std::vector<std::string> texts_of(const json::object& object, std::string_view key) {
    std::vector<std::string> texts;
    for (const json::value& item : list_of(object, key)) {
        if (item.is_string()) { texts.emplace_back(item.get_string()); }
    }
    return texts;
}

/// The objects of a list; other items are left out.
[[nodiscard]] inline std::vector<json::object> objects_of(const json::object& object, std::string_view key) {
    std::vector<json::object> objects;
    for (const json::value& item : list_of(object, key)) {
        if (item.is_object()) { objects.push_back(item.get_object()); }
    }
    return objects;
}

/// A whole number; `otherwise` where there is none.
[[nodiscard]] inline std::int64_t number_of(const json::object& object, std::string_view key, std::int64_t otherwise = 0) {
    const json::value* value = object.if_contains(key);
    if (value == nullptr || !value->is_number()) { return otherwise; }
    boost::system::error_code not_whole;
    const auto number = value->to_number<std::int64_t>(not_whole);
    return not_whole ? otherwise : number;
}

}  // namespace agentforge
