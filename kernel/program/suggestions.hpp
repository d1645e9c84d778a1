// SPDX-License-Identifier: Apache-2.0
// Suggests a command in place of one that does not exist.
#pragma once

#include <string>
#include <vector>

namespace agentforge::kernel {

/// Returns the remedy for `word`, which is not one of `known` below the command `prefix` ("agentforge", "agentforge plugins").
/// Suggests our command for another program's command of this name, else the nearest command. Empty if there is neither.
[[nodiscard]] std::string suggested_command(const std::string& prefix, const std::string& word,
                                            const std::vector<std::string>& known);

}  // namespace agentforge::kernel
