// SPDX-License-Identifier: Apache-2.0
// System calls on the files of a workspace: each starts at an open directory, and none follows a link.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/files.hpp"

namespace agentforge::kernel {

/// A path divided at its last slash. The parent of a path without one is `.`.
struct ParentAndName {
    std::string parent;
    std::string name;
};

struct OpenFile {
    FileDescriptor descriptor;
    struct stat status {};
};

struct FolderEntry {
    std::string name;
    mode_t mode = 0;
    std::uint64_t size = 0;
};

/// Opens a path beneath an open directory with openat2: the system follows no link of any kind, and refuses `..` and absolute
/// paths. Invalid with `errno` set if that fails.
[[nodiscard]] FileDescriptor open_beneath(int directory, const std::string& path, std::uint64_t flags, mode_t mode = 0);

/// Opens a regular file for reading, without blocking. Returns false for anything else, and if it cannot be opened.
[[nodiscard]] bool open_regular(int directory, const std::string& name, OpenFile& file);

[[nodiscard]] ParentAndName split_path(const std::string& path);

/// Returns what a file is that is neither regular nor a folder or link: `pipe`, `socket`, `device`, `special file`.
[[nodiscard]] const char* special_kind(mode_t mode) noexcept;

/// Returns the target of a symbolic link, at most 512 bytes of it. Empty if it cannot be read.
[[nodiscard]] std::string link_target(int directory, const std::string& name);

/// True if both are the same file, unchanged.
[[nodiscard]] bool same_file(const struct stat& a, const struct stat& b) noexcept;

/// True if the first 8,192 bytes contain a zero byte.
[[nodiscard]] bool looks_binary(std::string_view bytes) noexcept;

/// Renames a file, and never replaces another. Returns 0 or the system's error number.
[[nodiscard]] int rename_new(int from_directory, const std::string& from, int to_directory, const std::string& to);

}  // namespace agentforge::kernel
