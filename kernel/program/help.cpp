// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <ostream>

#include "base/files.hpp"
#include "base/text.hpp"
#include "config/settings.hpp"
#include "program/command_line.hpp"
#include "program/grammar.hpp"
#include "program/program.hpp"
#include "program/suggestions.hpp"
#include "program/terminal/display.hpp"

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
        return Error{"AF-CLI-001", "there is no command `" + at->name + " " + printable(word, 80) + "`", "",
                     suggested.empty() ? "`" + at->name + " --help` lists all commands" : suggested, ErrorKind::invalid};
    }
    return Error{"AF-CLI-001", "there is no such command", "", "`agentforge --help` lists the commands", ErrorKind::invalid};
}

/// Finds a page by the name that messages use, such as `docs/gates.md`: installed with the program, or in its sources.
int show_page(Program& program, const std::string& name) {
    const auto product = ProductPaths::find();
    if (!product.ok()) { return program.fail(product.error()); }
    const std::filesystem::path data = std::filesystem::path(product->config).parent_path();
    std::error_code ignored;
    const std::filesystem::path installed = data.parent_path() / "doc" / "agentforge";
    const std::filesystem::path folder = std::filesystem::is_directory(installed, ignored) ? installed : data / "docs";
    std::vector<std::string> known;
    for (const auto& page : std::filesystem::directory_iterator(folder, ignored)) {
        if (page.path().extension() == ".md") { known.push_back("docs/" + page.path().filename().string()); }
    }
    if (std::ranges::find(known, name) == known.end()) {
        const std::string near = nearest(name, known);
        program.fail(Error{
            "AF-CLI-001", "there is no page `" + printable(name, 80) + "`", folder.string(),
            near.empty() ? "`agentforge help docs/README.md` lists the pages" : "did you mean `agentforge help " + near + "`?",
            ErrorKind::invalid});
        return 2;
    }
    const auto text = read_file(folder / std::filesystem::path(name).filename(), 16UL << 20);
    if (!text.ok()) { return program.fail(text.error()); }
    program.out << *text;
    return 0;
}

int run_help(Program& program, CLI::App& app, const HelpArguments& arguments, const std::string& version) {
    if (arguments.words.size() == 1 && arguments.words.front().starts_with("docs/")) {
        return show_page(program, arguments.words.front());
    }
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
        program.out << at->get_formatter()->make_help(
            at, at->get_name(), CLI::AppFormatMode::Normal);  // App::help would print the help of the parsed command, `help`.
    }
    return 0;
}

}  // namespace

void add_help(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<HelpArguments>();
    const Command command = add_subcommand(app, "help", "Explain the program, or one of its commands");
    add_option(*command, "command", arguments->words,
               "A command, such as `plugins list`, or a page, such as docs/gates.md (default: the whole program)")
        ->type_name("COMMAND");
    add_flag(*command, "--man", arguments->man, "Print a manual page, for `man -l -`");
    add_flag(*command, "--json", program.json_output,
             "The grammar as JSON: names, values, descriptions and examples of all commands and flags");
    command->footer(
        "Examples:\n  agentforge help start\n  agentforge help plugins list\n  agentforge help docs/gates.md\n  agentforge help start --man | man -l -");
    command->callback([&program, &app, arguments] {
        program.pages = program.wraps = !arguments->man;
        program.command = [&program, &app, arguments] { return run_help(program, app, *arguments, AGENTFORGE_VERSION); };
    });
}

}  // namespace agentforge::kernel
