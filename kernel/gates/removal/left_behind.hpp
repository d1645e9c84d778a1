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

/// Returns the texts (`getenv("LOG_COLOUR")`) and members (`others.retries`) that are exactly the name of something that the
/// request asks to remove. In the changed files, names that are no plain words; others only in functions that the change touches,
/// and only if the project no longer declares them. At most `most`.
[[nodiscard]] std::vector<LeftName> names_left_behind(const RemovalRequest& request, const std::vector<ChangedText>& files,
                                                      const CodeRules& rules, std::size_t most);

}  // namespace agentforge::kernel
