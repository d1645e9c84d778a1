// SPDX-License-Identifier: Apache-2.0
#include "host/program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "base/text.hpp"
#include "host/command_line.hpp"
#include "host/display.hpp"
#include "host/event_stream.hpp"
#include "host/pager.hpp"

#ifndef AGENTFORGE_VERSION
#error "the build defines AGENTFORGE_VERSION"
#endif

namespace agentforge::kernel {

namespace {

constexpr int usage_error = 2;

json::object error_json(const Error& error) {
    return {{"error", {{"code", error.code}, {"message", error.message}, {"where", error.where}, {"remedy", error.remedy}}}};
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) { names.push_back(command->get_name()); }
    return names;
}

/// The deepest command that was parsed before the problem.
const CLI::App& innermost(const CLI::App& app) {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? app : innermost(*parsed.front());
}

/// `agentforge plugins list` for the group `plugins`; the long flags of a command.
std::string full_name(const CLI::App& app) { return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name(); }
std::vector<std::string> long_flags(const CLI::App& app) {
    std::vector<std::string> flags;
    for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) {
        for (const CLI::Option* option : at->get_options()) {
            for (const std::string& name : option->get_lnames()) { flags.push_back("--" + name); }
        }
    }
    return flags;
}

/// The word that stands where a group's command is expected; empty where a flag or nothing does.
std::string word_after(const std::string& group, int argc, const char* const* argv) {
    for (int index = 1; index + 1 < argc; ++index) {
        if (argv[index] == group) { return argv[index + 1][0] == '-' ? std::string() : std::string(argv[index + 1]); }
    }
    return {};
}

/// "--show: diffs not in {answer,diff}": what there is to choose from, where the choice is no near miss.
std::string choices_of(const CLI::ParseError& problem) {
    const std::string text = problem.what();
    const auto middle = text.find(" not in {");
    const auto end = text.find('}', middle == std::string::npos ? 0 : middle);
    if (dynamic_cast<const CLI::ValidationError*>(&problem) == nullptr || middle == std::string::npos || end == std::string::npos) { return {}; }
    std::string all;
    for (const char c : text.substr(middle + 9, end - middle - 9)) { all += c == ',' ? ", " : std::string(1, c); }
    return all;
}

/// The choice that was nearly made.
std::string nearest_choice(const CLI::ParseError& problem) {
    const std::string text = problem.what();
    const auto colon = text.find(": ");
    const auto middle = text.find(" not in {");
    if (dynamic_cast<const CLI::ValidationError*>(&problem) == nullptr || colon == std::string::npos || middle == std::string::npos || middle < colon) { return {}; }
    std::vector<std::string> choices;
    const auto end = text.find('}', middle);
    for (std::size_t at = middle + 9; at < end;) {
        const auto comma = std::min(text.find(',', at), end);
        choices.push_back(text.substr(at, comma - at));
        at = comma + 1;
    }
    return nearest(text.substr(colon + 2, middle - colon - 2), choices);
}

