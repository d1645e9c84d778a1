// SPDX-License-Identifier: Apache-2.0
// Phrases shared by the readers of agents and pipelines.
#pragma once

#include <string>

#include "contracts/contract.hpp"

namespace agentforge::kernel {

/// Returns "; 3 more problems" for the problems after the first, or "".
[[nodiscard]] inline std::string others(const ContractVerdict& verdict) {
    const auto more = verdict.violations.size() - 1;
    if (more == 0) { return ""; }
    std::string text;
    for (std::size_t i = 1; i < verdict.violations.size() && i < 4; ++i) { text += "; " + verdict.violations[i].message; }
    if (more > 3) { text += "; and " + std::to_string(more - 3) + " more"; }
    return text;
}

}  // namespace agentforge::kernel
