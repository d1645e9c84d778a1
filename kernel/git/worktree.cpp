// SPDX-License-Identifier: Apache-2.0
// A task's worktree in git's terms: a folder with a `.git` file, and a record below `<git directory>/worktrees`
// (gitrepository-layout(5)). libgit2's own `git_worktree_add` creates a branch and checks out through filters, so this file
// writes the record, with a detached HEAD.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "git/folder.hpp"
#include "git/trash.hpp"
#include "git/worktree_state.hpp"

namespace agentforge::kernel {

using namespace git;

Worktree::Worktree(std::unique_ptr<State> state) : state_(std::move(state)) {}
Worktree::Worktree(Worktree&&) noexcept = default;
Worktree& Worktree::operator=(Worktree&& other) noexcept {
    if (this != &other) {
        if (state_) { state_->save(); }
        state_ = std::move(other.state_);
    }
    return *this;
}
Worktree::~Worktree() {
    if (state_) { state_->save(); }
}

const std::filesystem::path& Worktree::path() const noexcept { return state_->path; }
bool Worktree::is_new() const noexcept { return state_->is_new; }

namespace {

bool is_plain_name(std::string_view name) {
    return !name.empty() && name.size() <= 200 && name.front() != '.' && !name.ends_with(".lock") &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                      c == '.';
           });
}

bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder) {
    const auto [in_folder, in_path] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    (void)in_path;
    return in_folder == folder.end();
}

/// Returns the first line of a small file. Empty if there is none.
std::string line_of(const std::filesystem::path& file) {
    struct stat st {};
    if (::lstat(file.c_str(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > 65536) { return {}; }
    Result<std::string> text = read_file(file, 65536);
    if (!text.ok()) { return {}; }
    return text->substr(0, text->find('\n'));
}

Result<void> write_if_other(const std::filesystem::path& file, const std::string& line) {
    if (line_of(file) == line) { return {}; }
    return write_file_atomic(file, line + "\n", Durability::synced);
}

std::filesystem::path real_path(const std::filesystem::path& path) {
    std::error_code error;
    std::filesystem::path result = std::filesystem::weakly_canonical(path, error);
    if (error) { return path.lexically_normal(); }
    return result.has_filename() ? result : result.parent_path();
}

/// The paths of one worktree, and which of them exist.
struct Place {
    std::filesystem::path path;
    std::filesystem::path admin;
    bool record = false;  ///< Git's record exists and names this folder.
    bool folder = false;
    bool ours = false;  ///< The folder is this worktree's and may be changed.
};

/// True if the `.git` file of a worktree names this record.
bool points_to(const std::filesystem::path& file, const std::filesystem::path& record) {
    constexpr std::string_view head = "gitdir: ";
    const std::string line = line_of(file);
    return line.starts_with(head) && real_path(line.substr(head.size())) == real_path(record);
}

Result<Place> checked_place(git_repository* repository, const std::filesystem::path& path, std::string_view name) {
    if (!is_plain_name(name) || !path.is_absolute() || path.string().find('\n') != std::string::npos) {
        return Error{
            "AF-GIT-020",
            "A worktree needs a plain name and an absolute path, not `" + std::string(name) + "` and `" + path.string() + "`",
            {},
            "Use letters, digits, `-`, `_` and `.` in the name, and no line break in the path",
            ErrorKind::invalid};
    }
    Place place;
    place.path = real_path(path);
    place.admin = std::filesystem::path(git_repository_commondir(repository)) / "worktrees" / name;
    for (const char* taken : {git_repository_workdir(repository), git_repository_commondir(repository)}) {
        if (taken != nullptr && is_below(place.path, real_path(taken))) {
            return Error{"AF-GIT-023",
                         "A task's worktree must lie outside the repository: it would inherit the project's own tool settings",
                         place.path.string(), "Set the state directory to a folder outside " + real_path(taken).string(),
                         ErrorKind::denied};
        }
    }
    const std::string recorded = line_of(place.admin / "gitdir");
    const bool other =
        !recorded.empty() && real_path(recorded) != real_path(place.path / ".git") && recorded != (place.path / ".git").string();
    // A worktree that does not point back no longer belongs to this repository: it was moved, or its folder is gone.
    if (other && points_to(recorded, place.admin)) {
        return Error{
            "AF-GIT-022", "The worktree name " + std::string(name) + " is already used for " + recorded, place.path.string(),
            "Remove the other one: git worktree remove --force " + std::filesystem::path(recorded).parent_path().string(),
            ErrorKind::conflict};
    }
    place.record = !recorded.empty() && !other;
    struct stat st {};
    if (::lstat(place.path.c_str(), &st) == 0) {
        if (!S_ISDIR(st.st_mode)) {
            return Error{"AF-GIT-024", "The path of the task's worktree is not a folder", place.path.string(), "Remove it",
                         ErrorKind::conflict};
        }
        place.folder = true;
        std::error_code error;
        place.ours = place.record || line_of(place.path / ".git") == "gitdir: " + place.admin.string() ||
                     std::filesystem::is_empty(place.path, error);
    } else if (errno != ENOENT) {
        return folder_error(errno, "look at it", place.path);
    }
    return place;
}

/// git's own `worktree add` does this: `git worktree prune` skips a record with this file, whose folder does not exist yet.
constexpr std::string_view being_made = "agentforge makes this worktree";

Result<void> write_record_files(const Place& place, const std::filesystem::path& folder, const std::string& commit) {
    AF_CHECK(write_if_other(folder / "commondir", "../.."));
    AF_CHECK(write_if_other(folder / "HEAD", commit));
    return write_if_other(folder / "gitdir", (place.path / ".git").string());
}

/// Writes git's record of the worktree. It appears at once with its lock and all its files. If an existing record is pruned while
/// it is read, writes it again.
Result<void> write_record(const Place& place, const std::string& commit) {
    constexpr int most_attempts = 5;
    Result<void> written;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        struct stat found {};
        if (::lstat(place.admin.c_str(), &found) == 0) {
            written = write_record_files(place, place.admin, commit);
            if (written.ok() && ::lstat((place.admin / "gitdir").c_str(), &found) == 0) { return written; }
            continue;
        }
        const std::filesystem::path made = place.admin.parent_path().parent_path() /
                                           ("agentforge-" + place.admin.filename().string() + "-" + std::to_string(::getpid()));
        std::error_code error;
        std::filesystem::remove_all(made, error);
        AF_CHECK(make_directories(made));
        AF_CHECK(write_if_other(made / "locked", std::string(being_made)));
        AF_CHECK(write_record_files(place, made, commit));
        // `git worktree prune` removes the folder of records while it is empty, at any moment.
        written = make_directories(place.admin.parent_path());
        if (written.ok() && ::rename(made.c_str(), place.admin.c_str()) == 0) {
            return sync_directory(place.admin.parent_path());
        }
        if (written.ok()) { written = folder_error(errno, "name git's record", place.admin); }
        std::filesystem::remove_all(made, error);
    }
    return written;
}

Error not_ours(const std::filesystem::path& path) {
    return Error{"AF-GIT-021", "The folder exists but is not a worktree of this repository; it was not changed", path.string(),
                 "Move it away, or remove it if nothing in it is needed", ErrorKind::conflict};
}

}  // namespace

