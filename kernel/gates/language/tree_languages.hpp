// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gates/language/language.hpp"
#include "gates/run/tree_checkout.hpp"

namespace agentforge::kernel {

/// The language of each recorded tree, and what it says about the tree's files. Detects a language once for each tree; reads
/// trees and the languages' data, runs nothing. Returned pointers are valid as long as this object.
class TreeLanguages {
public:
    /// `directory`: config/languages. `configured`: the language of every tree. Empty: detected. The checkout must outlive the
    /// object.
    TreeLanguages(TreeCheckout& checkout, std::string directory, std::string configured)
        : checkout_(checkout), directory_(std::move(directory)), configured_(std::move(configured)) {}

    /// Errors: AF-GATE-002 no language found; AF-GATE-010 its file is wrong; git's own.
    [[nodiscard]] Result<const Language*> of(const std::string& tree);
    /// Returns the tree's files with tests, sorted: test files, and files that contain tests among other code. Errors: of `of`.
    [[nodiscard]] Result<std::vector<std::string>> test_files(const std::string& tree);
    /// Returns the first type checker that the project declares, or null. Errors: of `of`.
    [[nodiscard]] Result<const TypeChecker*> type_checker(const std::string& tree);

private:
    TreeCheckout& checkout_;
    std::string directory_;
    std::string configured_;
    std::map<std::string, Language> languages_;  ///< By tree.
};

}  // namespace agentforge::kernel
