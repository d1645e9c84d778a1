// SPDX-License-Identifier: Apache-2.0
// The command `plugins check`. Its child process runs the plugin.
#pragma once

namespace CLI {
class App;
}

namespace agentforge::kernel {

struct Program;

/// `plugins check FILE`, and the hidden command that its child runs.
void add_plugins_check(CLI::App& group, Program& program);

}  // namespace agentforge::kernel
