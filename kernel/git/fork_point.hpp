// SPDX-License-Identifier: Apache-2.0
// Where the work in the user's checkout left the branch that it will go back to.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct ForkPoint {
    std::string commit;
    std::string branch;  ///< What HEAD was compared with, as git calls it; `HEAD` where there is no such branch.
};

/// The best common ancestor of HEAD and `revision`. Where that is empty: of HEAD and the first that exists of the branch's
/// upstream, `origin/HEAD`, `main` and `master` (unless HEAD is on it); without any, or without a common ancestor, HEAD itself. A
/// remote is not asked. Errors: AF-GIT-005 no commit yet; `not_found` AF-GIT-068 there is no such revision.
[[nodiscard]] Result<ForkPoint> fork_point(const std::filesystem::path& repository, std::string_view revision);

}  // namespace agentforge::kernel
