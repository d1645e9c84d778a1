// SPDX-License-Identifier: Apache-2.0
// Decodes escapes in a text, to find encoded secrets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

/// A text derived from a source text, with the source position of each byte.
class TextView {
public:
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Returns the source range of the bytes from `first` to `last` (not empty).
    [[nodiscard]] std::size_t source_begin(std::size_t first) const;
    [[nodiscard]] std::size_t source_end(std::size_t last) const;

    /// Adds bytes copied from the source.
    void add(std::string_view plain, std::size_t begin);
    /// Adds the decoded form of the source range `begin` to `end`. May be empty.
    void add(std::string_view decoded, std::size_t begin, std::size_t end);
    /// Makes positions refer to the source of `inner`, of whose text this view was made.
    void map_through(const TextView& inner);

private:
    /// `size` bytes from `at` on represent the source range `begin` to `end`. Bytes after them follow in the source, too.
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

/// Returns the parts of a text with escapes, decoded, with `reach` bytes on either side. Decodes percent signs (`%41`), HTML
/// (`&#65;`, `&#x41;`, `&amp;`, `&plus;`) and backslashes (`\x41`, `\u0041`, `\u{41}`, `\U00000041`, `\101`, `\n`), and double
/// escapes twice; removes terminal sequences (colours) and zero-width characters. Empty if there is nothing to decode; that costs
/// about half a nanosecond a byte.
[[nodiscard]] std::vector<TextView> without_escapes(std::string_view text, std::size_t reach);

/// Returns the text with ASCII letters in lower case.
[[nodiscard]] std::string ascii_lower_case(std::string_view text);

/// Returns the runs of grouped hexadecimal digits (`5a:78`, `5a78 3843`, `0x5a, 0x78`) with at least `least` digits, without
/// their separators.
[[nodiscard]] std::vector<TextView> grouped_hexadecimal(std::string_view text, std::size_t least);

/// Returns the runs of base64 digits that continue on the next line, without line ends and indentation: one view has all runs,
/// another only the parts with lines of one width. A line end follows each run.
[[nodiscard]] std::vector<TextView> joined_lines(std::string_view text);

/// Returns the runs of base64 (both alphabets), base32 or hexadecimal digits, of `least` characters or more, that decode to text.
/// Each view is one decoded run.
[[nodiscard]] std::vector<TextView> decoded_runs(std::string_view text, std::size_t least);

}  // namespace agentforge::kernel
