// SPDX-License-Identifier: Apache-2.0
// Removes folders with untrusted contents, whatever they contain. Private to kernel/git.
#pragma once

#include <filesystem>
#include <string>

#include <agentforge/result.hpp>

#include "base/files.hpp"

namespace agentforge::kernel::git {

/// A folder beside the worktree. Folders are moved into it and deleted there without recursion, so any depth works. Removed with
/// the object. The next one empties what a crash left behind.
class Trash {
public:
    explicit Trash(std::filesystem::path path) : path_(std::move(path)) {}
    /// Removes `name`, whatever it is. Does nothing if it does not exist. Errors: `io` AF-GIT-030.
    [[nodiscard]] Result<void> remove(int parent, const std::string& name);
    /// Deletes what was moved here, and then the folder. Errors: `io` AF-GIT-030.
    [[nodiscard]] Result<void> empty();

private:
    [[nodiscard]] Result<void> open();
    [[nodiscard]] Result<void> move_in(int parent, const std::string& name);
    std::filesystem::path path_;
    FileDescriptor folder_;
    unsigned long next_ = 0;
};

}  // namespace agentforge::kernel::git
