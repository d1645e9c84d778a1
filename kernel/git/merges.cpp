// SPDX-License-Identifier: Apache-2.0
#include "git/merges.hpp"

#include <algorithm>
#include <set>

#include "git/durable.hpp"
#include "git/library.hpp"
#include "git/repository.hpp"

namespace agentforge::kernel {

using namespace git;

Result<std::string> whole_patch(const std::filesystem::path& repository, std::string_view old_tree, std::string_view new_tree) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    AF_TRY(const git_oid old_id, parse_id(old_tree));
    AF_TRY(const git_oid new_id, parse_id(new_tree));
    AF_TRY(const TreeHandle before, find_tree(handle.get(), old_id));
    AF_TRY(const TreeHandle after, find_tree(handle.get(), new_id));
    git_diff_options options = GIT_DIFF_OPTIONS_INIT;
    options.flags =
        GIT_DIFF_SHOW_BINARY;  // Without INCLUDE_TYPECHANGE: `git apply` wants a link that becomes a file removed and added.
    options.id_abbrev = GIT_OID_HEXSZ;  // `git apply --binary` needs full ids.
    options.max_size = -1;              // No limit: a file that is left out would be lost.
    options.old_prefix = "a";
    options.new_prefix = "b";
    git_diff* raw = nullptr;
    if (const int code = git_diff_tree_to_tree(&raw, handle.get(), before.get(), after.get(), &options); code < 0) {
        return failure(code, "compare two trees");
    }
    const DiffHandle diff(raw);
    git_buf text = GIT_BUF_INIT;
    const int code = git_diff_to_buf(&text, raw, GIT_DIFF_FORMAT_PATCH);
    std::string patch = code < 0 ? std::string() : std::string(text.ptr, text.size);
    git_buf_dispose(&text);
    if (code < 0) { return failure(code, "print a patch"); }
    return patch;
}

namespace {

/// Replaces a conflict in the index by the lines of both sides. Returns false if that is impossible (a side is missing, a binary
/// file).
Result<bool> take_both(git_repository* repository, git_index* index, const std::string& path) {
    const git_index_entry* base = nullptr;
    const git_index_entry* ours = nullptr;
    const git_index_entry* theirs = nullptr;
    if (git_index_conflict_get(&base, &ours, &theirs, index, path.c_str()) < 0 || ours == nullptr || theirs == nullptr) {
        return false;
    }
    git_merge_file_options options = GIT_MERGE_FILE_OPTIONS_INIT;
    options.favor = GIT_MERGE_FILE_FAVOR_UNION;
    git_merge_file_result merged{};
    if (git_merge_file_from_index(&merged, repository, base, ours, theirs, &options) < 0) { return false; }
    git_index_entry entry = *ours;
    entry.path = path.c_str();
    entry.flags = 0;
    git_oid id{};
    const int code =
        merged.automergeable == 0 ? GIT_EMERGECONFLICT : git_blob_create_from_buffer(&id, repository, merged.ptr, merged.len);
    entry.mode = merged.mode == 0 ? entry.mode : merged.mode;
    git_merge_file_result_free(&merged);
    if (code < 0) { return false; }
    entry.id = id;
    if (const int removed = git_index_conflict_remove(index, path.c_str()); removed < 0) {
        return failure(removed, "merge " + path);
    }
    if (const int added = git_index_add(index, &entry); added < 0) { return failure(added, "merge " + path); }
    return true;
}

}  // namespace

