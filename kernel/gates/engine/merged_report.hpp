// SPDX-License-Identifier: Apache-2.0
// One gate's report about several scopes.
#pragma once

#include <utility>
#include <vector>

#include "gates/engine/scopes.hpp"
#include "gates/gate_runner.hpp"

namespace agentforge::kernel {

/// Merges the reports of several scopes: passed if all passed; ids and paths are those of the whole tree.
[[nodiscard]] GateReport merge_reports(std::vector<std::pair<const Scope*, GateReport>> parts, const GateBaseline* whole);

}  // namespace agentforge::kernel
