// SPDX-License-Identifier: Apache-2.0
// Files that share their blocks on disk until one of them is written (reflinks: Btrfs, XFS, bcachefs). Private to kernel/git.
#pragma once

#include "git/library.hpp"

namespace agentforge::kernel::git {

/// Makes the empty file `to` share all of `from`'s contents. Returns false if the file system cannot, or if the two are on
/// different ones.
using CloneFile = bool (*)(int to, int from);
/// The function in use. Tests set their own, because few file systems support it.
CloneFile& clone_file();

/// Makes the empty file `to` equal the recorded blob by sharing the bytes of the user's copy. Reads and hashes the result,
/// because the user's copy may differ (changed, converted, changed meanwhile). Then returns false, and `to` is empty. Sets
/// `possible` to false if sharing does not work here.
[[nodiscard]] bool share_blob(git_repository* repository, const git_oid& blob, const std::filesystem::path& copy, int to,
                              bool& possible);

}  // namespace agentforge::kernel::git
