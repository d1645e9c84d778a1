// SPDX-License-Identifier: Apache-2.0
// Requests from other agentforge processes to the one that runs a task: to end it, or to pause it. Each is a file in the task's
// folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/cancel_token.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

/// Write, find and remove a request to end the task. Errors: `conflict` there is one; `io`.
[[nodiscard]] Result<void> request_abort(const TaskPaths& paths, std::string_view reason);
[[nodiscard]] bool abort_requested(const TaskPaths& paths);
/// Returns the reason of the request, or words for one without a reason.
[[nodiscard]] std::string abort_reason(const TaskPaths& paths);
void remove_abort_request(const TaskPaths& paths);

/// Removes the pause request and returns its reason, or nothing if there is none.
[[nodiscard]] std::optional<std::string> take_pause_request(const TaskPaths& paths);
void remove_pause_request(const TaskPaths& paths);

/// Forwards requests to the running code: cancels it at once, or at the end of its step if the request says so.
void forward_requests(const TaskPaths& paths, CancelToken& cancel);

}  // namespace agentforge::kernel
