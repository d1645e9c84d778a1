// SPDX-License-Identifier: Apache-2.0
// Makes a tree from another by changing some paths. Private to kernel/git.
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

/// Folders that become empty disappear. An entry replaces a folder of the same name, and a folder replaces an entry. Cost: the
/// folders on the way to the edited paths. Errors: `invalid` AF-GIT-015 a path that git cannot record, or one that is both a file
/// and a folder.
[[nodiscard]] Result<git_oid> apply_edits(git_repository* repository, const git_oid& tree, const std::vector<TreeEdit>& edits);

/// True if git can record this relative path.
[[nodiscard]] bool is_recordable_path(std::string_view path);

/// Calls `visit(path, entry)` for each blob, link and gitlink, in git's order. Errors: AF-GIT-099.
[[nodiscard]] Result<void> for_each_file(git_repository* repository, const git_oid& tree,
                                         const std::function<void(std::string path, const TreeEntry&)>& visit);

[[nodiscard]] std::optional<TreeEntry> entry_at(git_tree* tree, const std::string& path);

}  // namespace agentforge::kernel::git
