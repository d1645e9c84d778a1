// SPDX-License-Identifier: Apache-2.0
// Values as people read and edit them. Pure.
#pragma once

#include <agentforge/json.hpp>

#include <string>

namespace agentforge::escalation_console {

/// Block YAML: texts of several lines as literal blocks, all other texts quoted. Every YAML reader reads it to the same value; a
/// text that no literal block can hold (control characters, a first line that begins with a space) is quoted with escapes. Ends
/// in a line end.
[[nodiscard]] std::string readable(const json::object& value);

}  // namespace agentforge::escalation_console
