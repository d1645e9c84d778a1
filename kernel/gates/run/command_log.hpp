// SPDX-License-Identifier: Apache-2.0
// The commands that gates ran, on which tree and for how long.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace agentforge::kernel {

/// One command that a gate ran.
struct GateCommand {
    std::string command;  ///< As named in the language's file: build, collect, tests, plain, coverage, syntax, types, metrics, …
    std::string purpose;  ///< `mutants`, `change-taken-back`, …; empty: to measure the tree as it is.
    std::string tree;     ///< Empty: the command needs none.
    std::chrono::milliseconds duration{0};
    std::vector<std::string> argv;  ///< `…` stands for words that each run chooses anew.
};

}  // namespace agentforge::kernel