Result<TreeMerge> merge_trees(const std::filesystem::path& repository, std::string_view base, std::string_view ours,
                              std::string_view theirs, const std::vector<std::string>& union_of) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    const auto tree = [&](std::string_view text) -> Result<TreeHandle> {
        AF_TRY(const git_oid id, parse_id(text));
        return find_tree(handle.get(), id);
    };
    AF_TRY(const TreeHandle ancestor, tree(base));
    AF_TRY(const TreeHandle mine, tree(ours));
    AF_TRY(const TreeHandle other, tree(theirs));
    git_merge_options options = GIT_MERGE_OPTIONS_INIT;
    options.flags = GIT_MERGE_FIND_RENAMES;
    git_index* raw = nullptr;
    if (const int code = git_merge_trees(&raw, handle.get(), ancestor.get(), mine.get(), other.get(), &options); code < 0) {
        return failure(code, "merge two trees");
    }
    const IndexHandle index(raw);
    for (const std::string& path : union_of) {
        if (git_index_has_conflicts(raw) == 0) { break; }
        AF_CHECK(take_both(handle.get(), raw, path));
    }
    TreeMerge result;
    if (git_index_has_conflicts(raw) != 0) {
        git_index_conflict_iterator* raw_iterator = nullptr;
        if (const int code = git_index_conflict_iterator_new(&raw_iterator, raw); code < 0) {
            return failure(code, "list conflicts");
        }
        const Handle<git_index_conflict_iterator, git_index_conflict_iterator_free> iterator(raw_iterator);
        std::set<std::string> paths;
        const git_index_entry* stages[3] = {};
        while (git_index_conflict_next(&stages[0], &stages[1], &stages[2], raw_iterator) == 0) {
            for (const git_index_entry* entry : stages) {
                if (entry != nullptr) { paths.insert(entry->path); }
            }
        }
        result.conflicts.assign(paths.begin(), paths.end());
        return result;
    }
    git_oid id{};
    if (const int code = git_index_write_tree_to(&id, raw, handle.get()); code < 0) {
        return failure(code, "write the merged tree");
    }
    result.tree = to_text(id);
    return result;
}

Result<BranchDistance> branch_distance(const std::filesystem::path& repository, std::string_view from, std::string_view to) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    AF_TRY(const git_oid old_id, parse_id(from));
    AF_TRY(const git_oid new_id, parse_id(to));
    std::size_t ahead = 0;
    std::size_t behind = 0;
    if (const int code = git_graph_ahead_behind(&ahead, &behind, handle.get(), &new_id, &old_id); code < 0) {
        return failure(code, "compare two commits");
    }
    return BranchDistance{ahead, behind};
}

namespace {

/// Returns the checkout of the repository that is on this branch. Empty if it is not known.
std::string checkout_of(const std::filesystem::path& repository, std::string_view branch) {
    const auto own = Repository::open(repository);
    if (!own.ok()) { return {}; }
    std::vector<std::filesystem::path> all = own->other_checkouts();
    all.push_back(own->work_directory());
    for (const std::filesystem::path& place : all) {
        const auto there = Repository::open(place);
        if (there.ok() && there->current_branch() == branch) { return place.string(); }
    }
    return {};
}

Error branch_checked_out(const std::filesystem::path& repository, std::string_view branch) {
    const std::string place = checkout_of(repository, branch);
    return Error{"AF-GIT-040",
                 "The branch " + std::string(branch) + " is checked out" + (place.empty() ? "" : " in " + place) +
                     ", so it cannot be moved",
                 {},
                 "Check out another branch there (git switch), then retry",
                 ErrorKind::conflict};
}

Error branch_gone(std::string_view branch, std::string_view from) {
    return Error{"AF-GIT-040",
                 "The branch " + std::string(branch) + " no longer exists",
                 {},
                 "Create it again: git branch " + std::string(branch) + " " + std::string(from),
                 ErrorKind::conflict};
}

/// The way out depends on whether the branch still has the commit `from`: then it has commits on top.
Error branch_elsewhere(git_repository* repository, std::string_view branch, const git_oid& now, const git_oid& from) {
    const std::string name(branch);
    std::size_t ahead = 0;
    std::size_t behind = 0;
    const bool known = git_graph_ahead_behind(&ahead, &behind, repository, &now, &from) == 0;
    const std::string back = "git branch -f " + name + " " + to_text(from);
    const bool has_more = known && ahead > 0 && behind == 0;
    std::string remedy = "Set it back, then retry: " + back;
    if (!known || ahead > 0) { remedy += "; to keep its current commits, first run `git branch NAME " + name + "`"; }
    if (has_more) {
        remedy =
            "It has commits of yours: rebase it yourself (git rebase), or keep them on another branch, set this one back, and "
            "retry: git branch NAME " +
            name + " && " + back;
    }
    return Error{"AF-GIT-040",
                 "The branch " + name + " has moved since the task delivered: it is at " + to_text(now),
                 {},
                 std::move(remedy),
                 ErrorKind::conflict};
}

/// Refuses a branch that a checkout is on: the checkout's files would no longer match it.
Result<void> check_not_checked_out(const std::filesystem::path& repository, git_repository* handle, std::string_view branch) {
    git_reference* raw = nullptr;
    if (git_reference_lookup(&raw, handle, ("refs/heads/" + std::string(branch)).c_str()) != 0) { return {}; }
    const ReferenceHandle found(raw);
    return git_branch_is_checked_out(raw) == 1 ? Result<void>(branch_checked_out(repository, branch)) : Result<void>();
}

}  // namespace

