// SPDX-License-Identifier: Apache-2.0
// Records the files of a worktree, byte for byte. No filter, attribute or hook applies. The result depends only on the files and
// on the worktree's commit, not on earlier recordings.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/text.hpp"
#include "git/bulk_objects.hpp"
#include "git/folder.hpp"
#include "git/lfs.hpp"
#include "git/worktree_state.hpp"

namespace agentforge::kernel {

using namespace git;

namespace {

constexpr off_t max_file_bytes = off_t{1} << 30;
/// From this number of new files on, they are written as a pack.
constexpr std::size_t few_files = 32;
constexpr off_t max_buffered_bytes = off_t{8} << 20;

bool is_ignore_file(std::string_view path) { return path == ".gitignore" || path.ends_with("/.gitignore"); }
bool is_private(std::string_view path) { return path == ".agentforge" || path.starts_with(".agentforge/"); }

Error changed_meanwhile(const std::string& path) {
    return Error{"AF-GIT-034", "A file changed while it was recorded", path,
                 "Stop the program that writes to the worktree, then retry", ErrorKind::conflict};
}

Result<git_oid> create_blob(git_repository* repository, std::string_view bytes, const std::string& path) {
    git_oid id{};
    if (const int code = git_blob_create_from_buffer(&id, repository, bytes.data(), bytes.size()); code < 0) {
        return failure(code, "record " + path);
    }
    return id;
}

/// Stores the contents of a file that Git LFS keeps, and records their pointer. Returns nothing for a pointer whose contents are
/// elsewhere (it stays a pointer), and for an empty file (it has nothing to store).
Result<std::optional<git_oid>> write_pointer(git_repository* repository, int file, off_t size, const std::string& path) {
    std::array<char, 1025> head{};
    const ssize_t count = ::pread(file, head.data(), head.size(), 0);
    if (count <= 0 || read_pointer({head.data(), static_cast<std::size_t>(count)})) { return std::optional<git_oid>(); }
    AF_TRY(const std::string pointer, keep_contents(repository, file, static_cast<std::uint64_t>(size), path));
    AF_TRY(const git_oid id, create_blob(repository, pointer, path));
    return std::optional(id);
}

/// Returns the contents of a file of this size.
Result<std::string> read_contents(int file, off_t size, const std::string& path) {
    std::string bytes;
    bytes.resize(static_cast<std::size_t>(size) + 1U);  // One more, to see whether the file has grown.
    std::size_t filled = 0;
    while (true) {
        const ssize_t count = ::read(file, bytes.data() + filled, bytes.size() - filled);
        if (count < 0 && errno == EINTR) { continue; }
        if (count < 0) { return folder_error(errno, "read a file", path); }
        if (count == 0) { break; }
        filled += static_cast<std::size_t>(count);
        if (filled == bytes.size()) { return changed_meanwhile(path); }
    }
    if (filled + 1 != bytes.size()) { return changed_meanwhile(path); }
    bytes.resize(filled);
    return bytes;
}

/// Records a file of this size part by part.
Result<git_oid> stream_blob(git_repository* repository, int file, off_t size, const std::string& path) {
    git_odb* raw_odb = nullptr;
    if (const int code = git_repository_odb(&raw_odb, repository); code < 0) { return failure(code, "record " + path); }
    const OdbHandle odb(raw_odb);
    git_odb_stream* raw = nullptr;
    if (const int code = git_odb_open_wstream(&raw, raw_odb, static_cast<git_object_size_t>(size), GIT_OBJECT_BLOB); code < 0) {
        return failure(code, "record " + path);
    }
    const OdbStreamHandle stream(raw);
    std::string bytes;
    bytes.resize(static_cast<std::size_t>(max_buffered_bytes) + 1U);
    off_t total = 0;
    while (true) {
        const ssize_t count = ::read(file, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) { continue; }
        if (count < 0) { return folder_error(errno, "read a file", path); }
        if (count == 0) { break; }
        total += count;
        if (total > size) { return changed_meanwhile(path); }
        if (const int code = git_odb_stream_write(stream.get(), bytes.data(), static_cast<std::size_t>(count)); code < 0) {
            return failure(code, "record " + path);
        }
    }
    if (total != size) { return changed_meanwhile(path); }
    git_oid id{};
    if (const int code = git_odb_stream_finalize_write(&id, stream.get()); code < 0) { return failure(code, "record " + path); }
    return id;
}

/// If `bulk` is given, it takes contents that fit into memory.
Result<git_oid> write_blob(Worktree::State& state, bool lfs, BulkObjects* bulk, int parent, const std::string& name,
                           const std::string& path, struct stat& st) {
    git_repository* const repository = state.repository.get();
    if (S_ISLNK(st.st_mode)) {
        AF_TRY(const std::string target, read_link(parent, name.c_str(), path));
        return create_blob(repository, target, path);
    }
    const FileDescriptor file = open_file(parent, name.c_str());
    if (!file.valid()) { return folder_error(errno, "read a file", path); }
    if (::fstat(file.get(), &st) != 0) { return folder_error(errno, "read a file", path); }
    if (!S_ISREG(st.st_mode)) { return changed_meanwhile(path); }
    if (lfs && state.kept_by_lfs(path)) {
        AF_TRY(const std::optional<git_oid> pointer, write_pointer(repository, file.get(), st.st_size, path));
        if (pointer) { return *pointer; }
    }
    if (st.st_size > max_file_bytes) {
        return Error{"AF-GIT-033",
                     "A file is too large to be recorded: " + std::to_string(st.st_size) + " bytes, of at most " +
                         std::to_string(max_file_bytes),
                     path, "Remove it, or name it in .gitignore", ErrorKind::invalid};
    }
    if (st.st_size > max_buffered_bytes) { return stream_blob(repository, file.get(), st.st_size, path); }
    AF_TRY(const std::string bytes, read_contents(file.get(), st.st_size, path));
    return bulk != nullptr ? bulk->add_blob(bytes) : create_blob(repository, bytes, path);
}

}  // namespace

/// One recording of the whole worktree, or of some of its paths.
struct Recorder {
    Worktree::State& state;
    std::vector<bool> seen;  ///< By position in the cache.
    std::vector<TreeEdit> edits;
    std::vector<Recorded> recorded;
    bool rules_changed = false;
    std::vector<std::string> unrecordable;  ///< Another repository's `.git`, or folders nested too deep.
    std::optional<bool> lfs;                ///< True if Git LFS is used.
    BulkObjects bulk{state.repository.get()};

