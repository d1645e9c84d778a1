// SPDX-License-Identifier: Apache-2.0
#include "git/library.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

// On start libgit2 reads all certificates of the system. That takes a quarter of the time of `agentforge status`, and a megabyte,
// for connections that are never made: all remote access goes through `git`. A program's own function takes precedence over a
// library's, so libgit2 calls this one, which reads nothing.
extern "C" __attribute__((visibility("default"))) int mbedtls_x509_crt_parse_file(void* /*chain*/, const char* /*path*/) {
    constexpr int file_io_error = -0x2900;
    return file_io_error;
}

namespace agentforge::kernel::git {

namespace {

std::string last_message() {
    const git_error* error = git_error_last();
    return error != nullptr && error->message != nullptr ? std::string(error->message) : std::string("no reason given");
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Returns the missing target of a `.git` file (a removed worktree or submodule). Empty if the target exists.
std::string lost_git_link(std::filesystem::path folder) {
    std::error_code error;
    for (;; folder = folder.parent_path()) {
        const std::filesystem::path link = folder / ".git";
        if (std::filesystem::is_regular_file(link, error)) {
            std::ifstream file(link);
            std::string line;
            std::getline(file, line);
            constexpr std::string_view word = "gitdir: ";
            return line.starts_with(word) && line.size() < 4096 ? line.substr(word.size()) : std::string();
        }
        if (!folder.has_relative_path()) { return ""; }
    }
}

/// Returns why an existing repository cannot be opened.
Error open_failure(int code, const std::filesystem::path& path) {
    const std::string message = last_message();
    // libgit2 1.5 reports an owner problem as ENOTFOUND about `safe.directory`, or as EOWNER.
    if (code == GIT_EOWNER || contains(message, "safe.directory") || contains(message, "not owned by")) {
        return Error{"AF-GIT-002", "The git repository is owned by another user: " + message, path.string(),
                     "Use it as its owner, or trust it with: git config --global --add safe.directory " + path.string(),
                     ErrorKind::denied};
    }
    if (code == GIT_ENOTFOUND) {
        if (const std::string lost = lost_git_link(path); !lost.empty()) {
            return Error{"AF-GIT-008",
                         "Cannot open the git repository: the file `.git` points to " + lost + ", which is not a repository",
                         path.string(), "Repair it (git worktree repair, git submodule update --init), or use another checkout",
                         ErrorKind::not_found};
        }
        return Error{"AF-GIT-001", "There is no git repository here", path.string(),
                     "Go to a repository, or create one in this folder: git init && git add . && git commit -m 'First commit'",
                     ErrorKind::not_found};
    }
    if (contains(message, "extension") || contains(message, "version") || contains(message, "objectformat") ||
        contains(message, "sha256")) {
        return Error{"AF-GIT-004", "The format of the git repository is not supported: " + message, path.string(),
                     "Use a repository with SHA-1 object names and no further extensions, for instance a clone made with "
                     "plain `git clone` (SHA-256 repositories cannot be used: libgit2 1.5 does not read them)",
                     ErrorKind::unavailable};
    }
    return Error{"AF-GIT-008", "Cannot open the git repository: " + message, path.string(),
                 "Run `git status` and `git fsck` there; both must succeed", ErrorKind::io};
}

}  // namespace

namespace {

void set_configuration_folder(int level, const char* folder) { git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, folder); }

bool no_system_configuration() {
    const char* value = std::getenv("GIT_CONFIG_NOSYSTEM");
    int leave_out = 0;
    return value != nullptr && git_config_parse_bool(&leave_out, value) == 0 && leave_out != 0;
}

/// Follows git's rules: with GIT_CONFIG_GLOBAL, reads no file in the user's home. GIT_CONFIG_NOSYSTEM leaves out the machine's
/// file, GIT_CONFIG_SYSTEM included.
void leave_configurations_out() {
    if (std::getenv("GIT_CONFIG_GLOBAL") != nullptr) {
        set_configuration_folder(GIT_CONFIG_LEVEL_GLOBAL, "/dev/null");
        set_configuration_folder(GIT_CONFIG_LEVEL_XDG, "/dev/null");
    }
    if (no_system_configuration() || std::getenv("GIT_CONFIG_SYSTEM") != nullptr) {
        set_configuration_folder(GIT_CONFIG_LEVEL_SYSTEM, "/dev/null");
    }
}

/// Adds a file named by a variable: libgit2 reads no variables for these files.
void add_configuration(git_repository* repository, const char* variable, git_config_level_t level) {
    const char* file = std::getenv(variable);
    std::error_code none;
    if (file == nullptr || !std::filesystem::is_regular_file(file, none)) { return; }
    git_config* configuration = nullptr;
    if (git_repository_config(&configuration, repository) == 0) {
        git_config_add_file_ondisk(configuration, file, level, repository, 1);
        git_config_free(configuration);
    }
}

ErrorKind kind_of_failure(int code) {
    if (code == GIT_ENOTFOUND) { return ErrorKind::not_found; }
    return code == GIT_EEXISTS ? ErrorKind::conflict : ErrorKind::io;
}

}  // namespace

void start_library() {
    // Never shut down: handles of other threads may outlive main.
    static const bool started = [] {
        git_libgit2_init();
        leave_configurations_out();
        git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
        // Lowered from 256 MiB, and pack windows from 1 GiB: mapped memory counts as this program's.
        git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, static_cast<ssize_t>(4) << 20U);
        git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, std::size_t{512} << 10U);
        git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, std::size_t{2} << 20U);
        // `git sparse-checkout` and others set it; task worktrees are complete, so it does not matter here. A partial clone lacks
        // some objects, mostly of old commits. If a missing one is needed, the error names it.
        static const char* extensions[] = {"worktreeconfig", "partialclone"};
        git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions, std::size(extensions));
        return true;
    }();
    (void)started;
}

