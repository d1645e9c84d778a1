// SPDX-License-Identifier: Apache-2.0
#include "program/usage_problem.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "program/suggestions.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

/// Returns the long flags of a command and of the groups around it.
std::vector<std::string> long_flags(const CLI::App& app) {
    std::vector<std::string> flags;
    for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) {
        for (const CLI::Option* option : at->get_options()) {
            for (const std::string& name : option->get_lnames()) { flags.push_back("--" + name); }
        }
    }
    return flags;
}

/// Returns the option that a word names, also as `--flag=value` or `-xvalue`: one of the command or of a group around it.
const CLI::Option* option_named(const CLI::App& command, const std::string& word) {
    const std::string name = word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
    for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
        if (const CLI::Option* option = at->get_option_no_throw(name)) { return option; }
    }
    return nullptr;
}

/// Returns the option that takes the next word as its value: `--flag`, `-x`, or the last of `-qx`. Null if there is none.
const CLI::Option* waits_for_value(const CLI::App& command, const std::string& word) {
    if (word.starts_with("--")) {
        const CLI::Option* option = word.find('=') == std::string::npos ? option_named(command, word) : nullptr;
        return option != nullptr && takes_value(*option) ? option : nullptr;
    }
    for (std::size_t at = 1; at < word.size(); ++at) {
        const CLI::Option* option = option_named(command, {'-', word[at]});
        if (option == nullptr) { return nullptr; }
        if (takes_value(*option)) { return at + 1 == word.size() ? option : nullptr; }
    }
    return nullptr;
}

/// Returns the command's arguments without a flag, as in the help: `TASK`, `REQUEST`.
std::vector<std::string> arguments_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_positional()) { names.push_back(value_in_help(*option)); }
    }
    return names;
}

/// An unknown word where a command is expected.
struct UnknownCommand {
    const CLI::App* group = nullptr;  ///< The group that was expected to have the command. Null: every command is known.
    std::string word;
};

UnknownCommand unknown_command(const CLI::App& app, const std::vector<std::string>& words) {
    const CLI::App* at = &app;
    for (std::size_t index = 0; index < words.size() && words[index] != "--" && !command_names(*at).empty(); ++index) {
        const std::string& word = words[index];
        if (word.starts_with('-')) {
            if (waits_for_value(*at, word) != nullptr) { ++index; }
            continue;
        }
        const auto named = at->get_subcommands([&word](const CLI::App* each) { return each->check_name(word); });
        if (named.empty()) {
            // `agentforge audit TASK` beside `agentforge audit verify`: it is an argument unless it looks like a command.
            const bool is_argument =
                !arguments_of(*at).empty() && suggested_command(full_name(*at), word, command_names(*at)).empty();
            return is_argument ? UnknownCommand() : UnknownCommand{at, word};
        }
        at = named.front();
    }
    return {};
}

/// True if an argument of the command is a text that people write in their own words.
bool takes_texts(const CLI::App& command) {
    return std::ranges::any_of(arguments_of(command), [](const std::string& name) {
        return name == "REQUEST" || name == "PATH|REQUEST" || name == "COMMENT" || name == "ANSWER" || name == "VALUE" ||
               name == "TEXT";
    });
}

/// Returns a hint after words that the command does not take.
std::string hint_after_extras(const CLI::App& command) {
    if (takes_texts(command)) { return "; put several words in quotes"; }
    const std::vector<std::string> names = arguments_of(command);
    return names.size() == 1 ? "; it takes one " + names.front() : std::string();
}

/// Returns the first unknown option. Skips values of options and everything after `--`.
std::string unknown_option(const CLI::App& command, const std::vector<std::string>& words) {
    for (std::size_t index = 0; index < words.size() && words[index] != "--"; ++index) {
        const std::string& word = words[index];
        if (word.size() < 2 || word[0] != '-') { continue; }
        if (option_named(command, word) == nullptr) { return word; }
        if (waits_for_value(command, word) != nullptr) { ++index; }
    }
    return {};
}

// ---------------------------------------------------------------- what the parser's exception is about --
//
// The parser checks the groups around a command first, then the command, each in the order of its options, and throws at the
// first problem. So the first option with a problem of the exception's kind is the one that it is about.

