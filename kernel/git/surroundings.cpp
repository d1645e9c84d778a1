// SPDX-License-Identifier: Apache-2.0
#include "git/surroundings.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "git/configuration.hpp"
#include "git/library.hpp"
#include "git/rehearsal.hpp"
#include "git/repository.hpp"
#include "git/tree_edit.hpp"

namespace agentforge::kernel {

using namespace git;

namespace {

/// `origin`, else the only remote.
std::string chosen_remote(git_repository* repository) {
    git_strarray names{};
    if (git_remote_list(&names, repository) < 0) { return {}; }
    std::vector<std::string> found(names.strings, names.strings + names.count);
    git_strarray_dispose(&names);
    if (std::find(found.begin(), found.end(), "origin") != found.end()) { return "origin"; }
    return found.size() == 1 ? found.front() : std::string();
}

bool hides(git_repository* repository, const char* path) {
    int ignored = 0;
    return git_ignore_path_is_ignored(&ignored, repository, path) == 0 && ignored != 0;
}

}  // namespace

Result<RepositorySurroundings> look_around(const std::filesystem::path& place) {
    AF_TRY(const Repository repository, Repository::open(place));
    AF_TRY(const RepositoryHandle handle, open_repository(place));
    RepositorySurroundings found;
    std::set<std::string> files;
    if (const auto head = repository.head_commit(); head.ok()) {
        found.has_commit = true;
        AF_TRY(const std::string tree, repository.tree_of(*head));
        AF_TRY(const git_oid id, parse_id(tree));
        AF_CHECK(for_each_file(handle.get(), id, [&](std::string path, const TreeEntry&) { files.insert(std::move(path)); }));
    }
    AF_TRY(const std::vector<std::string> changed, repository.uncommitted());
    std::error_code error;
    for (const std::string& path : changed) {
        if (std::filesystem::exists(place / path, error)) { files.insert(path); }
    }
    for (const char* name : {".env", ".env.local"}) {
        if (std::filesystem::is_regular_file(place / name, error) && !files.contains(name)) { found.secret_files.emplace_back(name); }
    }
    for (const char* name : {".venv/bin/python", "venv/bin/python"}) {
        if (found.virtual_environment.empty() && ::access((place / name).c_str(), X_OK) == 0) { found.virtual_environment = name; }
    }
    found.files.assign(files.begin(), files.end());
    found.branch = repository.current_branch().value_or("");
    found.remote = chosen_remote(handle.get());
    const GitConfiguration configuration(place);
    if (!found.remote.empty()) { found.remote_address = configuration.text("remote." + found.remote + ".url"); }
    if (const auto identity = repository.identity()) { found.author = identity->first + " <" + identity->second + ">"; }
    if (configuration.flag("commit.gpgsign")) {
        found.signing = configuration.text("gpg.format");
        if (found.signing.empty()) { found.signing = "openpgp"; }
    }
    AF_TRY(const std::filesystem::path hooks, hooks_folder(place));
    for (const char* name : {"pre-commit", "prepare-commit-msg", "commit-msg"}) {
        if (std::filesystem::is_regular_file(hooks / name, error) && ::access((hooks / name).c_str(), X_OK) == 0) { found.hooks.emplace_back(name); }
    }
    found.agentforge_is_ignored = hides(handle.get(), ".agentforge/") || hides(handle.get(), ".agentforge/config/settings.yaml");
    return found;
}

}  // namespace agentforge::kernel
