// SPDX-License-Identifier: Apache-2.0
// Reads and writes the fields of maps in state.yaml. Only task/state_yaml.cpp and task/stage_yaml.cpp use it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>

#include "task/state_names.hpp"

namespace agentforge::kernel {

/// Reads the fields of a map. Its error is about the first field that is missing or has another type.
class StateFields {
public:
    explicit StateFields(const json::object& object) : object_(object) {}

    std::string text(std::string_view key) {
        const json::value* value = object_.if_contains(key);
        if (value == nullptr || !value->is_string()) {
            miss(key, "a string");
            return {};
        }
        return std::string(value->get_string());
    }
    std::string text_or(std::string_view key, std::string_view fallback) {
        const json::value* value = object_.if_contains(key);
        if (value == nullptr || value->is_null()) { return std::string(fallback); }
        return text(key);
    }
    std::uint64_t number(std::string_view key) {
        const json::value* value = object_.if_contains(key);
        if (value != nullptr && value->is_uint64()) { return value->get_uint64(); }
        if (value != nullptr && value->is_int64() && value->get_int64() >= 0) {
            return static_cast<std::uint64_t>(value->get_int64());
        }
        miss(key, "a whole number that is not negative");
        return 0;
    }
    std::uint64_t number_or(std::string_view key, std::uint64_t fallback) {
        return object_.contains(key) ? number(key) : fallback;
    }
    [[nodiscard]] bool has(std::string_view key) const { return object_.contains(key); }
    template <class Names>
    auto one_of(std::string_view key, const Names& names, typename Names::value_type::first_type otherwise) {
        const auto found = value_in(names, text(key));
        if (!found) { miss(key, "one of the known words"); }
        return found.value_or(otherwise);
    }
    bool boolean(std::string_view key) {
        const json::value* value = object_.if_contains(key);
        if (value == nullptr || !value->is_bool()) {
            miss(key, "true or false");
            return false;
        }
        return value->get_bool();
    }
    std::vector<std::string> texts(std::string_view key) {
        std::vector<std::string> result;
        const json::value* value = object_.if_contains(key);
        if (value == nullptr || !value->is_array()) {
            miss(key, "a list of strings");
            return result;
        }
        for (const json::value& item : value->get_array()) {
            if (!item.is_string()) {
                miss(key, "a list of strings");
                return result;
            }
            result.emplace_back(item.get_string());
        }
        return result;
    }
    const json::array& array(std::string_view key) {
        static const json::array empty;
        const json::value* value = object_.if_contains(key);
        if (value == nullptr || !value->is_array()) {
            miss(key, "a list");
            return empty;
        }
        return value->get_array();
    }
    const json::object& object(std::string_view key) {
        static const json::object empty;
        const json::value* value = object_.if_contains(key);
        if (value == nullptr || !value->is_object()) {
            miss(key, "a map");
            return empty;
        }
        return value->get_object();
    }

    /// Takes over the error of a map inside this one.
    void take_over(const auto& inner) {
        if (problem_.empty()) { problem_ = inner.problem(); }
    }
    [[nodiscard]] bool complete() const noexcept { return problem_.empty(); }
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

private:
    void miss(std::string_view key, std::string_view wanted) {
        if (problem_.empty()) { problem_ = "field `" + std::string(key) + "` must be " + std::string(wanted); }
    }

    const json::object& object_;
    std::string problem_;
};

inline json::array to_array(const auto& texts) {
    json::array array;
    for (const auto& text : texts) { array.emplace_back(text); }
    return array;
}

}  // namespace agentforge::kernel
