// SPDX-License-Identifier: Apache-2.0
#include "program/commands/definitions.hpp"

#include <ostream>

#include "program/command_line.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

bool Definitions::of_project(const std::string& source) const {
    return source.starts_with(place.root.string() + "/") && !source.starts_with(product.config + "/");
}

Result<Definitions> load_definitions(const Program& program, std::string_view shown) {
    Definitions all;
    AF_TRY(all.place, ProjectPlace::find(program));
    AF_TRY(all.product, ProductPaths::find());
    const std::string& config = all.product.config;
    const std::filesystem::path own = all.place.agentforge;
    AF_TRY(all.contracts, ContractSet::load({config + "/contracts", (own / "contracts").string()}));
    if (shown.empty() || shown == "agents") {
        AF_TRY(all.agents, AgentSet::load(config + "/agents", (own / "agents").string(), all.contracts));
    }
    if (!shown.empty() && shown != "pipelines") { return all; }
    AF_TRY(all.pipelines, PipelineSet::load(config + "/pipelines", (own / "pipelines").string(),
                                            (own / "orchestration" / "pipeline.yaml").string(), all.contracts));
    return all;
}

namespace {

int validate_definitions(Program& program, const DefinitionCommands& commands, const std::vector<std::string>& files) {
    const auto definitions = load_definitions(program);
    // A definition in use is invalid. If no file is named, the validation below reports it.
    if (!definitions.ok() && !files.empty()) { return program.fail(definitions.error()); }
    json::array results;
    bool valid = true;
    const auto print_problems = [&program](const std::vector<Error>& problems) {
        json::array list;
        for (const Error& problem : problems) {
            list.push_back(json::object{
                {"code", problem.code}, {"message", problem.message}, {"where", problem.where}, {"remedy", problem.remedy}});
            if (!program.json_output) { program.out << "error  " << printable_lines(problem.to_string()) << "\n"; }
        }
        return list;
    };
    const auto report = [&](const std::string& file, const std::vector<Error>& problems) {
        valid = valid && problems.empty();
        json::array list = print_problems(problems);
        if (problems.empty() && !program.json_output) {
            program.out << "ok     " << (file.empty() ? "all in use" : printable(file, 1000)) << "\n";
        }
        results.push_back(json::object{{"file", file}, {"valid", problems.empty()}, {"problems", std::move(list)}});
    };
    if (!definitions.ok()) {
        report("", {definitions.error()});
    } else if (files.empty()) {
        report("", commands.validate(*definitions, ""));
    }
    for (const std::string& file : files) {
        const std::string path = (program.directory / file).lexically_normal().string();
        report(file, commands.validate(*definitions, path));
    }
    if (program.json_output) { program.print_json({{"valid", valid}, {"files", std::move(results)}}); }
    return valid ? 0 : 1;
}

}  // namespace

Command add_definition_commands(CLI::App& app, Program& program, const std::string& group_name, const std::string& word,
                                const std::string& metavar, const std::string& description, const std::string& example,
                                DefinitionCommands commands) {
    auto arguments = std::make_shared<DefinitionArguments>();
    auto with = std::make_shared<DefinitionCommands>(std::move(commands));
    const Command group = add_subcommand(app, group_name, description);
    group->require_subcommand();
    group->footer("Examples:\n  agentforge " + group_name + " list\n  agentforge " + group_name + " show " + example);

    const Command list = add_subcommand(*group, "list", "List the " + group_name + " in use, shipped and the project's own");
    add_flag(*list, "--json", program.json_output, "Print JSON");
    list->footer("Example:  agentforge " + group_name + " list --json");
    list->callback([&program, with, group_name] {
        program.pages = program.wraps = true;
        program.command = [&program, with, group_name] {
            const auto definitions = load_definitions(program, group_name);
            return definitions.ok() ? with->list(*definitions) : program.fail(definitions.error());
        };
    });

    const Command show = add_subcommand(*group, "show", "Show one " + word + "'s effective definition, and where it comes from");
    add_option(*show, "name", arguments->name, "The " + word + "'s name")->type_name(metavar)->required();
    add_flag(*show, "--json", program.json_output, "Print JSON");
    if (with->origin) { add_flag(*show, "--origin", arguments->origin, "Show the file and line that define each stage"); }
    show->footer("Example:  agentforge " + group_name + " show " + example);
    show->callback([&program, with, arguments, group_name] {
        program.pages = true;
        program.command = [&program, with, arguments, group_name] {
            const auto definitions = load_definitions(program, group_name);
            if (!definitions.ok()) { return program.fail(definitions.error()); }
            return arguments->origin ? with->origin(*definitions, arguments->name) : with->show(*definitions, arguments->name);
        };
    });

    const Command validate =
        add_subcommand(*group, "validate", "Check " + group_name + ": all in use, or files that you are writing");
    add_option(*validate, "file", arguments->files,
               "A file in any folder; it is checked as if it were in .agentforge/" + group_name)
        ->type_name("FILE");
    add_flag(*validate, "--json", program.json_output, "Print JSON");
    validate->footer("Examples:\n  agentforge " + group_name + " validate\n  agentforge " + group_name + " validate ./" +
                     example + ".yaml");
    validate->callback([&program, with, arguments] {
        program.pages = true;
        program.command = [&program, with, arguments] { return validate_definitions(program, *with, arguments->files); };
    });
    return group;
}

}  // namespace agentforge::kernel
