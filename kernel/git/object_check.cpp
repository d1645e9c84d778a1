// SPDX-License-Identifier: Apache-2.0
#include "git/object_check.hpp"

#include <set>

#include "git/library.hpp"

namespace agentforge::kernel {

using namespace git;

struct ObjectCheck::State {
    RepositoryHandle repository;
    OdbHandle store;
    std::set<std::string, std::less<>> whole;  ///< Verified trees and blobs, ids in hexadecimal.

    void check(const git_oid& id, git_object_t type, const std::string& path, std::vector<std::string>& faults) {
        std::string name(GIT_OID_HEXSZ, '\0');
        git_oid_fmt(name.data(), &id);
        if (whole.contains(name)) { return; }
        git_odb_object* raw = nullptr;
        const int code = git_odb_read(&raw, store.get(), &id);  // Compares the bytes with the id.
        const Handle<git_odb_object, git_odb_object_free> object(raw);
        const std::string where = (type == GIT_OBJECT_TREE ? "tree " : "file ") + name + (path.empty() ? "" : " (" + path + ")");
        if (code < 0) {
            faults.push_back(where + (code == GIT_ENOTFOUND ? " is missing" : " is damaged"));
            return;
        }
        if (git_odb_object_type(raw) != type) {
            faults.push_back(where + " is another kind of object");
            return;
        }
        const std::size_t before = faults.size();
        if (type == GIT_OBJECT_TREE) { check_entries(id, path, faults); }
        if (faults.size() == before) { whole.insert(std::move(name)); }
    }

    void check_entries(const git_oid& id, const std::string& path, std::vector<std::string>& faults) {
        git_tree* raw = nullptr;
        if (git_tree_lookup(&raw, repository.get(), &id) < 0) {
            faults.push_back("tree " + path + " cannot be read");
            return;
        }
        const TreeHandle tree(raw);
        for (std::size_t at = 0; at < git_tree_entrycount(raw); ++at) {
            const git_tree_entry* const entry = git_tree_entry_byindex(raw, at);
            if (git_tree_entry_type(entry) == GIT_OBJECT_COMMIT) { continue; }
            check(*git_tree_entry_id(entry), git_tree_entry_type(entry),
                  (path.empty() ? "" : path + "/") + git_tree_entry_name(entry), faults);
        }
    }
};

ObjectCheck::ObjectCheck(std::unique_ptr<State> state) : state_(std::move(state)) {}
ObjectCheck::ObjectCheck(ObjectCheck&&) noexcept = default;
ObjectCheck& ObjectCheck::operator=(ObjectCheck&&) noexcept = default;
ObjectCheck::~ObjectCheck() = default;

Result<ObjectCheck> ObjectCheck::open(const std::filesystem::path& repository) {
    auto state = std::make_unique<State>();
    AF_TRY(state->repository, open_repository(repository));
    git_odb* raw = nullptr;
    if (const int code = git_repository_odb(&raw, state->repository.get()); code < 0) {
        return failure(code, "open the object store");
    }
    state->store.reset(raw);
    return ObjectCheck(std::move(state));
}

bool ObjectCheck::has(const std::string& id) const {
    git_oid oid{};
    return git_oid_fromstr(&oid, id.c_str()) == 0 && git_odb_exists(state_->store.get(), &oid) == 1;
}

std::vector<std::string> ObjectCheck::faults_of_tree(const std::string& tree) {
    std::vector<std::string> faults;
    git_oid id{};
    if (git_oid_fromstr(&id, tree.c_str()) < 0) { return {"`" + tree + "` is not an object's name"}; }
    state_->check(id, GIT_OBJECT_TREE, "", faults);
    return faults;
}

std::uint64_t ObjectCheck::objects() const noexcept { return state_->whole.size(); }

bool ObjectCheck::is_whole(const std::string& id) const { return state_->whole.contains(id); }

}  // namespace agentforge::kernel
