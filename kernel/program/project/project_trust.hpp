// SPDX-License-Identifier: Apache-2.0
// A project's settings, and whether the user trusts its files to run programs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "plugins/plugin_registry.hpp"
#include "plugins/trust_store.hpp"
#include "program/program.hpp"

namespace agentforge::kernel {

/// The `.agentforge` of the repository. Enough for a command that only reads tasks.
struct ProjectPlace {
    std::filesystem::path root;        ///< The user's checkout.
    std::filesystem::path agentforge;  ///< `<root>/.agentforge`.
    /// Errors: those of finding the repository (AF-GIT-001 …), AF-CLI-130.
    [[nodiscard]] static Result<ProjectPlace> find(const Program& program);
};

/// The user's decision about one project, and how it was given.
struct ProjectTrust {
    TrustSubject subject;                     ///< Everything that its files ask for, trusted or not.
    std::vector<GuardedSetting> settings;     ///< Its settings that need trust, with their places.
    std::vector<std::string> plugin_folders;  ///< Absolute paths of its own `plugins.paths`.
    TrustVerdict verdict = TrustVerdict::nothing_to_trust;
    std::vector<std::string> changed;  ///< Items that differ from the trusted ones.
    bool for_this_run = false;         ///< Set by --trust or AGENTFORGE_TRUST_PROJECT=1.

    [[nodiscard]] bool allowed() const noexcept {
        return for_this_run || verdict == TrustVerdict::trusted || verdict == TrustVerdict::nothing_to_trust;
    }
    /// Returns its settings that are not used.
    [[nodiscard]] const std::vector<GuardedSetting>& left_out() const noexcept;
    /// Returns AF-PLUG-040: what is not used, and how to allow it.
    [[nodiscard]] Error refusal() const;
};

/// Returns first_missed of the settings of a plugin (`plugins.settings`), by its name or its id.
[[nodiscard]] const GuardedSetting* missed_by_plugin(const Settings& settings, const std::vector<GuardedSetting>& left_out,
                                                     const std::string& name, const std::string& id);
/// Returns AF-PLUG-043: without the setting, the run would send code or questions to a different place than the project
/// specifies.
[[nodiscard]] Error required_setting_error(const GuardedSetting& setting);

/// Returns AF-CONF-047: the project sets something that only the user may set.
[[nodiscard]] Error user_only_error(const GuardedSetting& setting);

/// Settings and trust together, because they depend on each other: without trust, the settings lack those that need it.
struct TrustedSettings {
    std::unique_ptr<Settings> settings;
    ProjectTrust trust;
};

/// Lists on `err` the project's settings that only the user may set.
void warn_about_refused_settings(std::ostream& err, const Settings& settings);

/// Reads a project's settings as far as the user trusts the project. `further` overrides all others. Errors: AF-CONF-…;
/// AF-PLUG-037, 041, 042 the project needs trust, and its trust cannot be checked; AF-CLI-014 AGENTFORGE_TRUST_PROJECT is neither
/// 0 nor 1.
[[nodiscard]] Result<TrustedSettings> load_settings(const Program& program, const ProjectPlace& place,
                                                    const ProductPaths& product,
                                                    const std::vector<std::pair<std::string, std::string>>& further = {});

/// Handles a project that is not trusted. On a terminal, for a command that runs tasks, shows what the project wants to run and
/// asks once (stores the answer outside the project, a "no" too). Otherwise, and after a "no", reports AF-PLUG-040. Warns about
/// settings that only the user may set (AF-CONF-047). Returns the settings then in force. Errors: those of load_settings and
/// TrustStore; `cancelled` AF-CLI-122 Ctrl-C.
[[nodiscard]] Result<TrustedSettings> resolve_trust(Program& program, const ProjectPlace& place, const ProductPaths& product,
                                                    TrustedSettings loaded);

/// Returns `plugins.paths` as folders. The project's are relative to its root, those of the user's file to its folder. Those of
/// the environment and the command line stay as written, and relative ones are refused later (AF-PLUG-008). Nothing is relative
/// to the current directory.
[[nodiscard]] std::vector<std::string> folders_of_plugins(const Program& program, const ProjectPlace& place,
                                                          const Settings& settings);

/// Returns everything that decides which plugins are used: folders by source, trust, choice, lock, settings. `settings` must
/// outlive the registry made from it (it says where a plugin's setting was written).
[[nodiscard]] PluginSearch plugin_search(const Program& program, const ProjectPlace& place, const ProductPaths& product,
                                         const Settings& settings, const ProjectTrust& trust);

/// Checks `plugins.enable`, `disable` and `settings` against the discovered plugins. Errors, with file, line and column:
/// AF-PLUG-036, 050, 051.
[[nodiscard]] Result<void> check_plugin_settings(const PluginRegistry& plugins, const Settings& settings);

/// Returns the folder for worktrees and scratch, and for the list of trusted projects: $AGENTFORGE_STATE_HOME, else
/// $XDG_STATE_HOME/agentforge, else ~/.local/state/agentforge. Errors: AF-CLI-003 none of them is known, AF-CLI-131 the first
/// that is set is not absolute.
[[nodiscard]] Result<std::string> state_directory(const std::map<std::string, std::string>& environment);

/// Opens the user's list of trusted projects. Errors: AF-CLI-003, AF-PLUG-041, AF-PLUG-042 also if it is inside the project.
[[nodiscard]] Result<TrustStore> open_trust_store(const Program& program, const ProjectPlace& place);

}  // namespace agentforge::kernel