/// Returns the options of the groups around a command and its own, in the order in which the parser checks them.
std::vector<const CLI::Option*> checked_options(const CLI::App& command) {
    std::vector<const CLI::Option*> options;
    if (command.get_parent() != nullptr) { options = checked_options(*command.get_parent()); }
    for (const CLI::Option* option : command.get_options()) { options.push_back(option); }
    return options;
}

bool is_given(const CLI::Option* option) { return option->count() > 0; }

const CLI::Option* missing_argument(const CLI::App& command) {
    const auto options = checked_options(command);
    const auto missing = std::ranges::find_if(options, [](const auto* each) { return each->get_required() && !is_given(each); });
    return missing == options.end() ? nullptr : *missing;
}

struct OptionPair {
    const CLI::Option* one = nullptr;
    const CLI::Option* other = nullptr;  ///< Null: there is no such pair.
};

/// Returns a given option and another given option that it excludes.
OptionPair excluding_pair(const CLI::App& command) {
    for (const CLI::Option* option : checked_options(command)) {
        const std::set<CLI::Option*> excluded = option->get_excludes();
        const auto other = std::ranges::find_if(excluded, is_given);
        if (is_given(option) && other != excluded.end()) { return {option, *other}; }
    }
    return {};
}

/// Returns a given option and one that it needs and that is not given.
OptionPair needing_pair(const CLI::App& command) {
    for (const CLI::Option* option : checked_options(command)) {
        const std::set<CLI::Option*> needed = option->get_needs();
        const auto other = std::ranges::find_if_not(needed, is_given);
        if (is_given(option) && other != needed.end()) { return {option, *other}; }
    }
    return {};
}

/// Returns the option after which the words end, although it takes a value.
const CLI::Option* option_without_value(const CLI::App& command, const std::vector<std::string>& words) {
    for (std::size_t index = 0; index < words.size() && words[index] != "--"; ++index) {
        if (!words[index].starts_with('-')) { continue; }
        const CLI::Option* option = waits_for_value(command, words[index]);
        if (option != nullptr && ++index == words.size()) { return option; }
    }
    return nullptr;
}

const CLI::Option* repeated_option(const CLI::App& command) {
    const auto options = checked_options(command);
    const auto repeated = std::ranges::find_if(options, [](const CLI::Option* option) {
        const auto most = static_cast<std::size_t>(std::max(option->get_items_expected_max(), 1));
        return option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw && option->count() > most;
    });
    return repeated == options.end() ? nullptr : *repeated;
}

/// A flag with a value other than yes or no, as in `--json=text`.
struct FlagValue {
    const CLI::Option* flag = nullptr;  ///< Null: there is none.
    std::string value;
};
FlagValue flag_value(const CLI::App& command) {
    for (const CLI::Option* option : checked_options(command)) {
        if (takes_value(*option)) { continue; }
        for (const std::string& value : option->results()) {
            bool answer = false;
            if (!CLI::detail::lexical_cast(value, answer)) { return {option, value}; }
        }
    }
    return {};
}

template <class Kind>
bool is(const CLI::ParseError& problem) {
    return dynamic_cast<const Kind*>(&problem) != nullptr;
}

/// Returns `--flag` in backticks, an argument's name without.
std::string quoted_name(const CLI::Option& option) {
    const std::string name = name_in_help(option);
    return name.starts_with('-') ? "`" + name + "`" : name;
}

std::string required_problem(const CLI::App& command) {
    const CLI::Option* missing = missing_argument(command);
    return "`" + full_name(command) + "` needs " + (missing == nullptr ? "a command" : name_in_help(*missing));
}

std::string mismatch_problem(const CLI::App& command, const std::vector<std::string>& words) {
    if (const CLI::Option* option = option_without_value(command, words)) {
        return "`" + option->get_name() + "` needs its value, " + value_in_help(*option);
    }
    const CLI::Option* repeated = repeated_option(command);
    return repeated == nullptr ? "" : quoted_name(*repeated) + " may be given only once";
}

