// SPDX-License-Identifier: Apache-2.0
// A plugin's settings against its `config_schema`, before any of its code runs.
#pragma once

#include <optional>
#include <string>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "plugins/host.hpp"

namespace agentforge::kernel {

/// What is wrong with one setting.
struct ConfigProblem {
    std::string pointer;  ///< JSON pointer into the settings.
    std::string message;  ///< "limit is \"many\" …; it must be an integer"; unknown names with the nearest known one.
};

/// Whether the manifest's schema is one. Errors: `invalid` AF-PLUG-051: `type` other than object, a keyword of the wrong form, a
/// pattern that RE2 does not take, `$ref` (a manifest stands alone).
[[nodiscard]] Result<void> check_config_schema(const PluginManifest& manifest);

/// The first problem of the settings; empty where they fit, or where the manifest has no schema. `partial`: they are not all that
/// the plugin will get, so nothing is missing yet. Errors: as above.
[[nodiscard]] Result<std::optional<ConfigProblem>> check_config(const PluginManifest& manifest, const json::object& settings,
                                                                bool partial = false);

}  // namespace agentforge::kernel
