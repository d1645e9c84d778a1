// SPDX-License-Identifier: Apache-2.0
// Helpers that most tools need: typed access to arguments, a schema from its text, and the summary of a change.
//
// The host checks arguments against the tool's schema before `Tool::call`, so these readers cannot fail: they return the fallback
// for a value that is missing or has another type.
#pragma once

#include <agentforge/host.hpp>
#include <agentforge/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge {

class Arguments {
public:
    explicit Arguments(const json::object& values) : values_(values) {}

    [[nodiscard]] bool has(std::string_view name) const { return values_.contains(name); }
    [[nodiscard]] std::string text(std::string_view name, std::string_view fallback = {}) const {
        const auto* value = values_.if_contains(name);
        return std::string(value != nullptr && value->is_string() ? std::string_view(value->get_string()) : fallback);
    }
    [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t fallback = 0) const {
        const auto* value = values_.if_contains(name);
        if (value == nullptr) { return fallback; }
        if (value->is_uint64()) { return value->get_uint64(); }
        return value->is_int64() && value->get_int64() >= 0 ? static_cast<std::uint64_t>(value->get_int64()) : fallback;
    }
    [[nodiscard]] bool flag(std::string_view name, bool fallback = false) const {
        const auto* value = values_.if_contains(name);
        return value != nullptr && value->is_bool() ? value->get_bool() : fallback;
    }
    /// Returns the strings of an array. A single string counts as a list of one.
    [[nodiscard]] std::vector<std::string> texts(std::string_view name) const {
        std::vector<std::string> result;
        const auto* value = values_.if_contains(name);
        if (value == nullptr) { return result; }
        if (value->is_string()) { result.emplace_back(value->get_string()); }
        if (value->is_array()) {
            for (const auto& one : value->get_array()) {
                if (one.is_string()) { result.emplace_back(one.get_string()); }
            }
        }
        return result;
    }

private:
    const json::object& values_;
};

/// Parses the schema of an object, for `ToolSpec::parameters`. Throws if the text is not a JSON object; the host reports that as
/// a defect of the plugin.
[[nodiscard]] inline json::object schema_of(std::string_view text) {
    return json::parse(json::string_view(text.data(), text.size())).as_object();
}

/// Returns the line counts as `(+3 −1)`.
[[nodiscard]] inline std::string line_counts(const Change& change) {
    return "(+" + std::to_string(change.lines_added) + " −" + std::to_string(change.lines_removed) + ")";
}

/// Returns what the journal keeps of a change.
[[nodiscard]] inline json::object change_data(const Change& change) {
    json::object data;
    data["path"] = change.path;
    data["before_sha256"] = change.before_sha256;
    data["after_sha256"] = change.after_sha256;
    data["lines_added"] = change.lines_added;
    data["lines_removed"] = change.lines_removed;
    data["created"] = change.created;
    return data;
}

}  // namespace agentforge
