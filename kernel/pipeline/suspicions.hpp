// SPDX-License-Identifier: Apache-2.0
// What gates found no reason to stop for, and a person should look at.
#pragma once

#include <string>
#include <vector>

#include <agentforge/host.hpp>

#include "task/state.hpp"

namespace agentforge::kernel {

/// Of the report of a phase: lines that compare with, or repeat, what the tests give; tables that cannot be read; mutants that no new test noticed; tests that flip;
/// tests that were held out and then shown. One line each.
[[nodiscard]] std::vector<std::string> suspicions(const GateReport& report, const HeldOutTests& held_out);

}  // namespace agentforge::kernel
