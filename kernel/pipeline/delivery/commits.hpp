// SPDX-License-Identifier: Apache-2.0
// Making the commit: whose it is, signed as the user's git signs.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "git/repository.hpp"
#include "git/stand_in.hpp"
#include "pipeline/delivery/delivery_settings.hpp"
#include "sandbox/process.hpp"

namespace agentforge::kernel {

struct CommitOrder {
    std::string tree;
    std::string parent;
    std::string branch;   ///< Empty: none is made.
    std::string message;  ///< Whole, trailers included.
    std::chrono::system_clock::time_point time;
    std::string author;  ///< `Name <email>`; empty: the user.
    std::string sign = "auto";
};
struct MadeCommit {
    std::string id;
    bool is_signed = false;
};

/// Returns the default author or committer: $GIT_AUTHOR_NAME and $GIT_AUTHOR_EMAIL (`role` AUTHOR, or COMMITTER), else
/// the user of git's configuration, else AgentForge.
[[nodiscard]] PersonName git_person(const Repository& repository, const std::map<std::string, std::string>& environment,
                                    const std::string& role);

/// Writes the commit object; no branch is touched. If the commit must be signed, or author and committer differ, the user's own
/// `git commit-tree` writes it, with the user's rights and environment (agents, terminals, keys), and what it wrote is read back:
/// this tree, this parent, a signature. Errors: `unavailable` AF-GIT-041 git could not sign; `internal` AF-GIT-042 what it wrote
/// is not what was ordered; AF-GIT-013, -016.
[[nodiscard]] Result<MadeCommit> make_commit(const Repository& repository, ProcessRunner& processes,
                                             const std::map<std::string, std::string>& environment, const CommitOrder& order,
                                             const Stop& stop);

/// A request that runs `program` in `folder` with the user's rights and environment, without variables that point git elsewhere.
[[nodiscard]] ProcessRequest own_program(std::vector<std::string> argv, const std::string& folder,
                                         const std::map<std::string, std::string>& environment);

/// The user's own git in the checkout, on a stand-in for the repository: no hook, monitor or other program that the repository
/// names runs.
[[nodiscard]] ProcessRequest own_git(const GitStandIn& git, const std::map<std::string, std::string>& environment,
                                     std::vector<std::string> arguments);

/// What a message about a failed `git` says of keys that had no effect; empty where there are none.
[[nodiscard]] std::string about_left_out(const GitStandIn& git);

}  // namespace agentforge::kernel
