// SPDX-License-Identifier: Apache-2.0
#include "program/commands/servers.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <ostream>

#include "base/text.hpp"
#include "pipeline/agent_run/agent_tools.hpp"
#include "pipeline/process_stage.hpp"
#include "program/command_line.hpp"
#include "program/terminal/display.hpp"
#include "servers/server_pool.hpp"

namespace agentforge::kernel {

namespace {

/// A folder that its destructor removes.
class Scratch {
public:
    Scratch() {
        std::error_code error;
        std::string name =
            (std::filesystem::canonical(std::filesystem::temp_directory_path(error), error) / "agentforge-check-XXXXXX").string();
        if (mkdtemp(name.data()) != nullptr) { path_ = name; }
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;
        if (!path_.empty()) { std::filesystem::remove_all(path_, ignored); }
    }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
};

ServerPlace trial_place(const Project& project, const Program& program, const Scratch& scratch) {
    ServerPlace place;
    place.exec_helper = project.exec_helper();
    place.workspace = project.place().root.string();
    place.scratch = scratch.path();
    place.readable = program_folders(program.environment);
    place.readable.push_back(place.workspace);
    place.environment = program.environment;
    return place;
}

ServerReport try_plugin(Project& project, const Program& program, const PluginManifest& manifest) {
    ServerReport report;
    report.name = manifest.id;
    const Scratch scratch;
    const ServerPlace place = trial_place(project, program, scratch);
    const CancelToken* const cancel = program.cancel;
    const std::function<bool()> cancelled = [cancel] { return cancel != nullptr && cancel->requested(); };
    AgentDefinition agent;
    agent.role = "check";
    for (const ManifestEntry& entry : manifest.provides) {
        // Another plugin is used instead, as `plugins list` shows.
        if (project.plugins().owner(entry.kind, entry.name) != &manifest) { continue; }
        if (entry.kind == PluginKind::tool) {
            agent.allowed_tools.push_back(entry.name);
        } else if (const auto stage = start_process_stage(manifest, entry.name, {}, place, {}, cancelled); !stage.ok()) {
            report.error = stage.error();
            return report;
        }
    }
    if (agent.allowed_tools.empty()) { return report; }
    ServerPool pool({});
    const auto tools = load_tools(
        project.services(), agent, pool, [&place] { return place; }, {}, cancelled);
    if (!tools.ok()) {
        report.error = tools.error();
        return report;
    }
    const ServerDefinition server = plugin_process(manifest);
    report.about = pool.about(server);
    report.problems = pool.problems(server);
    report.tools = agent.allowed_tools;
    return report;
}

json::object report_json(const ServerReport& report) {
    json::array tools, problems;
    for (const std::string& tool : report.tools) { tools.emplace_back(tool); }
    for (const Error& problem : report.problems) { problems.emplace_back(problem.to_string()); }
    json::object made{{"name", report.name},
                      {"works", !report.error},
                      {"about", report.about},
                      {"tools", std::move(tools)},
                      {"problems", std::move(problems)}};
    if (report.error) { made["error"] = report.error->to_string(); }
    return made;
}

std::string words(const std::vector<std::string>& list) {
    std::string text;
    for (const std::string& word : list) { text += (text.empty() ? "" : " ") + word; }
    return printable(text, 100);
}

int list_servers(Program& program) {
    NullProgress progress;
    auto project = Project::open(program, progress);
    if (!project.ok()) { return program.fail(project.error()); }
    const ServerSet& set = (*project)->servers();
    if (program.json_output) {
        json::array array;
        for (const ServerDefinition& server : set.servers) {
            json::array command;
            for (const std::string& word : server.command) { command.emplace_back(word); }
            array.push_back(json::object{{"name", server.name},
                                         {"tools", server.prefix + "__*"},
                                         {"command", std::move(command)},
                                         {"where", server.where},
                                         {"state", "not started"}});
        }
        json::array refused;
        for (const auto& [name, error] : set.refused) {
            refused.push_back(json::object{{"name", name}, {"error", error.to_string()}});
        }
        program.print_json({{"servers", std::move(array)}, {"refused", std::move(refused)}});
        return 0;
    }
    for (const ServerDefinition& server : set.servers) {
        program.out << fmt::format("{:<18} {:<22} not started  {}\n", printable(server.name, 60), server.prefix + "__*",
                                   words(server.command));
    }
    for (const auto& [name, error] : set.refused) {
        program.out << fmt::format("{:<18} refused: {}\n", printable(name, 60), printable(error.message, 300));
    }
    if (set.servers.empty() && set.refused.empty()) {
        program.out << "No tool servers are declared. See `agentforge help docs/servers.md`.\n";
    }
    return 0;
}

int check_servers(Program& program, const std::string& name) {
    NullProgress progress;
    auto project = Project::open(program, progress);
    if (!project.ok()) { return program.fail(project.error()); }
    const auto reports = try_servers(**project, program, name);
    if (!name.empty() && reports.empty()) {
        return program.fail(no_such_server((*project)->servers(),
                                           "no tool server and no plugin process is called `" + printable(name, 80) + "`", name));
    }
    bool failed = false;
    json::array array;
    for (const ServerReport& report : reports) {
        failed = failed || report.error.has_value();
        array.push_back(report_json(report));
        if (program.json_output) { continue; }
        if (report.error) {
            program.out << "FAILED   " << printable(report.name, 60) << "\n         "
                        << printable(report.error->to_string(), 4000) << "\n";
            continue;
        }
        program.out << "ok       " << printable(report.name, 60)
                    << (report.about.empty() ? "" : "  " + printable(report.about, 200)) << "\n";
        for (const std::string& tool : report.tools) { program.out << "         " << tool << "\n"; }
        for (const Error& problem : report.problems) {
            program.out << "warning  " << printable(problem.to_string(), 2000) << "\n";
        }
    }
    if (program.json_output) {
        program.print_json({{"servers", std::move(array)}, {"works", !failed}});
    } else if (reports.empty()) {
        program.out << "No tool servers are declared. See `agentforge help docs/servers.md`.\n";
    }
    return failed ? 1 : 0;
}

}  // namespace

ServerReport try_server(Project& project, const Program& program, const ServerDefinition& server) {
    ServerReport report;
    report.name = server.name;
    const Scratch scratch;
    const ServerPlace place = trial_place(project, program, scratch);
    const CancelToken* const cancel = program.cancel;
    ServerPool pool({});
    const auto tools = pool.tools(server, place, {}, [cancel] { return cancel != nullptr && cancel->requested(); });
    if (!tools.ok()) {
        report.error = tools.error();
        return report;
    }
    for (const auto& tool : *tools) { report.tools.push_back(tool->spec().name); }
    report.about = pool.about(server);
    report.problems = pool.problems(server);
    return report;
}

std::vector<ServerReport> try_servers(Project& project, const Program& program, const std::string& name) {
    std::vector<ServerReport> reports;
    for (const ServerDefinition& server : project.servers().servers) {
        if (name.empty() || server.name == name || server.prefix == name) {
            reports.push_back(try_server(project, program, server));
        }
    }
    for (const auto& [refused, error] : project.servers().refused) {
        if (name.empty() || tool_prefix(name) == refused) { reports.push_back({refused, "", {}, {}, error}); }
    }
    for (const PluginManifest& manifest : project.plugins().plugins()) {
        if (!manifest.command.empty() && (name.empty() || manifest.id == name)) {
            reports.push_back(try_plugin(project, program, manifest));
        }
    }
    return reports;
}

void add_servers(CLI::App& app, Program& program) {
    const Command group = add_subcommand(app, "servers", "Show and check tool servers, and plugins that are processes");
    group->require_subcommand();
    group->footer("Examples:\n  agentforge servers list\n  agentforge servers check");
    const Command list = add_subcommand(*group, "list", "List the declared tool servers without starting them");
    add_flag(*list, "--json", program.json_output, "Print JSON");
    list->footer("Example:  agentforge servers list");
    list->callback([&program] {
        program.pages = true;
        program.command = [&program] { return list_servers(program); };
    });

    auto name = std::make_shared<std::string>();
    const Command check =
        add_subcommand(*group, "check", "Start each tool server in the sandbox, list its tools and report problems");
    add_option(*check, "name", *name, "Only this one")->type_name("SERVER");
    add_flag(*check, "--json", program.json_output, "Print JSON");
    check->footer("Example:  agentforge servers check files");
    check->callback([&program, name] { program.command = [&program, name] { return check_servers(program, *name); }; });
}

}  // namespace agentforge::kernel
