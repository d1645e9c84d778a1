// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gates/language/language.hpp"
#include "gates/run/tree_checkout.hpp"

namespace agentforge::kernel {

/// The files besides the tests themselves that no stage after RED may change, because they decide what the tests do. Reads
/// recorded trees, runs nothing. Errors: git's own.
class LockedFiles {
public:
    /// The checkout must outlive the object.
    explicit LockedFiles(TreeCheckout& checkout) : checkout_(checkout) {}

    /// Returns the changed files that configure the language's runners, sorted: whole files (`runner_files`), and files in which
    /// a section differs (`runner_sections`).
    [[nodiscard]] Result<std::vector<std::string>> changed_runner_configuration(const Language& language,
                                                                                const std::string& old_tree,
                                                                                const std::vector<TreeChange>& changes,
                                                                                const std::string& tree);
    /// Returns the files and folders of a tree that its tests reach through links, each with its link. They count as tests.
    /// Checks the tree out, once for each tree.
    [[nodiscard]] Result<std::map<std::string, std::string>> behind_links(const Language& language, const std::string& tree);

private:
    TreeCheckout& checkout_;
    std::map<std::string, std::map<std::string, std::string>> behind_;  ///< Cache of behind_links, by tree.
};

}  // namespace agentforge::kernel