    explicit Recorder(Worktree::State& of) : state(of), seen(of.cache->size()) {}

    void remove(const std::string& path) {
        edits.push_back({path, std::nullopt});
        rules_changed = rules_changed || is_ignore_file(path);
    }

    Result<void> file(int parent, const std::string& name, const std::string& path, struct stat st, bool below_ignored) {
        std::size_t position = 0;
        const FileTable::File* known = state.cache->find(path, &position);
        if (known != nullptr) {
            seen[position] = true;
            if (known->unchanged(st)) { return {}; }
        } else {
            bool left_out = below_ignored;
            if (!left_out) { AF_TRY(left_out, state.ignored(path)); }
            if (left_out && !state.in_head(path)) { return {}; }
        }
        if (!lfs) { lfs = state.uses_lfs(); }
        const auto id = write_blob(state, *lfs, recorded.size() < few_files ? nullptr : &bulk, parent, name, path, st);
        if (!id.ok()) { return id.error(); }
        const TreeEntry entry{*id, recorded_mode(st)};
        if (known == nullptr || !known->holds(entry)) {
            edits.push_back({path, entry});
            rules_changed = rules_changed || is_ignore_file(path);
        }
        recorded.push_back({path, entry, FileStamp(st)});
        return {};
    }

    /// Records `name` below `parent`, whatever it is.
    Result<void> entry(int parent, const std::string& name, const std::string& path, bool below_ignored, unsigned depth) {
        if (path == ".git" || path == ".agentforge") { return {}; }
        if (is_git_name(name) || depth >= max_folder_depth || path.size() > max_path_bytes) {
            unrecordable.push_back(ellipsis(path, 200));
            return {};
        }
        struct stat st {};
        if (::fstatat(parent, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) {
            return errno == ENOENT ? Result<void>() : Result<void>(folder_error(errno, "look at a file", path));
        }
        if (const FileTable::File* known = state.cache->find(path); known != nullptr && known->is_gitlink()) { return {}; }
        if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) { return file(parent, name, path, st, below_ignored); }
        if (!S_ISDIR(st.st_mode)) { return {}; }  // Git does not record sockets, pipes and devices.
        bool left_out = below_ignored;
        const bool known = state.cache->has_below(path);
        if (!known && !left_out) { AF_TRY(left_out, state.ignored(path)); }
        // An ignored folder may contain tracked files, and a folder with recorded files may be ignored now.
        if (left_out && !known && !state.in_head(path)) { return {}; }
        const FileDescriptor folder = open_folder(parent, name.c_str());
        if (!folder.valid()) { return folder_error(errno, "open a folder", path); }
        return contents(folder.get(), path + "/", left_out, depth + 1);
    }

    Result<void> contents(int folder, const std::string& prefix, bool below_ignored, unsigned depth) {
        AF_CHECK(state.check_ignore_file(prefix));
        AF_TRY(const std::vector<std::string> names, names_in(folder, state.path / prefix));
        for (const std::string& name : names) { AF_CHECK(entry(folder, name, prefix + name, below_ignored, depth)); }
        return {};
    }

