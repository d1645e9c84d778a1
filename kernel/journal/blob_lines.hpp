// SPDX-License-Identifier: Apache-2.0
// The lines of a blob store's file. Private to kernel/journal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace agentforge::kernel {

inline constexpr std::string_view blobs_head = "agentforge_blobs: 1\nblobs:\n";
inline constexpr std::string_view blob_line_start = "- {\"sha256\": \"";
inline constexpr std::size_t blob_hash_digits = 64;

/// Appends the line of a blob, including its line end.
void append_blob_line(std::string& text, std::string_view hash, std::string_view bytes);
/// Returns the bytes in a line (without its end). Empty if `append_blob_line` would not have written this line.
[[nodiscard]] std::optional<std::string> bytes_of_blob_line(std::string_view line);

}  // namespace agentforge::kernel
