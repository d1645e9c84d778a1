// SPDX-License-Identifier: Apache-2.0
// What the commands of `agentforge plugins` share: the plugins of a project without the rest of it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "plugins/host.hpp"
#include "program/project/project_trust.hpp"

namespace CLI {
class App;
}

namespace agentforge::kernel {

/// Enough of a project to look at its plugins, also where its agents or pipelines are broken.
struct PluginsOfProject {
    ProjectPlace place;
    ProductPaths product;
    TrustedSettings loaded;
    PluginRegistry registry;
    std::optional<Error> choice;  ///< What is wrong with `plugins.enable`, `disable` or `settings`.
};

/// Errors: those of ProjectPlace::find and load_settings.
[[nodiscard]] Result<std::unique_ptr<PluginsOfProject>> open_plugins(const Program& program);

/// A plugin's state in words, with its files held against what pins them; `problem` says what is wrong.
struct PluginCondition {
    std::string state;
    std::optional<Error> problem;
};
[[nodiscard]] PluginCondition condition_of(const PluginManifest& plugin);

/// The plugins that a lock is about: not the product's, and not left out by the user's choice, a missing trust or a second copy.
[[nodiscard]] std::vector<const PluginManifest*> plugins_in_use(const PluginRegistry& registry);

/// The fields that `list` and `show` have in common.
[[nodiscard]] json::object plugin_json(const PluginManifest& plugin, const PluginCondition& condition);

void add_plugins_list(CLI::App& group, Program& program);
void add_plugins_show(CLI::App& group, Program& program);
void add_plugins_lock(CLI::App& group, Program& program);
void add_plugins_verify(CLI::App& group, Program& program);

}  // namespace agentforge::kernel
