// SPDX-License-Identifier: Apache-2.0
// Finds what a request to remove something asks for and the change does not do, as far as its texts show. Plain functions over
// texts; runs nothing.
#pragma once

#include <string>
#include <vector>

#include "gates/language/source_text.hpp"
#include "gates/removal/changed_text.hpp"
#include "gates/removal/removal_request.hpp"

namespace agentforge::kernel {

/// Returns a function that the request names exactly, and that the change left as it was with what it removed from another one
/// that the request names ("Remove the limit from Label and Title"). Empty: there is none. `others`: the sources that did not
/// change.
[[nodiscard]] std::string function_left_out(const RemovalRequest& request, const std::vector<ChangedText>& files,
                                            const std::vector<std::string>& others, const CodeRules& rules);

/// True if the change adds nothing that the request asks to make: a call's name that no code has, or no new word of it, no new
/// definition, no new branch and no new text. `others`: the sources that did not change.
[[nodiscard]] bool makes_nothing_of(const Making& making, const std::vector<ChangedText>& files,
                                    const std::vector<std::string>& others, const CodeRules& rules);

}  // namespace agentforge::kernel
