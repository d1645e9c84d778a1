// SPDX-License-Identifier: Apache-2.0
#include "tools/role_workspace.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <re2/re2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <set>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "secrets/restore.hpp"
#include "tools/file_view.hpp"
#include "tools/hunks.hpp"
#include "tools/text_edit.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t binary_probe_bytes = 8192;
constexpr std::size_t hit_text_bytes = 300;

/// openat2 beneath an open directory: the kernel follows no link of any kind, and refuses `..` and absolute paths.
FileDescriptor open_beneath(int directory, const std::string& path, std::uint64_t flags, mode_t mode = 0) {
    open_how how{};
    how.flags = flags | O_CLOEXEC;
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    for (int attempt = 0;; ++attempt) {
        const auto descriptor = static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how));
        if (descriptor >= 0) { return FileDescriptor(descriptor); }
        if ((errno == EINTR || errno == EAGAIN) && attempt < 100) { continue; }
        return FileDescriptor();
    }
}

struct Split {
    std::string parent;
    std::string name;
};

Split split_path(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) { return {".", path}; }
    return {path.substr(0, slash), path.substr(slash + 1)};
}

const char* special_kind(mode_t mode) noexcept {
    if (S_ISFIFO(mode)) { return "pipe"; }
    if (S_ISSOCK(mode)) { return "socket"; }
    if (S_ISCHR(mode) || S_ISBLK(mode)) { return "device"; }
    return "special file";
}

Error link_error(std::string_view path, std::string_view link, std::string_view target) {
    std::string message = "'" + std::string(link) + "' is a symbolic link";
    if (!target.empty()) { message += " to '" + ellipsis(sanitize_utf8(target), 200) + "'"; }
    message += "; links are not followed.";
    return {"AF-TOOL-032", std::move(message), std::string(path), "Use the path of the file itself.", ErrorKind::denied};
}

Error special_error(std::string_view path, mode_t mode) {
    return {"AF-TOOL-033", "'" + std::string(path) + "' is a " + special_kind(mode) + ", not a regular file.", std::string(path),
            "Work with regular files only.", ErrorKind::denied};
}

Error not_found_error(std::string_view path) {
    return {"AF-TOOL-031", "'" + std::string(path) + "' does not exist.", std::string(path),
            "Check the path. list_files shows the files.", ErrorKind::not_found};
}

Error exists_error(std::string_view path) {
    return {"AF-TOOL-035", "'" + std::string(path) + "' already exists.", std::string(path),
            "Change it with edit_file. Otherwise leave it and choose another path.", ErrorKind::conflict};
}

Error folder_error(std::string_view path) {
    return {"AF-TOOL-034", "'" + std::string(path) + "' is a folder, not a file.", std::string(path),
            "Name a file in it. list_files shows them.", ErrorKind::invalid};
}

Error size_error(std::string_view path, std::uint64_t size, std::uint64_t limit, std::string remedy) {
    return {"AF-TOOL-037",
            "'" + std::string(path) + "' is too large: " + std::to_string(size) + " bytes, at most " + std::to_string(limit) +
                " here.",
            std::string(path), std::move(remedy), ErrorKind::invalid};
}

Error changed_error(std::string_view path) {
    return {"AF-TOOL-044", "'" + std::string(path) + "' changed while it was being edited; nothing was written.",
            std::string(path), "Read it again, then repeat the edit.", ErrorKind::conflict};
}

Error in_the_way_error(std::string_view path, mode_t mode, std::string_view target) {
    if (S_ISLNK(mode)) { return link_error(path, path, target); }
    if (S_ISDIR(mode)) { return folder_error(path); }
    return S_ISREG(mode) ? exists_error(path) : special_error(path, mode);
}

Error binary_error(std::string_view path, std::uint64_t size) {
    return {"AF-TOOL-036",
            "'" + std::string(path) + "' is a binary file of " + std::to_string(size) + " bytes; it is neither shown nor edited.",
            std::string(path), "Work with the text files it is made from.", ErrorKind::invalid};
}

Error system_error(std::string_view path, std::string_view doing, int error) {
    const std::string text = errno_text(error);
    if (error == ENOSPC || error == EDQUOT) {
        return {"AF-TOOL-039", "No room to write '" + std::string(path) + "': " + text + "; the old content is unchanged.",
                std::string(path), "Free space on the disk, then run `agentforge resume`.", ErrorKind::io};
    }
    if (error == EROFS) {
        return {"AF-TOOL-039", "'" + std::string(path) + "' is on a read-only file system.", std::string(path),
                "Move the state directory to a writable disk.", ErrorKind::io};
    }
    // Errors of the path or its permissions, which a different action can avoid. All other errors are the machine's.
    const bool of_the_path = error == ENAMETOOLONG || error == ELOOP || error == ENOTDIR || error == EISDIR || error == EINVAL ||
                             error == ENOTEMPTY || error == EXDEV || error == ENXIO || error == ETXTBSY || error == ENOENT ||
                             error == EEXIST;
    const std::string message = "Cannot " + std::string(doing) + " '" + std::string(path) + "': " + text + ".";
    // A model may read the message of these two errors. It can change a path but no permissions.
    if (error == EACCES || error == EPERM) {
        return {"AF-TOOL-038", message, std::string(path),
                "The permissions of the file or its folder forbid it; leave it as it is and work with other files.",
                ErrorKind::denied};
    }
    if (of_the_path) { return {"AF-TOOL-038", message, std::string(path), "Check the path.", ErrorKind::invalid}; }
    return {"AF-TOOL-038", message, std::string(path), "Look at the disk (dmesg), then run `agentforge resume`.", ErrorKind::io};
}

std::string read_link(int directory, const std::string& name) {
    std::array<char, 512> buffer{};
    const auto size = ::readlinkat(directory, name.c_str(), buffer.data(), buffer.size());
    return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : std::string();
}

