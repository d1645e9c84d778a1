// SPDX-License-Identifier: Apache-2.0
// Makes the commit, with the user's name, signed as the user's git signs.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "git/git_stand_in.hpp"
#include "git/repository.hpp"
#include "pipeline/delivery/delivery_settings.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::kernel {

struct CommitOrder {
    std::string tree;
    std::string parent;
    std::string branch;   ///< Empty: no branch is made.
    std::string message;  ///< The whole message, with trailers.
    std::chrono::system_clock::time_point time;
    std::string author;  ///< `Name <email>`; empty: the user.
    std::string sign = "auto";
    bool may_sign = true;  ///< False: a commit that is to be signed is refused.
};
struct MadeCommit {
    std::string id;
    bool is_signed = false;
};

/// Returns the default author or committer: $GIT_AUTHOR_NAME and $GIT_AUTHOR_EMAIL (`role` AUTHOR, or COMMITTER), else
/// the user of git's configuration, else AgentForge.
[[nodiscard]] PersonName git_person(const Repository& repository, const std::map<std::string, std::string>& environment,
                                    const std::string& role);

/// True if a commit in this repository is to be signed. `sign`: `delivery.sign`.
[[nodiscard]] bool signs_commits(const std::string& sign, const std::filesystem::path& repository);

/// Writes the commit object; changes no branch. If the commit must be signed, or author and committer differ, the user's own
/// `git commit-tree` writes it, with the user's rights and environment (agents, terminals, keys). Its tree, parent and signature
/// are then read back and checked. Errors: `unavailable` AF-GIT-041 git could not sign; `internal` AF-GIT-042 git wrote a
/// different commit than requested; AF-GIT-013, -016; `unavailable` AF-AUDT-013 it is to be signed, and may not be.
[[nodiscard]] Result<MadeCommit> make_commit(const Repository& repository, ProcessRunner& processes,
                                             const std::map<std::string, std::string>& environment, const CommitOrder& order,
                                             const Stop& stop);

/// Returns a request that runs a program in `folder` with the user's rights and environment, without the variables that point git
/// to another repository.
[[nodiscard]] ProcessRequest own_program(std::vector<std::string> argv, const std::string& folder,
                                         const std::map<std::string, std::string>& environment);

/// Returns a request that runs the user's git in the checkout, on a stand-in for the repository, so that no hook, monitor or
/// other program of the repository runs.
[[nodiscard]] ProcessRequest own_git(const GitStandIn& git, const std::map<std::string, std::string>& environment,
                                     std::vector<std::string> arguments);

/// Returns the part of an error about a failed `git` that names configuration keys without effect. Empty if there are none.
[[nodiscard]] std::string ignored_configuration_note(const GitStandIn& git);

}  // namespace agentforge::kernel
