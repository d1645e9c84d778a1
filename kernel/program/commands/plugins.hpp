// SPDX-License-Identifier: Apache-2.0
// Shared by the commands of `agentforge plugins`: a project's plugins, without the rest of the project.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "plugins/plugin_registry.hpp"
#include "program/project/project_trust.hpp"

namespace CLI {
class App;
}

namespace agentforge::kernel {

/// The part of a project that is needed to inspect its plugins. Works even if its agents or pipelines are broken.
struct PluginsOfProject {
    ProjectPlace place;
    ProductPaths product;
    TrustedSettings loaded;
    PluginRegistry registry;
    std::optional<Error> choice;  ///< Error of `plugins.enable`, `disable` or `settings`.
};

/// Errors: those of ProjectPlace::find and load_settings.
[[nodiscard]] Result<std::unique_ptr<PluginsOfProject>> open_plugins(const Program& program);

/// A plugin's state in words, found by comparing its files with the lock or the user's trust. `problem`: the fault, if any.
struct PluginCondition {
    std::string state;
    std::optional<Error> problem;
};
[[nodiscard]] PluginCondition condition_of(const PluginManifest& plugin);

/// Returns the plugins that a lock covers. Excludes the product's own, and those that are disabled, untrusted or a second copy.
[[nodiscard]] std::vector<const PluginManifest*> plugins_in_use(const PluginRegistry& registry);

/// Returns the fields that `list` and `show` share.
[[nodiscard]] json::object plugin_json(const PluginManifest& plugin, const PluginCondition& condition);

void add_plugins_list(CLI::App& group, Program& program);
void add_plugins_show(CLI::App& group, Program& program);
void add_plugins_lock(CLI::App& group, Program& program);
void add_plugins_verify(CLI::App& group, Program& program);

}  // namespace agentforge::kernel
