// SPDX-License-Identifier: Apache-2.0
// `agentforge plugins new KIND NAME`: a plugin's folder from a template, ready to be built.
#pragma once

#include "program/program.hpp"

namespace agentforge::kernel {

/// Adds the command to the group `plugins`. What it makes is a copy of `share/agentforge/templates/<kind>` in which
/// `template_name` is the name, `TemplateName` its class, `AGENTFORGE_PLUGIN_FOLDER` the new folder and `AGENTFORGE_PREFIX` where
/// this program is installed. It needs no repository, and writes nothing unless the folder is new. Errors: `invalid` AF-PLUG-061
/// a name that does not serve; `conflict` AF-PLUG-062 the folder is there; `not_found` AF-PLUG-063 the templates are not
/// installed; `io` AF-BASE-….
void add_plugins_new(CLI::App& group, Program& program);

}  // namespace agentforge::kernel
