// SPDX-License-Identifier: Apache-2.0
// The settings for the model of one role.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

class Settings;
struct GuardedSetting;

/// `llm:`, overridden by `agents.<role>.llm`.
struct ModelSettings {
    std::string backend;
    std::string model;
    std::string base_url;
    std::string api_key_env;
    std::string transcript;
    std::string preset;
    std::string mode;  ///< `agentic` or `plain`.
    std::vector<std::string> command;
    std::string record;
    std::string replay_match;
    std::int64_t timeout_seconds = 0;
    std::int64_t max_output_tokens = 0;
    json::object settings;

    bool operator==(const ModelSettings&) const = default;
};

/// Returns the settings of `role`, or those of `llm:` alone if it is empty.
///
/// A role that names another backend or another base_url than `llm:` uses another service. Then only its own model, base_url,
/// api_key_env, preset, command, transcript and settings count, so that no key and no header goes to the wrong service. Otherwise
/// it inherits unset keys from `llm:`, and its `settings` override those of `llm:`, name by name.
///
/// If a higher layer of the settings names another backend than the lower ones (`--backend`, `--transcript`), the lower layers'
/// `settings` belong to the other backend and are omitted.
[[nodiscard]] ModelSettings read_model_settings(const Settings& settings, const std::string& role);

/// Returns a project setting that was left out for lack of trust and that decides where the role's calls go or which key they
/// use. Null: there is none, or the user's own file sets all of it or names the command's preset for this run.
[[nodiscard]] const GuardedSetting* missed_by_model(const Settings& settings, const std::vector<GuardedSetting>& left_out,
                                                    const std::string& role);

}  // namespace agentforge::kernel
