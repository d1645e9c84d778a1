// SPDX-License-Identifier: Apache-2.0
// The program's grammar as data, read from the commands themselves: what completions, man pages, docs/cli.md and the
// suggestions after a typing error are made of.
#pragma once

#include <string>
#include <vector>

#include <agentforge/json.hpp>

namespace CLI {
class App;
}

namespace agentforge::kernel {

struct GrammarOption {
    std::vector<std::string> names;    ///< "--quiet", "-q", longest first; of a positional its one name.
    std::string value;                 ///< What stands for its value: "STAGE"; empty: it takes none.
    std::vector<std::string> choices;  ///< All values there are, where it has a list.
    std::string description;
    bool positional = false;
    bool required = false;
    bool repeatable = false;
};

struct GrammarCommand {
    std::string name;  ///< "agentforge plugins list"
    std::string description;
    std::vector<std::string> aliases;      ///< Other words for it: "ps".
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
/// The command that the words name below `top`; null where there is none.
[[nodiscard]] const GrammarCommand* find_command(const GrammarCommand& top, const std::vector<std::string>& words);

[[nodiscard]] json::object to_json(const GrammarCommand& command);
/// A page of the manual (man(7) macros). `top` is the whole program: its options hold for each command.
[[nodiscard]] std::string man_page(const GrammarCommand& command, const GrammarCommand& top, std::string_view version);

/// A script that completes the program's words in this shell: bash, zsh or fish.
[[nodiscard]] std::string completion_script(const GrammarCommand& program, std::string_view shell);

}  // namespace agentforge::kernel
