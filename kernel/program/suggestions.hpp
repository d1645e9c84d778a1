// SPDX-License-Identifier: Apache-2.0
// What to type in place of a command that does not exist.
#pragma once

#include <string>
#include <vector>

namespace agentforge::kernel {

/// Returns the remedy for `word`, which is not one of `known` below the command `prefix` ("agentforge", "agentforge plugins"):
/// the command that has this name in another program, else the nearest one. Empty if there is neither.
[[nodiscard]] std::string suggested_command(const std::string& prefix, const std::string& word,
                                            const std::vector<std::string>& known);

}  // namespace agentforge::kernel
