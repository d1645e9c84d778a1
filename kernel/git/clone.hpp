// SPDX-License-Identifier: Apache-2.0
// Reflinks: files that share disk blocks until one is written (Btrfs, XFS, bcachefs). Private to kernel/git.
#pragma once

#include "git/library.hpp"

namespace agentforge::kernel::git {

/// Makes the empty file `to` share all of `from`'s contents. Returns false if the file system cannot, or if the two are on
/// different ones.
using CloneFile = bool (*)(int to, int from);
/// The function in use. Tests set their own, because few file systems support it.
CloneFile& clone_file();

/// Fills the empty file `to` with the recorded blob by sharing the blocks of the user's copy. Hashes the result, because the
/// user's copy may differ: changed, converted, or changed during the call. In that case returns false and leaves `to` empty. Sets
/// `possible` to false if sharing does not work here.
[[nodiscard]] bool share_blob(git_repository* repository, const git_oid& blob, const std::filesystem::path& copy, int to,
                              bool& possible);

}  // namespace agentforge::kernel::git
