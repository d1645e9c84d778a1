// SPDX-License-Identifier: Apache-2.0
#include "program/program.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <ostream>

#include "base/text.hpp"
#include "config/settings.hpp"
#include "program/command_line.hpp"
#include "program/log/event_stream.hpp"
#include "program/project/known_repositories.hpp"
#include "program/project/violations.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/pager.hpp"
#include "program/terminal/terminal.hpp"
#include "program/usage_problem.hpp"

#ifndef AGENTFORGE_VERSION
#error "the build defines AGENTFORGE_VERSION"
#endif

namespace agentforge::kernel {

namespace {

constexpr int usage_error = 2;

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

/// Returns the value of `--output-format` if the word at `index` gives it, else empty.
std::string output_format_at(const std::vector<std::string>& words, std::size_t index) {
    constexpr std::string_view flag = "--output-format";
    if (words[index] == flag && index + 1 < words.size()) { return words[index + 1]; }
    return words[index].starts_with(std::string(flag) + "=") ? words[index].substr(flag.size() + 1) : "";
}

/// Reads the output format before parsing, so that a usage error is also printed as JSON if the user asked for JSON.
void take_output_format(const std::vector<std::string>& words, Program& program) {
    for (std::size_t index = 0; index < words.size() && words[index] != "--"; ++index) {
        const std::string format = output_format_at(words, index);
        program.json_output = program.json_output || words[index] == "--json" || format == "json" || format == "stream-json";
        program.stream_output = program.stream_output || format == "stream-json";
    }
}

void add_settings_flag(CLI::App& app, Program& program) {
    app.add_option_function<std::vector<std::string>>(
           "--set",
           [&program](const std::vector<std::string>& pairs) {
               for (const std::string& pair : pairs) {
                   const std::size_t equals = pair.find('=');
                   if (equals == std::string::npos || equals == 0) {
                       throw WrongValue("--set: `" + printable(pair, 400) + "` is not KEY=VALUE");
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
std::string indented(const Error& error) {
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

/// Adds the command that the first word names, otherwise all commands: describing every option of every command takes longer than
/// most commands run. `help` and `completion` need all commands.
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
        err << "agentforge: " << indented(shown) << "\n";  // It may quote a file that someone else wrote.
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

std::string shell_quoted(const std::string& word) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:@%=,";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) { return word; }
    std::string quoted = "'";
    for (const char letter : word) { quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter); }
    return quoted + "'";
}

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

/// Parses the command line, changes to its repository, and runs its command.
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
        if (const std::string flag = flag_with_empty_value(words_); !flag.empty()) { throw empty_value(flag); }
        app_.parse(argc_, argv_);
    } catch (const CLI::Success& wanted) {  // --help, --version
        return show(wanted);
    } catch (const CLI::ParseError& problem) {
        const auto unknown = no_such_command(app_, words_);
        return refuse(unknown ? *unknown : usage_problem(app_, problem, words_));
    }
    return std::nullopt;
}

int CommandLine::show(const CLI::Success& wanted) {
    if (const auto unknown = no_such_command(app_, words_)) { return refuse(*unknown); }
    const auto show_help = [&] {
        return wrapped(program_.out, columns_, [&] { return app_.exit(wanted, program_.out, program_.err); });
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
                        "no command is given" + (taken ? "; `" + directory_ + "` was read as the folder of -C" : std::string()),
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
    const auto fitted = [&] { return program_.wraps ? wrapped(program_.out, columns_, program_.command) : program_.command(); };
    return program_.pages ? paged(program_.out, program_.environment, terminal_rows(), fitted) : fitted();
}

}  // namespace

int run_program(int argc, const char* const* argv, Program& program) { return CommandLine(argc, argv, program).run(); }

}  // namespace agentforge::kernel
