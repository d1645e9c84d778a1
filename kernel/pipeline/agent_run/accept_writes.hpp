// SPDX-License-Identifier: Apache-2.0
// Checks a program's writes to the workspace against its role's rights, and undoes the forbidden ones.
#pragma once

#include <string>
#include <vector>

#include <agentforge/host.hpp>

#include "pipeline/task_session.hpp"
#include "pipeline/task_trees.hpp"
#include "tools/workspace/role_workspace.hpp"

namespace agentforge::kernel {

/// Checks everything written since `tree`, by any program. Takes back and records writes that the role may not make. Returns the
/// allowed ones. `now`: set to the tree after them. Errors: AF-ORCH-026 a forbidden write, AF-SEC-007 a placeholder of a secret;
/// all writes were undone.
[[nodiscard]] Result<std::vector<Change>> accept_writes(TaskSession& session, TaskTrees& trees, RoleWorkspace& workspace,
                                                        const RecordAgent& who, const std::string& tree,
                                                        std::string* now = nullptr);

}  // namespace agentforge::kernel
