// SPDX-License-Identifier: Apache-2.0
// Runs a plugin's untested code in a separate process first. If it crashes, hangs or exits, this process gets an error and goes
// on.
#pragma once

#include <chrono>
#include <functional>

#include "plugins/plugin_registry.hpp"

namespace agentforge::kernel {

/// Runs `work` in a forked process and returns its result. `doing` describes it: "it was loaded". Errors: those of `work`;
/// `unavailable` AF-PLUG-021 the process crashed, exited by itself, or did not finish within `limit`. Nothing that `work` does
/// affects this process. Cost: about a millisecond.
[[nodiscard]] Result<void> run_in_child(const PluginManifest& manifest, std::string_view doing,
                                        const std::function<Result<void>()>& work,
                                        std::chrono::milliseconds limit = std::chrono::seconds(10));

}  // namespace agentforge::kernel