/// The parser's words for what is wrong, as ours: `--step: Value 0 not in range …`, `task is required`, `--json excludes --quiet`.
std::string told(const CLI::App& command, const CLI::ParseError& problem) {
    const std::string text = printable(problem.what(), 400);
    const auto colon = text.find(": ");
    const std::string name = colon == std::string::npos ? std::string() : text.substr(0, colon);
    const std::string rest = colon == std::string::npos ? text : text.substr(colon + 2);
    if (const auto at = rest.find(" not in {"); !name.empty() && at != std::string::npos) { return "`" + rest.substr(0, at) + "` is no value of " + name; }
    if (const auto at = rest.find(" not in range "); !name.empty() && rest.starts_with("Value ") && at != std::string::npos) {
        const std::string range = rest.substr(at + 14);
        const auto to = range.find(" to ");
        const auto number = [](std::string digits) { return digits.substr(0, digits.find('.')); };
        const bool positive = to == std::string::npos || range.size() > to + 40;
        return name + " cannot be " + rest.substr(6, at - 6) + "; it must be " + (positive ? "above 0" : "between " + number(range.substr(0, to)) + " and " + number(range.substr(to + 4)));
    }
    if (dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr && text.ends_with(" is required")) {
        for (const CLI::Option* option : command.get_options()) {
            if (option->get_single_name() == text.substr(0, text.size() - 12)) {
                const std::string type = option->get_type_name();
                return "`" + full_name(command) + "` needs " + (type.find_first_of(":{ ") == std::string::npos && !type.empty() ? type : option->get_single_name());
            }
        }
    }
    if (const auto at = text.find(" excludes "); dynamic_cast<const CLI::ExcludesError*>(&problem) != nullptr && at != std::string::npos) {
        return "`" + text.substr(0, at) + "` and `" + text.substr(at + 10) + "` exclude each other";
    }
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&problem) != nullptr && rest.starts_with("1 required ") && rest.ends_with(" missing")) {
        return "`" + name + "` needs its value, " + rest.substr(11, rest.size() - 19);
    }
    if (dynamic_cast<const CLI::ExtrasError*>(&problem) != nullptr && (name == "The following argument was not expected" || name == "The following arguments were not expected")) {
        return "`" + full_name(command) + "` does not take `" + rest + "`; a text of several words wants quotes";
    }
    return text;
}

/// What to do about words that fit no command's grammar.
Error usage_problem(const CLI::App& app, const CLI::ParseError& problem, int argc, const char* const* argv) {
    const CLI::App& command = innermost(app);
    const std::string name = full_name(command);
    Error error{"AF-CLI-001", told(command, problem), "", "`" + name + " --help` lists what it takes", ErrorKind::invalid};
    if (const std::string near = nearest_choice(problem); !near.empty()) { error.remedy = "did you mean `" + near + "`? " + error.remedy; }
    else if (const std::string all = choices_of(problem); !all.empty()) { error.remedy = "use one of " + all + "; " + error.remedy; }
    if (dynamic_cast<const CLI::ExtrasError*>(&problem) != nullptr) {
        for (int index = 1; index < argc; ++index) {
            const std::string word = std::string(argv[index]).substr(0, std::string_view(argv[index]).find('='));
            const std::vector<std::string> flags = long_flags(command);
            if (!word.starts_with("--") || std::find(flags.begin(), flags.end(), word) != flags.end()) { continue; }
            error.message = "`" + name + "` has no option `" + printable(word, 80) + "`";
            if (const std::string near = nearest(word, flags); !near.empty()) { error.remedy = "did you mean `" + near + "`? " + error.remedy; }
            return error;
        }
    }
    if (command.get_parent() != nullptr && command.get_require_subcommand_min() > 0 && dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr) {
        error.message = "`" + name + "` needs one of its commands";
        std::string known;
        for (const std::string& each : command_names(command)) { known += (known.empty() ? "`" : ", `") + name + " " + each + "`"; }
        error.remedy = "there is " + known;
        if (const std::string word = word_after(command.get_name(), argc, argv); !word.empty()) {
            error.message = "there is no command `" + name + " " + printable(word, 80) + "`";
            if (const std::string near = nearest(word, command_names(command)); !near.empty()) { error.remedy = "did you mean `" + name + " " + near + "`?"; }
        }
    }
    return error;
}

/// The first word that is not an option: what the user took for a command.
std::string first_word(int argc, const char* const* argv) {
    for (int index = 1; index < argc; ++index) {
        const std::string_view word = argv[index];
        if (word == "-C" || word == "--set") {
            ++index;
        } else if (!word.starts_with("-")) {
            return std::string(word);
        }
    }
    return {};
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
        ->allow_extra_args(false)   // One word each: the next word is the request.
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// What another wrote into an error goes on indented: no line of it can pass for one of ours.
std::string in_lines(const Error& error) {
    const std::string text = printable_lines(error.to_string());
    std::string lines;
    for (std::size_t at = 0; at < text.size(); ++at) {
        lines += text[at];
        if (text[at] == '\n' && at + 1 < text.size() && text[at + 1] != ' ') { lines += "    "; }
    }
    return lines;
}

}  // namespace

