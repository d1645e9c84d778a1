// SPDX-License-Identifier: Apache-2.0
// Removes run-specific values from texts, so that texts of two runs can be compared and hashed. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace agentforge::kernel {

/// Returns `text` with everything that differs between two runs of the same transcript replaced by placeholders: task ids
/// (`<task>`), escalation, approval and artifact ids (`SPEC-20260102-…`), RFC 3339 times, durations (`12 ms`, `0.3s`, `1.25
/// seconds`), hexadecimal words of twelve digits or more, addresses (`0x…`), UUIDs, absolute paths. Cost: linear in the length of
/// the text.
[[nodiscard]] std::string without_volatile_parts(std::string_view text);

}  // namespace agentforge::kernel
