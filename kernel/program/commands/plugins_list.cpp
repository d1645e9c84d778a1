// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ostream>

#include "program/command_line.hpp"
#include "program/commands/plugins.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/terminal.hpp"

namespace agentforge::kernel {

namespace {

/// Returns why the plugin is listed, and why it is not used. Empty for a product's plugin without problems.
std::string remark(const PluginManifest& plugin, const PluginCondition& condition) {
    std::string text;
    if (plugin.source != PluginSource::product) { text = to_string(plugin.source); }
    if (condition.state != to_string(PluginState::ready)) { text += (text.empty() ? "" : ", ") + condition.state; }
    return text.empty() ? "" : "  [" + text + "]";
}

/// `conditions`: of each plugin, in the registry's order.
void print_plugins_json(Program& program, const PluginRegistry& registry, const std::vector<PluginCondition>& conditions,
                        const std::vector<Error>& problems) {
    const auto& plugins = registry.plugins();
    json::array array;
    for (std::size_t index = 0; index < plugins.size(); ++index) {
        array.push_back(plugin_json(plugins[index], conditions[index]));
    }
    json::array list;
    for (const Error& problem : problems) { list.emplace_back(problem.to_string()); }
    json::object stages;
    for (const auto& [name, words] : registry.described_stages()) { stages[name] = words; }
    program.print_json(
        {{"plugins", std::move(array)}, {"stages_that_are_data", std::move(stages)}, {"problems", std::move(list)}});
}

/// `conditions`: of each plugin, in the registry's order.
void print_plugins(Program& program, const PluginRegistry& registry, const std::vector<PluginCondition>& conditions) {
    const auto& plugins = registry.plugins();
    for (const PluginKind kind : {PluginKind::stage, PluginKind::tool, PluginKind::llm, PluginKind::escalation}) {
        program.out << to_string(kind) << "\n";
        for (std::size_t index = 0; index < plugins.size(); ++index) {
            for (const ManifestEntry& entry : plugins[index].provides) {
                if (entry.kind != kind) { continue; }
                program.out << fitted_line(program,
                                           fmt::format("  {:<22} {:<9} {}", entry.name, plugins[index].version,
                                                       printable(plugins[index].description, 100)),
                                           remark(plugins[index], conditions[index]))
                            << "\n";
            }
        }
        if (kind != PluginKind::stage) { continue; }
        for (const auto& [name, words] : registry.described_stages()) {
            program.out << fitted_line(program, fmt::format("  {:<22} {:<9} {}", name, "data", printable(words, 100)), "")
                        << "\n";
        }
    }
}

int list_plugins(Program& program) {
    const auto opened = open_plugins(program);
    if (!opened.ok()) { return program.fail(opened.error()); }
    const PluginRegistry& registry = (*opened)->registry;
    std::vector<Error> problems = registry.problems();
    if ((*opened)->choice) { problems.push_back(*(*opened)->choice); }
    if (!(*opened)->loaded.trust.allowed()) { problems.push_back((*opened)->loaded.trust.refusal()); }
    std::vector<PluginCondition> conditions;
    for (const PluginManifest& plugin : registry.plugins()) {
        conditions.push_back(condition_of(plugin));
        if (conditions.back().state == to_string(PluginState::ready)) {
            if (const auto loaded = registry.try_load(plugin); !loaded.ok()) {
                conditions.back() = {"cannot be loaded", loaded.error()};
            }
        }
        // Discovery does not compare the files with the lock.
        if (plugin.state == PluginState::ready && conditions.back().problem) { problems.push_back(*conditions.back().problem); }
    }
    if (program.json_output) {
        print_plugins_json(program, registry, conditions, problems);
        return 0;
    }
    print_plugins(program, registry, conditions);
    for (const Error& problem : problems) { program.err << "agentforge: " << printable_lines(problem.to_string()) << "\n"; }
    return 0;
}

}  // namespace

void add_plugins_list(CLI::App& group, Program& program) {
    const Command list = add_subcommand(group, "list", "List the plugins that were found, used or not");
    add_flag(*list, "--json", program.json_output, "Print JSON");
    list->footer("Example:  agentforge plugins list");
    list->callback([&program] {
        program.pages = true;
        program.command = [&program] { return list_plugins(program); };
    });
}

}  // namespace agentforge::kernel