Error failure(int code, std::string_view doing) {
    const std::string message = last_message();
    if (code == GIT_ELOCKED || contains(message, "failed to lock") || contains(message, "is locked")) {
        return Error{"AF-GIT-011",
                     "git could not " + std::string(doing) + " because of a lock: " + message,
                     {},
                     "Wait for the other git program; if none runs, remove the `.lock` file that is named",
                     ErrorKind::transient};
    }
    return Error{"AF-GIT-099",
                 "git could not " + std::string(doing) + ": " + message,
                 {},
                 "Run `git fsck` in the repository, and check for free disk space",
                 kind_of_failure(code)};
}

namespace {

/// Identifies a file and its last change. Nothing if there is no file.
std::optional<std::array<long long, 3>> identity(const std::filesystem::path& file) {
    struct stat st {};
    if (file.empty() || ::lstat(file.c_str(), &st) != 0) { return std::nullopt; }
    return std::array<long long, 3>{static_cast<long long>(st.st_ino), st.st_ctim.tv_sec, st.st_ctim.tv_nsec};
}

bool says(const std::filesystem::path& file, const std::string& content) {
    if (content.empty()) { return true; }
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line == content;
}

std::filesystem::path lock_file(git_repository* repository, const std::string& ref) {
    return std::filesystem::path(git_repository_commondir(repository)) / (ref + ".lock");
}

}  // namespace

int retry_while_locked(const std::function<int()>& call, const OwnLock& own_lock) {
    using namespace std::chrono_literals;
    auto seen = identity(own_lock.file);
    auto since = std::chrono::steady_clock::now();
    const auto end = since + 2s;
    for (auto pause = 5ms;; pause = std::min(pause * 2, std::chrono::milliseconds(200))) {
        const int code = call();
        const auto now = std::chrono::steady_clock::now();
        if (code != GIT_ELOCKED || now + pause >= end) { return code; }
        if (auto found = identity(own_lock.file); found != seen) {
            seen = found;
            since = now;
        } else if (found && now - since >= 1s && says(own_lock.file, own_lock.content)) {
            ::unlink(own_lock.file.c_str());
            continue;
        }
        std::this_thread::sleep_for(pause);
    }
}

