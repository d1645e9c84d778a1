// SPDX-License-Identifier: Apache-2.0
// What the settings say of the model of one role.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

class Settings;
struct GuardedSetting;

/// `llm:`, with what `agents.<role>.llm` says instead.
struct ModelSettings {
    std::string backend;
    std::string model;
    std::string base_url;
    std::string api_key_env;
    std::string transcript;
    std::string preset;
    std::string mode;  ///< `agentic`, or `plain`.
    std::vector<std::string> command;
    std::string record;
    std::string replay_match;
    std::int64_t timeout_seconds = 0;
    std::int64_t max_output_tokens = 0;
    json::object settings;

    bool operator==(const ModelSettings&) const = default;
};

/// The settings of `role`; those of `llm:` alone where it is empty.
///
/// A role that names another backend or another base_url than `llm:` does talks to another service: model, base_url, api_key_env,
/// preset, command, transcript and settings are then its own alone, so that no key and no header goes where it was not meant for.
/// Otherwise each key that it does not set is that of `llm:`, and its `settings` are laid over those, name by name.
///
/// Where a higher layer of the settings names another backend than the lower ones (`--backend`, `--transcript`), the `settings`
/// of the lower ones are the other backend's and left out.
[[nodiscard]] ModelSettings read_model_settings(const Settings& settings, const std::string& role);

/// What decides where the role's calls go, and with which key, and is among the project's settings that were left out for want of
/// trust; null: nothing. Where the user's own file says all of it, or names the command's preset for this run, the project's is
/// not missed.
[[nodiscard]] const GuardedSetting* missed_by_model(const Settings& settings, const std::vector<GuardedSetting>& left_out,
                                                    const std::string& role);

}  // namespace agentforge::kernel