std::string extras_problem(const CLI::App& command) {
    const CLI::App* top = &command;
    while (top->get_parent() != nullptr) { top = top->get_parent(); }
    std::string extras;
    for (const std::string& word : top->remaining(true)) { extras += (extras.empty() ? "" : " ") + printable(word, 400); }
    return "`" + full_name(command) + "` does not take `" + printable(extras, 400) + "`" + hint_after_extras(command);
}

/// Returns an empty text for a problem that a command line cannot have.
std::string problem_in_our_words(const CLI::App& command, const CLI::ParseError& problem, const std::vector<std::string>& words) {
    if (const auto* wrong = dynamic_cast<const WrongValue*>(&problem)) { return wrong->message(); }
    if (is<CLI::RequiredError>(problem)) { return required_problem(command); }
    if (is<CLI::ArgumentMismatch>(problem)) { return mismatch_problem(command, words); }
    if (is<CLI::ExtrasError>(problem)) { return extras_problem(command); }
    if (is<CLI::ExcludesError>(problem)) {
        const auto [one, other] = excluding_pair(command);
        return other == nullptr ? "" : quoted_name(*one) + " and " + quoted_name(*other) + " cannot be used together";
    }
    if (is<CLI::RequiresError>(problem)) {
        const auto [one, other] = needing_pair(command);
        return other == nullptr ? "" : quoted_name(*one) + " needs " + quoted_name(*other);
    }
    if (is<CLI::ConversionError>(problem)) {
        const auto [flag, value] = flag_value(command);
        return flag == nullptr ? "" : quoted_name(*flag) + " takes no value, but `" + printable(value, 400) + "` is given";
    }
    return {};
}

std::string parse_problem(const CLI::App& command, const CLI::ParseError& problem, const std::vector<std::string>& words) {
    std::string text = problem_in_our_words(command, problem, words);
    return text.empty() ? printable(problem.what(), 400) : text;
}

// ----------------------------------------------------------------------------------------- what may help --

/// Returns the words after the command's name as one text, if they were probably meant as one: the parser left over all but the
/// first.
std::string in_one_text(const CLI::App& command, const std::vector<std::string>& words, const std::vector<std::string>& rest) {
    if (arguments_of(command).size() != 1 || !takes_texts(command)) { return {}; }
    const auto name = std::ranges::find(words, command.get_name());
    // The name, the text's first word, and the remaining words.
    if (name == words.end() || static_cast<std::size_t>(words.end() - name) != rest.size() + 2) { return {}; }
    std::string text;
    for (auto word = name + 1; word != words.end(); ++word) {
        if (word->starts_with('-')) { return {}; }
        text += (text.empty() ? "" : " ") + *word;
    }
    return text;
}

/// Describes `word`, which begins like an option of the command and is none.
void name_unknown_option(Error& error, const CLI::App& command, const std::string& word) {
    const std::string name = full_name(command);
    const std::string option = word.substr(0, word.find('='));
    error.message = "`" + name + "` has no option `" + printable(option, 80) + "`";
    if (const std::string near = nearest(option, long_flags(command)); option.starts_with("--") && !near.empty()) {
        error.remedy = "did you mean `" + near + "`? " + error.remedy;
    } else if (word.find(' ') != std::string::npos && takes_texts(command)) {
        error.remedy = "put an argument that begins with `-` after `--`: " + name + " -- \"…\"; " + error.remedy;
    }
}

/// Describes arguments that the parser left over: an option in the wrong place, or a text without quotes.
void name_misplaced_words(Error& error, const CLI::App& app, const CLI::App& command, const std::vector<std::string>& words) {
    const std::string name = full_name(command);
    const std::vector<std::string> rest = app.remaining(true);
    const std::string first = rest.empty() ? std::string() : printable(rest.front(), 80);
    if (first.size() > 1 && first[0] == '-' && option_named(command, first) != nullptr) {
        const bool behind = std::find(words.begin(), words.end(), "--") < std::find(words.begin(), words.end(), first);
        error.message =
            behind ? "`" + first + "` is after `--`, where everything is text" : "`" + first + "` is before its command";
        error.remedy = (behind ? "put options before it: " : "put it after the command: ") + name + " " + first;
    } else if (const std::string quoted = in_one_text(command, words, rest); !quoted.empty()) {
        error.remedy = name + " \"" + printable(quoted, 200) + "\"; " + error.remedy;
    }
}

