// SPDX-License-Identifier: Apache-2.0
// The steps `load` and `descriptor` of `plugins check`.
#pragma once

#include <agentforge/plugin.hpp>

#include "plugins/check/check_reporter.hpp"
#include "plugins/check/plugin_calls.hpp"

namespace agentforge::kernel {

/// Opens the plugin's library in the same mode as the host and checks its descriptor. Reports a fault, or that the descriptor
/// agrees with the manifest, and how long the library took to load. Returns null after a fault. The library is never closed.
[[nodiscard]] const AgentforgeDescriptor* load_library(PluginCalls& calls, const CheckReporter& reporter);

}  // namespace agentforge::kernel
