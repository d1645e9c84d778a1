// SPDX-License-Identifier: Apache-2.0
// Changes of files that run or take effect later (tools/acting_files.hpp). The specification names these files, and a person
// approves their contents.
#pragma once

#include <string>
#include <vector>

#include "pipeline/task_session.hpp"
#include "pipeline/task_trees.hpp"

namespace agentforge::kernel {

/// Returns the files that the task's specification creates or modifies. Roles may write no other files that act later.
[[nodiscard]] Result<std::vector<std::string>> specified_files(const TaskSession& session);

/// Returns the task's changes in files that act later, from its base to `tree`: one line each, with the hash of the file's new
/// contents.
[[nodiscard]] Result<std::vector<std::string>> acting_changes(const TaskSession& session, TaskTrees& trees,
                                                              const std::string& tree);

/// Returns the lines that no person has approved yet, at any stage: the record of an accepted artifact names the approved ones in
/// `acts_later`.
[[nodiscard]] std::vector<std::string> not_yet_approved(const TaskSession& session, std::vector<std::string> lines);

/// True if the measured `facts` list more in `to_look_at` than the lines of files that act later. A person is asked about each of
/// those once, by content.
[[nodiscard]] bool has_suspicions(const json::object& facts, const std::vector<std::string>& acting);

}  // namespace agentforge::kernel
