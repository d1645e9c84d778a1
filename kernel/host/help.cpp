// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <ostream>

#include "base/text.hpp"
#include "host/command_line.hpp"
#include "host/display.hpp"
#include "host/grammar.hpp"
#include "host/program.hpp"
#include "host/suggestions.hpp"

namespace agentforge::kernel {

namespace {

struct HelpArguments {
    std::vector<std::string> words;
    bool man = false;
};

Error no_such_command(const GrammarCommand& top, const std::vector<std::string>& words) {
    const GrammarCommand* at = &top;
    for (const std::string& word : words) {
        if (const GrammarCommand* found = find_command(*at, {word})) {
            at = found;
            continue;
        }
        std::vector<std::string> known;
        for (const GrammarCommand& each : at->commands) { known.push_back(each.word()); }
        const std::string suggested = suggested_command(at->name, word, known);
        return Error{"AF-CLI-001", "there is no command `" + at->name + " " + printable(word, 80) + "`", "", suggested.empty() ? "`" + at->name + " --help` lists what there is" : suggested,
                     ErrorKind::invalid};
    }
    return Error{"AF-CLI-001", "there is no such command", "", "`agentforge --help` lists the commands", ErrorKind::invalid};
}

int run_help(Program& program, CLI::App& app, const HelpArguments& arguments, const std::string& version) {
    const GrammarCommand top = read_grammar(app);
    const GrammarCommand* command = find_command(top, arguments.words);
    if (command == nullptr) {
        program.fail(no_such_command(top, arguments.words));
        return 2;
    }
    if (program.json_output) {
        program.print_json(to_json(*command));
    } else if (arguments.man) {
        program.out << man_page(*command, top, version);
    } else {
        const CLI::App* at = &app;
        for (const std::string& word : arguments.words) { at = at->get_subcommand(word); }
        program.out << at->get_formatter()->make_help(at, at->get_name(), CLI::AppFormatMode::Normal);     // App::help would explain the command that was parsed: this one.
    }
    return 0;
}

}  // namespace

void add_help(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<HelpArguments>();
    const Command command = add_subcommand(app, "help", "Explain the program, or one of its commands");
    add_option(*command, "command", arguments->words, "The command, such as `plugins list`; without it: the whole program")->type_name("COMMAND");
    add_flag(*command, "--man", arguments->man, "As a page of the manual, for `man -l -`");
    add_flag(*command, "--json", program.json_output, "The grammar as JSON: names, values, descriptions and examples of all commands and flags");
    command->footer("Examples:\n  agentforge help start\n  agentforge help plugins list\n  agentforge help start --man | man -l -");
    command->callback([&program, &app, arguments] {
        program.pages = program.folds = !arguments->man;
        program.command = [&program, &app, arguments] { return run_help(program, app, *arguments, AGENTFORGE_VERSION); };
    });
}

}  // namespace agentforge::kernel
