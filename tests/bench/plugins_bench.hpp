// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace agentforge::bench {

/// Measures one load in a new process of this program, because a loaded library stays loaded. `plugins`: finds and loads all
/// shipped plugins and makes one object of each. `libraries`: only opens the same files. Prints microseconds. Returns the exit
/// code.
[[nodiscard]] int run_child(std::string_view what);

}  // namespace agentforge::bench
