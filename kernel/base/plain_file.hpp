// SPDX-License-Identifier: Apache-2.0
// Files of a folder of ours that somebody else may have put something else in place of.
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// What a file is by its mode, for a message: "a symbolic link", "a folder", "a file", "a pipe", "a socket", "a device".
[[nodiscard]] std::string_view file_kind(mode_t mode) noexcept;

/// What lies there in place of a regular file with one name, reached through folders alone: "a symbolic link", "a file with
/// several names (hard links)", "a folder" … Empty: such a file, or nothing. `name` is relative to `folder`; no link in it is
/// followed.
[[nodiscard]] std::optional<std::string> what_is_no_plain_file(const std::filesystem::path& folder,
                                                               const std::filesystem::path& name);

/// The whole file. Errors: those of `read_file`, and `conflict` AF-BASE-037: it is no plain file; nothing was read then.
[[nodiscard]] Result<std::string> read_plain_file(const std::filesystem::path& folder, const std::filesystem::path& name,
                                                  std::uint64_t max_bytes = 64ULL << 20U);

}  // namespace agentforge::kernel
