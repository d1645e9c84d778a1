// SPDX-License-Identifier: Apache-2.0
// Putting hunks into a text: each fits exactly one place of the text as it was, all of them or none. Plain functions over bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/edits.hpp>

namespace agentforge::kernel {

/// Lines with their line ends; they point into `text`.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);

struct HunksEdit {
    std::string content;             ///< The whole new text.
    std::vector<LineRange> regions;  ///< One a hunk, in the order of the text.
    std::uint64_t line = 0;          ///< Of the old text, where the first place begins.
    bool tolerant = false;           ///< A hunk did not stand there byte by byte.
};

/// See AtomicEdits::apply for what fits. Bytes outside of what changes stay: line ends, byte order mark, a missing last line end,
/// bytes that are not UTF-8. New lines take the line ends of the lines they stand between. `name` is for messages.
/// Errors: `invalid` AF-TOOL-040, 041, 042, 043, 049.
/// Cost: linear in the text for each hunk, but for the search for the nearest lines of a hunk that fits nowhere (its first
/// 100,000 lines).
[[nodiscard]] Result<HunksEdit> apply_hunks(std::string_view content, const std::vector<Hunk>& hunks, std::string_view name);

/// `content` as it replaces all of `before`: with its byte order mark, and its CRLF where `before` has no other line ends and
/// `content` has none.
[[nodiscard]] std::string in_the_form_of(std::string_view before, std::string_view content);

}  // namespace agentforge::kernel
