// SPDX-License-Identifier: Apache-2.0
// A delivered branch on its way to others: pushed to the user's remote, and a pull request for it.
#pragma once

#include <map>
#include <string>

#include "git/repository.hpp"
#include "sandbox/process.hpp"

namespace agentforge::kernel {

struct PublishOrder {
    std::string branch;
    std::string commit;
    std::string remote = "origin";
    std::string base;  ///< The branch that the pull request is against; empty: the remote's own default.
    std::string title;
    std::string body;
};

struct Published {
    std::string remote;  ///< Its address, without a password.
    std::string url;     ///< Of the pull request, or where one can be opened; empty where neither is known.
    std::string by;      ///< `gh` or `glab` where the pull request is there; `push` where only the branch is.
    std::string note;    ///< Why it was not opened, where a program for it is there and failed.
};

/// What a remote's address says of where it is.
struct RemotePlace {
    std::string host;
    std::string path;  ///< `owner/name`, without `.git`.
    bool operator==(const RemotePlace&) const = default;
};
/// `https://host/owner/name.git`, `ssh://git@host:22/owner/name`, `git@host:owner/name.git`; empty for a folder.
[[nodiscard]] RemotePlace read_remote(std::string_view address);
/// Where a person opens a pull request for the branch; empty where the host's pages are not known.
[[nodiscard]] std::string request_page(const RemotePlace& place, const std::string& branch, const std::string& base);

/// Whether a folder of `PATH` has such a program.
[[nodiscard]] bool is_on_path(const std::map<std::string, std::string>& environment, const std::string& program);

/// Pushes the branch with the user's own git and rights (never by force), on a stand-in for the repository: ssh commands,
/// credential helpers and hooks are those of the user's own configuration; what Git LFS keeps goes first. Then opens a pull
/// request with `gh` (host with `github` in its name) or `glab` (`gitlab`) where that is on PATH, else says where to open it.
/// What is there already is found and not made twice. Errors: `unavailable` AF-GIT-044 no such remote, or the push failed;
/// `denied` AF-GIT-066 the remote is a folder of the repository.
[[nodiscard]] Result<Published> publish_branch(const Repository& repository, ProcessRunner& processes,
                                               const std::map<std::string, std::string>& environment, const PublishOrder& order,
                                               const Stop& stop);

}  // namespace agentforge::kernel
