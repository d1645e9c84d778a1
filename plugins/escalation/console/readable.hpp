// SPDX-License-Identifier: Apache-2.0
// Writes values in a form that people can read and edit. Pure functions.
#pragma once

#include <agentforge/json.hpp>

#include <string>

namespace agentforge::escalation_console {

/// Writes block YAML: texts of several lines as literal blocks, all other texts quoted. Every YAML reader reads it as the same
/// value. A text that a literal block cannot hold (control characters, a first line that begins with a space) is quoted with
/// escapes. The text ends with a newline.
[[nodiscard]] std::string readable(const json::object& value);

}  // namespace agentforge::escalation_console
