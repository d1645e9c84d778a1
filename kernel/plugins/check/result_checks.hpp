// SPDX-License-Identifier: Apache-2.0
// Judges what the methods of every kind of object return. Each function reports the faults it finds in the last call's result.
#pragma once

#include <string>
#include <string_view>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "plugins/check/check_host.hpp"
#include "plugins/check/plugin_calls.hpp"

namespace agentforge::kernel {

/// Compares the name that an object says with that in the descriptor. `function`: where it says it.
void judge_name(const PluginCalls& calls, const char* function, const std::string& found, const std::string& expected);

/// Looks for invalid UTF-8, unless the input had some, and for too many bytes. `what`: "a summary".
void judge_text(const PluginCalls& calls, std::string_view step, const char* what, const std::string& text);

/// Looks for a missing code or message.
void judge_error(const PluginCalls& calls, const Error& error);

/// Looks for a JSON value with a memory resource of its own, which may not live as long as the value.
void judge_memory(const PluginCalls& calls, const json::object& object);

/// Looks for misuses of the context. Reports at most three.
void judge_context(const PluginCalls& calls, const CheckHost& host);

}  // namespace agentforge::kernel
