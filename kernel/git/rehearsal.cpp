// SPDX-License-Identifier: Apache-2.0
#include "git/rehearsal.hpp"

#include <algorithm>
#include <sstream>

#include "base/files.hpp"
#include "git/library.hpp"

namespace agentforge::kernel {

using namespace git;

namespace {

Result<void> set_rehearsal_option(git_config* config, const char* key, const std::string& value) {
    if (const int code = git_config_set_string(config, key, value.c_str()); code < 0) {
        return failure(code, "set " + std::string(key));
    }
    return {};
}

Result<void> configure_rehearsal(git_repository* repository, const RehearsalRequest& request) {
    git_config* raw = nullptr;
    if (const int code = git_repository_config(&raw, repository); code < 0) { return failure(code, "configure a repository"); }
    const ConfigHandle config(raw);
    git_config* own_raw = nullptr;
    if (const int code = git_config_open_level(&own_raw, raw, GIT_CONFIG_LEVEL_LOCAL); code < 0) {
        return failure(code, "configure a repository");
    }
    const ConfigHandle own(own_raw);
    AF_CHECK(set_rehearsal_option(own_raw, "user.name", request.name));
    AF_CHECK(set_rehearsal_option(own_raw, "user.email", request.email));
    AF_CHECK(set_rehearsal_option(own_raw, "core.autocrlf", "false"));  // Keeps the bytes unchanged.
    AF_CHECK(set_rehearsal_option(own_raw, "gc.auto", "0"));
    return set_rehearsal_option(own_raw, "commit.gpgsign", "false");
}

}  // namespace

Result<std::vector<std::string>> object_folders(const std::filesystem::path& repository) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    std::vector<std::string> folders{
        (std::filesystem::path(git_repository_commondir(handle.get())) / "objects").lexically_normal().string()};
    for (std::size_t at = 0; at < folders.size() && folders.size() < 64; ++at) {
        const auto text = read_file(std::filesystem::path(folders[at]) / "info" / "alternates");
        if (!text.ok()) { continue; }
        std::istringstream lines(*text);
        for (std::string line; std::getline(lines, line);) {
            if (line.empty() || line.front() == '#') { continue; }
            const std::string folder = (std::filesystem::path(folders[at]) / line).lexically_normal().string();
            std::error_code error;
            if (std::filesystem::is_directory(folder, error) &&
                std::find(folders.begin(), folders.end(), folder) == folders.end()) {
                folders.push_back(folder);
            }
        }
    }
    return folders;
}

Result<std::filesystem::path> hooks_folder(const std::filesystem::path& repository) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    git_config* raw = nullptr;
    if (const int code = git_repository_config_snapshot(&raw, handle.get()); code < 0) {
        return failure(code, "read the configuration");
    }
    const ConfigHandle config(raw);
    git_buf value = GIT_BUF_INIT;
    const int code = git_config_get_path(&value, raw, "core.hooksPath");  // Expands `~`.
    const std::string own = code < 0 ? std::string() : std::string(value.ptr, value.size);
    git_buf_dispose(&value);
    if (code < 0 && code != GIT_ENOTFOUND) { return failure(code, "read core.hooksPath"); }
    if (own.empty()) { return std::filesystem::path(git_repository_commondir(handle.get())) / "hooks"; }
    return (std::filesystem::path(git_repository_workdir(handle.get())) / own).lexically_normal();
}

