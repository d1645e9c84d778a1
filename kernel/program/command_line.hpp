// SPDX-License-Identifier: Apache-2.0
// The part of CLI11 that commands use, compiled once. CLI11's header has a large amount of inline code, which every file
// that includes it compiles again. Handles can be copied; the objects behind them live in the application.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace agentforge::kernel {

struct ValueRule;

/// An option or a positional. Its functions are CLI::Option's if they have the same names.
class Option {
public:
    /// `rule`: the constraint on its values. Null for a flag.
    explicit Option(CLI::Option* option, std::shared_ptr<ValueRule> rule = nullptr) noexcept
        : option_(option), rule_(std::move(rule)) {}
    const Option* operator->() const noexcept { return this; }

    const Option* required() const;
    const Option* type_name(const std::string& name) const;
    const Option* one_of(std::initializer_list<std::string> words) const;
    const Option* positive() const;
    const Option* between(double low, double high) const;
    const Option* needs(const std::string& other) const;
    const Option* excludes(const Option& other) const;
    const Option* hidden() const;        ///< Not in the help.
    const Option* repeatable() const;    ///< May be repeated. Each occurrence takes one word.
    const Option* may_be_empty() const;  ///< An empty value has a meaning, or the command itself reports the error.

private:
    CLI::Option* option_;
    std::shared_ptr<ValueRule> rule_;
};

/// A command, or the application.
class Command {
public:
    Command(CLI::App& app) noexcept : app_(&app) {}
    operator CLI::App&() const noexcept { return *app_; }
    const Command* operator->() const noexcept { return this; }
    const Command& operator*() const noexcept { return *this; }

    const Command* footer(const std::string& text) const;
    /// Other names that the command answers to; the help lists them.
    const Command* aliases(std::initializer_list<std::string> names) const;
    const Command* callback(std::function<void()> run) const;
    const Command* require_subcommand() const;
    const Command* hidden() const;  ///< Not in the help.

private:
    CLI::App* app_;
};

struct Program;
/// --json, --output-format and --quiet, the same for every command that runs a task.
void add_run_output(const Command& command, Program& program);

/// Returns the help text: values by their names, choices spelled out, without details of the parser. `columns`: the width of
/// the terminal.
void use_own_help(const Command& app, std::size_t columns);

// A variable must live as long as the command line. An empty value, for example from an unset shell variable, is a usage
// error: otherwise it would look like an option that was not given.
Command add_subcommand(const Command& command, const std::string& name, const std::string& description);
Option add_option(const Command& command, const std::string& name, std::string& variable, const std::string& description);
Option add_option(const Command& command, const std::string& name, double& variable, const std::string& description);
Option add_option(const Command& command, const std::string& name, std::uint64_t& variable, const std::string& description);
Option add_option(const Command& command, const std::string& name, std::vector<std::string>& variable,
                  const std::string& description);
Option add_option_function(const Command& command, const std::string& name, const std::function<void(const std::string&)>& use,
                           const std::string& description);
Option add_flag(const Command& command, const std::string& name, bool& variable, const std::string& description = "");
Option add_flag_callback(const Command& command, const std::string& name, const std::function<void()>& use,
                         const std::string& description);

}  // namespace agentforge::kernel
