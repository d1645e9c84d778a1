// SPDX-License-Identifier: Apache-2.0
// Finds what a request to remove something asks for and the change leaves out, as far as the sources show. Only compares sources;
// runs nothing.
#pragma once

#include <string>
#include <vector>

#include "gates/language/source_text.hpp"
#include "gates/removal/changed_text.hpp"
#include "gates/removal/removal_request.hpp"

namespace agentforge::kernel {

/// If the request names two functions ("Remove the limit from Label and Title"), and the change removed something from only one
/// of them, returns the other one. Empty: there is none. `others`: the sources that did not
/// change.
[[nodiscard]] std::string function_left_out(const RemovalRequest& request, const std::vector<ChangedText>& files,
                                            const std::vector<std::string>& others, const CodeRules& rules);

/// True if the change adds nothing that the request asks to make: a call's name that no code has, or no new word of it, no new
/// definition, no new branch and no new text. `others`: the sources that did not change.
[[nodiscard]] bool makes_nothing_of(const Making& making, const std::vector<ChangedText>& files,
                                    const std::vector<std::string>& others, const CodeRules& rules);

}  // namespace agentforge::kernel
