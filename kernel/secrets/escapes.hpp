// SPDX-License-Identifier: Apache-2.0
// Undoes escapes in a text, to find the secrets behind them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

/// A text derived from another, with the position of each of its bytes in that other text.
class TextView {
public:
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Returns the range of the other text that became the bytes from `first` to `last` (not empty).
    [[nodiscard]] std::size_t source_begin(std::size_t first) const;
    [[nodiscard]] std::size_t source_end(std::size_t last) const;

    /// Adds bytes that are unchanged in the other text.
    void add(std::string_view plain, std::size_t begin);
    /// Adds the meaning of what the other text writes differently from `begin` to `end`. May be empty.
    void add(std::string_view meaning, std::size_t begin, std::size_t end);
    /// Maps positions in `inner`'s text to positions in `inner`'s other text.
    void map_through(const TextView& inner);

private:
    /// `size` bytes from `at` on represent the other text's `begin` to `end`. What follows them also follows there.
    struct Piece {
        std::size_t at;
        std::size_t size;
        std::size_t begin;
        std::size_t end;
    };
    [[nodiscard]] const Piece& piece_at(std::size_t place) const;
    std::string text_;
    std::vector<Piece> pieces_;
    std::vector<std::vector<Piece>> below_;
};

/// The parts of a text that contain escapes, with the escapes undone and `reach` bytes on either side. Undoes percent signs
/// (`%41`), HTML (`&#65;`, `&#x41;`,
/// `&amp;`, `&plus;`) and backslashes (`\x41`, `\u0041`, `\u{41}`, `\U00000041`, `\101`, `\n`), and double escapes twice; removes
/// terminal sequences (colours) and zero-width characters. Empty if there is nothing to undo; that costs about half a nanosecond
/// a byte.
[[nodiscard]] std::vector<TextView> without_escapes(std::string_view text, std::size_t reach);

/// Returns the text with ASCII letters in lower case.
[[nodiscard]] std::string folded(std::string_view text);

/// Returns the runs of grouped hexadecimal digits (`5a:78`, `5a78 3843`, `0x5a, 0x78`) with at least `least` digits, without
/// their separators.
[[nodiscard]] std::vector<TextView> grouped_hexadecimal(std::string_view text, std::size_t least);

/// Returns the runs of base64 digits that continue on the next line, without line ends and indentation: all of them in one view,
/// and in another those parts that are broken at one width. A line end follows each run.
[[nodiscard]] std::vector<TextView> joined_lines(std::string_view text);

/// Returns the runs of base64 (both alphabets), base32 or hexadecimal digits, of `least` characters or more, that decode to text.
/// Each view is one decoded run.
[[nodiscard]] std::vector<TextView> decoded_runs(std::string_view text, std::size_t least);

}  // namespace agentforge::kernel
