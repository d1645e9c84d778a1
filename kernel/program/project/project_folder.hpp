// SPDX-License-Identifier: Apache-2.0
// The folder `.agentforge` of a project, and what git ignores in it.
#pragma once

#include "program/project/project_trust.hpp"

namespace agentforge::kernel {

/// Creates `.agentforge` with a `.gitignore`. `shared`: for a project that commits its configuration; otherwise git ignores the
/// whole folder. Leaves an existing file unchanged.
[[nodiscard]] Result<void> prepare_project_folder(const ProjectPlace& place, bool shared);
/// Removes what `prepare_project_folder(place, false)` created, if the folder is otherwise still empty.
void remove_empty_project_folder(const ProjectPlace& place);

}  // namespace agentforge::kernel
