// SPDX-License-Identifier: Apache-2.0
// The output of a comparison of two tasks.
#pragma once

#include "program/program.hpp"
#include "replay/comparison.hpp"

namespace agentforge::kernel {

/// Writes lines for people. Control characters in the tasks' texts cannot act on the terminal.
void print_comparison(std::ostream& out, const TaskComparison& comparison);

}  // namespace agentforge::kernel
