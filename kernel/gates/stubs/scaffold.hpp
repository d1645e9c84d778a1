// SPDX-License-Identifier: Apache-2.0
// The files to start a test suite with, as a language's file describes them (`scaffold`).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gates/language/tree_languages.hpp"

namespace agentforge::kernel {

/// Returns path and content of each file to add to a tree without tests, complete. Nothing if the tree has tests or no language
/// yet. Errors: of TreeLanguages, except AF-GATE-002.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> scaffold_of(TreeCheckout& checkout,
                                                                                   TreeLanguages& languages,
                                                                                   const std::string& tree);

}  // namespace agentforge::kernel
