// SPDX-License-Identifier: Apache-2.0
#include "program/program.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <ostream>

#include "base/text.hpp"
#include "config/settings.hpp"
#include "program/command_line.hpp"
#include "program/log/event_stream.hpp"
#include "program/project/known_repositories.hpp"
#include "program/project/violations.hpp"
#include "program/suggestions.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/pager.hpp"
#include "program/terminal/terminal.hpp"

#ifndef AGENTFORGE_VERSION
#error "the build defines AGENTFORGE_VERSION"
#endif

namespace agentforge::kernel {

namespace {

constexpr int usage_error = 2;

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
        names.push_back(command->get_name());
        for (const std::string& alias : command->get_aliases()) { names.push_back(alias); }
    }
    return names;
}

/// The deepest command that was parsed before the problem.
const CLI::App& innermost(const CLI::App& app) {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? app : innermost(*parsed.front());
}

/// Returns the command's name with those of its groups: `agentforge plugins list`.
std::string full_name(const CLI::App& app) {
    return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

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

/// As one word of a POSIX shell.
std::string shell_quoted(const std::string& word) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:@%=,";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) { return word; }
    std::string quoted = "'";
    for (const char letter : word) { quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter); }
    return quoted + "'";
}

/// Checks the settings given by --set and by flags that stand for one. A command that reads no settings would not notice a wrong
/// one.
Result<void> check_given_settings(const Program& program) {
    if (program.settings.empty()) { return {}; }
    AF_TRY(const ProductPaths product, ProductPaths::find());
    Settings::Sources given;
    given.flags = program.settings;
    AF_CHECK(Settings::load(product.config, given));
    return {};
}

/// Returns the option that a word names, also as `--flag=value` or `-xvalue`: one of the command or of a group around it.
const CLI::Option* option_named(const CLI::App& command, const std::string& word) {
    const std::string name = word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
    for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
        if (const CLI::Option* option = at->get_option_no_throw(name)) { return option; }
    }
    return nullptr;
}

bool takes_value(const CLI::Option& option) { return option.get_expected_max() > 0 && option.get_type_size_max() > 0; }

/// Returns an option's value as in the help, without its choices: `SHELL:{bash,zsh,fish}` → `SHELL`.
std::string value_name(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    return type.substr(0, type.find(':'));
}

/// Returns what the command takes without a flag, as in the help: `TASK`, `REQUEST`.
std::vector<std::string> arguments_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_positional()) { names.push_back(value_name(*option)); }
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
            const CLI::Option* option = option_named(*at, word);
            if (option != nullptr && takes_value(*option) &&
                (word.starts_with("--") ? word.find('=') == std::string::npos : word.size() == 2)) {
                ++index;
            }
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

/// Returns what may help after words that the command does not take.
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
        const CLI::Option* option = option_named(command, word);
        if (option == nullptr) { return word; }
        if (takes_value(*option) && (word.starts_with("--") ? word.find('=') == std::string::npos : word.size() == 2)) {
            ++index;
        }
    }
    return {};
}

/// Returns the flag of a word `--flag=` without a value: the parser would take the next word as its value.
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

/// The value of `--output-format` if the word at `index` gives it, else empty.
std::string output_format_at(const std::vector<std::string>& words, std::size_t index) {
    constexpr std::string_view flag = "--output-format";
    if (words[index] == flag && index + 1 < words.size()) { return words[index + 1]; }
    return words[index].starts_with(std::string(flag) + "=") ? words[index].substr(flag.size() + 1) : "";
}

/// Reads the output format before parsing, so that a usage error is also printed as JSON if JSON was asked for.
void take_output_format(const std::vector<std::string>& words, Program& program) {
    for (std::size_t index = 0; index < words.size() && words[index] != "--"; ++index) {
        const std::string format = output_format_at(words, index);
        program.json_output = program.json_output || words[index] == "--json" || format == "json" || format == "stream-json";
        program.stream_output = program.stream_output || format == "stream-json";
    }
}

