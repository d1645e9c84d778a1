// SPDX-License-Identifier: Apache-2.0
// Describes words that fit no command. The type of the parser's exception gives the kind of problem; the options and the words
// give the rest. Does not read the parser's messages, because they are English and change with its version.
#pragma once

#include <CLI/Error.hpp>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace agentforge::kernel {

/// A value that its option or argument does not accept. Our own checks throw it through the parser, with the finished message.
class WrongValue final : public CLI::ParseError {
public:
    /// `remedy`: a question or a clause, without the text that follows it. May be empty.
    explicit WrongValue(const std::string& message, std::string remedy = {})
        : ParseError(message, CLI::ExitCodes::ValidationError), message_(message), remedy_(std::move(remedy)) {}
    [[nodiscard]] const std::string& message() const noexcept { return message_; }
    [[nodiscard]] const std::string& remedy() const noexcept { return remedy_; }

private:
    std::string message_;
    std::string remedy_;
};

/// `name`: as from `name_in_help`.
[[nodiscard]] WrongValue empty_value(const std::string& name);

/// Returns an option's name (`--step`, `-C`), or an argument's name as in the help (`TASK`).
[[nodiscard]] std::string name_in_help(const CLI::Option& option);
/// Returns the placeholder of an option's value (`N`), or its choices if it has no name of its own (`text|json`).
[[nodiscard]] std::string value_in_help(const CLI::Option& option);
/// False for a flag.
[[nodiscard]] bool takes_value(const CLI::Option& option);
/// Returns the deepest command that was parsed before the problem.
[[nodiscard]] const CLI::App& innermost(const CLI::App& app);
/// Returns the command's name with those of its groups: `agentforge plugins list`.
[[nodiscard]] std::string full_name(const CLI::App& app);
/// Returns the names and aliases of the commands below `app`, without hidden ones.
[[nodiscard]] std::vector<std::string> command_names(const CLI::App& app);

/// Returns the flag of a word `--flag=` without a value: the parser would take the next word as its value.
[[nodiscard]] std::string flag_with_empty_value(const std::vector<std::string>& words);
/// Returns the usage error for an unknown word where a command is expected. Empty: every command is known.
[[nodiscard]] std::optional<Error> no_such_command(const CLI::App& app, const std::vector<std::string>& words);
/// Returns the usage error for words that fit no command's grammar. `app` threw `problem` when it parsed `words`.
[[nodiscard]] Error usage_problem(const CLI::App& app, const CLI::ParseError& problem, const std::vector<std::string>& words);

}  // namespace agentforge::kernel
