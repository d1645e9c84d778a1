// SPDX-License-Identifier: Apache-2.0
#include "git/branches.hpp"

#include "git/library.hpp"

namespace agentforge::kernel {

using namespace git;

Result<bool> take_back_branch(const std::filesystem::path& repository, std::string_view branch, std::string_view commit) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    AF_TRY(const git_oid id, parse_id(commit));
    const std::string ref = "refs/heads/" + std::string(branch);
    git_reference* raw = nullptr;
    if (git_reference_lookup(&raw, handle.get(), ref.c_str()) != 0) { return false; }
    const ReferenceHandle found(raw);
    const git_oid* at = git_reference_target(raw);
    if (at == nullptr || git_oid_equal(at, &id) == 0 || git_branch_is_checked_out(raw) == 1) { return false; }
    // Deletes the ref only if it still has the value that was looked up, so a newer commit on the branch is not lost.
    const int code = retry_while_locked([&] { return git_reference_delete(raw); }, lock_of(handle.get(), ref, commit));
    if (code == GIT_EMODIFIED || code == GIT_ENOTFOUND) { return false; }
    const std::string doing = "remove the branch " + std::string(branch);
    if (code == GIT_ELOCKED) { return locked_ref(handle.get(), ref, doing); }
    if (code < 0) { return failure(code, doing); }
    return true;
}

Result<bool> branch_holds(const std::filesystem::path& repository, std::string_view branch, std::string_view commit) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    AF_TRY(const git_oid id, parse_id(commit));
    git_oid at;
    if (git_reference_name_to_id(&at, handle.get(), ("refs/heads/" + std::string(branch)).c_str()) != 0) { return false; }
    if (git_oid_equal(&at, &id) == 1) { return true; }
    const int descends = git_graph_descendant_of(handle.get(), &at, &id);
    return descends < 0 ? Result<bool>(failure(descends, "compare " + std::string(branch) + " with the set's commit"))
                        : Result<bool>(descends == 1);
}

}  // namespace agentforge::kernel
