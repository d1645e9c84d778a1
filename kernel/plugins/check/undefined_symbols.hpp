// SPDX-License-Identifier: Apache-2.0
// The step `undefined` of `plugins check`.
#pragma once

#include "plugins/check/plugin_calls.hpp"

namespace agentforge::kernel {

/// Looks for every undefined symbol of the plugin's library where the dynamic linker will: in the program, then in the library's
/// dependencies. Reports the missing libraries and symbols, or that there are none. Returns true if there are none. Opens the
/// dependencies, but not the library itself.
[[nodiscard]] bool check_undefined_symbols(const PluginCalls& calls);

}  // namespace agentforge::kernel
