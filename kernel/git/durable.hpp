// SPDX-License-Identifier: Apache-2.0
// libgit2 syncs each file that it writes and its folder, but not the folders above. By the rules of POSIX, a new `objects/ab` or
// `refs/agentforge/<task>` may be lost with all its contents in a power cut. git itself syncs no folder, and before 2.36 no
// object by default. These functions sync what is missing.
#pragma once

#include <git2.h>

#include <chrono>
#include <string>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Makes the folders of objects survive a power cut. Call it before a ref or a record names an object. Cost: one fsync if a
/// folder was made since the last call or less than 100 ms ago, else none. Any thread. Errors: `io` AF-BASE-016.
[[nodiscard]] Result<void> sync_object_folders(git_repository* repository);

/// Makes objects that git's program wrote since `since` survive a power cut, with their folders. Call it before a ref or a record
/// names one. Cost: reads the folders of objects that changed since then, and syncs each and its new files. Any thread. Errors:
/// `io` AF-BASE-013, AF-BASE-016.
[[nodiscard]] Result<void> sync_objects_since(git_repository* repository, std::chrono::system_clock::time_point since);

/// Makes the folders between a new ref and `refs` survive a power cut, and those of its reflog. Call it after writing the ref.
/// Cost: one fsync for each folder that this process has not synced yet, or that changed less than 100 ms ago. Any thread.
/// Errors: `io` AF-BASE-016.
[[nodiscard]] Result<void> sync_ref_folders(git_repository* repository, const std::string& ref);

}  // namespace agentforge::kernel
