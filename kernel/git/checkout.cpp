// SPDX-License-Identifier: Apache-2.0
// Makes the files of a worktree equal a recorded tree, byte for byte, whatever is there now.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "git/clone.hpp"
#include "git/folder.hpp"
#include "git/lfs.hpp"
#include "git/trash.hpp"
#include "git/worktree_state.hpp"

namespace agentforge::kernel {

using namespace git;

struct Checkout {
    Worktree::State& state;
    bool clean;
    Trash trash;
    /// The cache, changed to list the tree's files. A stamp says that the file had this content before.
    FileTable& wanted;
    std::vector<std::string> former;    ///< Paths of the previous tree that are not in this one, in order.
    std::vector<bool> kept;             ///< By position in `wanted`.
    std::vector<std::string> unknown;   ///< Not in the tree, and perhaps ignored.
    std::vector<std::size_t> pointers;  ///< Written files that look like Git LFS pointers.
    std::string open_path;              ///< Path of `open_parent`, with a slash. Empty: the root.
    FileDescriptor open_parent;
    bool can_share = true;  ///< Sharing disk blocks with the user's checkout: true until the file system refuses.

    Checkout(Worktree::State& of, bool all, std::vector<std::string> before)
        : state(of), clean(all), trash(of.trash()), wanted(*of.cache), former(std::move(before)), kept(wanted.size()) {}

    [[nodiscard]] bool was_recorded(std::string_view path) const {
        return std::binary_search(former.begin(), former.end(), path, std::less<>());
    }
    [[nodiscard]] bool was_recorded_below(const std::string& folder) const {
        const auto found = std::lower_bound(former.begin(), former.end(), folder + "/");
        return found != former.end() && found->starts_with(folder + "/");
    }

