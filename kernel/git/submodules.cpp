// SPDX-License-Identifier: Apache-2.0
// Submodules. A tree names a commit of another repository. The user's checkout has that repository, and a task's worktree gets
// the commit's files from there, for reading only. A recorded tree keeps the named commit. The kernel finds and reverts changes
// to the submodule's files.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "git/folder.hpp"
#include "git/worktree_state.hpp"

namespace agentforge::kernel {

using namespace git;

namespace {

/// Opens a folder below another without following links.
FileDescriptor open_below(int folder, const std::string& path) {
    FileDescriptor here(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (std::size_t start = 0; here.valid() && start <= path.size();) {
        const std::size_t end = std::min(path.find('/', start), path.size());
        here = open_folder(here.get(), path.substr(start, end - start).c_str());
        start = end + 1;
    }
    return here;
}

std::string hash_of_path(const std::string& path) {
    git_oid id{};
    git_odb_hash(&id, path.data(), path.size(), GIT_OBJECT_BLOB);
    return to_text(id);
}

/// Compares the files of one submodule with its table.
struct ModuleScan {
    Worktree::State& state;
    const std::string& shown;  ///< The submodule's path in the worktree, with a slash.
    std::vector<std::string>& touched;
    std::vector<bool> seen{};

    Result<bool> same_bytes(int parent, const std::string& name, const std::string& path, const struct stat& st,
                            const FileTable::File& known) const {
        const unsigned mode = recorded_mode(st);
        if (known.mode != mode) { return false; }
        git_oid id{};
        if (S_ISLNK(st.st_mode)) {
            AF_TRY(const std::string target, read_link(parent, name.c_str(), path));
            git_odb_hash(&id, target.data(), target.size(), GIT_OBJECT_BLOB);
        } else {
            const FileDescriptor file = open_file(parent, name.c_str());
            if (!file.valid()) { return folder_error(errno, "read a file", path); }
            const std::string link = "/proc/self/fd/" + std::to_string(file.get());
            if (const int code = git_odb_hashfile(&id, link.c_str(), GIT_OBJECT_BLOB); code < 0) {
                return failure(code, "read " + path);
            }
        }
        return git_oid_equal(&id, &known.id) != 0;
    }

    Result<void> contents(int folder, const std::string& prefix, unsigned depth) {
        AF_TRY(const std::vector<std::string> names, names_in(folder, state.path / prefix));
        for (const std::string& name : names) {
            const std::string path = prefix + name;
            if (is_git_name(name)) {
                touched.push_back(shown + path);
                continue;
            }
            struct stat st {};
            if (::fstatat(folder, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) { continue; }
            std::size_t position = 0;
            if (const FileTable::File* const known = state.cache->find(path, &position); known != nullptr) {
                seen[position] = true;
                if (known->is_gitlink() || known->unchanged(st)) { continue; }
                bool same = S_ISREG(st.st_mode) || S_ISLNK(st.st_mode);
                if (same) { AF_TRY(same, same_bytes(folder, name, path, st, *known)); }
                if (!same) { touched.push_back(shown + path); }
                continue;
            }
            AF_TRY(const bool ignored, state.ignored(path));
            if (S_ISDIR(st.st_mode) && depth < max_folder_depth && (state.cache->has_below(path) || !ignored)) {
                const FileDescriptor below = open_folder(folder, name.c_str());
                if (!below.valid()) { return folder_error(errno, "open a folder", path); }
                AF_CHECK(contents(below.get(), path + "/", depth + 1));
            } else if (!ignored) {
                touched.push_back(shown + path);
            }
        }
        return {};
    }
};

}  // namespace

Worktree::State* Worktree::State::module_at(const std::string& module_path, const git_oid& commit) {
    auto found = modules.find(module_path);
    if (found == modules.end()) {
        found = modules.emplace(module_path, nullptr).first;
        git_repository* raw = nullptr;
        const std::filesystem::path checkout = user / module_path;
        if (user.empty() || git_repository_open_ext(&raw, checkout.c_str(), GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr) < 0) {
            return nullptr;
        }
        auto made = std::make_unique<State>();
        made->repository.reset(raw);
        made->is_module = true;
        made->path = path / module_path;
        made->user = checkout;
        made->admin = admin / "agentforge-modules" / hash_of_path(module_path);
        if (git_repository_set_workdir(raw, made->path.c_str(), 0) < 0) { return nullptr; }
        found->second = std::move(made);
    }
    State* const module = found->second.get();
    if (module == nullptr) { return nullptr; }
    const Result<git_oid> tree = tree_id_of_commit(module->repository.get(), commit);
    if (!tree.ok()) { return nullptr; }
    Result<TreeHandle> head = find_tree(module->repository.get(), *tree);
    if (!head.ok()) { return nullptr; }
    module->head_tree = std::move(*head);
    if (!module->cache) {
        if (auto known = FileTable::load(module->cache_file());
            known && find_tree(module->repository.get(), known->second).ok()) {
            module->cache = std::move(known->first);
            module->last_tree = known->second;
            module->saved = true;
        }
    }
    return module;
}

Result<void> Worktree::State::fill_modules(bool clean) {
    for (std::size_t i = 0; i < cache->size(); ++i) {
        if (!cache->at(i).is_gitlink()) { continue; }
        const std::string module_path(cache->path(i));
        State* const module = module_at(module_path, cache->at(i).id);
        if (module == nullptr) {
            unfilled.push_back(module_path);
            continue;
        }
        module->root = open_below(root.get(), module_path);
        if (!module->root.valid()) { return folder_error(errno, "open a folder", module_path); }
        AF_CHECK(make_directories(module->admin));
        const git_oid tree = *git_tree_id(module->head_tree.get());
        if (!module->cache) {
            module->cache.emplace();
            module->last_tree = tree;
        }
        AF_CHECK(module->reset(tree, clean));
        for (const std::string& one : module->unfilled) {
            unfilled.push_back((std::filesystem::path(module_path) / one).string());
        }
    }
    return {};
}

Result<void> Worktree::State::scan_modules(const std::string& prefix, std::vector<std::string>& into) {
    for (std::size_t i = 0; i < cache->size(); ++i) {
        if (!cache->at(i).is_gitlink()) { continue; }
        const std::string module_path(cache->path(i));
        State* const module = module_at(module_path, cache->at(i).id);
        if (module == nullptr || !module->cache) { continue; }  // Never filled in.
        module->root = open_below(root.get(), module_path);
        const std::string shown = prefix + module_path + "/";
        if (!module->root.valid()) {
            into.push_back(prefix + module_path);
            continue;
        }
        git_attr_cache_flush(module->repository.get());
        ModuleScan scan{*module, shown, into, std::vector<bool>(module->cache->size())};
        AF_CHECK(scan.contents(module->root.get(), {}, 0));
        for (std::size_t file = 0; file < scan.seen.size(); ++file) {
            if (!scan.seen[file] && !module->cache->at(file).is_gitlink()) {
                into.push_back(shown + std::string(module->cache->path(file)));
            }
        }
        AF_CHECK(module->scan_modules(shown, into));
    }
    return {};
}

std::vector<std::string> Worktree::submodules() const {
    std::vector<std::string> paths;
    if (!state_->cache) { return paths; }
    for (std::size_t i = 0; i < state_->cache->size(); ++i) {
        if (state_->cache->at(i).is_gitlink()) { paths.emplace_back(state_->cache->path(i)); }
    }
    return paths;
}

}  // namespace agentforge::kernel
