// SPDX-License-Identifier: Apache-2.0
#include "tools/workspace/workspace_state.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "tools/workspace/workspace_errors.hpp"

namespace agentforge::kernel {
namespace {

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

}  // namespace

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
            if (S_ISLNK(status.st_mode)) { return link_error(path, prefix, link_target(at.get(), "")); }
            if ((end != std::string::npos || error == ENOTDIR) && !S_ISDIR(status.st_mode)) {
                return Error{"AF-TOOL-034",
                             "'" + prefix + "' is a file, not a folder" +
                                 (end == std::string::npos ? "." : "; '" + path + "' cannot be in it."),
                             path, "Check the path. list_files shows the files.", ErrorKind::invalid};
            }
        }
        if (error == ENOENT) { return not_found_error(path); }
    }
    return file_system_error(path, doing, error);
}

/// Opens a regular file for reading. Refuses anything else without blocking on it.
Result<OpenFile> RoleWorkspace::State::open_file(const std::string& path) const {
    if (path == ".") { return is_folder_error(path); }
    OpenFile file;
    file.descriptor = open_beneath(root.get(), path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
    if (!file.descriptor.valid()) { return open_error(path, errno, "read"); }
    if (::fstat(file.descriptor.get(), &file.status) != 0) { return file_system_error(path, "read", errno); }
    if (S_ISDIR(file.status.st_mode)) { return is_folder_error(path); }
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
                return file_system_error(path.substr(0, end), "create the folder", errno);
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
            return file_system_error(path, "read", errno);
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
    auto normal = normalize_path(path);
    if (!normal.ok()) { return normal; }
    if (*normal == ".") { return is_folder_error(*normal); }
    AF_CHECK(check_write(*normal));
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
    if (!file.valid()) { return file_system_error(path, "write", errno); }
    Sibling sibling(parent, temporary);
    std::string_view rest = content;
    while (!rest.empty()) {
        const auto written = ::write(file.get(), rest.data(), rest.size());
        if (written < 0) {
            if (errno == EINTR) { continue; }
            return file_system_error(path, "write", errno);
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    if (old != nullptr) {
        struct stat fresh {};
        if (::fstat(file.get(), &fresh) == 0 && (fresh.st_uid != old->st_uid || fresh.st_gid != old->st_gid)) {
            if (::fchown(file.get(), old->st_uid, old->st_gid) != 0) { errno = 0; }  // Best effort: only root may.
        }
        if (::fchmod(file.get(), old->st_mode & 0777U) != 0) { return file_system_error(path, "keep the mode of", errno); }
    }
    if (::close(file.release()) != 0) { return file_system_error(path, "write", errno); }
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
        if (error != 0) { return file_system_error(path, "write", error); }
    } else {
        struct stat now {};
        if (::fstatat(parent, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 || !same_file(now, *old)) {
            return changed_error(path);
        }
        if (::renameat(parent, temporary.c_str(), parent, name.c_str()) != 0) { return file_system_error(path, "write", errno); }
    }
    sibling.keep();
    return {};
}

/// Returns a folder's entries in the order in which their paths sort, without protected names.
Result<std::vector<FolderEntry>> RoleWorkspace::State::entries(int directory, const std::string& path) {
    FileDescriptor own(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!own.valid()) { return file_system_error(path, "list", errno); }
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own.get()), &::closedir);
    if (stream == nullptr) { return file_system_error(path, "list", errno); }
    own.release();
    std::vector<FolderEntry> found;
    for (;;) {
        errno = 0;
        const dirent* entry = ::readdir(stream.get());
        if (entry == nullptr) {
            if (errno != 0) { return file_system_error(path, "list", errno); }
            break;
        }
        FolderEntry one{entry->d_name, 0, 0};
        if (one.name == "." || one.name == ".." || is_protected_name(one.name)) { continue; }
        struct stat status {};
        if (::fstatat(directory, one.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) { continue; }  // Deleted meanwhile.
        one.mode = status.st_mode;
        one.size = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
        found.push_back(std::move(one));
    }
    const auto key = [](const FolderEntry& entry) { return S_ISDIR(entry.mode) ? entry.name + "/" : entry.name; };
    std::sort(found.begin(), found.end(), [&](const FolderEntry& a, const FolderEntry& b) { return key(a) < key(b); });
    return found;
}

Result<bool> RoleWorkspace::State::walk(int directory, const std::string& prefix, std::size_t depth, bool recursive,
                                        const Visit& visit) const {
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
    const auto visit = [&](int parent, const FolderEntry& entry, const std::string& path) {
        if (!S_ISREG(entry.mode) || entry.size > max_whole_read_bytes) { return true; }
        if (++files > search_file_budget || bytes_read + entry.size > search_byte_budget) { return false; }
        OpenFile file;
        if (!open_regular(parent, entry.name, file)) { return true; }
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

}  // namespace agentforge::kernel
