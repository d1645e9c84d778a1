// SPDX-License-Identifier: Apache-2.0
// Reads recorded trees and makes trees from others.
#include "git/repository_state.hpp"
#include "git/tree_edit.hpp"

namespace agentforge::kernel {

using namespace git;

Result<std::optional<std::string>> Repository::file_in_tree(std::string_view tree, std::string_view path) const {
    AF_TRY(const git_oid id, parse_id(tree));
    AF_TRY(const TreeHandle root, find_tree(state_->handle.get(), id));
    if (!is_recordable_path(path)) { return std::optional<std::string>(); }
    const std::optional<TreeEntry> entry = entry_at(root.get(), std::string(path));
    if (!entry || entry->mode == GIT_FILEMODE_TREE || entry->mode == GIT_FILEMODE_COMMIT) { return std::optional<std::string>(); }
    git_blob* raw = nullptr;
    if (const int code = git_blob_lookup(&raw, state_->handle.get(), &entry->id); code < 0) {
        return failure(code, "read a recorded file");
    }
    const BlobHandle blob(raw);
    return std::optional<std::string>(std::in_place, static_cast<const char*>(git_blob_rawcontent(raw)),
                                      static_cast<std::size_t>(git_blob_rawsize(raw)));
}

Result<bool> Repository::checkout_is_as(std::string_view tree, const std::string& path) const {
    AF_TRY(const git_oid id, parse_id(tree));
    AF_TRY(const TreeHandle root, find_tree(state_->handle.get(), id));
    const std::optional<TreeEntry> entry = is_recordable_path(path) ? entry_at(root.get(), path) : std::nullopt;
    const std::filesystem::path file = work_directory() / path;
    std::error_code error;
    const auto status = std::filesystem::symlink_status(file, error);
    if (!std::filesystem::exists(status)) { return !entry; }
    if (!entry) { return false; }
    git_oid there{};
    if (std::filesystem::is_symlink(status)) {
        const std::string target = std::filesystem::read_symlink(file, error).string();
        if (entry->mode != GIT_FILEMODE_LINK) { return false; }
        if (const int code = git_odb_hash(&there, target.data(), target.size(), GIT_OBJECT_BLOB); code < 0) {
            return failure(code, "compare the checkout");
        }
    } else if (!std::filesystem::is_regular_file(status) || entry->mode == GIT_FILEMODE_LINK) {
        return false;
    } else if (const int code = git_repository_hashfile(&there, state_->handle.get(), path.c_str(), GIT_OBJECT_BLOB, nullptr);
               code < 0) {
        return failure(code, "compare the checkout");
    }
    return git_oid_equal(&there, &entry->id) == 1;
}

Result<std::vector<std::string>> Repository::files_in_tree(std::string_view tree) const {
    AF_TRY(const git_oid id, parse_id(tree));
    std::vector<std::string> paths;
    AF_CHECK(for_each_file(state_->handle.get(), id, [&](std::string path, const TreeEntry& entry) {
        if (entry.mode != GIT_FILEMODE_COMMIT) { paths.push_back(std::move(path)); }
    }));
    std::sort(paths.begin(), paths.end());
    return paths;
}

Result<std::map<std::string, std::string>> Repository::links_in_tree(std::string_view tree) const {
    AF_TRY(const git_oid id, parse_id(tree));
    std::vector<std::string> paths;
    AF_CHECK(for_each_file(state_->handle.get(), id, [&](std::string path, const TreeEntry& entry) {
        if (entry.mode == GIT_FILEMODE_LINK) { paths.push_back(std::move(path)); }
    }));
    std::map<std::string, std::string> links;
    for (std::string& path : paths) {
        AF_TRY(auto target, file_in_tree(tree, path));
        if (target) { links.emplace(std::move(path), *std::move(target)); }
    }
    return links;
}

Result<std::string> Repository::edit_tree(std::string_view tree,
                                          const std::vector<std::pair<std::string, std::optional<std::string>>>& files) const {
    AF_TRY(const git_oid id, parse_id(tree));
    AF_TRY(const TreeHandle root, find_tree(state_->handle.get(), id));
    std::vector<TreeEdit> edits;
    for (const auto& [path, content] : files) {
        TreeEdit edit{path, std::nullopt};
        if (content) {
            TreeEntry entry;
            if (is_recordable_path(path)) {
                const std::optional<TreeEntry> old = entry_at(root.get(), path);
                if (old && old->mode == GIT_FILEMODE_BLOB_EXECUTABLE) { entry.mode = old->mode; }
            }
            if (const int code = git_blob_create_from_buffer(&entry.id, state_->handle.get(), content->data(), content->size());
                code < 0) {
                return failure(code, "record a file");
            }
            edit.entry = entry;
        }
        edits.push_back(std::move(edit));
    }
    AF_TRY(const git_oid edited, apply_edits(state_->handle.get(), id, edits));
    return to_text(edited);
}

}  // namespace agentforge::kernel
