// SPDX-License-Identifier: Apache-2.0
// libgit2 as this folder uses it: started once, owned handles, errors as values. Private to kernel/git.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <git2.h>

#include <agentforge/result.hpp>

namespace agentforge::kernel::git {

template <auto Release>
struct Releaser {
    template <class T>
    void operator()(T* handle) const noexcept {
        Release(handle);
    }
};
template <class T, auto Release>
using Handle = std::unique_ptr<T, Releaser<Release>>;

using RepositoryHandle = Handle<git_repository, git_repository_free>;
using ReferenceHandle = Handle<git_reference, git_reference_free>;
using ObjectHandle = Handle<git_object, git_object_free>;
using CommitHandle = Handle<git_commit, git_commit_free>;
using TreeHandle = Handle<git_tree, git_tree_free>;
using TreeEntryHandle = Handle<git_tree_entry, git_tree_entry_free>;
using TreeBuilderHandle = Handle<git_treebuilder, git_treebuilder_free>;
using BlobHandle = Handle<git_blob, git_blob_free>;
using OdbHandle = Handle<git_odb, git_odb_free>;
using OdbStreamHandle = Handle<git_odb_stream, git_odb_stream_free>;
using IndexHandle = Handle<git_index, git_index_free>;
using DiffHandle = Handle<git_diff, git_diff_free>;
using PatchHandle = Handle<git_patch, git_patch_free>;
using StatusHandle = Handle<git_status_list, git_status_list_free>;
using SignatureHandle = Handle<git_signature, git_signature_free>;
using ConfigHandle = Handle<git_config, git_config_free>;
using ReferenceIteratorHandle = Handle<git_reference_iterator, git_reference_iterator_free>;

/// Starts libgit2 at the first call (any thread), so commands without git pay nothing. From then on everything it writes below
/// the git directory is synced.
void start_library();

/// Converts this thread's last libgit2 failure to the error `AF-GIT-099` (for ELOCKED: `transient` AF-GIT-011). `doing` completes
/// "git failed to …".
[[nodiscard]] Error failure(int code, std::string_view doing);

/// A lock file that a killed process of this program may have left.
struct OwnLock {
    std::filesystem::path file;  ///< Empty: there is none to remove.
    std::string content;         ///< Remove the lock only if this is its content. Empty: any content.
};

/// Repeats the call while it returns ELOCKED, for at most two seconds. Deletes no lock except `own_lock`: only the process that
/// holds the task's lock writes that file (git itself takes it for milliseconds, to pack refs). If it has not changed for a
/// second, a killed process left it. It is removed, because otherwise the task could never continue.
[[nodiscard]] int retry_while_locked(const std::function<int()>& call, const OwnLock& own_lock = {});

/// Returns the lock of a ref that is about to be written. Only this program writes below `refs/agentforge/` and
/// `refs/heads/agentforge/`, and the notes `refs/notes/agentforge`, so a lock there is this program's. The lock of another ref is
/// this program's if it contains `commit`: this program made that commit, and nobody else points a ref to it. Without `commit` it
/// never is.
[[nodiscard]] OwnLock lock_of(git_repository* repository, const std::string& ref, std::string_view commit = {});

/// Returns AF-GIT-011: the ref stayed locked. Names the lock file, its age and when it may be removed.
[[nodiscard]] Error locked_ref(git_repository* repository, const std::string& ref, std::string_view doing);

/// Opens the repository around `path`. Errors: as Repository::open.
[[nodiscard]] Result<RepositoryHandle> open_repository(const std::filesystem::path& path);

/// Errors: `invalid` AF-GIT-006 not a complete object id.
[[nodiscard]] Result<git_oid> parse_id(std::string_view text);
[[nodiscard]] std::string to_text(const git_oid& id);

/// Errors: `not_found` AF-GIT-007 the object is not in the repository, or has another type.
[[nodiscard]] Result<TreeHandle> find_tree(git_repository* repository, const git_oid& id);
[[nodiscard]] Result<CommitHandle> find_commit(git_repository* repository, const git_oid& id);
[[nodiscard]] Result<git_oid> tree_id_of_commit(git_repository* repository, const git_oid& commit);

}  // namespace agentforge::kernel::git
