// SPDX-License-Identifier: Apache-2.0
#include "git/detected_repository.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "git/git_configuration.hpp"
#include "git/library.hpp"
#include "git/rehearsal.hpp"
#include "git/repository.hpp"
#include "git/tree_edit.hpp"

namespace agentforge::kernel {

using namespace git;

namespace {

/// Returns `origin`, or else the only remote.
std::string chosen_remote(git_repository* repository) {
    git_strarray names{};
    if (git_remote_list(&names, repository) < 0) { return {}; }
    std::vector<std::string> found(names.strings, names.strings + names.count);
    git_strarray_dispose(&names);
    if (std::find(found.begin(), found.end(), "origin") != found.end()) { return "origin"; }
    return found.size() == 1 ? found.front() : std::string();
}

bool is_ignored(git_repository* repository, const char* path) {
    int ignored = 0;
    return git_ignore_path_is_ignored(&ignored, repository, path) == 0 && ignored != 0;
}

namespace fs = std::filesystem;

bool is_python_environment(const fs::path& folder) {
    std::error_code none;
    return fs::is_regular_file(folder / "pyvenv.cfg", none) && ::access((folder / "bin/python").c_str(), X_OK) == 0;
}

/// Returns the newest environment in the folder.
std::optional<fs::path> newest_environment(const fs::path& folder) {
    std::optional<fs::path> newest;
    fs::file_time_type then;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
        const auto made = fs::last_write_time(entry.path() / "pyvenv.cfg", none);
        if (none || !is_python_environment(entry.path()) || (newest && made <= then)) { continue; }
        newest = entry.path();
        then = made;
    }
    return newest;
}

bool has_pytest(const fs::path& environment) {
    std::error_code none;
    for (const auto& version : fs::directory_iterator(environment / "lib", none)) {
        if (fs::is_directory(version.path() / "site-packages/pytest", none)) { return true; }
    }
    return false;
}

bool is_committed(const fs::path& repository, const fs::path& folder) {
    const auto handle = open_repository(repository);
    git_index* index = nullptr;
    if (!handle.ok() || git_repository_index(&index, handle->get()) < 0) { return true; }
    const auto prefix = folder.lexically_relative(repository).generic_string() + "/";
    const bool found = git_index_find_prefix(nullptr, index, prefix.c_str()) == 0;
    git_index_free(index);
    return found;
}

/// Returns the folder of the Python that an environment was made from. Empty if the environment does not name it.
fs::path base_python_folder(const fs::path& environment) {
    std::ifstream lines(environment / "pyvenv.cfg");
    for (std::string line; std::getline(lines, line);) {
        const auto equals = line.find(" = ");
        if (equals != std::string::npos && line.substr(0, equals) == "home") {
            return fs::path(line.substr(equals + 3)).parent_path();
        }
    }
    return {};
}

}  // namespace

std::optional<std::string> node_packages(const std::filesystem::path& repository) {
    const fs::path folder = repository / "node_modules";
    std::error_code none;
    if (!fs::is_directory(folder, none) || is_committed(repository, folder)) { return std::nullopt; }
    return folder.string();
}

std::optional<PythonEnvironment> python_environment(const std::filesystem::path& repository) {
    std::vector<fs::path> candidates;
    for (const char* name : {".venv", "venv"}) {
        if (is_python_environment(repository / name)) { candidates.push_back(repository / name); }
    }
    for (const char* name : {".tox", ".nox"}) {
        if (auto newest = newest_environment(repository / name)) { candidates.push_back(std::move(*newest)); }
    }
    std::stable_partition(candidates.begin(), candidates.end(), has_pytest);
    if (candidates.empty() || is_committed(repository, candidates.front())) { return std::nullopt; }
    const fs::path& chosen = candidates.front();
    PythonEnvironment found{(chosen / "bin/python").string(), {chosen.string()}};
    std::error_code none;
    const fs::path home = base_python_folder(chosen);
    if (home.empty() || home == "/usr" || home == "/") { return found; }
    for (const char* name : {"bin", "lib", "lib64"}) {  // Not the whole folder: it may be the user's ~/.local.
        if (fs::is_directory(home / name, none)) { found.folders.push_back((home / name).string()); }
    }
    return found;
}

Result<DetectedRepository> detect_repository(const std::filesystem::path& place) {
    AF_TRY(const Repository repository, Repository::open(place));
    AF_TRY(const RepositoryHandle handle, open_repository(place));
    DetectedRepository found;
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
        if (std::filesystem::is_regular_file(place / name, error) && !files.contains(name)) {
            found.secret_files.emplace_back(name);
        }
    }
    found.python = python_environment(place);
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
        if (std::filesystem::is_regular_file(hooks / name, error) && ::access((hooks / name).c_str(), X_OK) == 0) {
            found.hooks.emplace_back(name);
        }
    }
    found.agentforge_is_ignored =
        is_ignored(handle.get(), ".agentforge/") || is_ignored(handle.get(), ".agentforge/config/settings.yaml");
    return found;
}

}  // namespace agentforge::kernel
