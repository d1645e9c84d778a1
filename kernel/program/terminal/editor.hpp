// SPDX-License-Identifier: Apache-2.0
// Edits a text in the user's own editor.
#pragma once

#include <string>

#include <agentforge/result.hpp>

#include "program/program.hpp"

namespace agentforge::kernel {

/// Opens the text in VISUAL, EDITOR or vi and returns the user's version. Uses a private file, which is removed afterwards.
/// `name` ends the file's name, because editors choose colours by it. Errors: AF-ESC-038 there is no terminal, the editor cannot
/// be started or exited with another code than 0, or the text is unchanged; AF-BASE-015.
[[nodiscard]] Result<std::string> edit_text(const Program& program, const std::string& text, const std::string& name);

}  // namespace agentforge::kernel
