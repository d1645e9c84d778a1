// SPDX-License-Identifier: Apache-2.0
// The parts of the machine that every confined program may read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

/// Paths that nearly every program reads. Does not include /run, /var, /home, /root and /tmp.
[[nodiscard]] std::span<const std::string_view> system_paths();

/// Paths below `/etc` that only their owner, root, may read; run as root, a confined program could read them. Empty for other
/// users. Searched once per process.
[[nodiscard]] const std::vector<std::string>& system_secrets();

}  // namespace agentforge::kernel
