// SPDX-License-Identifier: Apache-2.0
#include "program/command_line.hpp"

#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>

#include "program/grammar.hpp"
#include "program/program.hpp"

namespace agentforge::kernel {

namespace {

CLI::App& app_of(const Command& command) { return command; }

/// The check that an option begins with; the message is put into our words where the usage error is made (program.cpp).
Option filled(CLI::Option* option) {
    option->check(
        [](const std::string& value) {
            return value.find_first_not_of(" \t\r\n") == std::string::npos ? std::string(empty_value) : std::string();
        },
        "", "filled");
    return Option(option);
}

class OwnHelp final : public CLI::Formatter {
public:
    std::string make_usage(const CLI::App* app, std::string) const override {
        return "Usage: " + read_grammar(*app).usage() + "\n";
    }
    std::string make_option_name(const CLI::Option* option, bool positional) const override {
        return positional ? value_of(*option) : option->get_name(false, true);
    }
    std::string make_option_opts(const CLI::Option* option) const override {
        const bool takes_value = option->get_expected_max() > 0 && option->get_type_size_max() > 0;
        return option->get_positional() || !takes_value ? "" : " " + value_of(*option);
    }

private:
    /// "N:POSITIVE" → "N"; "TEXT:{bash,zsh}" → "bash|zsh".
    static std::string value_of(const CLI::Option& option) {
        const std::string type = option.get_type_name();
        const auto colon = type.find(':');
        if (type.compare(0, 6, "TEXT:{") != 0) { return type.substr(0, colon); }
        std::string choices = type.substr(colon + 2, type.rfind('}') - colon - 2);
        std::replace(choices.begin(), choices.end(), ',', '|');
        return choices;
    }
};

}  // namespace

void add_run_output(const Command& command, Program& program) {
    const Option json = add_flag(command, "--json", program.json_output,
                                 "Print the result as JSON, without progress; the same as --output-format json");
    add_option_function(
        command, "--output-format",
        [&program](const std::string& format) {
            program.json_output = format != "text";
            program.stream_output = format == "stream-json";
        },
        "Output format; stream-json prints each event as it happens, one JSON object a line, the result last")
        ->one_of({"text", "json", "stream-json"})
        ->excludes(json);
    add_flag(command, "--quiet,-q", program.quiet, "Do not show progress");
}

void use_own_help(const Command& app, std::size_t columns) {
    const auto help = std::make_shared<OwnHelp>();
    if (columns < 80) { help->column_width(columns / 3); }
    app_of(app).formatter(help);
}

const Option* Option::required() const {
    option_->required();
    return this;
}

const Option* Option::type_name(const std::string& name) const {
    option_->type_name(name);
    return this;
}

const Option* Option::one_of(std::initializer_list<std::string> words) const {
    option_->check(CLI::IsMember(std::vector<std::string>(words)));
    return this;
}

const Option* Option::positive() const {
    option_->check(CLI::PositiveNumber);
    return this;
}

const Option* Option::between(double low, double high) const {
    option_->check(CLI::Range(low, high));
    return this;
}

const Option* Option::needs(const std::string& other) const {
    option_->needs(other);
    return this;
}

const Option* Option::excludes(const Option& other) const {
    option_->excludes(other.option_);
    return this;
}

const Option* Option::hidden() const {
    option_->group("");
    return this;
}

const Option* Option::repeatable() const {
    option_->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return this;
}

const Option* Option::may_be_empty() const {
    option_->get_validator("filled")->active(false);
    return this;
}

const Command* Command::footer(const std::string& text) const {
    app_->footer(text);
    return this;
}

const Command* Command::aliases(std::initializer_list<std::string> names) const {
    for (const std::string& name : names) { app_->alias(name); }
    return this;
}

const Command* Command::callback(std::function<void()> run) const {
    app_->callback(std::move(run));
    return this;
}

const Command* Command::require_subcommand() const {
    app_->require_subcommand(1);
    return this;
}

const Command* Command::hidden() const {
    app_->group("");
    return this;
}

Command add_subcommand(const Command& command, const std::string& name, const std::string& description) {
    return *app_of(command).add_subcommand(name, description);
}

Option add_option(const Command& command, const std::string& name, std::string& variable, const std::string& description) {
    return filled(app_of(command).add_option(name, variable, description));
}

Option add_option(const Command& command, const std::string& name, double& variable, const std::string& description) {
    return filled(app_of(command).add_option(name, variable, description));
}

Option add_option(const Command& command, const std::string& name, std::uint64_t& variable, const std::string& description) {
    return filled(app_of(command).add_option(name, variable, description));
}

Option add_option(const Command& command, const std::string& name, std::vector<std::string>& variable,
                  const std::string& description) {
    return filled(app_of(command).add_option(name, variable, description));
}

Option add_option_function(const Command& command, const std::string& name, const std::function<void(const std::string&)>& use,
                           const std::string& description) {
    return filled(app_of(command).add_option_function<std::string>(name, use, description));
}

Option add_flag(const Command& command, const std::string& name, bool& variable, const std::string& description) {
    return Option(app_of(command).add_flag(name, variable, description));
}

Option add_flag_callback(const Command& command, const std::string& name, const std::function<void()>& use,
                         const std::string& description) {
    return Option(app_of(command).add_flag_callback(name, use, description));
}

}  // namespace agentforge::kernel
