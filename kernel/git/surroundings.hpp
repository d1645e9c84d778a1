// SPDX-License-Identifier: Apache-2.0
// What `agentforge init` finds out about a repository instead of asking.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// A Python environment that its user made in the checkout and nobody committed.
struct PythonEnvironment {
    std::string interpreter;           ///< Absolute.
    std::vector<std::string> folders;  ///< What it reads: its own, and programs and libraries of the Python that it was made
                                       ///< from, unless that is the system's.
};

/// `node_modules` of the checkout (absolute), where its user installed it and nobody committed it. Reads only.
[[nodiscard]] std::optional<std::string> node_packages(const std::filesystem::path& repository);

/// `.venv` or `venv`, else what tox or nox made last; one with pytest before others. Nullopt: there is none, or it is committed,
/// and so not its user's word. Reads only.
[[nodiscard]] std::optional<PythonEnvironment> python_environment(const std::filesystem::path& repository);

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
    std::optional<PythonEnvironment> python;
};

/// Reads only. Errors: AF-GIT-….
[[nodiscard]] Result<RepositorySurroundings> look_around(const std::filesystem::path& repository);

}  // namespace agentforge::kernel
