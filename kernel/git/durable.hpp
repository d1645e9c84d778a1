// SPDX-License-Identifier: Apache-2.0
// libgit2 syncs each file that it writes and the folder it is in, but not the folders above: after a power cut a new `objects/ab`
// or `refs/agentforge/<task>` may be gone with all in it, by the rules of POSIX. These two sync what is missing.
#pragma once

#include <git2.h>

#include <string>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Before a ref or a record names an object: the folders of objects are found again. One fsync where a folder was made since this
/// process last asked, else none. Any thread. Errors: `io` AF-BASE-016.
[[nodiscard]] Result<void> sync_object_folders(git_repository* repository);

/// After a ref was written: the folders from it up to `refs` are found again; of the reflog's too. One fsync for each folder that
/// this process has not synced yet. Any thread. Errors: `io` AF-BASE-016.
[[nodiscard]] Result<void> sync_ref_folders(git_repository* repository, const std::string& ref);

}  // namespace agentforge::kernel
