// SPDX-License-Identifier: Apache-2.0
// A tree like another with some paths changed. Private to kernel/git.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "git/library.hpp"

namespace agentforge::kernel::git {

struct TreeEntry {
    git_oid id{};
    git_filemode_t mode = GIT_FILEMODE_BLOB;
};

struct TreeEdit {
    std::string path;
    std::optional<TreeEntry> entry;  ///< Empty: removed.
};

/// Cost: the folders on the way to the edited paths. Folders that become empty vanish. An entry takes the
/// place of a folder of its name, and the other way round.
/// Errors: `invalid` AF-GIT-015 a path that git cannot record, or a path that is a file and a folder at once.
[[nodiscard]] Result<git_oid> apply_edits(git_repository* repository, const git_oid& tree, const std::vector<TreeEdit>& edits);

/// Whether git could record this relative path.
[[nodiscard]] bool is_recordable_path(std::string_view path);

/// Calls `visit(path, entry)` for each blob, link and gitlink, in git's order. Errors: AF-GIT-099.
[[nodiscard]] Result<void> for_each_file(git_repository* repository, const git_oid& tree,
                                         const std::function<void(std::string path, const TreeEntry&)>& visit);

[[nodiscard]] std::optional<TreeEntry> entry_at(git_tree* tree, const std::string& path);

}  // namespace agentforge::kernel::git
