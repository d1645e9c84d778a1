// SPDX-License-Identifier: Apache-2.0
// A text in the user's own editor.
#pragma once

#include <string>

#include <agentforge/result.hpp>

#include "program/program.hpp"

namespace agentforge::kernel {

/// What the user makes of a text in VISUAL, EDITOR or vi, in a private file that is removed afterwards. `name` ends the file's
/// name: editors colour by it. Errors: AF-ESC-038 there is no terminal, the editor cannot be started or ended with another code
/// than 0, or the text is unchanged; AF-BASE-015.
[[nodiscard]] Result<std::string> edit_text(const Program& program, const std::string& text, const std::string& name);

}  // namespace agentforge::kernel