int Program::fail(const Error& error) {
    if (failed) { failed(error); }
    if (stream_output) {
        json::object result = error_json(error);
        result["success"] = false;
        end_event_stream(out, std::move(result));
    } else if (json_output) {
        print_json(error_json(error));
    } else {
        err << "agentforge: " << in_lines(error) << "\n";     // It may quote a file that somebody else wrote.
    }
    return error.kind == ErrorKind::cancelled ? 23 : 1;
}

void Program::print_json(const json::value& value) { out << to_json_pretty(value); }

int run_program(int argc, const char* const* argv, Program& program) {
    CLI::App app{"Takes a request to a verified commit, stage by stage, with every step in a journal.", "agentforge"};
    app.set_version_flag("--version,-V", "agentforge " AGENTFORGE_VERSION);
    app.set_help_flag("-h,--help", "Print this help message and exit");
    use_own_help(app);
    app.require_subcommand(0, 1);
    app.fallthrough();
    app.footer("Start with:  agentforge init  and then  agentforge start \"Add a --version flag\"\n"
               "Exit codes:  0 done, 1 failed, 2 usage, 20 stage timeout, 21 cycle limit, 22 a person is needed, 23 cancelled");
    std::string directory;
    add_option(app, "-C", directory, "Work on the repository around this folder instead of the current one")->type_name("DIR");
    add_settings_flag(app, program);
    add_flag(app, "--trust", program.trust_project, "Use what the project's own files want to run, for this run, though you have not trusted it");

    add_init(app, program);
    add_start(app, program);
    add_status(app, program);
    add_resume(app, program);
    add_abort(app, program);
    add_decisions(app, program);
    add_escalations(app, program);
    add_remind(app, program);
    add_inspect(app, program);
    add_cost(app, program);
    add_diff(app, program);
    add_apply(app, program);
    add_rebase(app, program);
    add_archive(app, program);
    add_plugins(app, program);
    add_trust(app, program);
    add_setup(app, program);
    add_servers(app, program);
    add_doctor(app, program);
    add_pause(app, program);
    add_logs(app, program);
    add_config(app, program);
    add_agents(app, program);
    add_contracts(app, program);
    add_pipelines(app, program);
    add_completion(app, program);
    add_help(app, program);

    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& wanted) {  // --help, --version
        const auto tell = [&] { return app.exit(wanted, program.out, program.err); };
        return program.out_is_terminal ? paged(program.out, program.environment, terminal_rows(), tell) : tell();
    } catch (const CLI::ParseError& problem) {
        const std::string word = first_word(argc, argv);
        const std::vector<std::string> names = command_names(app);
        Error error = usage_problem(app, problem, argc, argv);
        if (!word.empty() && std::find(names.begin(), names.end(), word) == names.end()) {
            error.message = "there is no command `" + printable(word, 80) + "`";
            const std::string near = nearest(word, names);
            error.remedy = near.empty() ? "`agentforge --help` lists the commands" : "did you mean `agentforge " + near + "`?";
        }
        program.fail(error);
        return usage_error;
    }
    if (!directory.empty()) { program.directory = std::filesystem::absolute(directory); }
    if (const CLI::App& chosen = innermost(app); chosen.get_parent() != nullptr) { program.command_name = full_name(chosen).substr(app.get_name().size() + 1); }
    if (!program.command) {
        program.out << app.help();
        return usage_error;
    }
    if (program.pages && program.out_is_terminal && !program.json_output) { return paged(program.out, program.environment, terminal_rows(), program.command); }
    return program.command();
}

}  // namespace agentforge::kernel
