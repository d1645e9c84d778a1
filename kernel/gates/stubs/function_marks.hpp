// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gates/engine/current_call.hpp"
#include "gates/language/language.hpp"
#include "gates/run/language_commands.hpp"

namespace agentforge::kernel {

/// The changed sources: their contents and the numbers of their changed lines.
struct ChangedSources {
    std::map<std::string, std::string> contents;
    std::map<std::string, std::set<std::uint64_t>> lines;
};
/// Errors: git's own.
[[nodiscard]] Result<ChangedSources> changed_sources(TreeCheckout& checkout, const Language& language,
                                                     const std::string& red_tree, const std::string& tree);

/// Returns the names of the functions with a statement that raises an error. A removal may take such a check away.
[[nodiscard]] std::set<std::string> refusing_functions(std::string_view text, const CodeRules& rules);

/// What a changed function does first when it is called.
enum class Mark : unsigned char {
    end_test = 1,  ///< Ends the calling test.
    fail_test,     ///< Fails the calling test and goes on: for languages that have StubRules::failed.
    idle,          ///< Something without effect: for languages with a command `stubs`.
};

/// Marks functions in sources, so that a run shows which tests reach them. Each function returns the altered files: path and
/// content. Writes no file; runs nothing but the language's command `stubs`, if there is one. Errors: git's own; AF-GATE-003 and
/// AF-GATE-005 of the command.
class FunctionMarks {
public:
    /// All must outlive the object.
    FunctionMarks(TreeCheckout& checkout, LanguageCommands& commands, const CurrentCall& current)
        : checkout_(checkout), commands_(commands), current_(current) {}

    /// Marks the stubs of a tree's sources, and the functions that the call's specification declares. If the request asks to
    /// remove something, also functions that refuse something, in the files that the specification names.
    [[nodiscard]] Result<std::map<std::string, std::string>> marked_stubs(const Language& language, const std::string& tree,
                                                                          const Stop& stop);
    /// Returns the names of all functions, by file, in the files that the specification names. Empty for a language whose
    /// functions cannot be marked.
    [[nodiscard]] Result<std::map<std::string, std::set<std::string>>> functions_to_change(const Language& language,
                                                                                           const std::string& tree);
    /// Marks these functions of a tree, and the stubs of their files.
    [[nodiscard]] Result<std::map<std::string, std::string>> marked_named(
        const Language& language, const std::string& tree, const std::map<std::string, std::set<std::string>>& named,
        const Stop& stop);
    /// The same as `marked_stubs` for these contents. Functions in `named` for their file count as stubs, whatever they do.
    [[nodiscard]] Result<std::map<std::string, std::string>> marked_in(const Language& language,
                                                                       const std::map<std::string, std::string>& contents,
                                                                       const std::map<std::string, std::set<std::string>>& named,
                                                                       const Stop& stop);
    /// Marks the changed functions.
    [[nodiscard]] Result<std::map<std::string, std::string>> marked_changes(const Language& language,
                                                                            const ChangedSources& sources, Mark mark,
                                                                            const Stop& stop);

private:
    /// With the language's command `stubs`. `input`: what it reads besides the marker.
    [[nodiscard]] Result<std::map<std::string, std::string>> marked_by_command(const Language& language, json::object input,
                                                                               const Stop& stop);

    TreeCheckout& checkout_;
    LanguageCommands& commands_;
    const CurrentCall& current_;
};

}  // namespace agentforge::kernel
