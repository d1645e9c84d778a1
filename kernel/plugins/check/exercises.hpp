// SPDX-License-Identifier: Apache-2.0
// Calls every method of an object with every input, and judges the results. There is one function for each kind of object.
#pragma once

#include <string>

#include <agentforge/plugin.hpp>

#include "plugins/check/check.hpp"
#include "plugins/check/plugin_calls.hpp"

namespace agentforge::kernel {

// `name`: the object's name in the descriptor. What the methods return is destroyed before a function returns, so that the
// object can be destroyed then.

void exercise_tool(PluginCalls& calls, const CheckHooks& hooks, Tool& tool, const std::string& name);
void exercise_stage(PluginCalls& calls, const CheckHooks& hooks, Stage& stage, const std::string& name);
void exercise_backend(PluginCalls& calls, LLMBackend& backend, const std::string& name);
void exercise_handler(PluginCalls& calls, EscalationHandler& handler, const std::string& name);

}  // namespace agentforge::kernel
