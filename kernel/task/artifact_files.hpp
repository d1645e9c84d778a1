// SPDX-License-Identifier: Apache-2.0
// The files that show an artifact and its versions to people. The journal has the contents that they must have.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "task/state.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

/// True if the text of an artifact's file is exactly what the program writes for these fields: nobody added a comment or changed
/// the layout. `artifact`: the fields, as read from the text.
[[nodiscard]] bool is_as_written(const std::string& text, const json::object& artifact);

/// Returns `artifacts/phases/<stage>/<name>_<version>.yaml`, beside the artifact's own file. Versions are `v1`, `v2`, …, `final`.
[[nodiscard]] std::string artifact_version_file(const std::string& artifact, const std::string& version);

/// Returns the versions kept for people: those that were sent back and, in a stage that iterates, those that a person decided
/// on. Maps a file, relative to the task's folder, to its version.
[[nodiscard]] std::map<std::string, ShownVersion> version_files(const TaskState& state, const StageState& stage);

/// Removes the stage's final file, if there is one, before the stage runs again: it is no longer final.
void remove_final_file(const TaskPaths& paths, const StageState& stage);

/// True if the contents of one of these files, read again, equal `value`.
[[nodiscard]] bool reads_as(const json::object& read, const json::value& value);

/// Returns the names of all these files, relative to the task's folder, whether they exist or not. `blobs`: the folder of the
/// task's blobs.
[[nodiscard]] std::set<std::string> artifact_files(const std::filesystem::path& blobs, const TaskState& state);

/// Returns the files of accepted artifacts, their versions and reviews, and imported inputs that differ from the journal, are
/// links or other special files, or are missing although the artifact counts. Paths are relative to the task's folder. Follows no
/// link out of it. `blobs`: the folder of the task's blobs, if it is not in `paths`.
[[nodiscard]] std::vector<std::string> changed_artifact_files(const TaskPaths& paths, const TaskState& state,
                                                              const std::filesystem::path& blobs = {});

/// True if such a file is there and does not have the contents of this blob.
[[nodiscard]] bool is_changed_artifact_file(const TaskPaths& paths, const std::string& file, const std::string& blob,
                                            const std::filesystem::path& blobs);

/// Fails if `changed_artifact_files` finds any. Errors: `conflict` AF-ORCH-077 as below, AF-ORCH-051 with the files' names.
[[nodiscard]] Result<void> check_artifact_files(const TaskPaths& paths, const TaskState& state);

/// Checks that each file of the task that the journal knows is a regular file or missing. Errors: `conflict` AF-ORCH-077 with the
/// first that is a link, has further hard links, or is special.
[[nodiscard]] Result<void> check_files_are_own(const TaskPaths& paths, const TaskState& state);

}  // namespace agentforge::kernel
