// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "gates/engine/built_trees.hpp"
#include "gates/language/tree_languages.hpp"
#include "gates/run/language_commands.hpp"

namespace agentforge::kernel {

/// The gates `syntax` and `types`, and the compiler's errors of a tree. Errors of all functions: AF-GATE-002; AF-GATE-003 a
/// program is missing or failed; AF-GATE-005 cancelled; git's and the sandbox's own.
class SourceChecks {
public:
    /// All must outlive the object.
    SourceChecks(TreeCheckout& checkout, TreeLanguages& languages, LanguageCommands& commands, const CurrentCall& current,
                 BuiltTrees& built)
        : checkout_(checkout), languages_(languages), commands_(commands), current_(current), built_(built) {}

    [[nodiscard]] Result<GateReport> syntax(const GateCall& call, const Stop& stop);
    /// Passes if no type checker is declared or installed; the fact `type_check` tells.
    [[nodiscard]] Result<GateReport> types(const GateCall& call, const Stop& stop);
    /// Runs the checker on a tree with the commands' overlay. Without a program, builds the tree: once, unless there is an
    /// overlay. Sets `installed` to whether the checker's program is; leaves it unchanged for a build.
    [[nodiscard]] Result<std::vector<Violation>> compile_errors(const Language& language, const TypeChecker& checker,
                                                                const std::string& tree, const Stop& stop, bool& installed);

private:
    [[nodiscard]] Result<std::vector<Violation>> type_errors(const Language& language, const TypeChecker& checker,
                                                             const std::string& tree, const Stop& stop, bool& installed);
    [[nodiscard]] Result<std::vector<Violation>> build_errors(const Language& language, const TypeChecker& checker,
                                                              const std::string& tree, const Stop& stop);
    /// Runs the language's syntax command on these files and returns its messages by its `error` pattern.
    [[nodiscard]] Result<std::vector<Violation>> syntax_errors(const Language& language, const LanguageCommand& command,
                                                               const std::string& tree, const std::vector<std::string>& files,
                                                               const Stop& stop);

    TreeCheckout& checkout_;
    TreeLanguages& languages_;
    LanguageCommands& commands_;
    const CurrentCall& current_;
    BuiltTrees& built_;
};

}  // namespace agentforge::kernel
