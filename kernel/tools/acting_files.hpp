// SPDX-License-Identifier: Apache-2.0
// Files that tools on the user's machine, or a server, run or obey later without being asked.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace agentforge::kernel {

/// Whether a file at `path` acts later: it configures an editor, an agent, a shell in that folder, git, git hooks, a package
/// manager or a CI server so that it runs commands or follows instructions. Case does not count, and neither does the depth.
[[nodiscard]] bool acts_later(std::string_view path);

/// What acts later because a link of such a name leads to it: where `CLAUDE.md` is a link to `docs/handbook.md`, agents obey the
/// handbook.
class ActingLinks {
public:
    ActingLinks() = default;
    /// `links`: the symbolic links of a tree and what each holds. What leads out of the tree is left out.
    explicit ActingLinks(const std::map<std::string, std::string>& links);
    /// The link of a name that acts later that leads to `path` or to a folder that it is in; empty: none.
    [[nodiscard]] std::string_view leading_to(std::string_view path) const;

private:
    std::map<std::string, std::string, std::less<>> targets_;  ///< Each file, folder and link on the way, and the link that acts.
};

}  // namespace agentforge::kernel
