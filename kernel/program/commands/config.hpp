// SPDX-License-Identifier: Apache-2.0
// Writes one setting, for `config set` and for commands that ask a person for a setting.
#pragma once

#include <string>

#include "program/program.hpp"

namespace agentforge::kernel {

/// Writes a setting into the user's own file, ~/.agentforge/config.yaml, checked as `config set --user` checks it, and prints
/// what it wrote. Prints the error if there is one. Returns the exit code.
int set_user_setting(Program& program, const std::string& key, const std::string& value);

}  // namespace agentforge::kernel
