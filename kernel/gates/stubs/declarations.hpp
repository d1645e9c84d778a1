// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <agentforge/stage.hpp>

#include "gates/engine/source_checks.hpp"

namespace agentforge::kernel {

/// Adds a specification's declarations to a tree before RED, and checks that they compile. Tries each tree and interfaces once;
/// never writes into the tree.
class Declarations {
public:
    /// All must outlive the object.
    Declarations(TreeCheckout& checkout, TreeLanguages& languages, LanguageCommands& commands, SourceChecks& checks)
        : checkout_(checkout), languages_(languages), commands_(commands), checks_(checks) {}

    /// Returns path and content of the files with the interfaces declared. If a declaration replaces lines of the project, also
    /// those whose functions became stubs because they no longer compile. Errors: AF-GATE-030 an interface cannot be declared; of
    /// TreeLanguages and SourceChecks.
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> skeleton(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop);
    /// Declares the interfaces and compiles or checks the result. Errors: AF-GATE-030, with the compiler's message; those of
    /// `skeleton` and the checks.
    [[nodiscard]] Result<void> try_skeleton(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                            const Stop& stop);

private:
    /// Path → content.
    using DeclaredFiles = std::map<std::string, std::string>;
    /// A specification's declarations, added to a tree.
    struct Declared {
        /// Turns callers of changed functions into stubs if the tree would not compile otherwise.
        DeclaredFiles files;
        std::vector<Violation> errors;  ///< New compiler errors that no stub removes.
    };
    /// Computed once for each tree and interfaces. Errors: those of `skeleton` and the checks.
    [[nodiscard]] Result<const Declared*> declared(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                                   const Stop& stop);
    /// Returns only the files of the declarations; compiles nothing. Errors: AF-GATE-030.
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> declarations(
        const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop);
    /// True if a declaration replaces lines of the project's files: after a changed signature, the body may no longer fit.
    [[nodiscard]] Result<bool> replaces_lines(const std::string& tree, const DeclaredFiles& files);
    /// Turns functions that the declarations break into stubs. Keeps remaining errors if they prevent tests from running.
    [[nodiscard]] Result<void> stub_broken_callers(const TypeChecker& checker, const std::string& tree, Declared& result,
                                                   const Stop& stop);
    /// Turns the project's functions that contain these errors into stubs in `files`. Returns whether there were any.
    [[nodiscard]] Result<bool> stub_callers(const Language& language, const std::string& tree,
                                            const std::vector<Violation>& errors, DeclaredFiles& files);
    [[nodiscard]] Result<std::vector<Violation>> errors_with_declarations(const Language& language, const TypeChecker& checker,
                                                                          const std::string& tree, const DeclaredFiles& files,
                                                                          const Stop& stop);

    TreeCheckout& checkout_;
    TreeLanguages& languages_;
    LanguageCommands& commands_;
    SourceChecks& checks_;
    std::map<std::string, Declared> declared_;  ///< By tree and interfaces.
};

}  // namespace agentforge::kernel
