// SPDX-License-Identifier: Apache-2.0
// Checks the JSON Schemas that a plugin has: of its settings, and of its objects.
#pragma once

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "plugins/check/plugin_calls.hpp"

namespace agentforge::kernel {

/// The step `config_schema`: reports whether the manifest's schema is valid.
void check_settings_schema(const PluginCalls& calls);

/// Checks a schema as for a manifest's config_schema: finds first any fault that the validator would abort on. The error's
/// message says only what is wrong, so that the caller can say in which schema.
[[nodiscard]] Result<void> check_schema(const PluginManifest& manifest, const json::object& schema);

}  // namespace agentforge::kernel
