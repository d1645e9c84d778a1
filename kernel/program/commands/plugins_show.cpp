// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "plugins/lock.hpp"
#include "program/command_line.hpp"
#include "program/commands/plugins.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

std::string lock_words(const PluginRegistry& registry, const PluginManifest& plugin) {
    if (plugin.source == PluginSource::product) { return "not needed: the product's own"; }
    if (!registry.lock()) { return "there is no lock"; }
    const auto locked = registry.lock()->plugins.find(plugin.id);
    if (locked == registry.lock()->plugins.end()) { return "not in " + registry.lock()->file; }
    PluginManifest pinned = plugin;
    pinned.pinned = std::make_shared<const FileHashes>(locked->second.files);
    pinned.pinned_by = locked->second.where;
    const auto admitted = registry.lock()->admits(plugin);
    const auto checked = check_pinned_files(pinned);
    return (admitted.ok() && checked.ok() ? "matches " : "differs from ") + locked->second.where;
}

std::string trust_words(const ProjectTrust& trust, const PluginManifest& plugin) {
    if (plugin.source != PluginSource::project) {
        return "not needed: " + std::string(plugin.source == PluginSource::product ? "the product's own" : "your own choice");
    }
    return trust.for_this_run ? "for this run" : std::string(to_string(trust.verdict));
}

/// Returns each setting of the schema: its allowed values, its value, and whether it is set.
json::array settings_of(const PluginRegistry& registry, const PluginManifest& plugin) {
    json::array list;
    const json::value* properties = plugin.config_schema.if_contains("properties");
    if (properties == nullptr || !properties->is_object()) { return list; }
    json::object given;
    for (const ManifestEntry& entry : plugin.provides) {
        for (const auto& [key, value] : registry.settings_of(plugin, entry.name)) { given[key] = value; }
    }
    for (const auto& [name, schema] : properties->get_object()) {
        json::object setting{{"name", name}, {"schema", schema}};
        if (const json::value* value = given.if_contains(name)) { setting["value"] = *value; }
        list.push_back(std::move(setting));
    }
    return list;
}

json::object describe(const PluginsOfProject& opened, const PluginManifest& plugin) {
    const PluginCondition condition = condition_of(plugin);
    json::object object = plugin_json(plugin, condition);
    object["manifest"] = plugin.directory + "/plugin.json";
    object["manifest_sha256"] = plugin.sha256();
    const auto library = plugin.library.empty() ? Result<std::string>(std::string())
                                                : read_file(plugin.directory + "/" + plugin.library, 1ULL << 30U);
    object["library_sha256"] = library.ok() && !plugin.library.empty() ? json::value(sha256(*library)) : json::value(nullptr);
    object["sdk"] = plugin.sdk;
    object["lock"] = lock_words(opened.registry, plugin);
    object["trust"] = trust_words(opened.loaded.trust, plugin);
    const Interfaces host;
    for (json::value& entry : object.at("provides").as_array()) {
        for (const PluginKind kind : {PluginKind::stage, PluginKind::tool, PluginKind::llm, PluginKind::escalation}) {
            if (entry.at("kind").as_string() == to_string(kind)) {
                entry.as_object()["interface_versions_of_this_host"] = host.support(kind, 0).versions;
            }
        }
    }
    object["config_schema"] = plugin.config_schema;
    object["settings"] = settings_of(opened.registry, plugin);
    return object;
}

std::string text_of(const json::value& value) {
    return value.is_string() ? std::string(value.get_string()) : json::serialize(value);
}

void print(Program& program, const json::object& plugin) {
    std::ostream& out = program.out;
    const auto line = [&](std::string_view label, std::string_view key) {
        const json::value& value = plugin.at(key);
        const std::string text = value.is_null() ? "it cannot be read" : text_of(value);
        out << "  " << label << std::string(label.size() < 12 ? 12 - label.size() : 1, ' ') << printable(text, 400) << "\n";
    };
    out << printable(text_of(plugin.at("id")), 200) << " " << printable(text_of(plugin.at("version")), 80) << "\n";
    if (!plugin.at("description").as_string().empty()) {
        out << "  " << printable(text_of(plugin.at("description")), 300) << "\n";
    }
    line("state", "state");
    if (plugin.contains("problem")) { out << printable_lines("    " + text_of(plugin.at("problem"))) << "\n"; }
    line("source", "source");
    line("licence", "licence");
    line("sdk", "sdk");
    line("manifest", "manifest");
    line("  sha256", "manifest_sha256");
    if (const json::value* command = plugin.if_contains("command"); command != nullptr) {
        out << "  command     " << printable(json::serialize(*command), 300) << "\n";
    } else {
        line("library", "library");
        line("  sha256", "library_sha256");
    }
    line("lock", "lock");
    line("trust", "trust");
    for (const json::value& entry : plugin.at("provides").as_array()) {
        out << "  provides    " << text_of(entry.at("kind")) << " " << text_of(entry.at("name"))
            << " (this AgentForge accepts version " << text_of(entry.at("interface_versions_of_this_host"))
            << " of the interface)\n";
    }
    if (plugin.at("config_schema").as_object().empty()) {
        out << "  settings    its manifest declares none, so they are not checked\n";
    } else if (plugin.at("settings").as_array().empty()) {
        out << "  settings    none\n";
    }
    for (const json::value& setting : plugin.at("settings").as_array()) {
        const auto& entry = setting.get_object();
        out << "  setting     " << printable(text_of(entry.at("name")), 80) << " = "
            << (entry.contains("value") ? printable(text_of(entry.at("value")), 200) : "(not set)") << "   "
            << printable(json::serialize(entry.at("schema")), 300) << "\n";
    }
}

int show_plugin(Program& program, const std::string& name) {
    const auto opened = open_plugins(program);
    if (!opened.ok()) { return program.fail(opened.error()); }
    const auto found = (*opened)->registry.find(name);
    if (!found.ok()) { return program.fail(found.error()); }
    json::array plugins;
    for (const PluginManifest* plugin : *found) { plugins.push_back(describe(**opened, *plugin)); }
    if (program.json_output) {
        program.print_json({{"plugins", std::move(plugins)}});
        return 0;
    }
    for (const json::value& plugin : plugins) { print(program, plugin.get_object()); }
    if ((*opened)->choice) { program.err << "agentforge: " << printable_lines((*opened)->choice->to_string()) << "\n"; }
    return 0;
}

}  // namespace

void add_plugins_show(CLI::App& group, Program& program) {
    auto name = std::make_shared<std::string>();
    const Command show = add_subcommand(group, "show", "Show all details of a plugin, without loading it");
    add_option(*show, "plugin", *name, "The plugin's id, or the name of a stage, tool, backend or handler that it provides")
        ->type_name("PLUGIN")
        ->required();
    add_flag(*show, "--json", program.json_output, "Print JSON");
    show->footer("Example:  agentforge plugins show read_file");
    show->callback([&program, name] {
        program.pages = true;
        program.command = [&program, name] { return show_plugin(program, *name); };
    });
}

}  // namespace agentforge::kernel
