// SPDX-License-Identifier: Apache-2.0
// Files that share their contents on the disk until one of them is written (reflinks: Btrfs, XFS, bcachefs). Private to
// kernel/git.
#pragma once

#include "git/library.hpp"

namespace agentforge::kernel::git {

/// Makes the empty file `to` share all of `from`'s contents; false where the file system cannot, or the two lie on different
/// ones.
using CloneFile = bool (*)(int to, int from);
/// The one in use; a test sets its own, since few file systems have it.
CloneFile& clone_file();

/// Makes the empty file `to` be the recorded blob by sharing the bytes of the user's own copy. What it holds then is read and
/// hashed, so that copy is not believed: another one (changed, converted, changed meanwhile) answers false, and `to` is empty.
/// `possible` becomes false where nothing can be shared.
[[nodiscard]] bool share_blob(git_repository* repository, const git_oid& blob, const std::filesystem::path& copy, int to,
                              bool& possible);

}  // namespace agentforge::kernel::git
