// SPDX-License-Identifier: Apache-2.0
// A project's settings, and whether the user lets its own files run something.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "plugins/host.hpp"
#include "plugins/trust.hpp"
#include "program/program.hpp"

namespace agentforge::kernel {

/// What a command that only looks at tasks needs: the repository's `.agentforge`.
struct ProjectPlace {
    std::filesystem::path root;        ///< The user's checkout.
    std::filesystem::path agentforge;  ///< `<root>/.agentforge`
    /// Errors: AF-GIT-001 … from finding the repository, AF-CLI-130.
    [[nodiscard]] static Result<ProjectPlace> find(const Program& program);
};

/// What the user said about one project, and by which way.
struct ProjectTrust {
    TrustSubject subject;                     ///< All that its files ask for; also where it is not trusted.
    std::vector<GuardedSetting> settings;     ///< Its settings that need trust, with their places.
    std::vector<std::string> plugin_folders;  ///< Absolute: its own `plugins.paths`.
    TrustVerdict verdict = TrustVerdict::nothing_to_trust;
    std::vector<std::string> changed;  ///< Items that differ from those that were trusted.
    bool for_this_run = false;         ///< By --trust or AGENTFORGE_TRUST_PROJECT=1.

    [[nodiscard]] bool allowed() const noexcept {
        return for_this_run || verdict == TrustVerdict::trusted || verdict == TrustVerdict::nothing_to_trust;
    }
    /// Its settings that are not used.
    [[nodiscard]] const std::vector<GuardedSetting>& left_out() const noexcept;
    /// AF-PLUG-040: what is not used, and how to allow it.
    [[nodiscard]] Error refusal() const;
};

/// first_missed of what is handed to a plugin (`plugins.settings`), by its name or its id.
[[nodiscard]] const GuardedSetting* missed_by_plugin(const Settings& settings, const std::vector<GuardedSetting>& left_out,
                                                     const std::string& name, const std::string& id);
/// AF-PLUG-043: the run would do something else with code and questions than the project says.
[[nodiscard]] Error cannot_do_without(const GuardedSetting& setting);

/// AF-CONF-047: the project sets something that only the user may set.
[[nodiscard]] Error yours_alone(const GuardedSetting& setting);

/// Settings and trust together, because each decides about the other: without trust the settings lack what needs it.
struct TrustedSettings {
    std::unique_ptr<Settings> settings;
    ProjectTrust trust;
};

/// Names on `err` what the project sets and only the user may set.
void name_refused_settings(std::ostream& err, const Settings& settings);

/// Reads a project's settings as far as the user trusts the project; `further` are laid over all others.
/// Errors: AF-CONF-…; AF-PLUG-037, 041, 042 where the project asks for something and it cannot be known whether it is trusted;
/// AF-CLI-014 AGENTFORGE_TRUST_PROJECT is neither 0 nor 1.
[[nodiscard]] Result<TrustedSettings> load_settings(const Program& program, const ProjectPlace& place,
                                                    const ProductPaths& product,
                                                    const std::vector<std::pair<std::string, std::string>>& further = {});

/// Where the project is not trusted: on a terminal, for a command that runs tasks, shows what it wants to run and asks once (the
/// answer is kept outside of it, a "no" too); elsewhere, and after a "no", says AF-PLUG-040. Warns about what only the user may
/// set (AF-CONF-047). Returns the settings then in force. Errors: as load_settings and TrustStore; `cancelled` AF-CLI-122 Ctrl-C.
[[nodiscard]] Result<TrustedSettings> settle_trust(Program& program, const ProjectPlace& place, const ProductPaths& product,
                                                   TrustedSettings loaded);

/// `plugins.paths` as folders: of the project from its root on, of the user's file from its folder on; from the environment and
/// the command line as written, where a relative one is refused later (AF-PLUG-008): never from the current directory.
[[nodiscard]] std::vector<std::string> folders_of_plugins(const Program& program, const ProjectPlace& place,
                                                          const Settings& settings);

/// All that decides which plugins are used: folders by source, trust, choice, lock, settings. `settings` must outlive the
/// registry that is made from it (it says where a plugin's setting was written).
[[nodiscard]] PluginSearch plugin_search(const Program& program, const ProjectPlace& place, const ProductPaths& product,
                                         const Settings& settings, const ProjectTrust& trust);

/// `plugins.enable`, `disable` and `settings` against the plugins that were found. Errors, with file, line and column:
/// AF-PLUG-036, 050, 051.
[[nodiscard]] Result<void> check_plugin_settings(const PluginRegistry& plugins, const Settings& settings);

/// The folder for worktrees and scratch, and for the list of trusted projects: $AGENTFORGE_STATE_HOME,
/// $XDG_STATE_HOME/agentforge,
/// ~/.local/state/agentforge. Errors: AF-CLI-003 none of them is known, AF-CLI-131 the one that decides is not absolute.
[[nodiscard]] Result<std::string> state_directory(const std::map<std::string, std::string>& environment);

/// The user's list of trusted projects. Errors: AF-CLI-003, AF-PLUG-041, AF-PLUG-042 also where it lies inside the project.
[[nodiscard]] Result<TrustStore> open_trust_store(const Program& program, const ProjectPlace& place);

}  // namespace agentforge::kernel
