// SPDX-License-Identifier: Apache-2.0
// The tasks and repositories that a specification depends on (`dependencies.tasks` and `.external`; docs/repositories.md).
#pragma once

#include <string>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "journal/blob_store.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {

struct TaskDependency {
    std::string task_id;
    std::string required_stage;  ///< It must be completed.
    std::string repo;            ///< A known repository. Empty: that of the waiting task.
    std::string reason;
};

struct ExternalDependency {
    std::string repo;
    std::string artifact;
    std::string version;  ///< A VersionRange.
    std::string reason;
};

struct Dependencies {
    std::vector<TaskDependency> tasks;
    std::vector<ExternalDependency> external;
    [[nodiscard]] bool empty() const noexcept { return tasks.empty() && external.empty(); }
};

/// Returns the dependencies of an artifact of the contract `specification`. Leaves out dependencies that are texts, which are for
/// people.
[[nodiscard]] Dependencies dependencies_of(const json::object& specification);

/// Returns the hash of the blob of the specification in force. Empty: there is none yet, or the current stage makes it.
[[nodiscard]] std::string specification_in_force(const TaskState& state);
/// Returns the dependencies of the specification in this blob. Errors: those of BlobStore::get; `corrupt` it is not JSON.
[[nodiscard]] Result<Dependencies> dependencies_in(const BlobStore& blobs, const std::string& hash);
/// True if the task has completed the stage, or skipped and passed it.
[[nodiscard]] bool has_reached(const TaskState& state, const std::string& stage);

}  // namespace agentforge::kernel
