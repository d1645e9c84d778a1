// SPDX-License-Identifier: Apache-2.0
// What a call of a gate measures.
#pragma once

#include <vector>

#include "gates/gate_runner.hpp"

namespace agentforge::kernel {

/// Returns the files that the call is about: its paths, or what changed since the user's commit, or all; without deleted ones.
/// Errors: git's own.
[[nodiscard]] Result<std::vector<TreeChange>> measured_files(TreeCheckout& checkout, const GateCall& call);

}  // namespace agentforge::kernel
