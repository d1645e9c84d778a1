// SPDX-License-Identifier: Apache-2.0
#include "program/command_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/text.hpp"
#include "program/grammar.hpp"
#include "program/program.hpp"
#include "program/suggestions.hpp"
#include "program/terminal/display.hpp"
#include "program/usage_problem.hpp"

namespace agentforge::kernel {

namespace {

CLI::App& app_of(const Command& command) { return command; }

bool is_blank(const std::string& value) { return value.find_first_not_of(" \t\r\n") == std::string::npos; }

template <class Number>
std::optional<Number> converted(const std::string& value) {
    Number number{};
    return CLI::detail::lexical_cast(value, number) ? std::optional(number) : std::nullopt;  // Converts as the parser does.
}

/// `0.05`, `1000`.
std::string shortest(double number) {
    std::array<char, 400> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed).ptr;
    return {digits.data(), end};
}

WrongValue not_a_choice(const std::string& name, const std::string& value, const std::vector<std::string>& choices) {
    std::string all;
    for (const std::string& each : choices) { all += (all.empty() ? "" : ", ") + each; }
    const std::string near = nearest(value, choices);
    return WrongValue("`" + printable(value, 400) + "` is not a value of " + name,
                      near.empty() ? "use one of " + all : "did you mean `" + near + "`?");
}

WrongValue not_a_number(const std::string& name, const std::string& value) {
    const auto number = converted<double>(value);
    const bool needs_whole = number && std::isfinite(*number);
    return WrongValue(name + (needs_whole ? " takes a whole number, not `" : " takes a number, not `") + printable(value, 400) +
                      "`");
}

}  // namespace

/// The allowed values of an option.
struct ValueRule {
    enum class Kind : unsigned char { text = 1, number, whole_number };
    struct Bounds {
        double low = 0;
        double high = 0;
        std::string text;  ///< `above 0`
    };

    Kind kind = Kind::text;
    bool may_be_empty = false;
    std::vector<std::string> choices;  ///< Empty: any.
    std::optional<Bounds> bounds;

    /// Throws WrongValue.
    void check(const std::string& name, const std::string& value) const;
};

void ValueRule::check(const std::string& name, const std::string& value) const {
    if (!may_be_empty && is_blank(value)) { throw empty_value(name); }
    if (!choices.empty() && std::ranges::find(choices, value) == choices.end()) { throw not_a_choice(name, value, choices); }
    if (bounds) {
        const auto number = converted<double>(value);
        if (!number || !(*number >= bounds->low && *number <= bounds->high)) {
            throw WrongValue(name + " cannot be " + printable(value, 400) + "; it must be " + bounds->text);
        }
    }
    constexpr double largest_whole = 1e15;
    if (kind == Kind::whole_number && converted<double>(value).value_or(0) > largest_whole) {
        throw WrongValue(name + " cannot be " + printable(value, 400) + "; it is too large");
    }
    const bool is_number = kind == Kind::whole_number ? converted<std::uint64_t>(value).has_value()
                                                      : kind == Kind::text || converted<double>(value).has_value();
    if (!is_number) { throw not_a_number(name, value); }
}

namespace {

constexpr const char* rule_name = "rule";

/// Gives an option its rule. The parser checks each value against it before it converts the value.
Option with_rule(CLI::Option* option, ValueRule::Kind kind) {
    const auto rule = std::make_shared<ValueRule>();
    rule->kind = kind;
    const auto check = [option, rule](const std::string& value) {
        rule->check(name_in_help(*option), value);
        return std::string();
    };
    option->check(check, "", rule_name);
    return Option(option, rule);
}

class OwnHelp final : public CLI::Formatter {
public:
    std::string make_usage(const CLI::App* app, std::string) const override {
        return "Usage: " + read_grammar(*app).usage() + "\n";
    }
    std::string make_option_name(const CLI::Option* option, bool positional) const override {
        return positional ? value_in_help(*option) : option->get_name(false, true);
    }
    std::string make_option_opts(const CLI::Option* option) const override {
        return option->get_positional() || !takes_value(*option) ? "" : " " + value_in_help(*option);
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
    rule_->choices = words;
    std::string all;
    for (const std::string& word : words) { all += (all.empty() ? "" : ",") + word; }
    option_->get_validator(rule_name)->description("{" + all + "}");  // Part of the option's type name: grammar.cpp reads it.
    return this;
}

const Option* Option::positive() const {
    rule_->bounds = {std::numeric_limits<double>::min(), std::numeric_limits<double>::max(), "above 0"};
    return this;
}

const Option* Option::between(double low, double high) const {
    rule_->bounds = {low, high, "between " + shortest(low) + " and " + shortest(high)};
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
    rule_->may_be_empty = true;
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
    return with_rule(app_of(command).add_option(name, variable, description), ValueRule::Kind::text);
}

Option add_option(const Command& command, const std::string& name, double& variable, const std::string& description) {
    return with_rule(app_of(command).add_option(name, variable, description), ValueRule::Kind::number);
}

Option add_option(const Command& command, const std::string& name, std::uint64_t& variable, const std::string& description) {
    return with_rule(app_of(command).add_option(name, variable, description), ValueRule::Kind::whole_number);
}

Option add_option(const Command& command, const std::string& name, std::vector<std::string>& variable,
                  const std::string& description) {
    return with_rule(app_of(command).add_option(name, variable, description), ValueRule::Kind::text);
}

Option add_option_function(const Command& command, const std::string& name, const std::function<void(const std::string&)>& use,
                           const std::string& description) {
    return with_rule(app_of(command).add_option_function<std::string>(name, use, description), ValueRule::Kind::text);
}

Option add_flag(const Command& command, const std::string& name, bool& variable, const std::string& description) {
    return Option(app_of(command).add_flag(name, variable, description));
}

Option add_flag_callback(const Command& command, const std::string& name, const std::function<void()>& use,
                         const std::string& description) {
    return Option(app_of(command).add_flag_callback(name, use, description));
}

}  // namespace agentforge::kernel
