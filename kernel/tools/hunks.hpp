// SPDX-License-Identifier: Apache-2.0
// Applies hunks to a text: each matches exactly one place of the original text; all are applied or none. Plain functions over
// bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/edits.hpp>

namespace agentforge::kernel {

/// Splits into lines with their line ends. The views point into `text`.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);

struct HunksEdit {
    std::string content;             ///< The complete new text.
    std::vector<LineRange> regions;  ///< One for each hunk, in the order of the text.
    std::uint64_t line = 0;          ///< Line of the old text at which the first place begins.
    bool tolerant = false;           ///< True if a hunk did not match byte for byte.
};

/// Applies hunks by the matching rules of AtomicEdits::apply. Keeps bytes outside the changes: line ends, byte order mark, a
/// missing last line end, invalid UTF-8. New lines take the line ends of their neighbours. `name` is for messages. Errors:
/// `invalid` AF-TOOL-040, 041, 042, 043, 049. Cost: linear in the text for each hunk, except the search for the nearest lines of
/// a hunk that matches nowhere (its first 100,000 lines).
[[nodiscard]] Result<HunksEdit> apply_hunks(std::string_view content, const std::vector<Hunk>& hunks, std::string_view name);

/// Returns `content` as a replacement for all of `before`: with its byte order mark, and with CRLF if `before` has no other line
/// ends and `content` has no CRLF.
[[nodiscard]] std::string in_the_form_of(std::string_view before, std::string_view content);

}  // namespace agentforge::kernel