OwnLock lock_of(git_repository* repository, const std::string& ref, std::string_view commit) {
    const bool own =
        ref.starts_with("refs/agentforge/") || ref.starts_with("refs/heads/agentforge/") || ref == "refs/notes/agentforge";
    if (own) { return {lock_file(repository, ref), {}}; }
    return commit.empty() ? OwnLock() : OwnLock{lock_file(repository, ref), std::string(commit)};
}

Error locked_ref(git_repository* repository, const std::string& ref, std::string_view doing) {
    const std::filesystem::path file = lock_file(repository, ref);
    Error error = failure(GIT_ELOCKED, doing);
    struct stat st {};
    if (::lstat(file.c_str(), &st) != 0) { return error; }
    const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    error.message = "git could not " + std::string(doing) + ": the lock " + file.string() + " is " +
                    std::to_string(std::max<std::time_t>(0, now - st.st_mtim.tv_sec)) + " seconds old";
    error.remedy = "Wait for the git program that holds it. If none works in this repository, remove it: rm " + file.string();
    return error;
}

Result<RepositoryHandle> open_repository(const std::filesystem::path& path) {
    start_library();
    git_repository* raw = nullptr;
    if (const int code = git_repository_open_ext(&raw, path.c_str(), 0, nullptr); code < 0) { return open_failure(code, path); }
    RepositoryHandle repository(raw);
    if (!no_system_configuration()) { add_configuration(raw, "GIT_CONFIG_SYSTEM", GIT_CONFIG_LEVEL_SYSTEM); }
    add_configuration(raw, "GIT_CONFIG_GLOBAL", GIT_CONFIG_LEVEL_GLOBAL);
    if (git_repository_is_bare(raw) != 0) {
        return Error{
            "AF-GIT-003", "The git repository is bare: it has no files to work on", path.string(),
            "Clone it, and work in the clone. To audit what is here, make a checkout, which has the same archives and notes: "
            "git worktree add --detach ../checkout",
            ErrorKind::unavailable};
    }
    return repository;
}

Result<git_oid> parse_id(std::string_view text) {
    git_oid id{};
    const bool digits =
        std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    if (text.size() != GIT_OID_HEXSZ || !digits || git_oid_fromstrn(&id, text.data(), text.size()) < 0) {
        return Error{"AF-GIT-006",
                     "`" + std::string(text.substr(0, 80)) + "` is not a git object id of 40 hexadecimal digits",
                     {},
                     "Give the whole id, as `git rev-parse` prints it",
                     ErrorKind::invalid};
    }
    return id;
}

std::string to_text(const git_oid& id) {
    char text[GIT_OID_HEXSZ + 1];
    git_oid_tostr(text, sizeof text, &id);
    return text;
}

namespace {
Error object_missing(const git_oid& id, std::string_view type) {
    return Error{"AF-GIT-007",
                 "The repository has no " + std::string(type) + " " + to_text(id),
                 {},
                 "It may have been removed by `git gc`, or belong to another repository",
                 ErrorKind::not_found};
}
}  // namespace

Result<TreeHandle> find_tree(git_repository* repository, const git_oid& id) {
    git_tree* raw = nullptr;
    if (git_tree_lookup(&raw, repository, &id) < 0) { return object_missing(id, "tree"); }
    return TreeHandle(raw);
}

Result<CommitHandle> find_commit(git_repository* repository, const git_oid& id) {
    git_commit* raw = nullptr;
    if (git_commit_lookup(&raw, repository, &id) < 0) { return object_missing(id, "commit"); }
    return CommitHandle(raw);
}

Result<git_oid> tree_id_of_commit(git_repository* repository, const git_oid& commit) {
    AF_TRY(const CommitHandle found, find_commit(repository, commit));
    return git_oid(*git_commit_tree_id(found.get()));
}

}  // namespace agentforge::kernel::git
