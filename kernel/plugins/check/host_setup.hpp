// SPDX-License-Identifier: Apache-2.0
// Sets up the host of one call for an input.
#pragma once

#include <optional>
#include <string>

#include <agentforge/result.hpp>

#include "plugins/check/check_host.hpp"
#include "plugins/check/check_inputs.hpp"
#include "plugins/check/plugin_calls.hpp"

namespace agentforge::kernel {

/// Sets the deadline, half of the call's limit from now on, and whether the host cancels or fails.
void prepare_host(const PluginCalls& calls, CheckHost& host, CheckInput input);

/// Makes the folder of one call. Reports an error and returns nothing if it cannot be created.
[[nodiscard]] std::optional<CheckFolder> make_call_folder(const PluginCalls& calls, const CheckHooks& hooks);

/// The error of a host that fails every request.
[[nodiscard]] Error check_host_error();

/// Returns the result of a program that succeeded.
[[nodiscard]] ProcessResult program_that_prints(std::string text);

}  // namespace agentforge::kernel
