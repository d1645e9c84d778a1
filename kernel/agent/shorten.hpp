// SPDX-License-Identifier: Apache-2.0
// Shortens a value to fit its share of the context.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

/// Returns at most about `max_bytes` (plus the mark): the first and the last lines, with "… lines a–b left out …" between them.
/// Lines are numbered from `first_line`. If the text has few huge lines, cuts the middle of those. Sets `cut` if it cut anything.
[[nodiscard]] std::string shorten_lines(std::string_view text, std::size_t max_bytes, std::uint64_t first_line, bool& cut);

/// A part of the context as it is sent, and its cost.
struct Piece {
    std::string yaml;  ///< Whole lines.
    std::size_t tokens = 0;
    bool cut = false;  ///< Something was left out to make it fit.
};

/// Returns `name: value` as YAML inside `depth` maps (two spaces each). Consecutive pieces form one map, which costs at
/// most the sum of their `tokens`.
[[nodiscard]] Piece piece_of(std::string_view name, json::value value, unsigned depth = 0);
/// Returns `- item` as YAML for a list inside `depth` maps, under a name. `item` must not be empty.
[[nodiscard]] Piece item_piece_of(json::value item, unsigned depth);

/// Returns a piece that costs at most `max_tokens`. Strings lose their middle; lists and maps lose their ends, and a count says
/// how much was dropped. The last resort is a sentence that says how much was left out. Objects keep their order.
[[nodiscard]] Piece shorten_to(std::string_view name, const json::value& value, std::size_t max_tokens, unsigned depth = 0);
/// The same for a text, which keeps its first and its last lines, numbered from `first_line`.
[[nodiscard]] Piece shorten_text_to(std::string_view name, std::string_view text, std::size_t max_tokens,
                                    std::uint64_t first_line = 1, unsigned depth = 0);

}  // namespace agentforge::kernel
