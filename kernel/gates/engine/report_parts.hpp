// SPDX-License-Identifier: Apache-2.0
// Builds a gate's report from separately judged parts.
#pragma once

#include <string>
#include <vector>

#include "gates/engine/rules.hpp"
#include "gates/gate_runner.hpp"

namespace agentforge::kernel {

/// Adds the part's blocking issues and violations, and those of its facts that `facts` names.
void take_over(GateReport& report, GateReport part, const std::vector<const char*>& facts);
/// Adds the verdict's issues and facts; its tests become the report's.
void take_over(GateReport& report, Verdict verdict);
/// Sets `passed` and the summary: `good` if passed, else the first blocking issue and the number of others.
void conclude(GateReport& report, const std::string& good);
/// Returns an integer of a helper's line. 0 if there is none.
[[nodiscard]] std::int64_t integer_of(const json::object& line, const char* key);

}  // namespace agentforge::kernel
