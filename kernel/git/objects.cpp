// SPDX-License-Identifier: Apache-2.0
#include "git/objects.hpp"

#include <algorithm>

#include "git/durable.hpp"
#include "git/library.hpp"

namespace agentforge::kernel {

using namespace git;

Result<std::vector<RefTarget>> refs_below(const std::filesystem::path& repository, const std::string& prefix) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    git_reference_iterator* raw = nullptr;
    if (const int code = git_reference_iterator_new(&raw, handle.get()); code < 0) { return failure(code, "list refs"); }
    const ReferenceIteratorHandle iterator(raw);
    std::vector<RefTarget> refs;
    git_reference* each = nullptr;
    int code = 0;
    while ((code = git_reference_next(&each, raw)) == 0) {
        const ReferenceHandle reference(each);
        const std::string_view name = git_reference_name(each);
        if (!name.starts_with(prefix) || git_reference_target(each) == nullptr) { continue; }
        std::string id(GIT_OID_HEXSZ, '\0');
        git_oid_fmt(id.data(), git_reference_target(each));
        refs.push_back({std::string(name), std::move(id)});
    }
    if (code != GIT_ITEROVER) { return failure(code, "list refs"); }
    std::ranges::sort(refs, {}, &RefTarget::name);
    return refs;
}

Result<void> keep_commit(const std::filesystem::path& repository, const std::string& name, std::string_view commit) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    AF_TRY(const git_oid id, parse_id(commit));
    AF_TRY(const CommitHandle found, find_commit(handle.get(), id));
    AF_CHECK(sync_object_folders(handle.get()));
    const std::string ref = "refs/agentforge/" + name;
    const int code = retry_while_locked(
        [&] {
            git_reference* raw = nullptr;
            const int result = git_reference_create(&raw, handle.get(), ref.c_str(), git_commit_id(found.get()), 1, nullptr);
            git_reference_free(raw);
            return result;
        },
        lock_of(handle.get(), ref));
    return code < 0 ? Result<void>(failure(code, "write " + ref)) : sync_ref_folders(handle.get(), ref);
}

Result<std::optional<std::string>> named_commit(const std::filesystem::path& repository, const std::string& text) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    git_object* raw = nullptr;
    if (text.empty() || text.find('\0') != std::string::npos || git_revparse_single(&raw, handle.get(), text.c_str()) < 0) {
        return std::optional<std::string>();
    }
    const ObjectHandle object(raw);
    git_object* peeled = nullptr;
    if (git_object_peel(&peeled, raw, GIT_OBJECT_COMMIT) < 0) { return std::optional<std::string>(); }
    const ObjectHandle commit(peeled);
    return std::optional(to_text(*git_object_id(peeled)));
}

bool is_partial_clone(const std::filesystem::path& repository) {
    const auto handle = open_repository(repository);
    if (!handle.ok()) { return false; }
    std::error_code none;
    const auto packs = std::filesystem::path(git_repository_commondir(handle->get())) / "objects" / "pack";
    const auto files = std::filesystem::directory_iterator(packs, none);
    return std::any_of(begin(files), end(files), [](const auto& file) { return file.path().extension() == ".promisor"; });
}

Result<void> write_note(const std::filesystem::path& repository, const CommitNote& note) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    AF_TRY(const git_oid commit, parse_id(note.commit));
    git_signature* raw = nullptr;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(note.time.time_since_epoch()).count();
    if (const int code = git_signature_new(&raw, note.name.c_str(), note.email.c_str(), static_cast<git_time_t>(seconds), 0);
        code < 0) {
        return failure(code, "write a note");
    }
    const SignatureHandle who(raw);
    constexpr int most_tries = 5;  // Another process may write a note meanwhile.
    int code = GIT_EMODIFIED;
    for (int tried = 0; tried < most_tries && (code == GIT_EMODIFIED || code == GIT_EEXISTS); ++tried) {
        git_oid head{};
        const bool has_notes = git_reference_name_to_id(&head, handle.get(), statement_notes) == 0;
        CommitHandle before;
        if (has_notes) { AF_TRY(before, find_commit(handle.get(), head)); }
        git_oid made{};
        git_oid text{};
        code =
            git_note_commit_create(&made, &text, handle.get(), before.get(), who.get(), who.get(), &commit, note.text.c_str(), 1);
        if (code < 0) { break; }
        AF_CHECK(sync_object_folders(handle.get()));
        code = retry_while_locked(
            [&] {
                git_reference* raw_ref = nullptr;
                const int result =
                    has_notes ? git_reference_create_matching(&raw_ref, handle.get(), statement_notes, &made, 1, &head, nullptr)
                              : git_reference_create(&raw_ref, handle.get(), statement_notes, &made, 0, nullptr);
                git_reference_free(raw_ref);
                return result;
            },
            lock_of(handle.get(), statement_notes));
    }
    return code < 0 ? Result<void>(failure(code, "write a note")) : sync_ref_folders(handle.get(), statement_notes);
}

Result<std::optional<std::string>> read_note(const std::filesystem::path& repository, const std::string& commit) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    AF_TRY(const git_oid id, parse_id(commit));
    git_note* raw = nullptr;
    const int code = git_note_read(&raw, handle.get(), statement_notes, &id);
    const Handle<git_note, git_note_free> note(raw);
    if (code == GIT_ENOTFOUND) { return std::optional<std::string>(); }
    if (code < 0) { return failure(code, "read a note"); }
    return std::optional<std::string>(git_note_message(raw));
}

}  // namespace agentforge::kernel
