// SPDX-License-Identifier: Apache-2.0
// How two tasks that were compared are told.
#pragma once

#include "program/program.hpp"
#include "replay/comparison.hpp"

namespace agentforge::kernel {

/// For people, in lines. What tasks' texts hold cannot act on the terminal.
void tell_comparison(std::ostream& out, const TaskComparison& comparison);

}  // namespace agentforge::kernel
