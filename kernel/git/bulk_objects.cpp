// SPDX-License-Identifier: Apache-2.0
#include "git/bulk_objects.hpp"

#include <git2/sys/mempack.h>
#include <git2/sys/odb_backend.h>

namespace agentforge::kernel::git {

using PackBuilderHandle = Handle<git_packbuilder, git_packbuilder_free>;

Result<git_oid> BulkObjects::add(std::string_view bytes, git_object_t type) {
    git_oid id{};
    if (const int code = git_odb_hash(&id, bytes.data(), bytes.size(), type); code < 0) { return failure(code, "hash a file"); }
    git_odb* raw_stored = nullptr;
    if (const int code = git_repository_odb(&raw_stored, repository_); code < 0) {
        return failure(code, "open the object store");
    }
    const OdbHandle stored(raw_stored);
    if (git_odb_exists_ext(raw_stored, &id, GIT_ODB_LOOKUP_NO_REFRESH) != 0) { return id; }
    if (!odb_) {
        git_odb* raw = nullptr;
        if (const int code = git_odb_new(&raw); code < 0) { return failure(code, "create an object store"); }
        OdbHandle odb(raw);
        git_odb_backend* memory = nullptr;
        if (const int code = git_mempack_new(&memory); code < 0) { return failure(code, "create an object store"); }
        if (const int code = git_odb_add_backend(raw, memory, 1); code < 0) {
            memory->free(memory);
            return failure(code, "create an object store");
        }
        odb_ = std::move(odb);
    }
    if (const int code = git_odb_write(&id, odb_.get(), bytes.data(), bytes.size(), type); code < 0) {
        return failure(code, "record a file");
    }
    ids_.push_back(id);
    bytes_ += bytes.size();
    if (bytes_ > max_bytes_) { AF_CHECK(flush()); }
    return id;
}

Result<void> BulkObjects::flush() {
    if (ids_.empty()) { return {}; }
    git_repository* raw_memory = nullptr;
    if (const int code = git_repository_wrap_odb(&raw_memory, odb_.get()); code < 0) { return failure(code, "create a pack"); }
    const RepositoryHandle memory(raw_memory);
    git_packbuilder* raw = nullptr;
    if (const int code = git_packbuilder_new(&raw, raw_memory); code < 0) { return failure(code, "create a pack"); }
    const PackBuilderHandle pack(raw);
    git_packbuilder_set_threads(raw, 1);
    for (const git_oid& id : ids_) {
        if (const int code = git_packbuilder_insert(raw, &id, nullptr); code < 0) { return failure(code, "create a pack"); }
    }
    const std::string folder = std::string(git_repository_commondir(repository_)) + "objects/pack";
    if (const int code = git_packbuilder_write(raw, folder.c_str(), 0, nullptr, nullptr); code < 0) {
        return failure(code, "write a pack");
    }
    git_odb* raw_stored = nullptr;
    if (const int code = git_repository_odb(&raw_stored, repository_); code < 0) {
        return failure(code, "open the object store");
    }
    const OdbHandle stored(raw_stored);
    if (const int code = git_odb_refresh(raw_stored); code < 0) { return failure(code, "read the object store"); }
    ids_.clear();
    bytes_ = 0;
    odb_.reset();
    return {};
}

}  // namespace agentforge::kernel::git