    /// Records a path and everything below it. If a part of the path is not a folder, records that part, because it changed.
    /// Returns the recorded path. Nothing if another repository has the path.
    Result<std::optional<std::string>> subtree(const std::string& path) {
        // Descends to the parent without following links.
        FileDescriptor folder(::openat(state.root.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        std::size_t start = 0;
        unsigned depth = 0;
        while (true) {
            AF_CHECK(state.check_ignore_file(path.substr(0, start)));
            const std::size_t slash = path.find('/', start);
            const FileTable::File* known = state.cache->find(path.substr(0, slash));
            if (known != nullptr && known->is_gitlink()) { return std::optional<std::string>(); }
            if (slash == std::string::npos) { break; }
            FileDescriptor below = open_folder(folder.get(), path.substr(start, slash - start).c_str());
            if (!below.valid()) { break; }
            folder = std::move(below);
            start = slash + 1;
            ++depth;
        }
        std::string reached = path.substr(0, path.find('/', start));
        AF_CHECK(entry(folder.get(), reached.substr(start), reached, false, depth));
        const auto [from, to] = state.cache->below(reached);
        for (std::size_t i = from; i < to; ++i) { remove_unseen(i); }
        if (std::size_t position = 0; state.cache->find(reached, &position) != nullptr) { remove_unseen(position); }
        return std::optional(std::move(reached));
    }

    void remove_unseen(std::size_t position) {
        if (!seen[position] && !state.cache->at(position).is_gitlink()) { remove(std::string(state.cache->path(position))); }
    }

    void forget_unseen() {
        for (std::size_t i = 0; i < seen.size(); ++i) {
            if (!seen[i] && !state.cache->at(i).is_gitlink() && !is_private(state.cache->path(i))) {
                remove(std::string(state.cache->path(i)));
            }
        }
    }

    /// Forgets recorded files that changed ignore files now exclude.
    Result<void> forget_ignored() {
        for (std::size_t i = 0; i < seen.size(); ++i) {
            if (!seen[i] || state.cache->at(i).is_gitlink() || is_private(state.cache->path(i))) { continue; }
            const std::string path(state.cache->path(i));
            if (state.in_head(path)) { continue; }
            AF_TRY(const bool left_out, state.ignored(path));
            if (!left_out) { continue; }
            std::erase_if(edits, [&](const TreeEdit& edit) { return edit.path == path; });
            std::erase_if(recorded, [&](const Recorded& one) { return one.path == path; });
            edits.push_back({path, std::nullopt});
        }
        return {};
    }

    Result<git_oid> finish() {
        AF_CHECK(bulk.flush());
        AF_TRY(const git_oid tree, apply_edits(state.repository.get(), *state.last_tree, edits));
        for (TreeEdit& edit : edits) {
            if (!edit.entry) { recorded.push_back({std::move(edit.path), std::nullopt, {}}); }
        }
        if (!recorded.empty()) {
            state.cache->update(std::move(recorded));
            state.saved = false;
        }
        state.last_tree = tree;
        return tree;
    }
};

Result<std::string> Worktree::snapshot() {
    AF_TRY(const bool repaired, state_->repair_link());
    state_->link_repaired = state_->link_repaired || repaired;
    AF_CHECK(state_->open_cache());
    git_attr_cache_flush(state_->repository.get());
    Recorder recorder(*state_);
    AF_CHECK(recorder.contents(state_->root.get(), {}, false, 0));
    recorder.forget_unseen();
    if (recorder.rules_changed) { AF_CHECK(recorder.forget_ignored()); }
    AF_TRY(const git_oid tree, recorder.finish());
    state_->unrecordable = std::move(recorder.unrecordable);
    if (state_->link_repaired) { state_->unrecordable.emplace_back(".git"); }
    AF_CHECK(state_->scan_modules({}, state_->unrecordable));
    state_->save();
    return to_text(tree);
}

Result<std::string> Worktree::snapshot_paths(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
        if (!is_recordable_path(path)) {
            return Error{"AF-GIT-015", "git cannot record the path `" + path + "`", path,
                         "Use a relative path without `..` and `.git`", ErrorKind::invalid};
        }
        if (is_ignore_file(path)) { return snapshot(); }  // An ignore file may affect any file.
    }
    AF_CHECK(state_->open_cache());
    git_attr_cache_flush(state_->repository.get());
    std::vector<std::string> sorted = paths;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    Recorder recorder(*state_);
    std::string done;  // The last path that was recorded with everything below it.
    for (const std::string& path : sorted) {
        if (is_private(path) || (!done.empty() && path.starts_with(done + "/"))) { continue; }
        AF_TRY(const std::optional<std::string> reached, recorder.subtree(path));
        if (reached) { done = *reached; }
    }
    if (!recorder.unrecordable.empty()) {
        return Error{"AF-GIT-035",
                     "git cannot record this folder: it contains another repository, or folders nested more than " +
                         std::to_string(max_folder_depth) + " deep",
                     recorder.unrecordable.front(), "Use a path with fewer folders", ErrorKind::invalid};
    }
    if (recorder.rules_changed) { return snapshot(); }
    AF_TRY(const git_oid tree, recorder.finish());
    return to_text(tree);
}

Result<std::vector<TreeChange>> Worktree::changes_since(std::string_view tree) {
    AF_TRY(const std::string now, snapshot());
    if (now == tree) { return std::vector<TreeChange>(); }
    AF_TRY(const Repository repository, Repository::open(git_repository_commondir(state_->repository.get())));
    return repository.diff(tree, now);
}

}  // namespace agentforge::kernel
