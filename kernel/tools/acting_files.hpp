// SPDX-License-Identifier: Apache-2.0
// Files that tools on the user's machine, or a server, later run or obey without asking.
#pragma once

#include <string_view>

namespace agentforge::kernel {

/// True if a file at `path` acts later: it configures an editor, an agent, a shell in that folder, git, git hooks, a package
/// manager or a CI server so that it runs commands or follows instructions. Ignores case and depth.
[[nodiscard]] bool acts_later(std::string_view path);

}  // namespace agentforge::kernel
