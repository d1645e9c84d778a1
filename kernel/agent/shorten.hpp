// SPDX-License-Identifier: Apache-2.0
// Compression: making a value fit its share of the context (North Star 3.5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

/// At most `max_bytes` or a little more (the mark): the first lines and the last, and "… lines a–b left out …" between them.
/// Lines are numbered from `first_line`. A text of few huge lines loses the middle of those. Sets `cut` where it cut.
[[nodiscard]] std::string shorten_lines(std::string_view text, std::size_t max_bytes, std::uint64_t first_line, bool& cut);

/// A part of the context as it is sent, and what it costs.
struct Piece {
    std::string yaml;  ///< Whole lines.
    std::size_t tokens = 0;
    bool cut = false;  ///< Something was left out to make it fit.
};

/// `name: value` as YAML where it stands inside `depth` maps (two spaces each). Pieces one after the other are one map, and
/// cost together at most the sum.
[[nodiscard]] Piece piece_of(std::string_view name, json::value value, unsigned depth = 0);
/// `- item` as YAML where its list stands inside `depth` maps, under a name of its own. No item: `item` holds something.
[[nodiscard]] Piece item_piece_of(json::value item, unsigned depth);

/// The piece of `value` that costs at most `max_tokens`: strings lose their middle, lists and maps their ends with a count of
/// what went, until it fits; at last a sentence that says how much was left out. Objects keep their order.
[[nodiscard]] Piece shorten_to(std::string_view name, const json::value& value, std::size_t max_tokens, unsigned depth = 0);
/// The same of a text, which keeps its first lines and its last; they count from `first_line`.
[[nodiscard]] Piece shorten_text_to(std::string_view name, std::string_view text, std::size_t max_tokens,
                                    std::uint64_t first_line = 1, unsigned depth = 0);

}  // namespace agentforge::kernel
