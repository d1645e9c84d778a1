// SPDX-License-Identifier: Apache-2.0
// The program's grammar as data, read from the commands themselves. Completions, man pages, docs/cli.md and the
// suggestions for typos are generated from it.
#pragma once

#include <string>
#include <vector>

#include <agentforge/json.hpp>

namespace CLI {
class App;
}

namespace agentforge::kernel {

struct GrammarOption {
    std::vector<std::string> names;    ///< "--quiet", "-q", longest first; for a positional, its only name.
    std::string value;                 ///< The placeholder of its value, such as "STAGE". Empty: it takes no value.
    std::vector<std::string> choices;  ///< The allowed values, if they are listed.
    std::string description;
    bool positional = false;
    bool required = false;
    bool repeatable = false;
};

struct GrammarCommand {
    std::string name;  ///< "agentforge plugins list"
    std::string description;
    std::vector<std::string> aliases;      ///< Other names, such as "ps".
    std::string footer;                    ///< Its examples, as the help shows them.
    std::vector<GrammarOption> options;    ///< Positionals first, in their order. Hidden ones are left out, `--help` too.
    std::vector<GrammarCommand> commands;  ///< Of a group.

    /// Its own word: "list".
    [[nodiscard]] std::string word() const;
    /// "agentforge start [OPTIONS] REQUEST"
    [[nodiscard]] std::string usage() const;
};

/// Hidden commands are left out.
[[nodiscard]] GrammarCommand read_grammar(const CLI::App& app);
/// Returns the command below `top` that the words name. Null if there is none.
[[nodiscard]] const GrammarCommand* find_command(const GrammarCommand& top, const std::vector<std::string>& words);

[[nodiscard]] json::object to_json(const GrammarCommand& command);
/// Returns a manual page (man(7) macros). `top` is the whole program: its options apply to every command.
[[nodiscard]] std::string man_page(const GrammarCommand& command, const GrammarCommand& top, std::string_view version);

/// A script that completes the program's words in this shell: bash, zsh or fish.
[[nodiscard]] std::string completion_script(const GrammarCommand& program, std::string_view shell);

}  // namespace agentforge::kernel
