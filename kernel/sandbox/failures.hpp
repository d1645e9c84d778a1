// SPDX-License-Identifier: Apache-2.0
// Failures of starting a program that callers treat differently. All are `unavailable`, or have the same kind as others.
#pragma once

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// True if the program was not found.
[[nodiscard]] inline bool is_missing_program(const Error& error) noexcept { return error.code == "AF-EXEC-001"; }

/// True if the program cannot be confined here.
[[nodiscard]] inline bool is_unconfinable(const Error& error) noexcept { return error.code == "AF-EXEC-004"; }

}  // namespace agentforge::kernel
