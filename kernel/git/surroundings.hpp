// SPDX-License-Identifier: Apache-2.0
// What `agentforge init` finds out about a repository instead of asking.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct RepositorySurroundings {
    bool has_commit = false;
    std::string branch;                     ///< Empty: detached.
    std::string remote;                     ///< `origin`, or the only one there is; empty: none.
    std::string remote_address;             ///< As it is configured; it may hold a password.
    std::string author;                     ///< `Name <email>`; empty: git knows nobody.
    std::string signing;                    ///< `openpgp`, `ssh`, `x509`; empty: commits are not signed.
    std::vector<std::string> hooks;         ///< Commit hooks that are there and executable.
    bool agentforge_is_ignored = false;     ///< An ignore file of the repository hides `.agentforge/config`.
    std::vector<std::string> files;         ///< Of the last commit, and new ones that are not ignored.
    std::vector<std::string> secret_files;  ///< `.env` and its like in the checkout's root, not committed.
    std::string virtual_environment;        ///< Python interpreter of one in the checkout: `.venv/bin/python`.
};

/// Reads only. Errors: AF-GIT-….
[[nodiscard]] Result<RepositorySurroundings> look_around(const std::filesystem::path& repository);

}  // namespace agentforge::kernel
