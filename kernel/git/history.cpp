// SPDX-License-Identifier: Apache-2.0
#include "git/history.hpp"

#include <set>

#include "git/library.hpp"

namespace agentforge::kernel {

using namespace git;

namespace {

constexpr std::size_t most_walked = 10'000;
using WalkHandle = Handle<git_revwalk, git_revwalk_free>;

/// Returns the wanted paths that differ between the commit and its first parent.
Result<std::set<std::string>> changed_by(git_repository* repository, git_commit* commit, const std::set<std::string>& wanted) {
    AF_TRY(const TreeHandle after, find_tree(repository, *git_commit_tree_id(commit)));
    TreeHandle before;
    if (git_commit_parentcount(commit) > 0) {
        AF_TRY(const git_oid parent, tree_id_of_commit(repository, *git_commit_parent_id(commit, 0)));
        AF_TRY(before, find_tree(repository, parent));
    }
    git_diff* raw = nullptr;
    if (const int code = git_diff_tree_to_tree(&raw, repository, before.get(), after.get(), nullptr); code < 0) {
        return failure(code, "compare two commits");
    }
    const DiffHandle diff(raw);
    std::set<std::string> found;
    for (std::size_t index = 0; index < git_diff_num_deltas(raw); ++index) {
        const git_diff_delta* delta = git_diff_get_delta(raw, index);
        for (const char* path : {delta->old_file.path, delta->new_file.path}) {
            if (path != nullptr && wanted.contains(path)) { found.insert(path); }
        }
    }
    return found;
}

std::string subject_of(git_commit* commit) {
    const char* summary = git_commit_summary(commit);
    return summary == nullptr ? "" : summary;
}

}  // namespace

Result<std::map<std::string, std::vector<CommitLine>>> commits_that_changed(const std::filesystem::path& repository,
                                                                            std::string_view from, std::string_view to,
                                                                            const std::vector<std::string>& paths,
                                                                            std::size_t most) {
    std::map<std::string, std::vector<CommitLine>> commits;
    if (paths.empty()) { return commits; }
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    AF_TRY(const git_oid old_id, parse_id(from));
    AF_TRY(const git_oid new_id, parse_id(to));
    git_revwalk* raw = nullptr;
    if (const int code = git_revwalk_new(&raw, handle.get()); code < 0) { return failure(code, "walk the history"); }
    const WalkHandle walk(raw);
    git_revwalk_sorting(raw, GIT_SORT_TOPOLOGICAL | GIT_SORT_TIME);
    if (const int code = git_revwalk_push(raw, &new_id); code < 0) { return failure(code, "walk the history"); }
    if (const int code = git_revwalk_hide(raw, &old_id); code < 0) { return failure(code, "walk the history"); }
    const std::set<std::string> wanted(paths.begin(), paths.end());
    git_oid id{};
    for (std::size_t walked = 0; walked < most_walked && git_revwalk_next(&id, raw) == 0; ++walked) {
        AF_TRY(const CommitHandle commit, find_commit(handle.get(), id));
        AF_TRY(const std::set<std::string> changed, changed_by(handle.get(), commit.get(), wanted));
        for (const std::string& path : changed) {
            if (commits[path].size() < most) { commits[path].push_back({to_text(id), subject_of(commit.get())}); }
        }
    }
    return commits;
}

}  // namespace agentforge::kernel
