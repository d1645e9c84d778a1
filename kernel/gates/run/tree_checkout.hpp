// SPDX-License-Identifier: Apache-2.0
// What gates need of git: recorded trees, and one folder that can become any of them.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "git/repository.hpp"
#include "git/worktree.hpp"

namespace agentforge::kernel {

/// Recorded trees by id. `make_tree_checkout` returns the real one; tests keep trees in memory.
class TreeCheckout {
public:
    virtual ~TreeCheckout() = default;
    [[nodiscard]] virtual std::filesystem::path path() const = 0;
    /// The folder of the whole tree, if `path` is a part of it.
    [[nodiscard]] virtual std::filesystem::path top() const { return path(); }
    /// Makes the folder exactly the tree. Everything else in it is removed, including ignored files.
    [[nodiscard]] virtual Result<void> check_out(std::string_view tree) = 0;
    [[nodiscard]] virtual Result<std::vector<TreeChange>> changes(std::string_view old_tree, std::string_view new_tree) = 0;
    [[nodiscard]] virtual Result<std::vector<std::string>> files(std::string_view tree) = 0;
    [[nodiscard]] virtual Result<std::optional<std::string>> file(std::string_view tree, std::string_view path) = 0;
};

/// True if a file of the checked-out tree is a link. `path`: in the repository.
[[nodiscard]] bool is_link(const TreeCheckout& checkout, const std::string& path);

/// Both must outlive the result.
[[nodiscard]] std::unique_ptr<TreeCheckout> make_tree_checkout(const Repository& repository, Worktree& worktree);
/// The same, but calls `open` to create the worktree only when the first tree is checked out. A large one takes seconds and as
/// much disk as the checkout, and a task may end before its first gate. `path`: where it will be. The repository must outlive the
/// result.
[[nodiscard]] std::unique_ptr<TreeCheckout> make_tree_checkout(const Repository& repository, std::filesystem::path path,
                                                               std::function<Result<Worktree>()> open);

}  // namespace agentforge::kernel
