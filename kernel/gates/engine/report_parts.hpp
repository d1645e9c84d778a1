// SPDX-License-Identifier: Apache-2.0
// Puts a gate's report together from the parts that were judged one by one.
#pragma once

#include <string>
#include <vector>

#include "gates/engine/rules.hpp"
#include "gates/gates.hpp"

namespace agentforge::kernel {

/// Adds the part's blocking issues and violations, and these of its facts.
void take_over(GateReport& report, GateReport part, const std::vector<const char*>& facts);
/// Adds the verdict's issues and facts; its tests become the report's.
void take_over(GateReport& report, Verdict verdict);
/// Sets `passed`, and the summary: `good`, or the first blocking issue with the number of the others.
void conclude(GateReport& report, const std::string& good);

}  // namespace agentforge::kernel
