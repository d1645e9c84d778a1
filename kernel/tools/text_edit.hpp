// SPDX-License-Identifier: Apache-2.0
// Replacing one place in a text, and counting what changed: plain functions over bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct TextEdit {
    std::string content;     ///< The whole new text.
    std::uint64_t line = 0;  ///< Where the replaced place begins.
    bool tolerant = false;   ///< Line ends or white space at line ends were compared alike.
};

/// Replaces the one place where `search` stands in `content`; see RoleWorkspace::edit. `name` is for messages.
/// Errors: `invalid` AF-TOOL-040 (nowhere; shows the nearest lines), 041 (more than once; their line numbers), 042 (`search` is
/// empty), 043 (nothing would change).
[[nodiscard]] Result<TextEdit> replace_once(std::string_view content, std::string_view search, std::string_view replace,
                                            std::string_view name);

struct LineCounts {
    std::uint64_t added = 0;
    std::uint64_t removed = 0;
};
/// Lines added and removed, as a diff counts them. Where the differing middle is too large for an exact answer
/// (more than 4,000,000 pairs of lines), all of it counts as replaced.
[[nodiscard]] LineCounts count_changes(std::string_view before, std::string_view after);

/// Lines of a text; a last line without newline counts.
[[nodiscard]] std::uint64_t count_lines(std::string_view text);

}  // namespace agentforge::kernel
