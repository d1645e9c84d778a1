// SPDX-License-Identifier: Apache-2.0
// Failures of gates that callers treat differently. All are `unavailable` or `invalid`, as other failures of the same calls are.
#pragma once

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// True if the tree has no source file of a known language yet, or a setting names an unknown language. In the second case
/// `where` names the setting.
[[nodiscard]] inline bool has_no_language(const Error& error) noexcept { return error.code == "AF-GATE-002"; }

/// True if a command of a language is missing, failed or wrote output in the wrong format, which says nothing about the tree.
[[nodiscard]] inline bool is_failed_command(const Error& error) noexcept { return error.code == "AF-GATE-003"; }

/// True if interfaces of the specification cannot be declared as stubs.
[[nodiscard]] inline bool is_undeclarable(const Error& error) noexcept { return error.code == "AF-GATE-030"; }

}  // namespace agentforge::kernel