/// The given and the known values in `--show: diffs not in {answer,diff}`. Empty for any other problem.
struct WrongChoice {
    std::string given;
    std::vector<std::string> known;
};
WrongChoice wrong_choice(const CLI::ParseError& problem) {
    constexpr std::string_view between = " not in {";
    const std::string text = problem.what();
    const auto colon = text.find(": ");
    const auto middle = text.find(between);
    const auto end = text.find('}', middle == std::string::npos ? 0 : middle);
    WrongChoice choice;
    if (dynamic_cast<const CLI::ValidationError*>(&problem) == nullptr || colon == std::string::npos ||
        middle == std::string::npos || middle < colon || end == std::string::npos) {
        return choice;
    }
    choice.given = text.substr(colon + 2, middle - colon - 2);
    for (std::size_t at = middle + between.size(); at < end;) {
        const auto comma = std::min(text.find(',', at), end);
        choice.known.push_back(text.substr(at, comma - at));
        at = comma + 1;
    }
    return choice;
}

/// Returns an argument's name as in the help (`TASK`), or an option's own name. `name` is the parser's name for it.
std::string shown_name(const CLI::App& command, const std::string& name) {
    for (const CLI::Option* option : command.get_options()) {
        if (!option->get_positional() || option->get_single_name() != name) { continue; }
        const std::string type = option->get_type_name();  // May contain the choices: `SHELL:{bash,zsh,fish}`.
        const std::string word = type.substr(0, type.find(':'));
        if (!word.empty() && word.find_first_of("{ ") == std::string::npos) { return word; }
    }
    return name;
}

template <class Kind>
bool is(const CLI::ParseError& problem) {
    return dynamic_cast<const Kind*>(&problem) != nullptr;
}

/// A message of the parser: "NAME: REST". Without a name, `rest` is the whole text.
struct ParserMessage {
    std::string text;
    std::string name;
    std::string rest;
};

ParserMessage message_of(const CLI::ParseError& problem) {
    const std::string text = printable(problem.what(), 400);
    const auto colon = text.find(": ");
    if (colon == std::string::npos) { return {text, "", text}; }
    return {text, text.substr(0, colon), text.substr(colon + 2)};
}

/// "--step: Value 0 not in range …". Empty if the message is another.
std::string range_problem(const ParserMessage& message) {
    const auto at = message.rest.find(" not in range ");
    if (message.name.empty() || !message.rest.starts_with("Value ") || at == std::string::npos) { return {}; }
    const std::string range = message.rest.substr(at + 14);
    const auto to = range.find(" to ");
    const auto number = [](std::string digits) { return digits.substr(0, digits.find('.')); };
    const bool positive = to == std::string::npos || range.size() > to + 40;
    return message.name + " cannot be " + message.rest.substr(6, at - 6) + "; it must be " +
           (positive ? "above 0" : "between " + number(range.substr(0, to)) + " and " + number(range.substr(to + 4)));
}

/// "--json excludes --quiet". Empty if the message is another.
std::string exclusion_problem(const CLI::App& command, const std::string& text) {
    const auto at = text.find(" excludes ");
    if (at == std::string::npos) { return {}; }
    const auto shown = [&](const std::string& option) {
        return option.starts_with('-') ? "`" + option + "`" : shown_name(command, option);
    };
    return shown(text.substr(0, at)) + " and " + shown(text.substr(at + 10)) + " cannot be used together";
}

/// "--limit = five". Empty if the message is another.
std::string conversion_problem(const CLI::App& command, const std::string& rest) {
    const auto is = rest.find(" = ");
    if (is == std::string::npos) { return {}; }
    const std::string value = rest.substr(is + 3);
    char* end = nullptr;
    const bool is_number = std::isfinite(std::strtod(value.c_str(), &end)) && end != value.c_str() && *end == '\0';
    return shown_name(command, rest.substr(0, is)) + (is_number ? " takes a whole number, not `" : " takes a number, not `") +
           value + "`";
}

/// "--file: 1 required TEXT missing". Empty if the message is another.
std::string mismatch_problem(const ParserMessage& message) {
    if (message.rest.starts_with("1 required ") && message.rest.ends_with(" missing")) {
        return "`" + message.name + "` needs its value, " + message.rest.substr(11, message.rest.size() - 19);
    }
    return message.rest.starts_with("At Most 1 required") ? "`" + message.name + "` may be given only once" : "";
}

