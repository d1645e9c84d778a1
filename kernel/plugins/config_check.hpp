// SPDX-License-Identifier: Apache-2.0
// Checks a plugin's settings against its `config_schema` before any of its code runs.
#pragma once

#include <optional>
#include <string>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "plugins/plugin_registry.hpp"

namespace agentforge::kernel {

/// A fault in one setting.
struct ConfigProblem {
    std::string pointer;  ///< JSON pointer into the settings.
    /// For instance "limit is \"many\" …; it must be an integer". Unknown names come with the nearest known one.
    std::string message;
};

/// Checks that the manifest's schema is valid. Errors: `invalid` AF-PLUG-051: `type` other than object, a keyword of the wrong
/// form, a pattern that RE2 does not accept, `$ref` (a manifest must be self-contained).
[[nodiscard]] Result<void> check_config_schema(const PluginManifest& manifest);

/// Returns the first fault in the settings. Empty if they are valid, or if the manifest has no schema. `partial`: the plugin will
/// get more settings, so missing ones are not faults. Errors: as above.
[[nodiscard]] Result<std::optional<ConfigProblem>> check_config(const PluginManifest& manifest, const json::object& settings,
                                                                bool partial = false);

}  // namespace agentforge::kernel
