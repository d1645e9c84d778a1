// SPDX-License-Identifier: Apache-2.0
// Checks a set before it costs anything: what could stop one of its parts later.
#pragma once

#include <string>
#include <vector>

#include "gates/engine/readiness.hpp"
#include "program/sets/open_set.hpp"

namespace agentforge::kernel {

/// How a part will run.
struct PartPlan {
    std::string pipeline;
    std::string delivery;
    std::vector<std::string> set_test;
    GateReadiness gates;
};

/// Checks each repository, and returns how its part will run. Errors name the repository: AF-SET-002, AF-SET-016, AF-SET-017, and
/// those of check_stages_ready.
[[nodiscard]] Result<std::vector<PartPlan>> check_parts_ready(const OpenSet& open);

}  // namespace agentforge::kernel