/// "The following argument was not expected: …". Empty if the message is another.
std::string extras_problem(const CLI::App& command, const std::string& name) {
    if (name != "The following argument was not expected" && name != "The following arguments were not expected") { return {}; }
    const CLI::App* top = &command;
    while (top->get_parent() != nullptr) { top = top->get_parent(); }
    std::string extras;  // The parser's own text has them in reverse order.
    for (const std::string& word : top->remaining(true)) { extras += (extras.empty() ? "" : " ") + printable(word, 400); }
    return "`" + full_name(command) + "` does not take `" + printable(extras, 400) + "`" + hint_after_extras(command);
}

/// A problem with one option's or argument's value. Empty if the message is another.
std::string value_problem(const CLI::App& command, const ParserMessage& message) {
    const auto& [text, name, rest] = message;
    if (name.empty()) { return {}; }
    if (rest == empty_value) {
        return name.starts_with('-') ? "the value of " + name + " is empty" : shown_name(command, name) + " is empty";
    }
    if (const auto at = rest.find(" not in {"); at != std::string::npos) {
        return "`" + rest.substr(0, at) + "` is not a value of " + name;
    }
    return range_problem(message);
}

/// A problem that the type of the parser's error tells. Empty if it is another.
std::string typed_problem(const CLI::App& command, const CLI::ParseError& problem, const ParserMessage& message) {
    const auto& [text, name, rest] = message;
    if (is<CLI::RequiredError>(problem) && text.ends_with(" is required")) {
        return "`" + full_name(command) + "` needs " + shown_name(command, text.substr(0, text.size() - 12));
    }
    if (is<CLI::ExcludesError>(problem)) { return exclusion_problem(command, text); }
    if (is<CLI::ConversionError>(problem)) { return conversion_problem(command, rest); }
    if (is<CLI::ArgumentMismatch>(problem)) { return mismatch_problem(message); }
    if (is<CLI::ExtrasError>(problem)) { return extras_problem(command, name); }
    return {};
}

/// Rewrites the parser's message in our words: `--step: Value 0 not in range …`, `task is required`, `--json excludes --quiet`.
std::string parse_problem(const CLI::App& command, const CLI::ParseError& problem) {
    const ParserMessage message = message_of(problem);
    if (std::string of_value = value_problem(command, message); !of_value.empty()) { return of_value; }
    std::string of_type = typed_problem(command, problem, message);
    return of_type.empty() ? message.text : of_type;
}

/// Returns the words after the command's name as one text, if they were probably meant as one: the parser left over all but the
/// first.
std::string in_one_text(const CLI::App& command, const std::vector<std::string>& words, const std::vector<std::string>& rest) {
    if (arguments_of(command).size() != 1 || !takes_texts(command)) { return {}; }
    const auto name = std::ranges::find(words, command.get_name());
    // Name, the text's first word, and what was left.
    if (name == words.end() || static_cast<std::size_t>(words.end() - name) != rest.size() + 2) { return {}; }
    std::string text;
    for (auto word = name + 1; word != words.end(); ++word) {
        if (word->starts_with('-')) { return {}; }
        text += (text.empty() ? "" : " ") + *word;
    }
    return text;
}

Error no_such_command(const UnknownCommand& unknown, const CLI::App& app) {
    const std::string name = full_name(*unknown.group);
    const std::string shown = printable(unknown.word, 80);
    const std::string suggested = suggested_command(name, unknown.word, command_names(*unknown.group));
    return {"AF-CLI-001", "there is no command `" + (unknown.group == &app ? shown : name + " " + shown) + "`", "",
            suggested.empty() ? "`" + name + " --help` lists the commands" : suggested, ErrorKind::invalid};
}

