// SPDX-License-Identifier: Apache-2.0
// What `agentforge init` detects in a repository instead of asking.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// An uncommitted Python environment in the user's checkout.
struct PythonEnvironment {
    std::string interpreter;  ///< Absolute path.
    /// The folders it reads: its own, and the programs and libraries of the Python that it was made from, unless that is the
    /// system's.
    std::vector<std::string> folders;
};

/// Returns the absolute path of the checkout's `node_modules`, if the user installed it and did not commit it. Reads only.
[[nodiscard]] std::optional<std::string> node_packages(const std::filesystem::path& repository);

/// Returns `.venv` or `venv`, else the environment that tox or nox made last; one with pytest comes first. Empty if there is
/// none, or if it is committed and therefore not the user's own. Reads only.
[[nodiscard]] std::optional<PythonEnvironment> python_environment(const std::filesystem::path& repository);

struct DetectedRepository {
    bool has_commit = false;
    std::string branch;                     ///< Empty: HEAD is detached.
    std::string remote;                     ///< `origin`, or the only remote. Empty: none.
    std::string remote_address;             ///< As configured. It may contain a password.
    std::string author;                     ///< `Name <email>`. Empty: not configured.
    std::string signing;                    ///< `openpgp`, `ssh` or `x509`. Empty: commits are not signed.
    std::vector<std::string> hooks;         ///< Existing executable commit hooks.
    bool agentforge_is_ignored = false;     ///< An ignore file of the repository ignores `.agentforge/config`.
    std::vector<std::string> files;         ///< Files of the last commit, and new ones that are not ignored.
    std::vector<std::string> secret_files;  ///< Uncommitted files like `.env` in the checkout's root.
    std::optional<PythonEnvironment> python;
};

/// Reads only. Errors: AF-GIT-….
[[nodiscard]] Result<DetectedRepository> detect_repository(const std::filesystem::path& repository);

}  // namespace agentforge::kernel
