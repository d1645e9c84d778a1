// SPDX-License-Identifier: Apache-2.0
// The files that show people an artifact and its versions. The journal has what they must hold.
#pragma once

#include <string>
#include <vector>

#include "task/state.hpp"
#include "task/store.hpp"

namespace agentforge::kernel {

/// `artifacts/phases/<stage>/<name>_<version>.yaml` beside the artifact's own file (spec README, 1): `v1`, `v2`, …, `final`.
[[nodiscard]] std::string artifact_version_file(const std::string& artifact, const std::string& version);

/// Files of accepted artifacts, their kept versions and final ones, and of what came from outside, that hold something else than
/// the journal says, are links or other special files, or are gone though the artifact counts; below the task's folder. Nothing
/// is followed out of it.
[[nodiscard]] std::vector<std::string> changed_artifact_files(const TaskPaths& paths, const TaskState& state);

/// Errors: `conflict` AF-ORCH-077 as below, AF-ORCH-051 naming the files.
[[nodiscard]] Result<void> check_artifact_files(const TaskPaths& paths, const TaskState& state);

/// Whether each file of the task that the journal knows is an ordinary one, or not there. Errors: `conflict` AF-ORCH-077 with the
/// first that is a link, has other names too, or is special.
[[nodiscard]] Result<void> check_files_are_own(const TaskPaths& paths, const TaskState& state);

}  // namespace agentforge::kernel
