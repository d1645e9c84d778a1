// SPDX-License-Identifier: Apache-2.0
// What gates will need of a tree and of this machine, told before a task costs anything.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

#include "gates/engine/scopes.hpp"
#include "gates/language/language.hpp"
#include "gates/run/commands.hpp"

namespace agentforge::kernel {

/// A program that a language's checks run (`tools` of the language's file), looked for where the commands will look.
struct ToolState {
    std::string name;                  ///< As the language calls it: `cargo`.
    std::string program;               ///< What is run in its place: `gates.programs`, or what setup fetched; else the name.
    std::string use;                   ///< What it is there for: `tests`.
    std::string install;               ///< How one gets it.
    std::vector<std::string> version;  ///< Arguments that make it say its version.
    bool needed = true;                ///< False: without it a check is left out and says so.
    bool found = false;
    std::vector<std::string> probe = {};  ///< Arguments with which the program says whether it has what `name` names.
    bool unsupported = false;             ///< The project names it as its test runner, and it cannot be measured: never found.

    /// What is missing if the tool was not found: the program, or what the program was asked for.
    [[nodiscard]] const std::string& wanted() const { return probe.empty() && !unsupported ? program : name; }
};

struct ScopeReadiness {
    std::string directory;  ///< Empty: the whole tree.
    std::string language;
    std::string runner;            ///< Empty: nothing in the tree says how its tests are run.
    std::size_t source_files = 0;  ///< Without tests.
    std::size_t test_files = 0;
    std::vector<ToolState> tools;
    std::vector<SetupStep> setup;  ///< Dependencies that its lockfiles name.
};

struct GateReadiness {
    std::vector<ScopeReadiness> scopes;  ///< None: the tree has no language yet that a gate is there for.
};

/// The tools of a language for one tree, those of other runners left out. A language that names none has the programs of its
/// commands.
[[nodiscard]] std::vector<ToolState> tools_of(const Language& language, const TestRunner* runner, const GateSettings& settings,
                                              const std::map<std::string, std::string>& fetched,
                                              const std::map<std::string, std::string>& environment);

/// Whether the settings mean anything to the languages that judge the tree. Errors (`invalid`, `where` is the setting's key):
/// AF-GATE-060 a language runs its tests by `gates.command`, which is not set; AF-GATE-140 that is set and no language in use
/// runs it; AF-GATE-141 `gates.programs` names a program that no language runs; AF-GATE-142 its program is not there, though a
/// language in use needs it; AF-GATE-143 a folder of `gates.readable` is not there or not absolute.
[[nodiscard]] Result<void> check_settings_of_gates(const GateSettings& settings,
                                                   const std::map<std::string, Language, std::less<>>& languages,
                                                   const std::vector<std::pair<const Language*, const TestRunner*>>& used);

/// What stops the gates of a tree, as the first refusal that they would come to. Errors (`unavailable`): AF-GATE-144 a program
/// that is needed is not installed, in every scope (a scope without its toolchain is left out where another can be measured);
/// AF-GATE-100 dependencies are not there.
[[nodiscard]] Result<void> check_can_measure(const GateReadiness& readiness, const std::string& setup);

/// Something is wrong with files or settings that no role may write: the next attempt would find the same, so the task waits for
/// the user.
[[nodiscard]] bool is_the_users_to_mend(const Error& error);

}  // namespace agentforge::kernel
