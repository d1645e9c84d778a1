// SPDX-License-Identifier: Apache-2.0
#include "host/program.hpp"

#include <CLI/CLI.hpp>
#include <ostream>

#include "base/text.hpp"

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
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) { names.push_back(command->get_name()); }
    return names;
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
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

int Program::fail(const Error& error) {
    if (json_output) {
        print_json(error_json(error));
    } else {
        err << "agentforge: " << error.to_string() << "\n";
    }
    return error.kind == ErrorKind::cancelled ? 23 : 1;
}

void Program::print_json(const json::value& value) { out << to_json_pretty(value); }

int run_program(int argc, const char* const* argv, Program& program) {
    CLI::App app{"Takes a request to a verified commit, stage by stage, with every step in a journal.", "agentforge"};
    app.set_version_flag("--version,-V", "agentforge " AGENTFORGE_VERSION);
    app.require_subcommand(0, 1);
    app.fallthrough();
    app.footer("Start with:  agentforge init  and then  agentforge start \"Add a --version flag\"\n"
               "Exit codes:  0 done, 1 failed, 2 usage, 20 stage timeout, 21 cycle limit, 22 a person is needed, 23 cancelled");
    std::string directory;
    app.add_option("-C", directory, "Work on the repository around this folder instead of the current one")->type_name("DIR");
    add_settings_flag(app, program);

    add_init(app, program);
    add_start(app, program);
    add_status(app, program);
    add_resume(app, program);
    add_abort(app, program);
    add_decisions(app, program);
    add_escalations(app, program);
    add_inspect(app, program);
    add_plugins(app, program);
    add_doctor(app, program);

    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& wanted) {  // --help, --version
        return app.exit(wanted, program.out, program.err);
    } catch (const CLI::ParseError& problem) {
        const std::string word = first_word(argc, argv);
        const std::vector<std::string> names = command_names(app);
        std::string message = problem.what();
        std::string remedy = "`agentforge --help` lists the commands, `agentforge COMMAND --help` its options";
        if (!word.empty() && std::find(names.begin(), names.end(), word) == names.end()) {
            message = "there is no command `" + ellipsis(word, 80) + "`";
            const std::string near = nearest(word, names);
            if (!near.empty()) { remedy = "did you mean `agentforge " + near + "`?"; }
        }
        program.fail(Error{"AF-CLI-001", message, "", remedy, ErrorKind::invalid});
        return usage_error;
    }
    if (!directory.empty()) { program.directory = std::filesystem::absolute(directory); }
    if (!program.command) {
        program.out << app.help();
        return usage_error;
    }
    return program.command();
}

}  // namespace agentforge::kernel