bool same_file(const struct stat& a, const struct stat& b) noexcept {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
           a.st_mtim.tv_nsec == b.st_mtim.tv_nsec && a.st_ctim.tv_sec == b.st_ctim.tv_sec &&
           a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

bool is_binary(std::string_view bytes) noexcept {
    return bytes.substr(0, binary_probe_bytes).find('\0') != std::string_view::npos;
}

/// A temporary sibling that is deleted unless it was renamed.
class Sibling {
public:
    Sibling(int directory, std::string name) : directory_(directory), name_(std::move(name)) {}
    Sibling(const Sibling&) = delete;
    Sibling& operator=(const Sibling&) = delete;
    ~Sibling() {
        if (!name_.empty()) { ::unlinkat(directory_, name_.c_str(), 0); }
    }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    void keep() noexcept { name_.clear(); }

private:
    int directory_;
    std::string name_;
};

int rename_new(int from_directory, const std::string& from, int to_directory, const std::string& to) {
    if (::renameat2(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_NOREPLACE) == 0) { return 0; }
    if (errno != EINVAL && errno != ENOSYS) { return errno; }
    // The file system lacks RENAME_NOREPLACE. A hard link also fails if the target exists.
    if (::linkat(from_directory, from.c_str(), to_directory, to.c_str(), 0) != 0) { return errno; }
    return ::unlinkat(from_directory, from.c_str(), 0) == 0 ? 0 : errno;
}

struct OpenFile {
    FileDescriptor descriptor;
    struct stat status {};
};

struct Entry {
    std::string name;
    mode_t mode = 0;
    std::uint64_t size = 0;
};

std::string cut_around(std::string_view line, std::size_t at) {
    if (line.size() <= hit_text_bytes) { return sanitize_utf8(line); }
    std::size_t begin = at > hit_text_bytes / 3 ? at - hit_text_bytes / 3 : 0;
    while (begin > 0 && (static_cast<unsigned char>(line[begin]) & 0xC0U) == 0x80U) { --begin; }
    return (begin > 0 ? "…" : "") + ellipsis(sanitize_utf8(line.substr(begin, hit_text_bytes)), hit_text_bytes - 6) +
           (begin + hit_text_bytes < line.size() ? "…" : "");
}

}  // namespace

struct RoleWorkspace::State {
    FileDescriptor root;
    RolePaths rules;
    std::vector<std::string> pinned;  ///< Submodules.
    const Redactor* redactor = nullptr;
    bool writes_allowed = true;
    std::uint64_t next_temporary = 0;
    std::vector<Change> changes;
    std::optional<std::map<std::string, std::string, std::less<>>> seen;

    [[nodiscard]] Error open_error(const std::string& path, int error, std::string_view doing) const;
    [[nodiscard]] Result<OpenFile> open_file(const std::string& path) const;
    [[nodiscard]] Result<FileDescriptor> open_folder(const std::string& path, std::string_view doing) const;
    [[nodiscard]] Result<FileDescriptor> make_folder(const std::string& path) const;
    [[nodiscard]] static Result<std::string> contents(const OpenFile& file, const std::string& path);
    /// `normal`: a path from normalize_path.
    [[nodiscard]] Result<void> check_write(std::string_view normal) const;
    [[nodiscard]] Result<std::string> writable(std::string_view path) const;
    [[nodiscard]] Result<void> check_pinned(std::string_view normal) const;
    [[nodiscard]] Result<std::string> write_sibling(int parent, const std::string& path, std::string_view content,
                                                    const struct stat* old);
    [[nodiscard]] Result<void> replace(int parent, const std::string& name, const std::string& path, std::string_view content,
                                       const struct stat* old);
    [[nodiscard]] static Result<std::vector<Entry>> entries(int directory, const std::string& path);
    template <class Visit>
    [[nodiscard]] Result<bool> walk(int directory, const std::string& prefix, std::size_t depth, bool recursive,
                                    Visit&& visit) const;
    /// Returns `text` with secrets in place of their placeholders. `before`: the file's current bytes; `hidden`: what is hidden
    /// of it.
    [[nodiscard]] Result<std::string> restored(std::string_view text, std::string_view before, const std::vector<Hidden>& hidden,
                                               const std::string& path) const;
    /// Returns the text behind a placeholder in some file of the workspace, within the budget of a search.
    [[nodiscard]] std::optional<std::string> hidden_somewhere(std::string_view placeholder) const;
    [[nodiscard]] std::string temporary_name() {
        return ".agentforge-tmp-" + std::to_string(::getpid()) + "-" + std::to_string(next_temporary++);
    }
    /// Checks that the file is as the agent last saw it.
    [[nodiscard]] Result<void> as_seen(const std::string& path, std::string_view bytes) const;
    void record(const Change& change) {
        changes.push_back(change);
        if (!seen) { return; }
        const auto known = seen->find(change.path);
        if (change.after_sha256.empty()) {
            if (known != seen->end()) { seen->erase(known); }
        } else {
            (*seen)[change.path] = change.after_sha256;
        }
    }
};

Result<void> RoleWorkspace::State::as_seen(const std::string& path, std::string_view bytes) const {
    if (!seen) { return {}; }
    const auto known = seen->find(path);
    if (known == seen->end()) { return {}; }
    const std::string now = sha256(bytes);
    if (now == known->second) { return {}; }
    return Error{"AF-TOOL-046",
                 "'" + path + "' has changed since you last saw it (sha256 " + now.substr(0, 12) + ", seen " +
                     known->second.substr(0, 12) + "). Nothing was changed.",
                 path, "Read it again, then repeat the edit.", ErrorKind::conflict};
}

Result<std::string> RoleWorkspace::State::restored(std::string_view text, std::string_view before,
                                                   const std::vector<Hidden>& hidden, const std::string& path) const {
    if (!may_hold_placeholder(text)) { return std::string(text); }
    return restore_secrets(
        text, before, hidden, [this](std::string_view placeholder) { return hidden_somewhere(placeholder); }, path);
}

/// Names the link, the missing part or the file in the way. Only for messages, so a race is harmless.
Error RoleWorkspace::State::open_error(const std::string& path, int error, std::string_view doing) const {
    if (error == ENXIO) { return special_error(path, S_IFSOCK); }
    if (error == ELOOP || error == ENOTDIR || error == ENOENT || error == EXDEV) {
        std::size_t end = 0;
        while (end != std::string::npos) {
            end = path.find('/', end + 1);
            const std::string prefix = path.substr(0, end);
            const auto at = open_beneath(root.get(), prefix, O_PATH | O_NOFOLLOW);
            struct stat status {};
            if (!at.valid() || ::fstat(at.get(), &status) != 0) { break; }
            if (S_ISLNK(status.st_mode)) { return link_error(path, prefix, read_link(at.get(), "")); }
            if ((end != std::string::npos || error == ENOTDIR) && !S_ISDIR(status.st_mode)) {
                return Error{"AF-TOOL-034",
                             "'" + prefix + "' is a file, not a folder" +
                                 (end == std::string::npos ? "." : "; '" + path + "' cannot be in it."),
                             path, "Check the path. list_files shows the files.", ErrorKind::invalid};
            }
        }
        if (error == ENOENT) { return not_found_error(path); }
    }
    return system_error(path, doing, error);
}

