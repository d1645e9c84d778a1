// SPDX-License-Identifier: Apache-2.0
// What of the machine every confined program may read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

/// What nearly every program reads. /run, /var, /home, /root and /tmp are not among it.
[[nodiscard]] std::span<const std::string_view> system_paths();

/// Below `/etc` and closed to others: for who owns them, which is root, they would be open inside. Empty for other users. Looked for
/// once in each process.
[[nodiscard]] const std::vector<std::string>& system_secrets();

}  // namespace agentforge::kernel
