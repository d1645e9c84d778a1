// SPDX-License-Identifier: Apache-2.0
// Links through which a file acts later (acting_files.hpp).
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace agentforge::kernel {

/// Files that act later because a link with such a name points to them: if `CLAUDE.md` is a link to `docs/handbook.md`, agents
/// obey the handbook.
class ActingLinks {
public:
    ActingLinks() = default;
    /// `links`: the symbolic links of a tree with their targets. Ignores links that leave the tree.
    explicit ActingLinks(const std::map<std::string, std::string>& links);
    /// Returns the acting link that points to `path` or to a folder that contains it. Empty: none.
    [[nodiscard]] std::string_view leading_to(std::string_view path) const;

private:
    std::map<std::string, std::string, std::less<>> targets_;  ///< Each file, folder and link on the way, with the acting link.
};

}  // namespace agentforge::kernel
