// SPDX-License-Identifier: Apache-2.0
// Code of a plugin that has not run yet, run in a process of its own first: it may crash, hang or exit, and then this process is
// told, and stands.
#pragma once

#include <chrono>
#include <functional>

#include "plugins/host.hpp"

namespace agentforge::kernel {

/// Runs `work` in a forked process and answers what it answers there. `doing` says what that is: "it was loaded".
/// Errors: those of `work`; `unavailable` AF-PLUG-021 the process crashed, ended by itself, or did not come back within `limit`.
/// Nothing that `work` does reaches this process. Cost: about a millisecond.
[[nodiscard]] Result<void> try_apart(const PluginManifest& manifest, std::string_view doing,
                                     const std::function<Result<void>()>& work,
                                     std::chrono::milliseconds limit = std::chrono::seconds(10));

}  // namespace agentforge::kernel
