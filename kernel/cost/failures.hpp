// SPDX-License-Identifier: Apache-2.0
// Failures of prices and limits that callers treat differently.
#pragma once

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// True if a limit stopped the task, or cannot be enforced because a price is unknown. A person may raise the limit.
[[nodiscard]] inline bool is_limit(const Error& error) noexcept { return error.code.starts_with("AF-COST-"); }

}  // namespace agentforge::kernel
