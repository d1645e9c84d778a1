// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "plugins/lock.hpp"
#include "program/command_line.hpp"
#include "program/commands/plugins.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

/// Trusts the project with a lock that is about to be written, so that a process killed in between leaves it trusted.
Result<void> announce(const Program& program, const PluginsOfProject& project, const std::string& lock) {
    if (project.loaded.trust.verdict != TrustVerdict::trusted) { return {}; }
    AF_TRY(TrustStore store, open_trust_store(program, project.place));
    TrustSubject subject = project.loaded.trust.subject;
    // As in trust_subject, the lock represents the plugins, because it pins them.
    std::erase_if(subject.items, [](const auto& item) { return item.first.starts_with("plugin "); });
    if (!project.loaded.trust.plugin_folders.empty()) { subject.items["file " + std::string(lock_file)] = sha256(lock); }
    return store.announce(subject);
}

/// Renews the trust of a user who trusted the project and now locks its plugins.
Result<bool> trust_again(const Program& program, const PluginsOfProject& before) {
    if (before.loaded.trust.verdict != TrustVerdict::trusted) { return false; }
    AF_TRY(TrustStore store, open_trust_store(program, before.place));
    AF_TRY(const TrustedSettings now, load_settings(program, before.place, before.product));
    AF_CHECK(store.trust(now.trust.subject, SystemClock().now()));
    return true;
}

int lock_plugins(Program& program) {
    const auto opened = open_plugins(program);
    if (!opened.ok()) { return program.fail(opened.error()); }
    const PluginsOfProject& project = **opened;
    // Untrusted plugins are not in use. A lock without them would exclude them.
    if (!project.loaded.trust.allowed() && !project.loaded.trust.plugin_folders.empty()) {
        return program.fail(project.loaded.trust.refusal());
    }
    if (project.choice) { return program.fail(*project.choice); }
    const std::vector<const PluginManifest*> plugins = plugins_in_use(project.registry);
    const std::filesystem::path file = project.place.root / lock_file;
    const auto lock = PluginLock::of(plugins, file.string());
    if (!lock.ok()) { return program.fail(lock.error()); }
    std::error_code error;
    const bool needed = !plugins.empty() || std::filesystem::exists(std::filesystem::symlink_status(file, error));
    if (needed) {
        if (const auto made = make_directories(file.parent_path()); !made.ok()) { return program.fail(made.error()); }
        if (const auto known = announce(program, project, lock->text()); !known.ok()) { return program.fail(known.error()); }
        if (const auto written = write_file_atomic(file, lock->text(), Durability::synced); !written.ok()) {
            return program.fail(written.error());
        }
    }
    const auto trusted = trust_again(program, project);
    if (!trusted.ok()) { return program.fail(trusted.error()); }
    if (program.json_output) {
        json::array array;
        for (const auto& [id, locked] : lock->plugins) {
            json::object files;
            for (const auto& [name, hash] : locked.files) { files[name] = hash; }
            array.push_back(json::object{{"id", id}, {"version", locked.version}, {"files", std::move(files)}});
        }
        program.print_json({{"lock", needed ? json::value(file.string()) : json::value(nullptr)},
                            {"plugins", std::move(array)},
                            {"trusted", *trusted}});
        return 0;
    }
    for (const auto& [id, locked] : lock->plugins) {
        program.out << "  " << printable(id, 120) << " " << printable(locked.version, 60) << ", " << locked.files.size()
                    << " files\n";
    }
    program.out << (needed ? "Locked: " + file.string() + "\n"
                           : std::string("Nothing to lock: only plugins that ship with AgentForge are in use.\n"));
    if (*trusted && needed) { program.out << "You had trusted this project; your trust now includes this lock.\n"; }
    return 0;
}

}  // namespace

void add_plugins_lock(CLI::App& group, Program& program) {
    const Command lock = add_subcommand(group, "lock", "Write plugins.lock: this project's plugins with the hash of each file");
    add_flag(*lock, "--json", program.json_output, "Print JSON");
    lock->footer("Example:  agentforge plugins lock");
    lock->callback([&program] { program.command = [&program] { return lock_plugins(program); }; });
}

}  // namespace agentforge::kernel
