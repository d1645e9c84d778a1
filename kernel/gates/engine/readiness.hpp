// SPDX-License-Identifier: Apache-2.0
// Preflight: reports what gates need in a tree and on this machine, before a task costs anything.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

#include "gates/engine/scopes.hpp"
#include "gates/language/language.hpp"
#include "gates/run/language_commands.hpp"

namespace agentforge::kernel {

/// A program that a language's checks run (`tools` of the language's file). Found in the same way as the commands find it.
struct ToolState {
    std::string name;                  ///< The language's name for it: `cargo`.
    std::string program;               ///< The program that is run: from `gates.programs`, or fetched by setup; else the name.
    std::string use;                   ///< Its purpose: `tests`.
    std::string install;               ///< How to install it.
    std::vector<std::string> version;  ///< Arguments that make it print its version.
    bool needed = true;                ///< False: without it a check is skipped with a note.
    bool found = false;
    std::vector<std::string> probe = {};  ///< Arguments with which the program reports whether it has what `name` names.
    bool unsupported = false;             ///< The project names it as its test runner, but it cannot be measured: never found.

    /// Returns what is missing if the tool was not found: the program, or the package that the program was asked for.
    [[nodiscard]] const std::string& wanted() const { return probe.empty() && !unsupported ? program : name; }
};

struct ScopeReadiness {
    std::string directory;  ///< Empty: the whole tree.
    std::string language;
    std::string runner;            ///< Empty: nothing in the tree says how its tests are run.
    std::size_t source_files = 0;  ///< Not counting tests.
    std::size_t test_files = 0;
    std::vector<ToolState> tools;
    std::vector<SetupStep> setup;  ///< Dependencies that its lockfiles name.
};

struct GateReadiness {
    std::vector<ScopeReadiness> scopes;  ///< None: the tree has no language yet that a gate supports.
};

/// Returns the tools of a language for one tree, without those of other runners. A language that lists none needs the programs of
/// its commands.
[[nodiscard]] std::vector<ToolState> tools_of(const Language& language, const TestRunner* runner, const GateSettings& settings,
                                              const std::map<std::string, std::string>& fetched,
                                              const std::map<std::string, std::string>& environment);

/// Checks that the settings fit the languages of the tree. Errors (`invalid`, `where` is the setting's key):
/// AF-GATE-060 a language runs its tests by `gates.command`, which is not set; AF-GATE-140 it is set, but no language in use runs
/// it; AF-GATE-141 `gates.programs` names a program that no language runs; AF-GATE-142 its program is missing and a language in
/// use needs it; AF-GATE-143 a folder of `gates.readable` is missing or not absolute.
[[nodiscard]] Result<void> check_settings_of_gates(const GateSettings& settings,
                                                   const std::map<std::string, Language, std::less<>>& languages,
                                                   const std::vector<std::pair<const Language*, const TestRunner*>>& used);

/// Returns the first error that would stop the gates of a tree. Errors (`unavailable`): AF-GATE-144 a required program is not
/// installed, in any scope (a scope without its toolchain is skipped if another can be measured); AF-GATE-100 dependencies are
/// missing.
[[nodiscard]] Result<void> check_can_measure(const GateReadiness& readiness, const std::string& setup);

/// True if the fault is in files or settings that no role may write. The next attempt would fail in the same way, so the task
/// waits for the user.
[[nodiscard]] bool is_for_user_to_fix(const Error& error);

}  // namespace agentforge::kernel
