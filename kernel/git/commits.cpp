// SPDX-License-Identifier: Apache-2.0
// Commits, branches, and the refs that keep recorded trees alive. All is on disk when a call returns.
#include "git/durable.hpp"
#include "git/objects.hpp"
#include "git/repository_state.hpp"

namespace agentforge::kernel {

using namespace git;

namespace {

constexpr std::string_view own_refs = "refs/agentforge/";

Error bad_name(std::string_view name, std::string_view what) {
    return Error{"AF-GIT-012",
                 "`" + std::string(name) + "` is not a name that git allows for " + std::string(what),
                 {},
                 "Use letters, digits, `-`, `_`, `.` and `/`; no `..`, no end in `.lock`",
                 ErrorKind::invalid};
}

Result<std::string> own_ref(std::string_view name) {
    std::string full = std::string(own_refs) + std::string(name);
    int valid = 0;
    if (name.find('\0') != std::string_view::npos || git_reference_name_is_valid(&valid, full.c_str()) < 0 || valid == 0) {
        return bad_name(name, "a ref");
    }
    return full;
}

Result<git_oid> write_commit(git_repository* repository, const git_signature* who, const char* message, git_tree* tree,
                             const git_commit* parent) {
    git_oid id{};
    const git_commit* parents[] = {parent};
    if (const int code =
            git_commit_create(&id, repository, nullptr, who, who, nullptr, message, tree, parent == nullptr ? 0 : 1, parents);
        code < 0) {
        return failure(code, "write a commit");
    }
    return id;
}

Result<SignatureHandle> signature(const std::string& name, const std::string& email, git_time_t seconds) {
    git_signature* raw = nullptr;
    if (name.find('\0') != std::string::npos || email.find('\0') != std::string::npos ||
        git_signature_new(&raw, name.c_str(), email.c_str(), seconds, 0) < 0) {
        return Error{"AF-GIT-013",
                     "git does not accept `" + name + " <" + email + ">` as an author",
                     {},
                     "Set user.name and user.email to plain text without `<` and `>`",
                     ErrorKind::invalid};
    }
    return SignatureHandle(raw);
}

}  // namespace

Result<void> Repository::keep_tree(std::string_view name, std::string_view tree) const {
    git_repository* repository = state_->handle.get();
    AF_TRY(const std::string ref, own_ref(name));
    AF_TRY(const git_oid id, parse_id(tree));
    AF_TRY(const TreeHandle found, find_tree(repository, id));
    AF_CHECK(sync_object_folders(repository));
    const int code = retry_while_locked(
        [&] {
            git_reference* raw = nullptr;
            const int result = git_reference_create(&raw, repository, ref.c_str(), git_tree_id(found.get()), 1, nullptr);
            git_reference_free(raw);
            return result;
        },
        lock_of(repository, ref));
    if (code < 0) { return failure(code, "write " + ref); }
    return sync_ref_folders(repository, ref);
}

Result<void> Repository::drop_refs(std::string_view prefix, std::string_view except) const {
    while (prefix.ends_with('/')) { prefix.remove_suffix(1); }
    AF_TRY(const std::string below, own_ref(prefix));
    git_repository* repository = state_->handle.get();
    AF_TRY(const auto refs, refs_below(git_repository_commondir(repository), below));
    for (const RefTarget& ref : refs) {
        const bool is_below = ref.name == below || ref.name[below.size()] == '/';
        if (!is_below || ref.id == except) { continue; }
        const int code =
            retry_while_locked([&] { return git_reference_remove(repository, ref.name.c_str()); }, lock_of(repository, ref.name));
        if (code < 0 && code != GIT_ENOTFOUND) { return failure(code, "remove " + ref.name); }
    }
    return {};
}

Result<std::string> Repository::commit(const CommitRequest& request) const {
    git_repository* repository = state_->handle.get();
    AF_TRY(const git_oid tree_id, parse_id(request.tree));
    AF_TRY(const git_oid parent_id, parse_id(request.parent));
    AF_TRY(const TreeHandle tree, find_tree(repository, tree_id));
    AF_TRY(const CommitHandle parent, find_commit(repository, parent_id));
    if (request.message.empty() || request.message.find('\0') != std::string::npos) {
        return Error{"AF-GIT-016",
                     "The commit message is empty or has a NUL byte in it",
                     {},
                     "Give a message of plain text",
                     ErrorKind::invalid};
    }
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(request.time.time_since_epoch()).count();
    AF_TRY(const SignatureHandle who, signature(request.author_name, request.author_email, static_cast<git_time_t>(seconds)));
    AF_TRY(const git_oid id, write_commit(repository, who.get(), request.message.c_str(), tree.get(), parent.get()));
    return to_text(id);
}

Result<void> Repository::sync_objects_since(std::chrono::system_clock::time_point since) const {
    return kernel::sync_objects_since(state_->handle.get(), since);
}

Result<void> Repository::create_branch(std::string_view branch, std::string_view commit) const {
    git_repository* repository = state_->handle.get();
    int valid = 0;
    const std::string name(branch);
    if (name.find('\0') != std::string::npos || git_branch_name_is_valid(&valid, name.c_str()) < 0 || valid == 0) {
        return bad_name(branch, "a branch");
    }
    AF_TRY(const git_oid id, parse_id(commit));
    AF_TRY(const CommitHandle found, find_commit(repository, id));
    AF_CHECK(sync_object_folders(repository));
    const std::string ref = "refs/heads/" + name;
    git_repository_set_ident(repository, "AgentForge", "agentforge@localhost");  // Identity for the reflog entry.
    const int code = retry_while_locked(
        [&] {
            git_reference* raw = nullptr;
            const int result = git_reference_create(&raw, repository, ref.c_str(), &id, 0, "branch: created by agentforge");
            git_reference_free(raw);
            return result;
        },
        lock_of(repository, ref, commit));
    if (code == 0) { return sync_ref_folders(repository, ref); }
    const Error error = failure(code, "create the branch " + name);
    if (code == GIT_ELOCKED) { return locked_ref(repository, ref, "create the branch " + name); }
    AF_TRY(const std::optional<std::string> there, branch_commit(branch));
    if (there && *there == to_text(id)) { return sync_ref_folders(repository, ref); }  // Already done before a crash.
    if (there) {
        return Error{"AF-GIT-010",
                     "The branch " + name + " exists already, at " + *there,
                     {},
                     "Rename or delete it (git branch -m / -D " + name + "), then deliver again",
                     ErrorKind::conflict};
    }
    return Error{"AF-GIT-014",
                 error.message,
                 {},
                 "Check whether another branch's name is the first part of this one (git branch --list), and rename that branch",
                 ErrorKind::conflict};
}

Result<std::optional<std::string>> Repository::branch_commit(std::string_view branch) const {
    git_oid id{};
    const std::string ref = "refs/heads/" + std::string(branch);
    const int code = git_reference_name_to_id(&id, state_->handle.get(), ref.c_str());
    if (code == GIT_ENOTFOUND || code == GIT_EINVALIDSPEC) { return std::optional<std::string>(); }
    if (code < 0) { return failure(code, "read the branch " + std::string(branch)); }
    return std::optional<std::string>(to_text(id));
}

}  // namespace agentforge::kernel
