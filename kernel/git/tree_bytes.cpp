// SPDX-License-Identifier: Apache-2.0
#include "git/tree_bytes.hpp"

#include <set>
#include <vector>

#include "git/library.hpp"

namespace agentforge::kernel {

using namespace git;

struct TreeBytes::State {
    RepositoryHandle repository;
    OdbHandle objects;
    std::set<std::string> seen;  ///< Raw ids.

    std::uint64_t count(const git_oid& id) {
        std::size_t size = 0;
        git_object_t type = GIT_OBJECT_INVALID;
        if (git_odb_read_header(&size, &type, objects.get(), &id) < 0) { return 0; }
        return size;
    }
    bool is_new(const git_oid& id) { return seen.emplace(reinterpret_cast<const char*>(id.id), GIT_OID_RAWSZ).second; }
};

TreeBytes::TreeBytes(std::unique_ptr<State> state) : state_(std::move(state)) {}
TreeBytes::TreeBytes(TreeBytes&&) noexcept = default;
TreeBytes& TreeBytes::operator=(TreeBytes&&) noexcept = default;
TreeBytes::~TreeBytes() = default;

Result<TreeBytes> TreeBytes::open(const std::filesystem::path& repository) {
    auto state = std::make_unique<State>();
    AF_TRY(state->repository, open_repository(repository));
    git_odb* raw = nullptr;
    if (const int code = git_repository_odb(&raw, state->repository.get()); code < 0) {
        return failure(code, "read the objects");
    }
    state->objects = OdbHandle(raw);
    return TreeBytes(std::move(state));
}

std::uint64_t TreeBytes::add(const std::string& id) {
    git_oid root{};
    git_object* raw = nullptr;
    if (git_oid_fromstr(&root, id.c_str()) < 0 || git_object_lookup(&raw, state_->repository.get(), &root, GIT_OBJECT_ANY) < 0) {
        return 0;
    }
    git_object* peeled = nullptr;
    const int code = git_object_peel(&peeled, raw, GIT_OBJECT_TREE);
    git_object_free(raw);
    if (code < 0) { return 0; }
    std::uint64_t bytes = 0;
    std::vector<git_oid> open{*git_object_id(peeled)};
    git_object_free(peeled);
    while (!open.empty()) {
        const git_oid next = open.back();
        open.pop_back();
        git_tree* tree = nullptr;
        if (!state_->is_new(next) || git_tree_lookup(&tree, state_->repository.get(), &next) < 0) { continue; }
        const TreeHandle holds(tree);
        bytes += state_->count(next);
        for (std::size_t index = 0; index < git_tree_entrycount(tree); ++index) {
            const git_tree_entry* entry = git_tree_entry_byindex(tree, index);
            const git_oid& child = *git_tree_entry_id(entry);
            if (git_tree_entry_type(entry) == GIT_OBJECT_TREE) {
                open.push_back(child);
            } else if (git_tree_entry_type(entry) == GIT_OBJECT_BLOB && state_->is_new(child)) {
                bytes += state_->count(child);
            }
        }
    }
    return bytes;
}

}  // namespace agentforge::kernel
