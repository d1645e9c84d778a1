// SPDX-License-Identifier: Apache-2.0
// Runs a command of the user's own, a pager or an editor, on the terminal.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace agentforge::kernel {

/// Runs a command line of the shell (PAGER, EDITOR) and waits for its end. Until then this program ignores Ctrl-C and Ctrl-\,
/// which are meant for the command. The command does not inherit the signals that this program ignores or blocks (SIGPIPE,
/// SIGXFSZ). `argument`: a separate word after the line; empty: none. `input`: becomes its standard input; -1: it shares this
/// program's. `meanwhile`: called once the command runs. Returns its exit code as a shell does: 126 and 127 if it cannot run, 128
/// and more if a signal ended it.
int run_on_terminal(const std::string& line, const std::string& argument, const std::map<std::string, std::string>& environment,
                    int input = -1, const std::function<void()>& meanwhile = {});

}  // namespace agentforge::kernel
