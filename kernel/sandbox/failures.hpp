// SPDX-License-Identifier: Apache-2.0
// Tells apart failures of starting a program that callers handle differently. The error's kind is not enough: other failures have
// it too.
#pragma once

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// True if the program was not found.
[[nodiscard]] inline bool is_missing_program(const Error& error) noexcept { return error.code == "AF-EXEC-001"; }

/// True if the program cannot be confined here.
[[nodiscard]] inline bool is_unconfinable(const Error& error) noexcept { return error.code == "AF-EXEC-004"; }

}  // namespace agentforge::kernel
