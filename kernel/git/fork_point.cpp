// SPDX-License-Identifier: Apache-2.0
#include "git/fork_point.hpp"

#include <optional>
#include <vector>

#include "git/library.hpp"
#include "git/repository.hpp"

namespace agentforge::kernel {

using namespace git;

namespace {

/// Returns the commit that a revision names, or empty.
std::optional<git_oid> commit_of(git_repository* repository, const std::string& revision) {
    git_object* found = nullptr;
    if (git_revparse_single(&found, repository, revision.c_str()) < 0) { return std::nullopt; }
    git_object* commit = nullptr;
    const bool peeled = git_object_peel(&commit, found, GIT_OBJECT_COMMIT) == 0;
    std::optional<git_oid> id;
    if (peeled) { id = *git_object_id(commit); }
    git_object_free(commit);
    git_object_free(found);
    return id;
}

std::vector<std::string> candidates(git_repository* repository, const std::optional<std::string>& branch) {
    std::vector<std::string> names;
    if (branch) {
        git_buf upstream = GIT_BUF_INIT;
        if (git_branch_upstream_name(&upstream, repository, ("refs/heads/" + *branch).c_str()) == 0) {
            names.emplace_back(upstream.ptr, upstream.size);
        }
        git_buf_dispose(&upstream);
    }
    names.emplace_back("refs/remotes/origin/HEAD");
    for (const char* name : {"main", "master"}) {
        if (branch != name) { names.push_back(std::string("refs/heads/") + name); }
    }
    return names;
}

std::string short_name(const std::string& reference) {
    for (const std::string_view prefix : {"refs/heads/", "refs/remotes/"}) {
        if (reference.starts_with(prefix)) { return reference.substr(prefix.size()); }
    }
    return reference;
}

}  // namespace

Result<ForkPoint> fork_point(const std::filesystem::path& repository, std::string_view revision) {
    AF_TRY(const Repository opened, Repository::open(repository));
    AF_TRY(const std::string head, opened.head_commit());
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    AF_TRY(const git_oid head_id, parse_id(head));
    const bool named = !revision.empty();
    const std::vector<std::string> names =
        named ? std::vector<std::string>{std::string(revision)} : candidates(handle.get(), opened.current_branch());
    for (const std::string& name : names) {
        const auto other = commit_of(handle.get(), name);
        if (!other) { continue; }
        git_oid base{};
        if (git_merge_base(&base, handle.get(), &head_id, &*other) == 0) { return ForkPoint{to_text(base), short_name(name)}; }
        // No common history: compares with its files, as `git diff` does.
        if (named) { return ForkPoint{to_text(*other), name}; }
    }
    if (named) {
        return Error{"AF-GIT-068", "There is no commit `" + std::string(revision) + "`", repository.string(),
                     "Name a branch, a tag or a commit that this repository has", ErrorKind::not_found};
    }
    return ForkPoint{head, "HEAD"};
}

}  // namespace agentforge::kernel