std::vector<WorktreeRecord> worktree_records(const Repository& repository) {
    std::vector<WorktreeRecord> records;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(repository.git_directory() / "worktrees", error)) {
        const std::filesystem::path link = line_of(entry.path() / "gitdir");
        records.push_back({entry.path().filename().string(), link.parent_path()});
    }
    return records;
}

Result<Worktree> Worktree::ensure(const std::filesystem::path& repository, const std::filesystem::path& path,
                                  std::string_view name, std::string_view commit) {
    AF_TRY(RepositoryHandle handle, open_repository(repository));
    AF_TRY(const git_oid commit_id, parse_id(commit));
    AF_TRY(const git_oid tree_id, tree_id_of_commit(handle.get(), commit_id));
    AF_TRY(Place place, checked_place(handle.get(), path, name));
    if (place.folder && !place.ours) { return not_ours(place.path); }

    // The record comes first: after a crash, a folder without one could not be recognised as ours.
    AF_CHECK(write_record(place, to_text(commit_id)));
    AF_CHECK(make_directories(place.path));

    auto state = std::make_unique<State>();
    if (const char* const user = git_repository_workdir(handle.get()); user != nullptr) { state->user = user; }
    state->path = place.path;
    state->admin = place.admin;
    state->root = open_folder(AT_FDCWD, place.path.c_str());
    if (!state->root.valid()) { return folder_error(errno, "open it", place.path); }
    if (const int code = git_repository_set_workdir(handle.get(), place.path.c_str(), 0); code < 0) {
        return failure(code, "look at the worktree");
    }
    AF_TRY(state->head_tree, find_tree(handle.get(), tree_id));
    state->repository = std::move(handle);
    AF_CHECK(state->repair_link());
    // From here on git finds the folder.
    if (line_of(place.admin / "locked") == being_made) { ::unlink((place.admin / "locked").c_str()); }

    struct stat st {};
    const bool whole = place.folder && ::lstat(state->cache_file().c_str(), &st) == 0;  // The cache is written after the files.
    const bool indexed = ::lstat((state->admin / "index").c_str(), &st) == 0;
    Worktree worktree(std::move(state));
    if (!whole) {
        worktree.state_->cache.emplace();  // Unknown files may be there.
        worktree.state_->last_tree = tree_id;
        AF_CHECK(worktree.reset_to(to_text(tree_id), true));
        worktree.state_->is_new = true;
    }
    if (!indexed) {
        // The index that `git status` in the worktree reads. Ours is separate, because git's may hold filtered contents.
        const std::filesystem::path index = worktree.state_->admin / "index";
        if (whole) {
            AF_TRY(const FileTable files, FileTable::of_tree(worktree.state_->repository.get(), tree_id));
            AF_CHECK(files.write_index(index));
        } else {
            AF_CHECK(worktree.state_->cache->write_index(index));
        }
    }
    return worktree;
}

