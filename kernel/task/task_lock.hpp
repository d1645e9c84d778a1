// SPDX-License-Identifier: Apache-2.0
// The lock of a task, and its holder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <agentforge/result.hpp>

#include "base/files.hpp"
#include "task/task_paths.hpp"

namespace agentforge::kernel {

struct LockHolder {
    long pid = 0;
    std::string host;
    std::string command;
    std::string since;
};

/// One writer per task: an flock(2) on the file `lock`, whose text names the holder. Released on destruction.
class TaskLock {
public:
    /// Errors: `conflict` AF-TASK-003, whose message names the holder.
    [[nodiscard]] static Result<TaskLock> acquire(const TaskPaths& paths, std::string_view command, std::string_view now);
    /// Returns the current holder, if there is one.
    [[nodiscard]] static std::optional<LockHolder> holder(const TaskPaths& paths);

private:
    explicit TaskLock(FileDescriptor descriptor) : descriptor_(std::move(descriptor)) {}
    FileDescriptor descriptor_;
};

}  // namespace agentforge::kernel