Result<void> prepare_rehearsal(const RehearsalRequest& request) {
    AF_TRY(const std::vector<std::string> objects, object_folders(request.repository));
    git_repository_init_options options = GIT_REPOSITORY_INIT_OPTIONS_INIT;
    options.flags =
        GIT_REPOSITORY_INIT_MKPATH | GIT_REPOSITORY_INIT_NO_REINIT;  // Uses no template, so it has no hooks of the user.
    git_repository* raw = nullptr;
    if (const int code = git_repository_init_ext(&raw, request.folder.c_str(), &options); code < 0) {
        return failure(code, "create a repository for the hooks");
    }
    {
        const RepositoryHandle made(raw);
        AF_CHECK(configure_rehearsal(raw, request));
    }
    std::string alternates;
    for (const std::string& folder : objects) { alternates += folder + "\n"; }
    const std::filesystem::path info = request.folder / ".git" / "objects" / "info";
    AF_CHECK(make_directories(info));
    AF_CHECK(write_file_atomic(info / "alternates", alternates, Durability::cached));

    AF_TRY(const RepositoryHandle handle, open_repository(request.folder));
    git_repository* repository = handle.get();
    AF_TRY(const git_oid parent, parse_id(request.parent));
    AF_TRY(const git_oid tree_id, parse_id(request.tree));
    AF_TRY(const TreeHandle tree, find_tree(repository, tree_id));
    const std::string ref = "refs/heads/" + request.branch;
    git_reference* head = nullptr;
    if (const int code = git_reference_create(&head, repository, ref.c_str(), &parent, 1, nullptr); code < 0) {
        return failure(code, "create " + ref);
    }
    git_reference_free(head);
    if (const int code = git_repository_set_head(repository, ref.c_str()); code < 0) { return failure(code, "set HEAD"); }
    git_index* raw_index = nullptr;
    if (const int code = git_repository_index(&raw_index, repository); code < 0) { return failure(code, "create an index"); }
    const IndexHandle index(raw_index);
    if (const int code = git_index_read_tree(raw_index, tree.get()); code < 0) { return failure(code, "fill an index"); }
    git_checkout_options checkout = GIT_CHECKOUT_OPTIONS_INIT;
    checkout.checkout_strategy = GIT_CHECKOUT_FORCE;
    checkout.disable_filters = 1;
    if (const int code = git_checkout_index(repository, raw_index, &checkout); code < 0) {
        return failure(code, "check out the tree for the hooks");
    }
    if (const int code = git_index_write(raw_index); code < 0) { return failure(code, "write an index"); }
    return {};
}

Result<std::vector<std::pair<std::string, std::optional<std::string>>>> changed_in_rehearsal(const std::filesystem::path& folder,
                                                                                             std::string_view tree) {
    AF_TRY(const RepositoryHandle handle, open_repository(folder));
    AF_TRY(const git_oid tree_id, parse_id(tree));
    AF_TRY(const TreeHandle before, find_tree(handle.get(), tree_id));
    git_index* raw_index = nullptr;
    if (const int code = git_repository_index(&raw_index, handle.get()); code < 0) {
        return failure(code, "read the index that the hooks left");
    }
    const IndexHandle index(raw_index);
    git_diff* raw = nullptr;
    if (const int code = git_diff_tree_to_index(&raw, handle.get(), before.get(), raw_index, nullptr); code < 0) {
        return failure(code, "read the index that the hooks left");
    }
    const DiffHandle diff(raw);
    std::vector<std::pair<std::string, std::optional<std::string>>> changes;
    for (std::size_t i = 0; i < git_diff_num_deltas(raw); ++i) {
        const git_diff_delta* delta = git_diff_get_delta(raw, i);
        if (delta->status == GIT_DELTA_DELETED) {
            changes.emplace_back(delta->old_file.path, std::nullopt);
            continue;
        }
        git_blob* raw_blob = nullptr;
        if (const int code = git_blob_lookup(&raw_blob, handle.get(), &delta->new_file.id); code < 0) {
            return failure(code, "read what a hook made of " + std::string(delta->new_file.path));
        }
        const BlobHandle blob(raw_blob);
        changes.emplace_back(delta->new_file.path, std::string(static_cast<const char*>(git_blob_rawcontent(raw_blob)),
                                                               static_cast<std::size_t>(git_blob_rawsize(raw_blob))));
    }
    return changes;
}

}  // namespace agentforge::kernel