Result<void> Worktree::remove(const std::filesystem::path& repository, const std::filesystem::path& path, std::string_view name) {
    AF_TRY(const RepositoryHandle handle, open_repository(repository));
    AF_TRY(const Place place, checked_place(handle.get(), path, name));
    if (place.folder && !place.ours) { return not_ours(place.path); }
    Trash trash(place.path.string() + ".removed");
    if (place.folder) {
        AF_CHECK(trash.remove(AT_FDCWD, place.path.string()));
        // The record goes last: if a power cut brought the folder back without it, the folder could not be recognised as ours.
        AF_CHECK(trash.sync());
        AF_CHECK(sync_directory(place.path.parent_path()));
    }
    AF_CHECK(trash.empty());
    std::error_code error;
    const auto removed = std::filesystem::remove_all(place.admin, error);
    if (error) { return folder_error(error.value(), "remove git's record", place.admin); }
    if (removed > 0) { AF_CHECK(sync_directory(place.admin.parent_path())); }
    std::filesystem::remove(place.admin.parent_path(), error);  // Removed with the last worktree, as git does.
    return {};
}

Result<bool> Worktree::State::repair_link() {
    const std::string wanted = "gitdir: " + admin.string() + "\n";
    struct stat st {};
    if (::fstatat(root.get(), ".git", &st, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISREG(st.st_mode) && st.st_size == static_cast<off_t>(wanted.size())) {
            const Result<std::string> text = read_file(path / ".git", 65536);
            if (text.ok() && *text == wanted) { return false; }
        }
        Trash trash_folder(trash());
        AF_CHECK(trash_folder.remove(root.get(), ".git"));
        AF_CHECK(trash_folder.empty());
    }
    AF_CHECK(write_file_atomic(path / ".git", wanted, Durability::cached));
    return true;
}

Result<void> Worktree::State::open_cache() {
    if (cache && last_tree) { return {}; }
    if (auto found = FileTable::load(cache_file()); found && find_tree(repository.get(), found->second).ok()) {
        cache = std::move(found->first);
        last_tree = found->second;
        saved = true;
        return {};
    }
    const git_oid head = *git_tree_id(head_tree.get());
    AF_TRY(cache, FileTable::of_tree(repository.get(), head));
    saved = false;
    last_tree = head;
    return {};
}

void Worktree::State::save() {
    if (!cache || !last_tree) { return; }
    std::error_code error;
    if (!std::filesystem::exists(admin, error)) { return; }  // Removed meanwhile: it must not be written again.
    if (!saved) { saved = cache->save(cache_file(), *last_tree); }
    const std::filesystem::path ref = admin / "refs" / "worktree" / "agentforge";
    const std::string id = to_text(*last_tree);
    if (line_of(ref) == id) { return; }
    // Best effort: without it `git gc` may drop objects that nothing else keeps. They are then written again.
    if (make_directories(ref.parent_path()).ok()) { (void)write_file_atomic(ref, id + "\n", Durability::cached).ok(); }
}

Result<void> Worktree::State::check_ignore_file(const std::string& prefix) const {
    struct stat st {};
    const std::string file = prefix + ".gitignore";
    if (::fstatat(root.get(), file.c_str(), &st, 0) != 0 || S_ISDIR(st.st_mode)) { return {}; }
    constexpr off_t max_bytes = 1 << 20;
    if (S_ISREG(st.st_mode) && st.st_size <= max_bytes) { return {}; }
    return Error{"AF-GIT-036", "An ignore file is not a regular file of at most 1 MiB", (path / file).string(),
                 "Replace it with a regular file, or remove it", ErrorKind::invalid};
}

bool Worktree::State::uses_lfs() const {
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::path(git_repository_commondir(repository.get())) / "lfs", error)) {
        return true;
    }
    const FileDescriptor attributes = open_file(root.get(), ".gitattributes");
    struct stat st {};
    constexpr off_t max_bytes = 1 << 20;
    if (!attributes.valid() || ::fstat(attributes.get(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > max_bytes) {
        return false;
    }
    std::string text(static_cast<std::size_t>(st.st_size), '\0');
    const ssize_t count = ::pread(attributes.get(), text.data(), text.size(), 0);
    return count > 0 && text.find("filter=lfs") != std::string::npos;
}

bool Worktree::State::kept_by_lfs(const std::string& file) const {
    const char* value = nullptr;
    return git_attr_get(&value, repository.get(), GIT_ATTR_CHECK_FILE_THEN_INDEX, file.c_str(), "filter") == 0 &&
           value != nullptr && std::string_view(value) == "lfs";
}

Result<bool> Worktree::State::ignored(const std::string& file) const {
    int answer = 0;
    if (const int code = git_ignore_path_is_ignored(&answer, repository.get(), file.c_str()); code < 0) {
        return failure(code, "read the ignore files for " + file);
    }
    return answer == 1;
}

const std::vector<std::string>& Worktree::unrecordable() const noexcept { return state_->unrecordable; }
const std::vector<std::string>& Worktree::unfilled() const noexcept { return state_->unfilled; }

}  // namespace agentforge::kernel
