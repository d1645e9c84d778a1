// SPDX-License-Identifier: Apache-2.0
// Writes many new objects as one pack: one sync for all of them instead of two for each. Private to kernel/git.
#pragma once

#include "git/library.hpp"

namespace agentforge::kernel::git {

class BulkObjects {
public:
    explicit BulkObjects(git_repository* repository, std::size_t max_bytes = 64UL << 20U)
        : repository_(repository), max_bytes_(max_bytes) {}
    /// Keeps a blob in memory until `flush`, which runs automatically after `max_bytes`. Errors: AF-GIT-099.
    [[nodiscard]] Result<git_oid> add_blob(std::string_view bytes) { return add(bytes, GIT_OBJECT_BLOB); }
    /// The same for a tree in git's form.
    [[nodiscard]] Result<git_oid> add_tree(std::string_view bytes) { return add(bytes, GIT_OBJECT_TREE); }
    /// Writes the kept objects to the repository.
    [[nodiscard]] Result<void> flush();

private:
    [[nodiscard]] Result<git_oid> add(std::string_view bytes, git_object_t type);

    git_repository* repository_;
    std::size_t max_bytes_;
    OdbHandle odb_;  ///< In memory only.
    std::vector<git_oid> ids_;
    std::size_t bytes_ = 0;
};

}  // namespace agentforge::kernel::git
