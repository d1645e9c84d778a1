// SPDX-License-Identifier: Apache-2.0
// What other agentforge processes ask of the one that runs a task: to end it, or to pause it. Each request is a file in the
// task's folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/cancel.hpp"
#include "task/store.hpp"

namespace agentforge::kernel {

/// Errors: `io`.
[[nodiscard]] Result<void> request_abort(const TaskPaths& paths, std::string_view reason);
[[nodiscard]] bool abort_requested(const TaskPaths& paths);
void remove_abort_request(const TaskPaths& paths);

/// Takes the request to pause away and returns its reason; nothing where there is none.
[[nodiscard]] std::optional<std::string> take_pause_request(const TaskPaths& paths);
void remove_pause_request(const TaskPaths& paths);

/// Passes requests on to the code that runs: cancels it at once, or at the end of its step where the request says so.
void heed_requests(const TaskPaths& paths, CancelToken& cancel);

}  // namespace agentforge::kernel
