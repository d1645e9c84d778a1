// SPDX-License-Identifier: Apache-2.0
// Finds where the work in the user's checkout left the branch that it will return to.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct ForkPoint {
    std::string commit;
    std::string branch;  ///< What HEAD was compared with, in git's words. `HEAD` if there is no such branch.
};

/// Returns the best common ancestor of HEAD and `revision`. If `revision` is empty, compares with the first that exists of: the
/// branch's upstream, `origin/HEAD`, `main`, `master` (unless HEAD is on it). Without any of them, or without a common ancestor,
/// returns HEAD itself. Contacts no remote. Errors: AF-GIT-005 no commit yet; `not_found` AF-GIT-068 no such revision.
[[nodiscard]] Result<ForkPoint> fork_point(const std::filesystem::path& repository, std::string_view revision);

}  // namespace agentforge::kernel
