// SPDX-License-Identifier: Apache-2.0
// `agentforge plugins new KIND NAME`: creates a plugin's folder from a template, ready to build.
#pragma once

#include "program/program.hpp"

namespace agentforge::kernel {

/// Adds the command to the group `plugins`. It copies `share/agentforge/templates/<kind>` and replaces `template_name` by the
/// name, `TemplateName` by its class, `AGENTFORGE_PLUGIN_FOLDER` by the new folder and `AGENTFORGE_PREFIX` by the prefix of this
/// installation. It needs no repository, and writes nothing unless the folder is new. Errors: `invalid` AF-PLUG-061 the name is
/// not valid; `conflict` AF-PLUG-062 the folder exists; `not_found` AF-PLUG-063 the templates are not installed; `io` AF-BASE-….
void add_plugins_new(CLI::App& group, Program& program);

}  // namespace agentforge::kernel
