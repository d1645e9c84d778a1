// SPDX-License-Identifier: Apache-2.0
#include "git/rework.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "git/library.hpp"
#include "git/repository.hpp"

namespace agentforge::kernel {

using namespace git;

namespace {

using RevisionWalk = Handle<git_revwalk, git_revwalk_free>;

/// Returns the newest commit of HEAD's history that builds on `commit` and is not younger than `until`. Returns the commit itself
/// if there is none.
Result<git_oid> newest_within(git_repository* repository, const git_oid& head, const git_oid& commit, git_time_t until) {
    git_revwalk* raw = nullptr;
    if (const int code = git_revwalk_new(&raw, repository); code < 0) { return failure(code, "walk over commits"); }
    const RevisionWalk walk(raw);
    git_revwalk_sorting(raw, GIT_SORT_TIME);
    git_revwalk_push(raw, &head);
    git_revwalk_hide(raw, &commit);
    for (git_oid each; git_revwalk_next(&each, raw) == 0;) {
        git_commit* found = nullptr;
        if (const int code = git_commit_lookup(&found, repository, &each); code < 0) { return failure(code, "read a commit"); }
        const CommitHandle owned(found);
        if (git_commit_time(found) <= until && git_graph_descendant_of(repository, &each, &commit) == 1) { return each; }
    }
    return commit;
}

/// The lines that a difference of two trees removes and adds: path and number, and their text.
struct Lines {
    std::map<std::pair<std::string, int>, std::string> added;
    std::map<std::pair<std::string, int>, std::string> removed;

    static int take(const git_diff_delta* delta, const git_diff_hunk*, const git_diff_line* line, void* data) {
        auto& lines = *static_cast<Lines*>(data);
        const std::string text(line->content, line->content_len);
        if (line->origin == GIT_DIFF_LINE_ADDITION) {
            lines.added.emplace(std::pair(delta->new_file.path, line->new_lineno), text);
        }
        if (line->origin == GIT_DIFF_LINE_DELETION) {
            lines.removed.emplace(std::pair(delta->old_file.path, line->old_lineno), text);
        }
        return 0;
    }
};

Result<Lines> lines_between(git_repository* repository, const git_oid& before, const git_oid& after) {
    AF_TRY(const TreeHandle old_tree, find_tree(repository, before));
    AF_TRY(const TreeHandle new_tree, find_tree(repository, after));
    git_diff_options options = GIT_DIFF_OPTIONS_INIT;
    options.context_lines = 0;
    git_diff* raw = nullptr;
    if (const int code = git_diff_tree_to_tree(&raw, repository, old_tree.get(), new_tree.get(), &options); code < 0) {
        return failure(code, "compare two trees");
    }
    const DiffHandle diff(raw);
    git_diff_find_options find = GIT_DIFF_FIND_OPTIONS_INIT;
    find.flags = GIT_DIFF_FIND_RENAMES;
    if (const int code = git_diff_find_similar(raw, &find); code < 0) { return failure(code, "find renamed files"); }
    Lines lines;
    if (const int code = git_diff_foreach(raw, nullptr, nullptr, nullptr, &Lines::take, &lines); code < 0) {
        return failure(code, "compare two files");
    }
    return lines;
}

/// Returns the texts of the lines that people's commits removed between two commits, each as often as it was removed. A merge
/// removes nothing by itself.
Result<std::multiset<std::string>> removed_by_people(git_repository* repository, const git_oid& from, const git_oid& to) {
    git_revwalk* raw = nullptr;
    if (const int code = git_revwalk_new(&raw, repository); code < 0) { return failure(code, "walk over commits"); }
    const RevisionWalk walk(raw);
    git_revwalk_push(raw, &to);
    git_revwalk_hide(raw, &from);
    std::multiset<std::string> removed;
    for (git_oid each; git_revwalk_next(&each, raw) == 0;) {
        git_commit* found = nullptr;
        if (const int code = git_commit_lookup(&found, repository, &each); code < 0) { return failure(code, "read a commit"); }
        const CommitHandle commit(found);
        const bool of_a_task = std::string_view(git_commit_message(found)).find("\nAgentForge-Task: ") != std::string_view::npos;
        if (of_a_task || git_commit_parentcount(found) != 1) { continue; }
        git_commit* before = nullptr;
        if (const int code = git_commit_parent(&before, found, 0); code < 0) { return failure(code, "read a commit"); }
        const CommitHandle parent(before);
        AF_TRY(const Lines lines, lines_between(repository, *git_commit_tree_id(before), *git_commit_tree_id(found)));
        for (const auto& [place, text] : lines.removed) { removed.insert(text); }
    }
    return removed;
}

}  // namespace

Result<std::optional<Rework>> rework_of(const std::filesystem::path& repository, std::string_view base_tree,
                                        std::string_view commit, std::chrono::seconds within) {
    AF_TRY(const Repository opened, Repository::open(repository));
    AF_TRY(const std::string head, opened.head_commit());
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    AF_TRY(const git_oid head_id, parse_id(head));
    AF_TRY(const git_oid commit_id, parse_id(commit));
    AF_TRY(const git_oid base_id, parse_id(base_tree));
    git_commit* found = nullptr;
    // The commit's branch was deleted, and git has removed the commit.
    if (git_commit_lookup(&found, handle.get(), &commit_id) < 0) { return std::optional<Rework>(); }
    const CommitHandle owned(found);
    if (git_oid_equal(&head_id, &commit_id) == 0 && git_graph_descendant_of(handle.get(), &head_id, &commit_id) != 1) {
        return std::optional<Rework>();
    }
    AF_TRY(const git_oid later, newest_within(handle.get(), head_id, commit_id, git_commit_time(found) + within.count()));
    git_commit* last = nullptr;
    if (const int code = git_commit_lookup(&last, handle.get(), &later); code < 0) { return failure(code, "read a commit"); }
    const CommitHandle owned_last(last);
    AF_TRY(const Lines brought, lines_between(handle.get(), base_id, *git_commit_tree_id(found)));
    AF_TRY(const Lines since, lines_between(handle.get(), *git_commit_tree_id(found), *git_commit_tree_id(last)));
    AF_TRY(std::multiset<std::string> by_people, removed_by_people(handle.get(), commit_id, later));
    Rework rework{brought.added.size(), 0};
    for (const auto& [place, text] : brought.added) {
        if (!since.removed.contains(place)) { continue; }
        const auto removed = by_people.find(text);
        if (removed == by_people.end()) { continue; }
        by_people.erase(removed);
        ++rework.gone;
    }
    return std::optional(rework);
}

}  // namespace agentforge::kernel