Result<void> check_branch_is_movable(const std::filesystem::path& repository, std::string_view branch, std::string_view at) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    AF_TRY(const git_oid id, parse_id(at));
    AF_CHECK(check_not_checked_out(repository, handle.get(), branch));
    git_oid now{};
    const int code = git_reference_name_to_id(&now, handle.get(), ("refs/heads/" + std::string(branch)).c_str());
    if (code == GIT_ENOTFOUND) { return branch_gone(branch, at); }
    if (code < 0) { return failure(code, "read the branch " + std::string(branch)); }
    if (git_oid_equal(&now, &id) == 0) { return branch_elsewhere(handle.get(), branch, now, id); }
    return {};
}

Result<void> move_branch(const std::filesystem::path& repository, std::string_view branch, std::string_view from,
                         std::string_view to) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    AF_TRY(const git_oid old_id, parse_id(from));
    AF_TRY(const git_oid new_id, parse_id(to));
    const std::string ref = "refs/heads/" + std::string(branch);
    AF_CHECK(check_not_checked_out(repository, handle.get(), branch));
    git_repository_set_ident(handle.get(), "AgentForge", "agentforge@localhost");  // Identity for the reflog entry.
    AF_CHECK(sync_object_folders(handle.get()));
    const int code = retry_while_locked(
        [&] {
            git_reference* moved = nullptr;
            const int result = git_reference_create_matching(&moved, handle.get(), ref.c_str(), &new_id, 1, &old_id,
                                                             "rebase: moved by agentforge");
            git_reference_free(moved);
            return result;
        },
        lock_of(handle.get(), ref, to));
    if (code == 0) { return sync_ref_folders(handle.get(), ref); }
    git_oid now{};
    if (git_reference_name_to_id(&now, handle.get(), ref.c_str()) == 0) {
        if (git_oid_equal(&now, &new_id) != 0) { return {}; }
        if (git_oid_equal(&now, &old_id) == 0) { return branch_elsewhere(handle.get(), branch, now, old_id); }
    } else if (code == GIT_EMODIFIED || code == GIT_ENOTFOUND) {
        return branch_gone(branch, from);
    }
    return failure(code, "move the branch " + std::string(branch));
}

Result<std::string> text_patch(const std::filesystem::path& repository, const std::string& name, std::string_view before,
                               std::string_view after) {
    if (before == after) { return std::string(); }
    AF_TRY(const RepositoryHandle handle, open_repository(repository));  // Starts the library.
    git_diff_options options = GIT_DIFF_OPTIONS_INIT;
    options.flags = GIT_DIFF_FORCE_TEXT;
    git_patch* raw = nullptr;
    if (const int code = git_patch_from_buffers(&raw, before.data(), before.size(), name.c_str(), after.data(), after.size(),
                                                name.c_str(), &options);
        code < 0) {
        return failure(code, "compare two texts");
    }
    const PatchHandle patch(raw);
    git_buf text = GIT_BUF_INIT;
    const int code = git_patch_to_buf(&text, raw);
    std::string result = code < 0 ? std::string() : std::string(text.ptr, text.size);
    git_buf_dispose(&text);
    if (code < 0) { return failure(code, "print a patch"); }
    return result;
}

Result<WrittenCommit> written_commit(const std::filesystem::path& repository, std::string_view commit) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    AF_TRY(git_oid id, parse_id(commit));
    AF_TRY(const CommitHandle found, find_commit(handle.get(), id));
    WrittenCommit result;
    result.tree = to_text(*git_commit_tree_id(found.get()));
    if (git_commit_parentcount(found.get()) > 0) { result.parent = to_text(*git_commit_parent_id(found.get(), 0)); }
    result.message = git_commit_message(found.get());
    result.time = std::chrono::sys_seconds(std::chrono::seconds(git_commit_time(found.get())));
    git_buf signature = GIT_BUF_INIT;
    git_buf content = GIT_BUF_INIT;
    if (git_commit_extract_signature(&signature, &content, handle.get(), &id, nullptr) == 0) {
        result.signature.assign(signature.ptr, signature.size);
        result.signed_content.assign(content.ptr, content.size);
    }
    git_buf_dispose(&signature);
    git_buf_dispose(&content);
    return result;
}

}  // namespace agentforge::kernel
