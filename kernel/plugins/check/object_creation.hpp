// SPDX-License-Identifier: Apache-2.0
// The steps `create` and `destroy` of `plugins check`.
#pragma once

#include <string_view>

#include <agentforge/plugin.hpp>

#include "plugins/check/plugin_calls.hpp"

namespace agentforge::kernel {

/// Creates an object without settings or, if the plugin needs some, with settings made from its config_schema. Also creates and
/// destroys others with broken settings. Returns null and reports why if it gets no object. Free it with `destroy_object`.
[[nodiscard]] void* create_object(PluginCalls& calls, const AgentforgeFactory& factory);

/// `input`: of the call, for reports. Returns false if the call was left out or threw.
bool destroy_object(PluginCalls& calls, const AgentforgeFactory& factory, void* object, std::string_view input);

}  // namespace agentforge::kernel
