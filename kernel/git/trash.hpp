// SPDX-License-Identifier: Apache-2.0
// Removes folders with untrusted contents of any kind. Private to kernel/git.
#pragma once

#include <filesystem>
#include <string>

#include <agentforge/result.hpp>

#include "base/files.hpp"

namespace agentforge::kernel::git {

/// A folder beside the worktree. Folders are moved into it and deleted there without recursion, so any depth works. The
/// destructor removes it. After a crash the next Trash empties the folder.
class Trash {
public:
    explicit Trash(std::filesystem::path path) : path_(std::move(path)) {}
    /// Removes `name`, whatever it is. Does nothing if it does not exist. Errors: `io` AF-GIT-030.
    [[nodiscard]] Result<void> remove(int parent, const std::string& name);
    /// Syncs this folder, so that a power cut does not undo the moves into it. Errors: `io` AF-BASE-016.
    [[nodiscard]] Result<void> sync() const;
    /// Deletes everything that was moved here, then the folder. Errors: `io` AF-GIT-030.
    [[nodiscard]] Result<void> empty();

private:
    [[nodiscard]] Result<void> open();
    [[nodiscard]] Result<void> move_in(int parent, const std::string& name);
    std::filesystem::path path_;
    FileDescriptor folder_;
    unsigned long next_ = 0;
};

}  // namespace agentforge::kernel::git
