// SPDX-License-Identifier: Apache-2.0
// config/settings_schema.yaml: the settings and their types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct SettingKey {
    enum class Type : unsigned char { string = 1, path, integer, boolean, list, command, map, decimal, span };
    /// What a project's file may do with the key without the user's trust.
    enum class Project : unsigned char {
        free = 1,  ///< Set it.
        trust,     ///< Nothing.
        lower,     ///< Lower it: numbers, times, the position in `values`, true to false.
        higher,    ///< Raise it.
        more,      ///< Add to the user's list, with or without trust.
        never      ///< Nothing, even with trust.
    };
    std::string name;  ///< `agents.*.llm.model`
    std::vector<std::string> segments;
    Type type = Type::string;
    std::string type_name;
    std::vector<std::string> values;  ///< Allowed values of a string. Empty: any.
    std::optional<std::int64_t> minimum;
    std::optional<std::int64_t> maximum;
    std::optional<json::value> fallback;
    Project project = Project::trust;
    std::string project_name;  ///< `lower`
    std::string unset;         ///< The key that applies if this one is unset. Empty: none.
    std::string description;
    std::string where;  ///< `settings_schema.yaml:6:3`
};

/// A key of an older format, and its successor.
struct FormerKey {
    std::string name;  ///< `budgets.task_tokens`
    std::vector<std::string> segments;
    std::string now;           ///< Its name now. Empty: no setting replaces it.
    std::int64_t divisor = 1;  ///< The old number divided by this is the new one.
    std::string hint;          ///< If there is no successor: what to do instead.
};

class SettingsSchema {
public:
    /// Errors: AF-CONF-022.
    [[nodiscard]] static Result<SettingsSchema> load(const std::string& file);
    [[nodiscard]] const std::vector<SettingKey>& keys() const noexcept { return keys_; }
    /// Returns the setting that these segments name, or null.
    [[nodiscard]] const SettingKey* find(const std::vector<std::string>& segments) const;
    /// True if there are settings below these segments.
    [[nodiscard]] bool is_section(const std::vector<std::string>& segments) const;
    /// Returns the known key nearest to these segments. Empty if none is near.
    [[nodiscard]] std::string nearest_to(const std::vector<std::string>& segments) const;

    /// Returns the former key that these segments name, or null.
    [[nodiscard]] const FormerKey* former(const std::vector<std::string>& segments) const;
    /// True if there are former keys below these segments.
    [[nodiscard]] bool is_former_section(const std::vector<std::string>& segments) const;

private:
    std::vector<FormerKey> former_;
    std::vector<SettingKey> keys_;
};

/// Returns AF-CONF-044, which names the successor of the key at `where`.
[[nodiscard]] Error former_key(const FormerKey& former, const std::vector<std::string>& segments, std::string where);
/// True if a project's value needs the user's agreement. `holds`: the value in force without it; null if there is none.
[[nodiscard]] bool needs_agreement(const SettingKey& key, const json::value& value, const json::value* holds);
/// Returns "" if the value is valid for the key, else what it must be.
[[nodiscard]] std::string value_problem(const SettingKey& key, const json::value& value);
/// Parses a value from text: strings and paths literally, all else as YAML. Errors: those of parse_yaml.
[[nodiscard]] Result<json::value> value_from_text(const SettingKey& key, const std::string& text, const std::string& where);
/// Splits `llm.replay.match` into segments. `%2E` and `%25` stand for `.` and `%`.
[[nodiscard]] std::vector<std::string> split_key(std::string_view key);
[[nodiscard]] std::string join_key(const std::vector<std::string>& segments);

}  // namespace agentforge::kernel