/// What to do about a wrong or empty value; empty if the problem is another.
std::string value_remedy(const CLI::ParseError& problem, const std::string& message) {
    const WrongChoice choice = wrong_choice(problem);
    if (const std::string near = nearest(choice.given, choice.known); !near.empty()) { return "did you mean `" + near + "`? "; }
    if (!choice.known.empty()) {
        std::string all;
        for (const std::string& each : choice.known) { all += (all.empty() ? "" : ", ") + each; }
        return "use one of " + all + "; ";
    }
    return message.ends_with(empty_value) ? "give it a value, or leave it out (an unset shell variable gives no value); " : "";
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

/// Returns the usage error for words that fit no command's grammar.
Error usage_problem(const CLI::App& app, const CLI::ParseError& problem, const std::vector<std::string>& words) {
    const CLI::App& command = innermost(app);
    Error error{"AF-CLI-001", parse_problem(command, problem), "", "`" + full_name(command) + " --help` lists its options",
                ErrorKind::invalid};
    error.remedy = value_remedy(problem, error.message) + error.remedy;
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

void add_settings_flag(CLI::App& app, Program& program) {
    app.add_option_function<std::vector<std::string>>(
           "--set",
           [&program](const std::vector<std::string>& pairs) {
               for (const std::string& pair : pairs) {
                   const std::size_t equals = pair.find('=');
                   if (equals == std::string::npos || equals == 0) {
                       throw CLI::ValidationError("--set", "`" + pair + "` is not KEY=VALUE");
                   }
                   program.settings.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
               }
           },
           "Override a setting for this run: KEY=VALUE")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->allow_extra_args(false)  // One value each: the next word is the request.
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// Indents the continuation lines of an error, so that quoted text cannot look like a message of ours.
std::string in_lines(const Error& error) {
    const std::string text = printable_lines(error.to_string());
    std::string lines;
    for (std::size_t at = 0; at < text.size(); ++at) {
        lines += text[at];
        if (text[at] == '\n' && at + 1 < text.size() && text[at + 1] != ' ') { lines += "    "; }
    }
    return lines;
}

/// A command and the function that adds it. Some functions add several commands. The order is that of the help.
struct CommandEntry {
    std::string_view name;
    void (*add)(CLI::App& app, Program& program);
};
constexpr CommandEntry commands[] = {
    {"init", add_init},
    {"start", [](CLI::App& app, Program& program) { add_start(app, program, "start"); }},
    {"design", [](CLI::App& app, Program& program) { add_start(app, program, "design"); }},
    {"implement", [](CLI::App& app, Program& program) { add_start(app, program, "implement"); }},
    {"review", [](CLI::App& app, Program& program) { add_start(app, program, "review"); }},
    {"test", [](CLI::App& app, Program& program) { add_start(app, program, "test"); }},
    {"document", [](CLI::App& app, Program& program) { add_start(app, program, "document"); }},
    {"run", add_run},
    {"check", add_check},
    {"fix", add_fix},
    {"status", add_status},
    {"resume", add_resume},
    {"continue", add_continue},
    {"abort", add_abort},
    {"approve", add_decisions},
    {"reject", add_decisions},
    {"feedback", add_decisions},
    {"escalations", add_escalations},
    {"resolve", add_escalations},
    {"remind", add_remind},
    {"inspect", add_inspect},
    {"history", add_history},
    {"metrics", add_metrics},
    {"cost", add_cost},
    {"stats", add_stats},
    {"diff", add_diff},
    {"apply", add_apply},
    {"undo", add_apply},
    {"rebase", add_rebase},
    {"replay", add_replay},
    {"fork", add_fork},
    {"compare", add_compare},
    {"audit", add_audit},
    {"archive", add_archive},
    {"gc", add_gc},
    {"plugins", add_plugins},
    {"trust", add_trust},
    {"setup", add_setup},
    {"servers", add_servers},
    {"doctor", add_doctor},
    {"attach", add_attach},
    {"pause", add_pause},
    {"logs", add_logs},
    {"dashboard", add_dashboard},
    {"repo", add_repo},
    {"config", add_config},
    {"agents", add_agents},
    {"contracts", add_contracts},
    {"pipelines", add_pipelines},
    {"completion", add_completion},
    {"help", add_help},
};

/// Adds the command that the first word names, or all: describing every option of every command takes longer than most commands.
/// `help` and `completion` need all commands.
void add_commands(CLI::App& app, Program& program, const std::vector<std::string>& words) {
    const std::string_view first = words.empty() ? std::string_view() : std::string_view(words.front());
    if (first == "--version" || first == "-V") { return; }
    const bool needs_all_commands = first == "help" || first == "completion";
    const auto named = std::ranges::find(commands, first, &CommandEntry::name);
    if (!needs_all_commands && named != std::end(commands)) {
        named->add(app, program);
        return;
    }
    void (*last)(CLI::App&, Program&) = nullptr;
    for (const CommandEntry& each : commands) {
        if (each.add != last) { each.add(app, program); }
        last = each.add;
    }
}

}  // namespace

json::object error_json(const Error& error) {
    return {{"error", {{"code", error.code}, {"message", error.message}, {"where", error.where}, {"remedy", error.remedy}}}};
}

int Program::fail(const Error& error) {
    if (failed) { failed(error); }
    if (stream_output) {
        json::object result = error_json(error);
        result["success"] = false;
        end_event_stream(out, std::move(result));
    } else if (json_output) {
        print_json(error_json(error));
    } else {
        Error shown = error;
        shown.remedy = with_place(std::move(shown.remedy));
        err << "agentforge: " << in_lines(shown) << "\n";  // It may quote a file that someone else wrote.
    }
    return error.kind == ErrorKind::cancelled ? 23 : 1;
}

Error unexpected_exit(const std::string& culprit) {
    return Error{
        "AF-PLUG-022",
        "Code inside the program ended it with a call such as exit() or exec(): " +
            (culprit.empty() ? std::string("the cause is unknown") : "in " + culprit),
        culprit,
        "A running task is saved; `agentforge resume TASK` continues it. Report it to the plugin's author: a plugin must return an error; to disable it, name it in plugins.disable.",
        ErrorKind::internal};
}

void Program::print_json(const json::value& value) { out << to_json_pretty(value); }

std::string Program::with_place(std::string text) const {
    constexpr std::string_view name = "agentforge ";
    if (place_flag.empty()) { return text; }
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
        const bool is_word = at == 0 || text[at - 1] == ' ' || text[at - 1] == '`' || text[at - 1] == '\n';
        at += name.size();
        if (!is_word || at >= text.size() || text[at] < 'a' || text[at] > 'z') { continue; }
        text.insert(at, place_flag + " ");
        at += place_flag.size() + 1;
    }
    return text;
}

namespace {

/// The command line: reads it, goes to the repository that it names, and runs its command.
class CommandLine {
public:
    CommandLine(int argc, const char* const* argv, Program& program)
        : argc_(argc),
          argv_(argv),
          words_(argv + std::min(argc, 1), argv + argc),
          program_(program),
          columns_(program.out_is_terminal ? terminal_columns(STDOUT_FILENO) : 80) {
        describe();
    }

    int run();

private:
    void describe();
    void describe_place_options();
    std::optional<int> parse();
    int show(const CLI::Success& wanted);
    int refuse(const Error& error);
    void note_place_and_command();
    int end_without_command();
    Result<void> go_to_folder();
    Result<void> go_to_repository();
    int run_command();

    const int argc_;
    const char* const* const argv_;
    const std::vector<std::string> words_;
    Program& program_;
    const std::size_t columns_;
    std::string directory_;
    std::string repository_;
    CLI::App app_{"Turns a request into a verified commit, stage by stage, and records every step in a journal.", "agentforge"};
};

void CommandLine::describe() {
    app_.set_version_flag("--version,-V", "agentforge " AGENTFORGE_VERSION);
    app_.set_help_flag("-h,--help", "Print this help message and exit");
    use_own_help(app_, columns_);
    app_.require_subcommand(0, 1);
    app_.fallthrough();
    app_.footer(
        "Start with:  agentforge init  and then  agentforge start \"Add a --version flag\"\n"
        "Exit codes:  0 done, 1 failed, 2 usage, 20 stage timeout, 21 cycle limit, 22 a person is needed, 23 cancelled");
    describe_place_options();
    add_settings_flag(app_, program_);
    add_flag(app_, "--trust", program_.trust_project,
             "For this run only, let the project's own files run plugins, servers and commands");
    add_commands(app_, program_, words_);
}

void CommandLine::describe_place_options() {
    const Option in_folder =
        *add_option(app_, "-C", directory_, "Work on the repository that contains this folder instead of the current one")
             ->type_name("DIR");
    add_option(app_, "--repo", repository_, "Work on this known repository (`agentforge repo list`) instead of the current one")
        ->type_name("NAME")
        ->excludes(in_folder);
}

int CommandLine::run() {
    if (const auto code = parse()) { return *code; }
    note_place_and_command();
    if (!program_.command) { return end_without_command(); }
    if (const auto there = go_to_folder(); !there.ok()) { return program_.fail(there.error()); }
    if (const auto given = check_given_settings(program_); !given.ok()) { return program_.fail(given.error()); }
    return run_command();
}

/// Returns the exit code if there is nothing to run: help was shown, or the words are wrong.
std::optional<int> CommandLine::parse() {
    try {
        if (const std::string flag = flag_with_empty_value(words_); !flag.empty()) {
            throw CLI::ValidationError(flag, empty_value);
        }
        app_.parse(argc_, argv_);
    } catch (const CLI::Success& wanted) {  // --help, --version
        return show(wanted);
    } catch (const CLI::ParseError& problem) {
        const UnknownCommand unknown = unknown_command(app_, words_);
        return refuse(unknown.group == nullptr ? usage_problem(app_, problem, words_) : no_such_command(unknown, app_));
    }
    return std::nullopt;
}

int CommandLine::show(const CLI::Success& wanted) {
    if (const UnknownCommand unknown = unknown_command(app_, words_); unknown.group != nullptr) {
        return refuse(no_such_command(unknown, app_));
    }
    const auto show_help = [&] {
        return folded(program_.out, columns_, [&] { return app_.exit(wanted, program_.out, program_.err); });
    };
    return program_.out_is_terminal ? paged(program_.out, program_.environment, terminal_rows(), show_help)
                                    : app_.exit(wanted, program_.out, program_.err);
}

int CommandLine::refuse(const Error& error) {
    take_output_format(words_, program_);
    program_.fail(error);
    return usage_error;
}

void CommandLine::note_place_and_command() {
    if (!directory_.empty()) {
        program_.directory = std::filesystem::absolute(directory_);
        program_.place_flag = "-C " + shell_quoted(directory_);
    }
    if (!repository_.empty()) { program_.place_flag = "--repo " + shell_quoted(repository_); }
    if (const CLI::App& chosen = innermost(app_); chosen.get_parent() != nullptr) {
        program_.command_name = full_name(chosen).substr(app_.get_name().size() + 1);
    }
}

int CommandLine::end_without_command() {
    if (words_.empty()) {
        program_.out << app_.help();
        return usage_error;
    }
    const std::vector<std::string> names = command_names(app_);
    const bool taken = std::find(names.begin(), names.end(), directory_) != names.end();
    return refuse(Error{"AF-CLI-001",
                        "no command is given" + (taken ? "; `" + directory_ + "` was taken for the folder of -C" : std::string()),
                        "", "`agentforge --help` lists the commands", ErrorKind::invalid});
}

Result<void> CommandLine::go_to_folder() {
    if (std::error_code none; !directory_.empty() && !std::filesystem::is_directory(directory_, none)) {
        return Error{"AF-CLI-192", "`" + printable(directory_, 300) + "` is not a folder", "-C",
                     "name the folder of a repository, or one in it", ErrorKind::not_found};
    }
    return repository_.empty() ? Result<void>() : go_to_repository();
}

Result<void> CommandLine::go_to_repository() {
    const auto known = find_known_repository(program_, repository_);
    if (!known.ok()) {
        program_.place_flag.clear();  // No command works with this name.
        return known.error();
    }
    if (std::error_code none; !std::filesystem::is_directory(known->path, none)) {
        program_.place_flag.clear();
        return Error{"AF-CONF-075", "the folder of repository `" + known->name + "` is gone", known->path.string(),
                     "put it back, or remove it from the list: agentforge repo remove " + known->name, ErrorKind::not_found};
    }
    program_.directory = known->path;
    return {};
}

int CommandLine::run_command() {
    if (!program_.out_is_terminal || program_.json_output) { return program_.command(); }
    const auto fitted = [&] { return program_.wraps ? folded(program_.out, columns_, program_.command) : program_.command(); };
    return program_.pages ? paged(program_.out, program_.environment, terminal_rows(), fitted) : fitted();
}

}  // namespace

int run_program(int argc, const char* const* argv, Program& program) { return CommandLine(argc, argv, program).run(); }

}  // namespace agentforge::kernel
