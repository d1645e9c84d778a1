// SPDX-License-Identifier: Apache-2.0
#include "program/commands/plugins.hpp"

#include <algorithm>

#include "plugins/lock.hpp"
#include "program/command_line.hpp"
#include "program/commands/plugins_check.hpp"
#include "program/commands/plugins_new.hpp"

namespace agentforge::kernel {

Result<std::unique_ptr<PluginsOfProject>> open_plugins(const Program& program) {
    auto opened = std::make_unique<PluginsOfProject>();
    AF_TRY(opened->place, ProjectPlace::find(program));
    AF_TRY(opened->product, ProductPaths::find());
    AF_TRY(opened->loaded, load_settings(program, opened->place, opened->product));
    const Settings& settings = *opened->loaded.settings;
    opened->registry =
        PluginRegistry::discover(plugin_search(program, opened->place, opened->product, settings, opened->loaded.trust));
    if (const auto fit = check_plugin_settings(opened->registry, settings); !fit.ok()) { opened->choice = fit.error(); }
    return opened;
}

PluginCondition condition_of(const PluginManifest& plugin) {
    PluginCondition condition{std::string(to_string(plugin.state)), plugin.refused};
    if (plugin.state != PluginState::ready) { return condition; }
    if (const auto checked = check_pinned_files(plugin); !checked.ok()) {
        condition.state = to_string(PluginState::lock_differs);
        condition.problem = checked.error();
    }
    return condition;
}

std::vector<const PluginManifest*> plugins_in_use(const PluginRegistry& registry) {
    std::vector<const PluginManifest*> used;
    for (const PluginManifest& plugin : registry.plugins()) {
        const bool left_out = plugin.state == PluginState::disabled || plugin.state == PluginState::duplicate ||
                              plugin.state == PluginState::not_trusted;
        if (plugin.source != PluginSource::product && !left_out) { used.push_back(&plugin); }
    }
    // A version that the old lock excludes may exist beside the locked one: the newest is locked.
    std::erase_if(used, [&](const PluginManifest* one) {
        return std::ranges::any_of(used, [&](const PluginManifest* other) { return supersedes(*other, *one); });
    });
    return used;
}

namespace {

json::value list_of(const std::vector<std::string>& list) {
    json::array array;
    for (const std::string& word : list) { array.emplace_back(word); }
    return array;
}

}  // namespace

json::object plugin_json(const PluginManifest& plugin, const PluginCondition& condition) {
    json::array provides;
    for (const ManifestEntry& entry : plugin.provides) {
        provides.push_back(json::object{{"kind", to_string(entry.kind)}, {"name", entry.name}});
    }
    json::object object{{"id", plugin.id},
                        {"version", plugin.version},
                        {"licence", plugin.licence},
                        {"description", plugin.description},
                        plugin.command.empty()
                            ? std::pair<json::string_view, json::value>{"library", plugin.directory + "/" + plugin.library}
                            : std::pair<json::string_view, json::value>{"command", list_of(plugin.command)},
                        {"provides", std::move(provides)},
                        {"source", to_string(plugin.source)},
                        {"state", condition.state}};
    if (condition.problem) { object["problem"] = condition.problem->to_string(); }
    return object;
}

void add_plugins(CLI::App& app, Program& program) {
    const Command group = add_subcommand(app, "plugins", "Manage plugins: stages, tools, model backends and escalation handlers");
    group->require_subcommand();
    group->footer("Examples:\n  agentforge plugins list\n  agentforge plugins new tool word_count");
    add_plugins_list(*group, program);
    add_plugins_show(*group, program);
    add_plugins_lock(*group, program);
    add_plugins_verify(*group, program);
    add_plugins_check(*group, program);
    add_plugins_new(*group, program);
}

}  // namespace agentforge::kernel
