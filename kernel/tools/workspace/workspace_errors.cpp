// SPDX-License-Identifier: Apache-2.0
#include "tools/workspace/workspace_errors.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "base/files.hpp"
#include "base/text.hpp"
#include "tools/workspace/opened_file.hpp"

namespace agentforge::kernel {

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

Error is_folder_error(std::string_view path) {
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
    if (S_ISDIR(mode)) { return is_folder_error(path); }
    return S_ISREG(mode) ? exists_error(path) : special_error(path, mode);
}

Error binary_error(std::string_view path, std::uint64_t size) {
    return {"AF-TOOL-036",
            "'" + std::string(path) + "' is a binary file of " + std::to_string(size) + " bytes; it is neither shown nor edited.",
            std::string(path), "Work with the text files it is made from.", ErrorKind::invalid};
}

Error file_system_error(std::string_view path, std::string_view doing, int error) {
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

}  // namespace agentforge::kernel
