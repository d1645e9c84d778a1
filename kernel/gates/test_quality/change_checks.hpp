// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gates/engine/current_call.hpp"
#include "gates/language/tree_languages.hpp"
#include "gates/stubs/function_marks.hpp"

namespace agentforge::kernel {

/// Reads from recorded trees what a task's change is made of: code or only documents, removed functions, values of the tests.
/// Runs no test and keeps no state. The calls need a baseline. Errors of all functions: of TreeLanguages; git's own.
class ChangeChecks {
public:
    /// All must outlive the object.
    ChangeChecks(TreeCheckout& checkout, TreeLanguages& languages, FunctionMarks& marks, const CurrentCall& current)
        : checkout_(checkout), languages_(languages), marks_(marks), current_(current) {}

    /// Returns a file that differs from the user's commit in more than tests, documentation and comments, or nothing.
    [[nodiscard]] Result<std::optional<std::string>> changed_code(const GateCall& call);
    /// Returns functions of the user's commit that no changed file contains any more, unless the request or the specification
    /// names them: `file: name`. Skips names that begin with `_`.
    [[nodiscard]] Result<std::vector<std::string>> removed_functions(const GateCall& call);
    /// Returns changed files that are neither code, tests, documentation nor locks of dependencies, and that neither the request
    /// nor the specification names.
    [[nodiscard]] Result<std::vector<std::string>> unnamed_files(const GateCall& call);
    /// Returns what the request names exactly (`exact_names`) and what neither the specification (without its title and
    /// description) nor these tests name, nor the paths of the change. Leaves out what the change removed from the code.
    [[nodiscard]] Result<std::vector<std::string>> unmentioned_names(const GateCall& call, const std::vector<std::string>& tests);
    /// Returns data files that were added after RED and that RED's tests name: `test file names data file`.
    [[nodiscard]] Result<std::vector<std::string>> tests_naming_new_data(const GateCall& call, const std::string& red_tree,
                                                                         const std::vector<std::string>& tests);
    /// Returns the changed lines of code that repeat values of these test files: `file:line repeats …`.
    [[nodiscard]] Result<std::vector<std::string>> repeats_of_tests(const std::string& red_tree, const std::string& tree,
                                                                    const std::vector<std::string>& tests);
    /// Returns the places of skeletons that are still in the tree, and of the project's own stubs that the specification declares
    /// and GREEN did not implement: `file:line`. Errors: also of FunctionMarks.
    [[nodiscard]] Result<std::vector<std::string>> skeletons_left(const GateCall& call, const Stop& stop);

private:
    [[nodiscard]] Result<void> add_unwritten_stubs(const GateCall& call, const Language& language,
                                                   std::vector<std::string>& places, const Stop& stop);

    TreeCheckout& checkout_;
    TreeLanguages& languages_;
    FunctionMarks& marks_;
    const CurrentCall& current_;
};

}  // namespace agentforge::kernel