/// Describes a group of commands that was called without one.
void name_missing_command(Error& error, const CLI::App& command) {
    const std::string name = full_name(command);
    error.message = "`" + name + "` needs a command";
    std::string known;
    for (const std::string& each : command_names(command)) { known += (known.empty() ? "`" : ", `") + name + " " + each + "`"; }
    error.remedy = "use one of " + known;
}

}  // namespace

WrongValue empty_value(const std::string& name) {
    return WrongValue((name.starts_with('-') ? "the value of " + name : name) + " is empty",
                      "give it a value, or leave it out (an unset shell variable gives no value)");
}

std::string name_in_help(const CLI::Option& option) {
    const bool has_flag = !option.get_lnames().empty() || !option.get_snames().empty();
    const std::string word = has_flag ? std::string() : value_in_help(option);
    const bool is_plain = !word.empty() && word.find_first_of("| ") == std::string::npos;
    return is_plain ? word : option.get_name();
}

std::string value_in_help(const CLI::Option& option) {
    const std::string type = option.get_type_name();  // "N"; "SHELL:{bash,zsh}"; "TEXT:{bash,zsh}" if it has no name.
    if (!type.starts_with("TEXT:{")) { return type.substr(0, type.find(':')); }
    std::string choices = type.substr(6, type.rfind('}') - 6);
    std::ranges::replace(choices, ',', '|');
    return choices;
}

bool takes_value(const CLI::Option& option) { return option.get_expected_max() > 0 && option.get_type_size_max() > 0; }

const CLI::App& innermost(const CLI::App& app) {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? app : innermost(*parsed.front());
}

std::string full_name(const CLI::App& app) {
    return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
        names.push_back(command->get_name());
        for (const std::string& alias : command->get_aliases()) { names.push_back(alias); }
    }
    return names;
}

std::string flag_with_empty_value(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        if (word == "--") { break; }
        if (word.size() > 3 && word.starts_with("--") &&
            word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == word.size() - 1 && word.back() == '=') {
            return word.substr(0, word.size() - 1);
        }
    }
    return {};
}

std::optional<Error> no_such_command(const CLI::App& app, const std::vector<std::string>& words) {
    const UnknownCommand unknown = unknown_command(app, words);
    if (unknown.group == nullptr) { return std::nullopt; }
    const std::string name = full_name(*unknown.group);
    const std::string shown = printable(unknown.word, 80);
    const std::string suggested = suggested_command(name, unknown.word, command_names(*unknown.group));
    return Error{"AF-CLI-001", "there is no command `" + (unknown.group == &app ? shown : name + " " + shown) + "`", "",
                 suggested.empty() ? "`" + name + " --help` lists the commands" : suggested, ErrorKind::invalid};
}

Error usage_problem(const CLI::App& app, const CLI::ParseError& problem, const std::vector<std::string>& words) {
    const CLI::App& command = innermost(app);
    Error error{"AF-CLI-001", parse_problem(command, problem, words), "", "`" + full_name(command) + " --help` lists its options",
                ErrorKind::invalid};
    if (const auto* wrong = dynamic_cast<const WrongValue*>(&problem); wrong != nullptr && !wrong->remedy().empty()) {
        error.remedy = wrong->remedy() + (wrong->remedy().ends_with('?') ? " " : "; ") + error.remedy;
    }
    if (is<CLI::ExtrasError>(problem) || is<CLI::RequiredError>(problem) || is<CLI::ExcludesError>(problem)) {
        // An unknown option is reported before a missing or excluded argument, which may be its consequence.
        if (const std::string word = unknown_option(command, words); !word.empty()) {
            name_unknown_option(error, command, word);
            return error;
        }
    }
    if (is<CLI::ExtrasError>(problem) && &command != &app) { name_misplaced_words(error, app, command, words); }
    const bool is_group = command.get_parent() != nullptr && command.get_require_subcommand_min() > 0;
    if (is_group && is<CLI::RequiredError>(problem)) { name_missing_command(error, command); }
    return error;
}

}  // namespace agentforge::kernel
