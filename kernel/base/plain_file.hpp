// SPDX-License-Identifier: Apache-2.0
// Reads files from a folder of ours in which another program may have replaced a file by something else.
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

/// Describes the object at `name` unless it is a regular file with one name that is reached through folders only: "a symbolic
/// link", "a file with several names (hard links)", "a folder" … Empty if it is such a file or does not exist. `name` is relative
/// to `folder`. Follows no link in it.
[[nodiscard]] std::optional<std::string> irregular_kind(const std::filesystem::path& folder, const std::filesystem::path& name);

/// Reads the whole file. Errors: those of `read_file`, and `conflict` AF-BASE-037 if it is not a plain file; nothing is read
/// then.
[[nodiscard]] Result<std::string> read_plain_file(const std::filesystem::path& folder, const std::filesystem::path& name,
                                                  std::uint64_t max_bytes = 64ULL << 20U);

}  // namespace agentforge::kernel
