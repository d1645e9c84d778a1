// SPDX-License-Identifier: Apache-2.0
// Finds where the code still uses the name of what the request asks to remove. Only reads sources; runs nothing.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "gates/language/source_text.hpp"
#include "gates/removal/changed_text.hpp"
#include "gates/removal/removal_request.hpp"
#include "gates/removal/removed_piece.hpp"

namespace agentforge::kernel {

/// A place that still has the name.
struct LeftName {
    std::string name;
    RemovedLines lines;                        ///< In the changed tree.
    std::map<std::string, std::string> files;  ///< Path → text of the file with another name there.
};

/// Returns the string literals (`getenv("LOG_COLOUR")`) and members (`others.retries`) whose whole text is the name of something
/// that the request asks to remove. A literal that is no word of English counts in all changed files. Any other place counts
/// only in a function that the change touches, and only if the project no longer declares the name. Returns at most `most`.
[[nodiscard]] std::vector<LeftName> names_left_behind(const RemovalRequest& request, const std::vector<ChangedText>& files,
                                                      const CodeRules& rules, std::size_t most);

}  // namespace agentforge::kernel
