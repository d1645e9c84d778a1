// SPDX-License-Identifier: Apache-2.0
// The files of a task, and their recorded trees.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <agentforge/result.hpp>

#include "git/merges.hpp"
#include "git/repository.hpp"
#include "tools/acting_links.hpp"

namespace agentforge::kernel {

/// The files of a task: its workspace and its recorded trees.
class TaskTrees {
public:
    virtual ~TaskTrees() = default;
    /// Returns the absolute path of the workspace.
    [[nodiscard]] virtual const std::string& root() const noexcept = 0;
    /// Returns the folders that a confined subprocess may write besides the workspace.
    [[nodiscard]] virtual std::string scratch() const = 0;
    /// Removes files that agents' and gates' programs left outside the workspace.
    [[nodiscard]] virtual Result<void> clear_scratch() { return {}; }
    /// Makes the workspace equal to `tree`.
    [[nodiscard]] virtual Result<void> restore(const std::string& tree) = 0;
    /// Records `paths` of the workspace, or everything if empty. Returns the tree.
    [[nodiscard]] virtual Result<std::string> snapshot(const std::vector<std::string>& paths) = 0;
    /// Returns the workspace's submodules. Their files are read-only.
    [[nodiscard]] virtual std::vector<std::string> submodules() { return {}; }
    /// Returns the entries of the last full snapshot that a tree cannot hold (Worktree::unrecordable). `restore` repairs them.
    [[nodiscard]] virtual std::vector<std::string> unrecordable() { return {}; }
    /// Keeps a tree alive under a name of this task.
    [[nodiscard]] virtual Result<void> keep(const std::string& name, const std::string& tree) = 0;
    [[nodiscard]] virtual Result<std::vector<TreeChange>> diff(const std::string& from, const std::string& to) = 0;
    /// Returns a file's bytes in a tree. Empty if the tree has no such file.
    [[nodiscard]] virtual Result<std::optional<std::string>> file_in_tree(const std::string& tree, const std::string& path) = 0;
    [[nodiscard]] virtual Result<std::string> patch(const std::string& from, const std::string& to) = 0;
    /// Returns the complete patch, for `git apply`.
    [[nodiscard]] virtual Result<std::string> whole_patch(const std::string& from, const std::string& to) = 0;
    /// Returns a copy of `tree` with these files replaced, or removed if they have no content.
    [[nodiscard]] virtual Result<std::string> edit(
        const std::string& tree, const std::vector<std::pair<std::string, std::optional<std::string>>>& files) = 0;
    /// Merges both sides' changes since `base` into one tree, or returns the conflicts.
    [[nodiscard]] virtual Result<TreeMerge> merge(const std::string& base, const std::string& ours,
                                                  const std::string& theirs) = 0;
    /// Returns the files that act later through links of a tree.
    [[nodiscard]] virtual Result<ActingLinks> acting_links(const std::string& /*tree*/) { return ActingLinks(); }
};

}  // namespace agentforge::kernel