    /// Removes entries that are in the way, and records those that may stay.
    Result<void> clear_way(int folder, const std::string& prefix, unsigned depth) {
        if (depth > max_folder_depth) {
            return Error{"AF-GIT-035", "Folders are nested more than " + std::to_string(max_folder_depth) + " deep", prefix,
                         "Use another tree", ErrorKind::invalid};
        }
        AF_TRY(const std::vector<std::string> names, names_in(folder, state.path / prefix));
        for (const std::string& name : names) {
            if (depth == 0 && name == ".git" && !state.is_module) { continue; }
            std::string path = prefix + name;
            struct stat st {};
            if (::fstatat(folder, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) {
                return folder_error(errno, "look at a file", path);
            }
            std::size_t position = 0;
            if (const FileTable::File* const found = wanted.find(path, &position); found != nullptr) {
                if (found->is_gitlink()) {
                    if (S_ISDIR(st.st_mode) && (!clean || state.module_at(path, found->id) != nullptr)) { continue; }
                } else if (found->unchanged(st)) {
                    kept[position] = true;
                    continue;
                }
                AF_CHECK(trash.remove(folder, name));
                continue;
            }
            const bool wanted_folder = wanted.has_below(path);
            if (wanted_folder && S_ISDIR(st.st_mode)) {
                const FileDescriptor below = open_folder(folder, name.c_str());
                if (!below.valid()) { return folder_error(errno, "open a folder", path); }
                AF_CHECK(clear_way(below.get(), path + "/", depth + 1));
            } else if (clean || wanted_folder || name == ".gitignore" || was_recorded(path)) {
                AF_CHECK(trash.remove(folder, name));
            } else {
                unknown.push_back(std::move(path));
            }
        }
        return {};
    }

    /// Opens the folder of a wanted path. Creates it if missing.
    Result<int> parent_of(const std::string& path) {
        const std::size_t slash = path.rfind('/');
        const std::string folder = slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
        if (folder.empty()) { return state.root.get(); }
        if (folder == open_path) { return open_parent.get(); }
        FileDescriptor here(::openat(state.root.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        for (std::size_t start = 0; start < folder.size();) {
            const std::size_t end = folder.find('/', start);
            const std::string name = folder.substr(start, end - start);
            FileDescriptor below = open_folder(here.get(), name.c_str());
            if (!below.valid()) {
                if (errno != ENOENT || ::mkdirat(here.get(), name.c_str(), 0777) != 0) {
                    return folder_error(errno, "create a folder", folder);
                }
                below = open_folder(here.get(), name.c_str());
                if (!below.valid()) { return folder_error(errno, "open a folder", folder); }
            }
            here = std::move(below);
            start = end + 1;
        }
        open_path = folder;
        open_parent = std::move(here);
        return open_parent.get();
    }

    Result<void> write(std::size_t position) {
        const std::string path(wanted.path(position));
        const TreeEntry entry = wanted.at(position).entry();
        AF_TRY(const int parent, parent_of(path));
        const std::string name = path.substr(path.rfind('/') + 1);
        if (entry.mode == GIT_FILEMODE_COMMIT) {
            if (retry_interrupted([&] { return ::mkdirat(parent, name.c_str(), 0777); }) != 0 && errno != EEXIST) {
                return folder_error(errno, "create a folder", path);
            }
            return {};
        }
        if (entry.mode == GIT_FILEMODE_LINK) { return write_link(position, parent, name, path); }
        return write_file(position, parent, name, path);
    }

    Result<void> write_link(std::size_t position, int parent, const std::string& name, const std::string& path) {
        AF_TRY(const BlobHandle blob, find_blob(wanted.at(position).entry().id, path));
        const std::string_view target = bytes_of(blob);
        struct stat st {};
        if (target.find('\0') != std::string_view::npos || ::symlinkat(std::string(target).c_str(), parent, name.c_str()) != 0 ||
            ::fstatat(parent, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) {
            return folder_error(errno, "create a link", path);
        }
        wanted.set_stamp(position, FileStamp(st));
        return {};
    }

    Result<void> write_file(std::size_t position, int parent, const std::string& name, const std::string& path) {
        const TreeEntry entry = wanted.at(position).entry();
        const mode_t mode = entry.mode == GIT_FILEMODE_BLOB_EXECUTABLE ? 0777 : 0666;
        const FileDescriptor file(retry_interrupted(
            [&] { return ::openat(parent, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode); }));
        if (!file.valid()) { return folder_error(errno, "create a file", path); }
        if (can_share && !state.user.empty() &&
            share_blob(state.repository.get(), entry.id, state.user / path, file.get(), can_share)) {
            std::array<char, 1025> head{};
            const ssize_t count = ::pread(file.get(), head.data(), head.size(), 0);
            if (count < 0) { return folder_error(errno, "read a file", path); }
            return note_written(position, file.get(), {head.data(), static_cast<std::size_t>(count)}, path);
        }
        AF_TRY(const BlobHandle blob, find_blob(entry.id, path));
        const std::string_view bytes = bytes_of(blob);
        AF_CHECK(write_all(file.get(), bytes, path));
        return note_written(position, file.get(), bytes, path);
    }

    /// Notes that a file has its contents. `bytes`: enough of them to show whether it is a Git LFS pointer.
    Result<void> note_written(std::size_t position, int file, std::string_view bytes, const std::string& path) {
        struct stat st {};
        if (::fstat(file, &st) != 0) { return folder_error(errno, "look at a file", path); }
        wanted.set_stamp(position, FileStamp(st));
        if (read_pointer(bytes)) { pointers.push_back(position); }
        return {};
    }

    [[nodiscard]] Result<BlobHandle> find_blob(const git_oid& id, const std::string& path) const {
        git_blob* raw = nullptr;
        const int code = git_blob_lookup(&raw, state.repository.get(), &id);
        if (code == GIT_ENOTFOUND) {
            return Error{
                "AF-GIT-025",
                "The repository does not have the contents of a file: a partial clone leaves them on the server until they are needed",
                path, "Fetch them: git archive HEAD > /dev/null", ErrorKind::unavailable};
        }
        if (code < 0) { return failure(code, "read the recorded " + path); }
        return BlobHandle(raw);
    }

    static std::string_view bytes_of(const BlobHandle& blob) {
        return {static_cast<const char*>(git_blob_rawcontent(blob.get())),
                static_cast<std::size_t>(git_blob_rawsize(blob.get()))};
    }

    /// Replaces Git LFS pointers by their contents. Runs after all files are written, because some of them hold the attributes.
    Result<void> fill_pointers() {
        for (const std::size_t position : pointers) {
            const std::string path(wanted.path(position));
            if (!state.kept_by_lfs(path)) { continue; }  // The file only looks like a pointer.
            AF_TRY(const int parent, parent_of(path));
            AF_TRY(const std::optional<struct stat> st,
                   fill_pointer(state.repository.get(), parent, path.substr(path.rfind('/') + 1), path));
            if (st) {
                wanted.set_stamp(position, FileStamp(*st));
            } else {
                state.unfilled.push_back(path);
            }
        }
        return {};
    }

    /// Removes entries that the ignore files of the new tree do not ignore. Returns whether it is gone.
    Result<bool> prune(int folder, const std::string& name, const std::string& path, unsigned depth) {
        struct stat st {};
        if (::fstatat(folder, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) { return true; }
        AF_TRY(const bool left_alone, state.ignored(path));
        if (S_ISDIR(st.st_mode) && depth < max_folder_depth && (!left_alone || was_recorded_below(path))) {
            const FileDescriptor below = open_folder(folder, name.c_str());
            if (!below.valid()) { return folder_error(errno, "open a folder", path); }
            AF_CHECK(trash.remove(below.get(), ".gitignore"));
            AF_TRY(const std::vector<std::string> names, names_in(below.get(), state.path / path));
            bool empty = true;
            for (const std::string& child : names) {
                const std::string child_path = path + "/" + child;
                if (was_recorded(child_path)) {
                    AF_CHECK(trash.remove(below.get(), child));
                } else {
                    AF_TRY(const bool gone, prune(below.get(), child, child_path, depth + 1));
                    empty = empty && gone;
                }
            }
            if (!empty) { return false; }
        } else if (left_alone) {
            return false;
        }
        AF_CHECK(trash.remove(folder, name));
        return true;
    }

    Result<void> run(const git_oid& tree) {
        AF_CHECK(clear_way(state.root.get(), {}, 0));
        std::size_t written = 0;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (kept[i]) { continue; }
            AF_CHECK(write(i));
            ++written;
        }
        git_attr_cache_flush(state.repository.get());
        AF_CHECK(fill_pointers());
        for (const std::string& path : unknown) {
            AF_TRY(const int parent, parent_of(path));
            AF_TRY(const bool gone, prune(parent, path.substr(path.rfind('/') + 1), path, 0));
            (void)gone;
        }
        AF_CHECK(trash.empty());
        if (written > 0 || git_oid_equal(&*state.last_tree, &tree) == 0) {
            wanted.forget_fresh_stamps();
            state.saved = false;
        }
        state.last_tree = tree;
        state.save();
        return {};
    }
};

Result<void> Worktree::State::reset(const git_oid& tree, bool clean) {
    std::vector<std::string> gone;
    unfilled.clear();
    if (cache->size() == 0) {
        AF_TRY(cache, FileTable::of_tree(repository.get(), tree));
    } else {
        AF_TRY(gone, cache->change_tree(repository.get(), *last_tree, tree));
    }
    Result<void> done = Checkout(*this, clean, std::move(gone)).run(tree);
    if (done.ok()) { done = fill_modules(clean); }
    if (!done.ok()) {
        last_tree.reset();  // The cache no longer describes the files.
        cache.reset();
    }
    return done;
}

Result<void> Worktree::reset_to(std::string_view tree, bool clean) {
    AF_TRY(const git_oid id, parse_id(tree));
    AF_CHECK(state_->repair_link());
    state_->link_repaired = false;
    AF_CHECK(state_->open_cache());
    return state_->reset(id, clean);
}

}  // namespace agentforge::kernel
