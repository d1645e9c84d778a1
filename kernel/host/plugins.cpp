// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ostream>

#include "host/display.hpp"
#include "host/plugins_check.hpp"
#include "host/plugins_new.hpp"
#include "host/project.hpp"

namespace agentforge::kernel {

namespace {

json::object plugin_json(const PluginManifest& plugin) {
    json::array provides;
    for (const ManifestEntry& entry : plugin.provides) { provides.push_back(json::object{{"kind", to_string(entry.kind)}, {"name", entry.name}}); }
    return {{"id", plugin.id},
            {"version", plugin.version},
            {"licence", plugin.licence},
            {"description", plugin.description},
            {"library", plugin.directory + "/" + plugin.library},
            {"provides", std::move(provides)}};
}

int list_plugins(Program& program) {
    NullEventSink events;
    auto project = Project::open(program, events);
    if (!project.ok()) { return program.fail(project.error()); }
    const auto& plugins = (*project)->plugins().plugins();
    if (program.json_output) {
        json::array array;
        for (const PluginManifest& plugin : plugins) { array.push_back(plugin_json(plugin)); }
        json::array problems;
        for (const Error& problem : (*project)->plugins().problems()) { problems.emplace_back(problem.to_string()); }
        program.print_json({{"plugins", std::move(array)}, {"problems", std::move(problems)}});
        return 0;
    }
    for (const PluginKind kind : {PluginKind::stage, PluginKind::tool, PluginKind::llm, PluginKind::escalation}) {
        program.out << to_string(kind) << "\n";
        for (const PluginManifest& plugin : plugins) {
            for (const ManifestEntry& entry : plugin.provides) {
                if (entry.kind != kind) { continue; }
                program.out << fmt::format("  {:<22} {:<9} {}\n", entry.name, plugin.version, printable(plugin.description, 100));
            }
        }
    }
    return 0;
}

}  // namespace

void add_plugins(CLI::App& app, Program& program) {
    CLI::App* group = app.add_subcommand("plugins", "Stages, tools, model backends and escalation handlers");
    group->require_subcommand(1);
    CLI::App* list = group->add_subcommand("list", "List the plugins in reach");
    list->add_flag("--json", program.json_output, "Answer as JSON");
    list->footer("Example:  agentforge plugins list");
    list->callback([&program] { program.command = [&program] { return list_plugins(program); }; });
    add_plugins_check(*group, program);
    add_plugins_new(*group, program);
}

}  // namespace agentforge::kernel
