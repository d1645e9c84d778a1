// SPDX-License-Identifier: Apache-2.0
// Tells apart failures of a task that callers handle differently. Compares codes, because the journal keeps only the code of a
// failed task, and other failures of the same calls have the same kind.
#pragma once

#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// True if another process holds the task.
[[nodiscard]] inline bool is_in_use(const Error& error) noexcept { return error.code == "AF-TASK-003"; }

/// True if a stage, a review, a plugin's call or the whole task exceeded its time. Other timeouts, such as that of a test run,
/// end only the action that timed out.
[[nodiscard]] inline bool is_out_of_time(std::string_view code) noexcept { return code == "AF-ORCH-002"; }

/// True if an artifact given from outside is wrong. No attempt of this task can change it.
[[nodiscard]] inline bool is_wrong_import(std::string_view code) noexcept { return code.starts_with("AF-EXT-"); }

/// True if the task's inputs or its template would make it fail again.
[[nodiscard]] inline bool fails_again(std::string_view code) noexcept {
    return is_wrong_import(code) || code == "AF-ORCH-032";  // No completed stage produced what the next one builds on.
}

}  // namespace agentforge::kernel
