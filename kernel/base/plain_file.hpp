// SPDX-License-Identifier: Apache-2.0
// Reads files from AgentForge's own folders, where another program may have replaced a file with a link, a folder or a pipe.
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Describes a file mode for a message: "a symbolic link", "a folder", "a file", "a pipe", "a socket", "a device".
[[nodiscard]] std::string_view file_kind(mode_t mode) noexcept;

/// Describes the object at `name` if it is not a plain file: "a symbolic link", "a file with hard links", "a
/// folder" … A plain file is a regular file without other hard links, reached without symbolic links. Empty for a plain file, and
/// if nothing exists there. `name` is relative to `folder`.
[[nodiscard]] std::optional<std::string> irregular_kind(const std::filesystem::path& folder, const std::filesystem::path& name);

/// Reads the whole file. Errors: those of `read_file`, and `conflict` AF-BASE-037 (nothing was read) if it is not a plain file.
[[nodiscard]] Result<std::string> read_plain_file(const std::filesystem::path& folder, const std::filesystem::path& name,
                                                  std::uint64_t max_bytes = 64ULL << 20U);

}  // namespace agentforge::kernel
