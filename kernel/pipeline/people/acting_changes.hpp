// SPDX-License-Identifier: Apache-2.0
// Changes of files that act later (tools/acting_files.hpp): the specification names them, and a person approves what they hold.
#pragma once

#include <string>
#include <vector>

#include "pipeline/session.hpp"
#include "pipeline/workspace.hpp"

namespace agentforge::kernel {

/// The files that the task's specification is to create or to modify; the only ones that roles may write although they act later.
[[nodiscard]] Result<std::vector<std::string>> specified_files(const TaskSession& session);

/// What the task changed in files that act later, from its base to `tree`: a line for each, with the hash of what the file holds
/// now.
[[nodiscard]] Result<std::vector<std::string>> acting_changes(const TaskSession& session, TaskTrees& trees,
                                                              const std::string& tree);

/// Those of `lines` that no person has approved yet, at whatever stage: the record of an accepted artifact names them in
/// `acts_later`.
[[nodiscard]] std::vector<std::string> not_yet_approved(const TaskSession& session, std::vector<std::string> lines);

/// Whether measured `facts` name more to look at (`to_look_at`) than the lines of files that act later: these are asked about by
/// their content, once.
[[nodiscard]] bool has_suspicions(const json::object& facts, const std::vector<std::string>& acting);

}  // namespace agentforge::kernel
