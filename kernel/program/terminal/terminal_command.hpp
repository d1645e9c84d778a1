// SPDX-License-Identifier: Apache-2.0
// A command of the user's own, a pager or an editor, that has the terminal for a while.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace agentforge::kernel {

/// Runs a command line of the shell (PAGER, EDITOR) and waits for its end. Ctrl-C and Ctrl-\ are meant for it: until it ends,
/// this program does not hear them. The signals that this program ignores or holds back (SIGPIPE, SIGXFSZ) it does not.
/// `argument` is a separate word after the line; empty: none. `input` becomes its standard input; -1: it has this
/// program's. `meanwhile` is called once it runs. Returns its exit code as a shell gives it: 126 and 127 where it could not be
/// run, 128 and more where a signal ended it.
int run_on_terminal(const std::string& line, const std::string& argument, const std::map<std::string, std::string>& environment,
                    int input = -1, const std::function<void()>& meanwhile = {});

}  // namespace agentforge::kernel
