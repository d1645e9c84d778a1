// SPDX-License-Identifier: Apache-2.0
// Text as a reader takes it who undoes escapes: what a secret looks like behind them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

/// A text made of another one, and where each of its bytes stands there.
class TextView {
public:
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Of the other text: what became the bytes from `first` to `last` (not empty).
    [[nodiscard]] std::size_t source_begin(std::size_t first) const;
    [[nodiscard]] std::size_t source_end(std::size_t last) const;

    /// Adds bytes that stand in the other text as they are.
    void add(std::string_view plain, std::size_t begin);
    /// Adds what the other text has from `begin` to `end` written otherwise; may be nothing.
    void add(std::string_view meaning, std::size_t begin, std::size_t end);
    /// Makes places in `inner`'s text places in `inner`'s other text.
    void look_through(const TextView& inner);

private:
    /// `size` bytes from `at` on stand for the other text's `begin` to `end`; what follows them follows there.
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

/// The parts of a text with escapes in them, undone, each with `reach` bytes on either side. Undone are percent signs (`%41`), HTML (`&#65;`, `&#x41;`, `&amp;`),
/// backslashes (`\x41`, `\u0041`, `\u{41}`, `\U00000041`, `\101`, `\n`), and twice what was escaped twice; taken out are terminal sequences (colours) and
/// characters without width. Empty where there is nothing to undo. Cost there: about half a nanosecond a byte.
[[nodiscard]] std::vector<TextView> without_escapes(std::string_view text, std::size_t reach);

/// ASCII letters small.
[[nodiscard]] std::string folded(std::string_view text);

/// The runs of hexadecimal digits that stand in groups (`5a:78`, `5a78 3843`, `0x5a, 0x78`), at least `least` digits long, without what stands between.
[[nodiscard]] std::vector<TextView> grouped_hexadecimal(std::string_view text, std::size_t least);

}  // namespace agentforge::kernel
