// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace agentforge::bench {

/// A library stays loaded once it is, so each load is measured in a process of its own: this program, started again.
/// `plugins`: finds and loads all shipped plugins and makes one object of each; `libraries`: opens the same files and no more.
/// Prints microseconds. Returns the exit code.
[[nodiscard]] int run_child(std::string_view what);

}  // namespace agentforge::bench
