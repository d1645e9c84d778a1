// SPDX-License-Identifier: Apache-2.0
// Finds checks that a change weakens in a function that it changes for another reason. Only compares sources; runs nothing.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "gates/removal/hunk.hpp"
#include "gates/removal/removal_request.hpp"
#include "gates/removal/source_lines.hpp"

namespace agentforge::kernel {

/// Returns the parts of a hunk that must be noticed by a test when their former lines are put back in place of the new ones:
///   - a condition about the same names, with another operator, number or text (`n !== 1` made `n === 0`), unless the request
///     mentions what is new in it;
///   - a branch or an error that is gone: a few lines that others replaced, or lines with a message that no code has any more.
/// Only in functions that stay. `names_now`: the names and texts that the code still has.
[[nodiscard]] std::vector<Hunk> replaced_checks(const SourceLines& before, const SourceLines& now, const Hunk& hunk,
                                                const std::set<std::string>& names_now, const RemovalRequest& request);

}  // namespace agentforge::kernel
