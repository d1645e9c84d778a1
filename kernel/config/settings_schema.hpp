// SPDX-License-Identifier: Apache-2.0
// config/settings_schema.yaml: which settings there are, and of what type.
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
    /// What a project's file may do with the key while the user does not trust the project.
    enum class Project : unsigned char {
        free = 1,  ///< Set it.
        trust,     ///< Nothing.
        lower,     ///< Lower it: numbers, times, the place in `values`, true to false.
        higher,    ///< Raise it.
        more,      ///< Add to the user's list, with or without trust.
        never      ///< Nothing, even with trust.
    };
    std::string name;  ///< `agents.*.llm.model`
    std::vector<std::string> segments;
    Type type = Type::string;
    std::string type_name;
    std::vector<std::string> values;  ///< Of a string; empty: any.
    std::optional<std::int64_t> minimum;
    std::optional<std::int64_t> maximum;
    std::optional<json::value> fallback;
    Project project = Project::trust;
    std::string project_name;  ///< `lower`
    std::string unset;         ///< The key that applies if this one is unset; empty: none.
    std::string description;
    std::string where;  ///< `settings_schema.yaml:6:3`
};

/// A key of an older format, and what has become of it.
struct FormerKey {
    std::string name;  ///< `budgets.task_tokens`
    std::vector<std::string> segments;
    std::string now;           ///< Its name now; empty: it has no successor among the settings.
    std::int64_t divisor = 1;  ///< The number divided by this is the new one.
    std::string hint;          ///< Where it has no successor: what to do instead.
};

class SettingsSchema {
public:
    /// Errors: AF-CONF-022.
    [[nodiscard]] static Result<SettingsSchema> load(const std::string& file);
    [[nodiscard]] const std::vector<SettingKey>& keys() const noexcept { return keys_; }
    /// The setting these segments name, or null.
    [[nodiscard]] const SettingKey* find(const std::vector<std::string>& segments) const;
    /// Whether settings lie below these segments.
    [[nodiscard]] bool is_section(const std::vector<std::string>& segments) const;
    /// The known key nearest to these segments; empty where none is near.
    [[nodiscard]] std::string nearest_to(const std::vector<std::string>& segments) const;

    /// The former key these segments name, or null.
    [[nodiscard]] const FormerKey* former(const std::vector<std::string>& segments) const;
    /// Whether former keys lie below these segments.
    [[nodiscard]] bool is_former_section(const std::vector<std::string>& segments) const;

private:
    std::vector<FormerKey> former_;
    std::vector<SettingKey> keys_;
};

/// AF-CONF-044: what has become of the key that stands at `where`.
[[nodiscard]] Error former_key(const FormerKey& former, const std::vector<std::string>& segments, std::string where);
/// Whether a project's value needs the user's agreement. `holds`: the value in force without it; null if there is none.
[[nodiscard]] bool needs_agreement(const SettingKey& key, const json::value& value, const json::value* holds);
/// "" where the value fits the key; else what it must be.
[[nodiscard]] std::string value_problem(const SettingKey& key, const json::value& value);
/// A value from text: strings and paths as they are, all else as YAML. Errors: those of parse_yaml.
[[nodiscard]] Result<json::value> value_from_text(const SettingKey& key, const std::string& text, const std::string& where);
/// `llm.replay.match` → its segments; `%2E` and `%25` stand for `.` and `%`.
[[nodiscard]] std::vector<std::string> split_key(std::string_view key);
[[nodiscard]] std::string join_key(const std::vector<std::string>& segments);

}  // namespace agentforge::kernel
