// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "plugins/lock.hpp"
#include "program/command_line.hpp"
#include "program/commands/plugins.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

struct Verified {
    std::string id;
    std::string version;
    std::string place;  ///< "": not a plugin.
    std::optional<Error> problem;
};

/// Compares every plugin except the product's own with the lock. Needs no trust, because it only computes hashes.
std::vector<Verified> verify(const PluginRegistry& registry, const PluginLock& lock) {
    std::vector<Verified> all;
    for (const PluginManifest& plugin : registry.plugins()) {
        if (plugin.source == PluginSource::product || plugin.state == PluginState::disabled ||
            plugin.state == PluginState::duplicate) {
            continue;
        }
        Verified verified{plugin.id, plugin.version, plugin.directory + "/plugin.json", {}};
        PluginManifest pinned = plugin;
        if (const auto admitted = lock.admits(plugin); !admitted.ok()) {
            verified.problem = admitted.error();
        } else {
            const LockedPlugin& locked = lock.plugins.find(plugin.id)->second;
            pinned.pinned = std::make_shared<const FileHashes>(locked.files);
            pinned.pinned_by = locked.where;
            if (const auto checked = check_pinned_files(pinned); !checked.ok()) { verified.problem = checked.error(); }
        }
        all.push_back(std::move(verified));
    }
    for (const auto& [id, locked] : lock.plugins) {
        if (std::ranges::find(all, id, &Verified::id) != all.end()) { continue; }
        const auto found = std::ranges::find(registry.plugins(), id, &PluginManifest::id);
        const bool disabled = found != registry.plugins().end() && found->state == PluginState::disabled;
        if (disabled) { continue; }  // Locked, but disabled by choice: not a difference.
        all.push_back(
            {id, locked.version, "",
             Error{"AF-PLUG-033", "The lock names the plugin `" + id + "` " + locked.version + ", which was not found",
                   locked.where,
                   "Install it, or name its folder in plugins.paths; if it is no longer used, run `agentforge plugins lock`.",
                   ErrorKind::not_found}});
    }
    return all;
}

int verify_plugins(Program& program) {
    const auto opened = open_plugins(program);
    if (!opened.ok()) { return program.fail(opened.error()); }
    const PluginRegistry& registry = (*opened)->registry;
    const std::string file = ((*opened)->place.root / lock_file).string();
    auto lock = PluginLock::load(file);
    if (!lock.ok()) { return program.fail(lock.error()); }
    if (!*lock) {
        const std::vector<const PluginManifest*> plugins = plugins_in_use(registry);
        if (!plugins.empty()) {
            return program.fail(Error{"AF-PLUG-035",
                                      "This project uses " + std::to_string(plugins.size()) +
                                          " plugin(s) that AgentForge does not ship, and has no lock: " + plugins.front()->id +
                                          (plugins.size() > 1 ? ", …" : ""),
                                      file, "Look at them with `agentforge plugins list`, then run `agentforge plugins lock`.",
                                      ErrorKind::not_found});
        }
    }
    const std::vector<Verified> all = *lock ? verify(registry, **lock) : std::vector<Verified>();
    const bool good = std::ranges::none_of(all, [](const Verified& each) { return each.problem.has_value(); });
    if (program.json_output) {
        json::array array;
        for (const Verified& each : all) {
            json::object object{{"id", each.id},
                                {"version", each.version},
                                {"manifest", each.place.empty() ? json::value(nullptr) : json::value(each.place)},
                                {"matches", !each.problem.has_value()}};
            if (each.problem) { object["problem"] = each.problem->to_string(); }
            array.push_back(std::move(object));
        }
        program.print_json(
            {{"lock", *lock ? json::value(file) : json::value(nullptr)}, {"verified", good}, {"plugins", std::move(array)}});
        return good ? 0 : 1;
    }
    for (const Verified& each : all) {
        program.out << (each.problem ? "DIFFERS  " : "ok       ") << printable(each.id, 120) << " " << printable(each.version, 60)
                    << "\n";
        if (each.problem) { program.err << "agentforge: " << printable_lines(each.problem->to_string()) << "\n"; }
    }
    if (!*lock) {
        program.out << "Nothing to verify: only plugins that ship with AgentForge are in use, and they need no lock.\n";
    }
    return good ? 0 : 1;
}

}  // namespace

void add_plugins_verify(CLI::App& group, Program& program) {
    const Command verify = add_subcommand(group, "verify", "Check every third-party plugin against plugins.lock");
    add_flag(*verify, "--json", program.json_output, "Print JSON");
    verify->footer("Example:  agentforge plugins verify");
    verify->callback([&program] {
        program.pages = true;
        program.command = [&program] { return verify_plugins(program); };
    });
}

}  // namespace agentforge::kernel