/// Opens a regular file for reading. Refuses anything else without blocking on it.
Result<OpenFile> RoleWorkspace::State::open_file(const std::string& path) const {
    if (path == ".") { return folder_error(path); }
    OpenFile file;
    file.descriptor = open_beneath(root.get(), path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
    if (!file.descriptor.valid()) { return open_error(path, errno, "read"); }
    if (::fstat(file.descriptor.get(), &file.status) != 0) { return system_error(path, "read", errno); }
    if (S_ISDIR(file.status.st_mode)) { return folder_error(path); }
    if (!S_ISREG(file.status.st_mode)) { return special_error(path, file.status.st_mode); }
    return file;
}

Result<FileDescriptor> RoleWorkspace::State::open_folder(const std::string& path, std::string_view doing) const {
    auto folder = open_beneath(root.get(), path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
    if (folder.valid()) { return folder; }
    return open_error(path, errno, doing);
}

/// Works as mkdir -p, one level at a time from open descriptors. Then opens the folder again from the root, so that nothing is
/// written into a folder that was moved out meanwhile.
Result<FileDescriptor> RoleWorkspace::State::make_folder(const std::string& path) const {
    auto whole = open_beneath(root.get(), path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
    if (whole.valid()) { return whole; }
    if (errno != ENOENT) { return open_error(path, errno, "open"); }
    auto at = open_beneath(root.get(), ".", O_RDONLY | O_DIRECTORY);
    if (!at.valid()) { return open_error(".", errno, "open"); }
    std::size_t begin = 0;
    while (begin < path.size()) {
        auto end = path.find('/', begin);
        if (end == std::string::npos) { end = path.size(); }
        const std::string name = path.substr(begin, end - begin);
        auto next = open_beneath(at.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
        if (!next.valid() && errno == ENOENT) {
            if (::mkdirat(at.get(), name.c_str(), 0777) != 0 && errno != EEXIST) {
                return system_error(path.substr(0, end), "create the folder", errno);
            }
            next = open_beneath(at.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
        }
        if (!next.valid()) { return open_error(path.substr(0, end), errno, "open"); }
        at = std::move(next);
        begin = end + 1;
    }
    return open_folder(path, "open");
}

Result<std::string> RoleWorkspace::State::contents(const OpenFile& file, const std::string& path) {
    const auto size = static_cast<std::uint64_t>(file.status.st_size);
    if (size > max_file_bytes) {
        return size_error(path, size, max_file_bytes, "Leave this file as it is. escalate_question asks a person about it.");
    }
    std::string bytes(size + 1, '\0');
    std::size_t have = 0;
    for (;;) {
        if (have == bytes.size()) {
            if (bytes.size() > max_file_bytes) {
                return size_error(path, bytes.size(), max_file_bytes,
                                  "Leave this file as it is. escalate_question asks a person about it.");
            }
            bytes.resize(bytes.size() * 2);
        }
        const auto got = ::pread(file.descriptor.get(), bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
        if (got < 0) {
            if (errno == EINTR) { continue; }
            return system_error(path, "read", errno);
        }
        if (got == 0) { break; }
        have += static_cast<std::size_t>(got);
    }
    bytes.resize(have);
    return bytes;
}

Result<void> RoleWorkspace::State::check_pinned(std::string_view normal) const {
    for (const std::string& folder : pinned) {
        if (normal != folder && !(normal.starts_with(folder) && normal.substr(folder.size()).starts_with('/'))) { continue; }
        return Error{"AF-TOOL-060",
                     "'" + std::string(normal) + "' lies in the submodule '" + folder +
                         "', another repository; a task does not change it.",
                     std::string(normal),
                     "Leave it as it is. If the work needs a change there, ask with escalate_question and say which.",
                     ErrorKind::denied};
    }
    return {};
}

Result<void> RoleWorkspace::State::check_write(std::string_view normal) const {
    AF_CHECK(rules.check_write(normal));
    return check_pinned(normal);
}

Result<std::string> RoleWorkspace::State::writable(std::string_view path) const {
    if (!writes_allowed) {
        return Error{
            "AF-TOOL-014",
            "Writing '" + ellipsis(sanitize_utf8(path), 200) + "' is not allowed here: the tool does not declare that it writes.",
            {},
            "Use a tool that writes files, or declare the effect `writes` in the tool.",
            ErrorKind::denied};
    }
    AF_TRY(auto normal, normalize_path(path));
    if (normal == ".") { return folder_error(normal); }
    AF_CHECK(check_write(normal));
    return normal;
}

/// Writes a temporary sibling with the mode of `old`. Returns its name.
Result<std::string> RoleWorkspace::State::write_sibling(int parent, const std::string& path, std::string_view content,
                                                        const struct stat* old) {
    FileDescriptor file;
    std::string temporary;
    do {
        temporary = temporary_name();
        file = FileDescriptor(::openat(parent, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    } while (!file.valid() && errno == EEXIST);
    if (!file.valid()) { return system_error(path, "write", errno); }
    Sibling sibling(parent, temporary);
    std::string_view rest = content;
    while (!rest.empty()) {
        const auto written = ::write(file.get(), rest.data(), rest.size());
        if (written < 0) {
            if (errno == EINTR) { continue; }
            return system_error(path, "write", errno);
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    if (old != nullptr) {
        struct stat fresh {};
        if (::fstat(file.get(), &fresh) == 0 && (fresh.st_uid != old->st_uid || fresh.st_gid != old->st_gid)) {
            if (::fchown(file.get(), old->st_uid, old->st_gid) != 0) { errno = 0; }  // Best effort: only root may.
        }
        if (::fchmod(file.get(), old->st_mode & 0777U) != 0) { return system_error(path, "keep the mode of", errno); }
    }
    if (::close(file.release()) != 0) { return system_error(path, "write", errno); }
    sibling.keep();
    return temporary;
}

/// Writes a temporary sibling and renames it over `name` (`old`: the current file) or to a new name.
Result<void> RoleWorkspace::State::replace(int parent, const std::string& name, const std::string& path, std::string_view content,
                                           const struct stat* old) {
    AF_TRY(const std::string temporary, write_sibling(parent, path, content, old));
    Sibling sibling(parent, temporary);
    if (old == nullptr) {
        const int error = rename_new(parent, temporary, parent, name);
        if (error == EEXIST) { return exists_error(path); }
        if (error != 0) { return system_error(path, "write", error); }
    } else {
        struct stat now {};
        if (::fstatat(parent, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 || !same_file(now, *old)) {
            return changed_error(path);
        }
        if (::renameat(parent, temporary.c_str(), parent, name.c_str()) != 0) { return system_error(path, "write", errno); }
    }
    sibling.keep();
    return {};
}

/// Returns a folder's entries in the order in which their paths sort, without protected names.
Result<std::vector<Entry>> RoleWorkspace::State::entries(int directory, const std::string& path) {
    FileDescriptor own(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!own.valid()) { return system_error(path, "list", errno); }
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own.get()), &::closedir);
    if (stream == nullptr) { return system_error(path, "list", errno); }
    own.release();
    std::vector<Entry> found;
    for (;;) {
        errno = 0;
        const dirent* entry = ::readdir(stream.get());
        if (entry == nullptr) {
            if (errno != 0) { return system_error(path, "list", errno); }
            break;
        }
        Entry one{entry->d_name, 0, 0};
        if (one.name == "." || one.name == ".." || is_protected_name(one.name)) { continue; }
        struct stat status {};
        if (::fstatat(directory, one.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) { continue; }  // Deleted meanwhile.
        one.mode = status.st_mode;
        one.size = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
        found.push_back(std::move(one));
    }
    const auto key = [](const Entry& entry) { return S_ISDIR(entry.mode) ? entry.name + "/" : entry.name; };
    std::sort(found.begin(), found.end(), [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
    return found;
}

/// Calls `visit(directory, entry, path)`; false stops the walk. Returns whether everything was visited.
template <class Visit>
Result<bool> RoleWorkspace::State::walk(int directory, const std::string& prefix, std::size_t depth, bool recursive,
                                        Visit&& visit) const {
    AF_TRY(const auto found, entries(directory, prefix.empty() ? "." : prefix));
    bool complete = true;
    for (const auto& entry : found) {
        const std::string path = prefix.empty() ? entry.name : prefix + "/" + entry.name;
        if (!visit(directory, entry, path)) { return false; }
        if (!recursive || !S_ISDIR(entry.mode)) { continue; }
        if (depth + 1 >= max_depth || path.size() > 3800) {
            complete = false;
            continue;
        }
        const auto child = open_beneath(directory, entry.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
        if (!child.valid()) {
            complete = false;  // Deleted, replaced by a link, or not readable.
            continue;
        }
        AF_TRY(const bool all, walk(child.get(), path, depth + 1, recursive, visit));
        if (!all) { complete = false; }
    }
    return complete;
}

std::optional<std::string> RoleWorkspace::State::hidden_somewhere(std::string_view placeholder) const {
    const auto folder = open_folder(".", "search");
    if (!folder.ok()) { return std::nullopt; }
    std::optional<std::string> found;
    std::uint64_t files = 0;
    std::uint64_t bytes_read = 0;
    const auto visit = [&](int parent, const Entry& entry, const std::string& path) {
        if (!S_ISREG(entry.mode) || entry.size > max_whole_read_bytes) { return true; }
        if (++files > search_file_budget || bytes_read + entry.size > search_byte_budget) { return false; }
        OpenFile file;
        file.descriptor = open_beneath(parent, entry.name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
        if (!file.descriptor.valid() || ::fstat(file.descriptor.get(), &file.status) != 0 || !S_ISREG(file.status.st_mode)) {
            return true;
        }
        const auto text = contents(file, path);
        if (!text.ok()) { return true; }
        bytes_read += text->size();
        std::vector<Hidden> hidden;
        static_cast<void>(redactor->redacted(*text, &hidden));
        for (Hidden& one : hidden) {
            if (one.placeholder == placeholder) { found = std::move(one.text); }
        }
        return !found;
    };
    static_cast<void>(walk(folder->get(), "", 0, true, visit));
    return found;
}

RoleWorkspace::RoleWorkspace(std::unique_ptr<State> state) : state_(std::move(state)) {}
RoleWorkspace::~RoleWorkspace() = default;

Result<std::unique_ptr<RoleWorkspace>> RoleWorkspace::open(const std::string& root, RolePaths rules, const Redactor& redactor) {
    const auto refused = [&](std::string why, std::string remedy) {
        return Error{"AF-TOOL-030", "The workspace '" + root + "' cannot be opened: " + std::move(why) + ".", root,
                     std::move(remedy), ErrorKind::io};
    };
    auto state = std::make_unique<State>();
    state->root = FileDescriptor(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!state->root.valid()) {
        const int error = errno;
        struct stat status {};
        if (::lstat(root.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
            return refused("it is a symbolic link", "Give the folder itself.");
        }
        return refused(errno_text(error), "Check that the folder exists and can be read.");
    }
    if (!open_beneath(state->root.get(), ".", O_RDONLY | O_DIRECTORY).valid()) {
        return refused("openat2 failed: " + errno_text(errno),
                       "AgentForge needs Linux 5.6 or later, and a container that allows openat2.");
    }
    state->rules = std::move(rules);
    state->redactor = &redactor;
    return std::unique_ptr<RoleWorkspace>(new RoleWorkspace(std::move(state)));
}

Result<FileView> RoleWorkspace::read(std::string_view path, const ReadOptions& options) {
    AF_TRY(const auto normal, normalize_path(path));
    AF_TRY(const auto file, state_->open_file(normal));
    const auto size = static_cast<std::uint64_t>(file.status.st_size);
    if (size > max_whole_read_bytes && options.first_line <= 1 && options.last_line == 0) {
        return size_error(normal, size, max_whole_read_bytes, "Give a line range: first_line and last_line.");
    }
    AF_TRY(auto bytes, State::contents(file, normal));
    if (is_binary(bytes)) { return binary_error(normal, bytes.size()); }
    const std::string hash = sha256(bytes);
    const std::uint64_t whole = bytes.size();
    // Redacts the whole text, so that no range cuts a secret in two.
    if (auto shown = state_->redactor->redacted(bytes)) { bytes = *std::move(shown); }
    AF_TRY(FileView view, view_of_lines(normal, bytes, options));
    view.sha256 = hash;
    view.size_bytes = whole;
    return view;
}

Result<Listing> RoleWorkspace::list(std::string_view directory, const ListOptions& options) {
    AF_TRY(const auto normal, normalize_path(directory));
    AF_TRY(const auto folder, state_->open_folder(normal, "list"));
    std::optional<PathRule> filter;
    if (!options.glob.empty()) { AF_TRY(filter, PathRule::parse(options.glob)); }
    Listing listing;
    const auto visit = [&](int parent, const Entry& entry, const std::string& path) {
        const bool is_folder = S_ISDIR(entry.mode);
        if (filter && (is_folder || !filter->allows(path))) { return true; }
        if (listing.entries.size() >= options.limit) {
            listing.truncated = true;
            return false;
        }
        std::string shown = path;
        if (S_ISLNK(entry.mode)) {
            shown += " -> " + ellipsis(sanitize_utf8(read_link(parent, entry.name)), 200);
        } else if (!is_folder && !S_ISREG(entry.mode)) {
            shown += std::string(" (") + special_kind(entry.mode) + ")";
        }
        listing.entries.push_back({std::move(shown), is_folder, entry.size});
        return true;
    };
    AF_TRY(const bool all, state_->walk(folder.get(), normal == "." ? "" : normal, 0, options.recursive, visit));
    listing.truncated = listing.truncated || !all;
    return listing;
}

namespace {

Result<void> check_search_pattern(const std::string& pattern) {
    if (!pattern.empty() && pattern.size() <= 4096) { return {}; }
    return Error{"AF-TOOL-021",
                 pattern.empty() ? "The pattern is empty." : "The pattern is longer than 4096 bytes.",
                 {},
                 "Give the text to look for.",
                 ErrorKind::invalid};
}

RE2::Options search_settings(const SearchQuery& query) {
    RE2::Options settings(RE2::Quiet);
    settings.set_literal(query.literal);
    settings.set_case_sensitive(!query.ignore_case);
    settings.set_never_nl(true);
    settings.set_max_mem(8 << 20);
    return settings;
}

Error wrong_pattern_error(const std::string& pattern, const std::string& why) {
    return {
        "AF-TOOL-021",
        "The pattern '" + ellipsis(sanitize_utf8(pattern), 200) + "' is not a regular expression: " + why + ".",
        {},
        "Write RE2 syntax (no look-around, no back-references), and escape ( ) [ ] { } . * + ? | ^ $ where they are meant literally.",
        ErrorKind::invalid};
}

/// Makes each CRLF an LF: `$` must also match before CRLF.
void remove_carriage_returns(std::string& text) {
    if (text.find('\r') == std::string::npos) { return; }
    std::size_t out = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\r' || i + 1 >= text.size() || text[i + 1] != '\n') { text[out++] = text[i]; }
    }
    text.resize(out);
}

}  // namespace

/// One call of `search`.
class RoleWorkspace::TextSearch {
public:
    TextSearch(const State& state, const SearchQuery& query)
        : state_(state),
          query_(query),
          pattern_(query.literal ? query.pattern : "(?m)" + query.pattern, search_settings(query)),
          names_placeholder_(query.pattern.find("REDACTED") != std::string::npos) {}

    Result<SearchHits> run() {
        if (!pattern_.ok()) { return wrong_pattern_error(query_.pattern, pattern_.error()); }
        if (!query_.glob.empty()) { AF_TRY(filter_, PathRule::parse(query_.glob)); }
        AF_TRY(const auto root, state_.open_folder(".", "search"));
        const auto visit = [this](int parent, const Entry& entry, const std::string& path) {
            return search_entry(parent, entry, path);
        };
        AF_TRY(const bool all, state_.walk(root.get(), "", 0, true, visit));
        result_.truncated = result_.truncated || !all;
        return std::move(result_);
    }

private:
    /// Returns false if the search ends here.
    bool search_entry(int parent, const Entry& entry, const std::string& path) {
        if (!S_ISREG(entry.mode) || (filter_ && !filter_->allows(path)) || entry.size > max_whole_read_bytes) { return true; }
        if (++files_ > search_file_budget || bytes_read_ + entry.size > search_byte_budget) {
            result_.truncated = true;
            return false;
        }
        auto text = read_text(parent, entry, path);
        if (!text) { return true; }
        redact_if_hit(*text);
        remove_carriage_returns(*text);
        return add_hits(*text, path);
    }

    /// Returns nothing for a file that cannot be read or is binary.
    std::optional<std::string> read_text(int parent, const Entry& entry, const std::string& path) {
        OpenFile file;
        file.descriptor = open_beneath(parent, entry.name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
        if (!file.descriptor.valid() || ::fstat(file.descriptor.get(), &file.status) != 0 || !S_ISREG(file.status.st_mode)) {
            return std::nullopt;
        }
        auto read = State::contents(file, path);
        if (!read.ok() || is_binary(*read)) { return std::nullopt; }
        std::string text = std::move(read).value();
        bytes_read_ += text.size();
        return text;
    }

    /// Only if there may be a hit: most files are not read twice.
    void redact_if_hit(std::string& text) const {
        if (!names_placeholder_ && !pattern_.Match(text, 0, text.size(), RE2::UNANCHORED, nullptr, 0)) { return; }
        if (auto shown = state_.redactor->redacted(text)) { text = *std::move(shown); }
    }

    /// Returns false if there are more hits than wanted.
    bool add_hits(const std::string& text, const std::string& path) {
        const re2::StringPiece whole(text);
        std::size_t at = 0;
        std::size_t counted = 0;
        std::uint64_t line = 1;
        re2::StringPiece match;
        while (at < text.size() && pattern_.Match(whole, at, text.size(), RE2::UNANCHORED, &match, 1)) {
            const auto offset = static_cast<std::size_t>(match.data() - text.data());
            line += static_cast<std::uint64_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                                                          text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
            counted = offset;
            if (offset >= text.size() && text.back() == '\n') { break; }  // An empty match after the last line.
            auto begin = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
            begin = begin == std::string::npos ? 0 : begin + 1;
            const auto end = std::min(text.find('\n', offset), text.size());
            if (result_.hits.size() >= query_.limit) {
                result_.truncated = true;
                return false;
            }
            result_.hits.push_back({path, line, cut_around(std::string_view(text).substr(begin, end - begin), offset - begin)});
            at = end + 1;
        }
        return true;
    }

    const State& state_;
    const SearchQuery& query_;
    const RE2 pattern_;
    const bool names_placeholder_;
    std::optional<PathRule> filter_;
    SearchHits result_;
    std::uint64_t files_ = 0;
    std::uint64_t bytes_read_ = 0;
};

Result<SearchHits> RoleWorkspace::search(const SearchQuery& query) {
    AF_CHECK(check_search_pattern(query.pattern));
    return TextSearch(*state_, query).run();
}

bool RoleWorkspace::exists(std::string_view path) {
    const auto normal = normalize_path(path);
    return normal.ok() && open_beneath(state_->root.get(), *normal, O_PATH).valid();
}

Result<Change> RoleWorkspace::create(std::string_view path, std::string_view content, bool overwrite) {
    AF_TRY(const auto normal, state_->writable(path));
    if (content.size() > max_file_bytes) { return size_error(normal, content.size(), max_file_bytes, "Write less."); }
    const auto [folder, name] = split_path(normal);
    AF_TRY(const auto parent, state_->make_folder(folder));
    struct stat old {};
    Change change;
    change.path = normal;
    if (::fstatat(parent.get(), name.c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT) { return system_error(normal, "write", errno); }
        AF_TRY(const std::string whole, state_->restored(content, {}, {}, normal));
        content = whole;
        change.after_sha256 = sha256(content);
        AF_CHECK(state_->replace(parent.get(), name, normal, content, nullptr));
        change.created = true;
        change.lines_added = count_lines(content);
        state_->record(change);
        return change;
    }
    if ((!overwrite && !state_->rules.created(normal)) || !S_ISREG(old.st_mode)) {
        return in_the_way_error(normal, old.st_mode, S_ISLNK(old.st_mode) ? read_link(parent.get(), name) : std::string());
    }
    AF_TRY(const auto file, state_->open_file(normal));
    AF_TRY(const auto before, State::contents(file, normal));
    AF_CHECK(state_->as_seen(normal, before));
    std::vector<Hidden> hidden;
    static_cast<void>(state_->redactor->redacted(before, &hidden));
    AF_TRY(const std::string whole, state_->restored(content, before, hidden, normal));
    content = whole;
    change.after_sha256 = sha256(content);
    AF_CHECK(state_->replace(parent.get(), name, normal, content, &file.status));
    change.before_sha256 = sha256(before);
    const auto counts = count_changes(before, content);
    change.lines_added = counts.added;
    change.lines_removed = counts.removed;
    state_->record(change);
    return change;
}

Result<Change> RoleWorkspace::edit(std::string_view path, std::string_view search, std::string_view replace) {
    AF_TRY(const auto normal, state_->writable(path));
    const auto [folder, name] = split_path(normal);
    AF_TRY(const auto file, state_->open_file(normal));
    AF_TRY(const auto before, State::contents(file, normal));
    if (is_binary(before)) { return binary_error(normal, before.size()); }
    AF_CHECK(state_->as_seen(normal, before));
    std::vector<Hidden> hidden;
    const auto shown = state_->redactor->redacted(before, &hidden);
    AF_TRY(auto edit, replace_once(shown ? *shown : before, search, replace, normal));
    AF_TRY(edit.content, state_->restored(edit.content, before, hidden, normal));
    AF_TRY(const auto parent, state_->open_folder(folder, "open"));
    AF_CHECK(state_->replace(parent.get(), name, normal, edit.content, &file.status));
    Change change;
    change.path = normal;
    change.before_sha256 = sha256(before);
    change.after_sha256 = sha256(edit.content);
    const auto counts = count_changes(before, edit.content);
    change.lines_added = counts.added;
    change.lines_removed = counts.removed;
    state_->record(change);
    return change;
}

Result<Change> RoleWorkspace::move(std::string_view from, std::string_view to) {
    AF_TRY(const auto source, state_->writable(from));
    AF_TRY(const auto target, state_->writable(to));
    if (source == target) {
        return Error{"AF-TOOL-043", "'" + source + "' is already there; nothing would change.", source,
                     "Give another path to move it to.", ErrorKind::invalid};
    }
    AF_TRY(const auto file, state_->open_file(source));
    AF_TRY(const auto bytes, State::contents(file, source));
    AF_CHECK(state_->as_seen(source, bytes));
    const auto [source_folder, source_name] = split_path(source);
    const auto [target_folder, target_name] = split_path(target);
    AF_TRY(const auto source_parent, state_->open_folder(source_folder, "open"));
    AF_TRY(const auto target_parent, state_->make_folder(target_folder));
    struct stat now {};
    if (::fstatat(target_parent.get(), target_name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISLNK(now.st_mode)) { return link_error(target, target, read_link(target_parent.get(), target_name)); }
        if (S_ISDIR(now.st_mode)) {
            return Error{"AF-TOOL-034", "'" + target + "' is a folder.", target, "Give the new path with the file's name.",
                         ErrorKind::invalid};
        }
        return exists_error(target);
    }
    if (::fstatat(source_parent.get(), source_name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 || !same_file(now, file.status)) {
        return changed_error(source);
    }
    const int error = rename_new(source_parent.get(), source_name, target_parent.get(), target_name);
    if (error == EEXIST) { return exists_error(target); }
    if (error != 0) { return system_error(target, "move to", error); }
    const std::string hash = sha256(bytes);
    const auto lines = count_lines(bytes);
    Change gone;
    gone.path = source;
    gone.before_sha256 = hash;
    gone.lines_removed = lines;
    Change come;
    come.path = target;
    come.after_sha256 = hash;
    come.lines_added = lines;
    come.created = true;
    state_->record(gone);
    state_->record(come);
    return come;
}

Result<Change> RoleWorkspace::remove(std::string_view path) {
    AF_TRY(const auto normal, state_->writable(path));
    AF_TRY(const auto file, state_->open_file(normal));
    AF_TRY(const auto bytes, State::contents(file, normal));
    AF_CHECK(state_->as_seen(normal, bytes));
    const auto [folder, name] = split_path(normal);
    AF_TRY(const auto parent, state_->open_folder(folder, "open"));
    struct stat now {};
    if (::fstatat(parent.get(), name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 || !same_file(now, file.status)) {
        return changed_error(normal);
    }
    if (::unlinkat(parent.get(), name.c_str(), 0) != 0) { return system_error(normal, "delete", errno); }
    Change change;
    change.path = normal;
    change.before_sha256 = sha256(bytes);
    change.lines_removed = count_lines(bytes);
    state_->record(change);
    return change;
}

// ---------------------------------------------------------------------- several files at once --

namespace {

/// One file of `apply`, read and computed but not yet written.
struct Planned {
    FileEditKind kind = FileEditKind::change;
    std::string path;
    std::string target;  ///< Where the content goes: `path`, unless the file is moved.
    OpenFile file;
    std::string before;
    std::string after;
    std::vector<LineRange> regions;
    bool tolerant = false;
    bool rewrites = false;  ///< There is new content, not only a new path.
    FileDescriptor parent;
    FileDescriptor target_parent;
    std::string temporary;  ///< In `target_parent`: the new content, and after the exchange the old.

    [[nodiscard]] std::string name() const { return split_path(path).name; }
    [[nodiscard]] std::string target_name() const { return split_path(target).name; }
    [[nodiscard]] bool moves() const { return target != path; }
    [[nodiscard]] bool has_old() const { return kind != FileEditKind::create; }
    [[nodiscard]] bool has_new() const { return kind != FileEditKind::remove; }
};

/// Undoes what was done so far, in reverse order, unless it is kept.
class Undo {
public:
    Undo() = default;
    Undo(const Undo&) = delete;
    Undo& operator=(const Undo&) = delete;
    ~Undo() { run(); }
    void add(std::function<bool()> step) { steps_.push_back(std::move(step)); }
    /// Returns whether everything could be undone.
    bool run() {
        bool all = true;
        for (; !steps_.empty(); steps_.pop_back()) { all = steps_.back()() && all; }
        return all;
    }
    void keep() noexcept { steps_.clear(); }

private:
    std::vector<std::function<bool()>> steps_;
};

}  // namespace

/// One call of `apply`.
class RoleWorkspace::EditBatch {
public:
    EditBatch(State& state, const std::vector<FileEdit>& edits) : state_(state), edits_(edits), plans_(edits.size()) {}

    Result<std::vector<FileEdited>> apply();

private:
    Result<void> check_paths(const FileEdit& edit, Planned& plan);
    Result<void> check_named_once(const std::string& path);
    Result<void> compute_content(const FileEdit& edit, Planned& plan) const;
    Result<void> read_old(Planned& plan) const;
    Result<void> change_content(const FileEdit& edit, Planned& plan) const;
    Result<void> overwrite_content(const FileEdit& edit, Planned& plan) const;
    Result<void> check_target_is_free(const Planned& plan) const;
    Result<void> write_beside(Planned& plan);
    void remember_new_folders(const std::string& folder);
    Result<void> exchange(const Planned& plan);
    Error put_back(Error error);
    int put_in_place(const Planned& plan);
    int move_to_temporary(int parent, const std::string& name);
    int move_unchanged(const Planned& plan);
    int place_new_file(const Planned& plan);
    int replace_old_file(const Planned& plan);
    FileEdited record(Planned& plan);
    void record_move(const Planned& plan, const Change& change);

    State& state_;
    const std::vector<FileEdit>& edits_;
    std::vector<Planned> plans_;
    std::set<std::string> paths_;                         ///< Every path that an edit names.
    Undo undo_;                                           ///< Uses the open folders of `plans_`.
    std::vector<std::pair<int, std::string>> old_files_;  ///< Replaced and deleted files wait under temporary names.
};

Result<std::vector<FileEdited>> RoleWorkspace::EditBatch::apply() {
    // Checks every path before reading any file.
    for (std::size_t i = 0; i < edits_.size(); ++i) { AF_CHECK(check_paths(edits_[i], plans_[i])); }
    for (std::size_t i = 0; i < edits_.size(); ++i) { AF_CHECK(compute_content(edits_[i], plans_[i])); }
    for (Planned& plan : plans_) { AF_CHECK(write_beside(plan)); }
    for (const Planned& plan : plans_) { AF_CHECK(exchange(plan)); }
    undo_.keep();
    for (const auto& [parent, name] : old_files_) { ::unlinkat(parent, name.c_str(), 0); }
    std::vector<FileEdited> done;
    for (Planned& plan : plans_) { done.push_back(record(plan)); }
    return done;
}

Result<void> RoleWorkspace::EditBatch::check_paths(const FileEdit& edit, Planned& plan) {
    plan.kind = edit.kind;
    AF_TRY(plan.path, state_.writable(edit.path));
    AF_CHECK(check_named_once(plan.path));
    plan.target = plan.path;
    if (edit.move_to.empty()) { return {}; }
    AF_TRY(plan.target, state_.writable(edit.move_to));
    if (plan.kind != FileEditKind::change) {
        return Error{"AF-TOOL-042", "'" + plan.path + "' can only be moved together with a change. Nothing was changed.",
                     plan.path, "Leave out the move.", ErrorKind::invalid};
    }
    return plan.moves() ? check_named_once(plan.target) : Result<void>();
}

Result<void> RoleWorkspace::EditBatch::check_named_once(const std::string& path) {
    if (paths_.insert(path).second) { return {}; }
    return Error{"AF-TOOL-048", "'" + path + "' is named twice. Nothing was changed.", path,
                 "Put all changes of one file together.", ErrorKind::invalid};
}

Result<void> RoleWorkspace::EditBatch::compute_content(const FileEdit& edit, Planned& plan) const {
    if (plan.has_old()) { AF_CHECK(read_old(plan)); }
    if (plan.kind == FileEditKind::change) {
        AF_CHECK(change_content(edit, plan));
    } else if (plan.kind == FileEditKind::overwrite) {
        AF_CHECK(overwrite_content(edit, plan));
    } else if (plan.kind == FileEditKind::create) {
        AF_TRY(plan.after, state_.restored(edit.content, {}, {}, plan.path));
        plan.rewrites = true;
    }
    if (plan.after.size() > max_file_bytes) { return size_error(plan.target, plan.after.size(), max_file_bytes, "Write less."); }
    return plan.kind == FileEditKind::create || plan.moves() ? check_target_is_free(plan) : Result<void>();
}

Result<void> RoleWorkspace::EditBatch::read_old(Planned& plan) const {
    AF_TRY(plan.file, state_.open_file(plan.path));
    AF_TRY(plan.before, State::contents(plan.file, plan.path));
    if (plan.kind == FileEditKind::overwrite && state_.seen && !state_.seen->contains(plan.path)) {
        return Error{"AF-TOOL-047",
                     "'" + plan.path + "' would be overwritten completely, but you have not read it. Nothing was changed.",
                     plan.path, "Read it first, then repeat the edit.", ErrorKind::conflict};
    }
    return state_.as_seen(plan.path, plan.before);
}

Result<void> RoleWorkspace::EditBatch::change_content(const FileEdit& edit, Planned& plan) const {
    if (edit.hunks.empty() && !plan.moves()) {
        return Error{"AF-TOOL-042", "There is no change for '" + plan.path + "'. Nothing was changed.", plan.path,
                     "Give the change, or leave out the file.", ErrorKind::invalid};
    }
    plan.after = plan.before;
    if (edit.hunks.empty()) { return {}; }
    if (is_binary(plan.before)) { return binary_error(plan.path, plan.before.size()); }
    std::vector<Hidden> hidden;
    const auto shown = state_.redactor->redacted(plan.before, &hidden);
    const std::string& view = shown ? *shown : plan.before;  // The text that the hunks were written for.
    AF_TRY(auto hunks, apply_hunks(view, edit.hunks, plan.path));
    AF_TRY(plan.after, state_.restored(hunks.content, plan.before, hidden, plan.path));
    plan.regions = std::move(hunks.regions);
    plan.tolerant = hunks.tolerant;
    plan.rewrites = true;
    return {};
}

Result<void> RoleWorkspace::EditBatch::overwrite_content(const FileEdit& edit, Planned& plan) const {
    if (is_binary(plan.before)) { return binary_error(plan.path, plan.before.size()); }
    std::vector<Hidden> hidden;
    const auto shown = state_.redactor->redacted(plan.before, &hidden);
    const std::string& view = shown ? *shown : plan.before;
    AF_TRY(plan.after, state_.restored(in_the_form_of(view, edit.content), plan.before, hidden, plan.path));
    plan.rewrites = true;
    if (plan.after == plan.before) {
        return Error{"AF-TOOL-043", "'" + plan.path + "' has this content already.", plan.path,
                     "Go on: there is nothing to do here.", ErrorKind::invalid};
    }
    return {};
}

Result<void> RoleWorkspace::EditBatch::check_target_is_free(const Planned& plan) const {
    const auto there = open_beneath(state_.root.get(), plan.target, O_PATH | O_NOFOLLOW);
    struct stat status {};
    if (there.valid() && ::fstat(there.get(), &status) == 0) {
        return in_the_way_error(plan.target, status.st_mode,
                                S_ISLNK(status.st_mode) ? read_link(there.get(), "") : std::string());
    }
    if (errno != ENOENT) { return state_.open_error(plan.target, errno, "write"); }
    return {};
}

/// Writes the new content beside the file. Lack of space, missing permissions and similar errors show here.
Result<void> RoleWorkspace::EditBatch::write_beside(Planned& plan) {
    if (plan.has_new()) {
        const std::string folder = split_path(plan.target).parent;
        remember_new_folders(folder);
        AF_TRY(plan.target_parent, state_.make_folder(folder));
    }
    if (plan.has_old()) { AF_TRY(plan.parent, state_.open_folder(split_path(plan.path).parent, "open")); }
    if (!plan.rewrites) { return {}; }
    AF_TRY(plan.temporary,
           state_.write_sibling(plan.target_parent.get(), plan.target, plan.after, plan.has_old() ? &plan.file.status : nullptr));
    undo_.add([&plan] { return ::unlinkat(plan.target_parent.get(), plan.temporary.c_str(), 0) == 0 || errno == ENOENT; });
    return {};
}

/// Remembers, for the undo, which folders on the way do not exist yet.
void RoleWorkspace::EditBatch::remember_new_folders(const std::string& folder) {
    for (std::size_t end = folder.find('/');; end = folder.find('/', end + 1)) {
        const std::string prefix = folder.substr(0, end);
        if (!open_beneath(state_.root.get(), prefix, O_PATH | O_NOFOLLOW).valid() && errno == ENOENT) {
            undo_.add([this, prefix] {
                const auto [above, last] = split_path(prefix);
                const auto parent = open_beneath(state_.root.get(), above, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
                return !parent.valid() || ::unlinkat(parent.get(), last.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT ||
                       errno == ENOTEMPTY;
            });
        }
        if (end == std::string::npos) { break; }
    }
}

Result<void> RoleWorkspace::EditBatch::exchange(const Planned& plan) {
    if (plan.has_old()) {
        struct stat now {};
        if (::fstatat(plan.parent.get(), plan.name().c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 ||
            !same_file(now, plan.file.status)) {
            return put_back(changed_error(plan.path));
        }
    }
    const int error = put_in_place(plan);
    if (error == EEXIST) { return put_back(exists_error(plan.target)); }
    if (error != 0) { return put_back(system_error(plan.target, "write", error)); }
    return {};
}

/// Undoes all changes so far, and returns the error.
Error RoleWorkspace::EditBatch::put_back(Error error) {
    if (!undo_.run()) { error.message += " Some of the earlier changes could not be undone."; }
    return error;
}

/// Returns 0 or the system's error number. So do the functions that it calls.
int RoleWorkspace::EditBatch::put_in_place(const Planned& plan) {
    if (plan.kind == FileEditKind::remove) { return move_to_temporary(plan.parent.get(), plan.name()); }
    if (plan.moves() && !plan.rewrites) { return move_unchanged(plan); }
    if (plan.moves() || plan.kind == FileEditKind::create) { return place_new_file(plan); }
    return replace_old_file(plan);
}

int RoleWorkspace::EditBatch::move_to_temporary(int parent, const std::string& name) {
    std::string moved_to = state_.temporary_name();
    if (const int error = rename_new(parent, name, parent, moved_to); error != 0) { return error; }
    undo_.add([parent, name, moved_to] { return rename_new(parent, moved_to, parent, name) == 0; });
    old_files_.emplace_back(parent, std::move(moved_to));
    return 0;
}

int RoleWorkspace::EditBatch::move_unchanged(const Planned& plan) {
    const int parent = plan.parent.get();
    const int target_parent = plan.target_parent.get();
    const int error = rename_new(parent, plan.name(), target_parent, plan.target_name());
    if (error != 0) { return error; }
    undo_.add([parent, name = plan.name(), target_parent, target_name = plan.target_name()] {
        return rename_new(target_parent, target_name, parent, name) == 0;
    });
    return 0;
}

int RoleWorkspace::EditBatch::place_new_file(const Planned& plan) {
    const int target_parent = plan.target_parent.get();
    const int error = rename_new(target_parent, plan.temporary, target_parent, plan.target_name());
    if (error != 0) { return error; }
    undo_.add(
        [target_parent, target_name = plan.target_name()] { return ::unlinkat(target_parent, target_name.c_str(), 0) == 0; });
    return plan.moves() ? move_to_temporary(plan.parent.get(), plan.name()) : 0;
}

int RoleWorkspace::EditBatch::replace_old_file(const Planned& plan) {
    const int parent = plan.parent.get();
    const std::string name = plan.name();
    if (::renameat2(parent, plan.temporary.c_str(), parent, name.c_str(), RENAME_EXCHANGE) == 0) {
        undo_.add([parent, name, temporary = plan.temporary] {
            return ::renameat2(parent, temporary.c_str(), parent, name.c_str(), RENAME_EXCHANGE) == 0;
        });
        old_files_.emplace_back(parent, plan.temporary);
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) { return errno; }
    // The file system lacks RENAME_EXCHANGE.
    if (const int error = move_to_temporary(parent, name); error != 0) { return error; }
    if (const int error = rename_new(parent, plan.temporary, parent, name); error != 0) { return error; }
    undo_.add([parent, name] { return ::unlinkat(parent, name.c_str(), 0) == 0; });
    return 0;
}

FileEdited RoleWorkspace::EditBatch::record(Planned& plan) {
    FileEdited edited;
    Change& change = edited.change;
    change.path = plan.target;
    if (plan.has_old()) { change.before_sha256 = sha256(plan.before); }
    if (plan.has_new()) { change.after_sha256 = sha256(plan.after); }
    const auto counts = count_changes(plan.before, plan.after);
    change.lines_added = counts.added;
    change.lines_removed = counts.removed;
    change.created = plan.kind == FileEditKind::create;
    edited.regions = std::move(plan.regions);
    edited.tolerant = plan.tolerant;
    if (plan.moves()) {
        edited.moved_from = plan.path;
        record_move(plan, change);
    } else {
        state_.record(change);
    }
    return edited;
}

void RoleWorkspace::EditBatch::record_move(const Planned& plan, const Change& change) {
    Change gone;
    gone.path = plan.path;
    gone.before_sha256 = change.before_sha256;
    gone.lines_removed = count_lines(plan.before);
    state_.record(gone);
    Change come;
    come.path = plan.target;
    come.after_sha256 = change.after_sha256;
    come.lines_added = count_lines(plan.after);
    come.created = true;
    state_.record(come);
}

Result<std::vector<FileEdited>> RoleWorkspace::apply(const std::vector<FileEdit>& edits) {
    if (edits.empty()) {
        return Error{"AF-TOOL-042", "There is no edit to apply.", {}, "Name at least one file.", ErrorKind::invalid};
    }
    return EditBatch(*state_, edits).apply();
}

void RoleWorkspace::expect(std::map<std::string, std::string, std::less<>> seen) { state_->seen = std::move(seen); }
std::vector<Change> RoleWorkspace::take_changes() { return std::exchange(state_->changes, {}); }
void RoleWorkspace::allow_writes(bool allowed) noexcept { state_->writes_allowed = allowed; }

Result<void> RoleWorkspace::check_write(std::string_view path) const {
    AF_TRY(const auto normal, normalize_path(path));
    return state_->check_write(normal);
}

void RoleWorkspace::pin(std::vector<std::string> submodules) { state_->pinned = std::move(submodules); }
std::shared_ptr<const PathSymbols> RoleWorkspace::symbols() const { return state_->rules.symbols(); }

}  // namespace agentforge::kernel
