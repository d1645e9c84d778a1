// SPDX-License-Identifier: Apache-2.0
// Failures of answering that callers treat differently. Other failures of the same calls have the same kind.
#pragma once

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// True if another answer came first.
[[nodiscard]] inline bool is_already_answered(const Error& error) noexcept { return error.code == "AF-ESC-004"; }

/// True if reading an answer failed because of the answer itself. It does not count yet; a person can correct it in place.
[[nodiscard]] inline bool is_unreadable_answer(const Error& error) noexcept { return error.code.starts_with("AF-ESC-"); }

}  // namespace agentforge::kernel
