// SPDX-License-Identifier: Apache-2.0
// Replaces one place in a text and counts changed lines. Plain functions over bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct TextEdit {
    std::string content;     ///< The complete new text.
    std::uint64_t line = 0;  ///< Line at which the replaced place begins.
    bool tolerant = false;   ///< True if the match ignored line ends or white space at line ends.
};

/// Replaces the only occurrence of `search` in `content`; see RoleWorkspace::edit. `name` is for messages. Errors: `invalid`
/// AF-TOOL-040 (nowhere; shows the nearest lines), 041 (more than once; their line numbers), 042 (`search` is empty), 043
/// (nothing would change).
[[nodiscard]] Result<TextEdit> replace_once(std::string_view content, std::string_view search, std::string_view replace,
                                            std::string_view name);

struct LineCounts {
    std::uint64_t added = 0;
    std::uint64_t removed = 0;
};
/// Counts added and removed lines as a diff does. If the differing middle is too large for an exact answer (more than 4,000,000
/// pairs of lines), all of it counts as replaced.
[[nodiscard]] LineCounts count_changes(std::string_view before, std::string_view after);

/// Counts the lines of a text, including a last line without newline.
[[nodiscard]] std::uint64_t count_lines(std::string_view text);

}  // namespace agentforge::kernel
