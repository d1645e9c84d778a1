// SPDX-License-Identifier: Apache-2.0
// Findings that do not stop a gate but that a person should look at.
#pragma once

#include <string>
#include <vector>

#include <agentforge/host.hpp>

#include "task/state.hpp"

namespace agentforge::kernel {

/// Returns the suspicions in a gate's report, one line each: lines that compare with, or repeat, the tests' values; tables
/// whose keys hide them; mutants that no new test detected; flaky tests; held-out tests that were shown.
[[nodiscard]] std::vector<std::string> suspicions(const GateReport& report, const HeldOutTests& held_out);

}  // namespace agentforge::kernel
