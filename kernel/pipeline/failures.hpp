// SPDX-License-Identifier: Apache-2.0
// Tells apart failures of running a task that callers handle differently. The error's kind is not enough: other failures of the
// same calls share it.
#pragma once

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// True if the task waits for another task, another repository or the other parts of its set. A person resumes it when that is
/// ready.
[[nodiscard]] inline bool is_unmet_dependency(const Error& error) noexcept {
    return error.code.starts_with("AF-DEP-") || error.code == "AF-SET-001";
}

/// True if tasks wait for each other in a cycle, so waiting cannot help.
[[nodiscard]] inline bool is_circle(const Error& error) noexcept { return error.code == "AF-DEP-003"; }

/// True if a finished task cannot continue as asked: nothing follows, the stage does not follow, or artifacts are stale.
[[nodiscard]] inline bool is_impossible_extension(const Error& error) noexcept { return error.code.starts_with("AF-ORCH-05"); }

}  // namespace agentforge::kernel
