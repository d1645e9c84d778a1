// SPDX-License-Identifier: Apache-2.0
// Values in a form that people read and edit. Pure.
#pragma once

#include <agentforge/json.hpp>

#include <string>

namespace agentforge::escalation_console {

/// Writes block YAML: texts of several lines as literal blocks, all other texts quoted. Every YAML reader reads it as the same
/// value. A text that a literal block cannot hold (control characters, a first line that begins with a space) is quoted with
/// escapes. Ends in a line end.
[[nodiscard]] std::string readable(const json::object& value);

}  // namespace agentforge::escalation_console
