// SPDX-License-Identifier: Apache-2.0
// Splits the code of C and C++ into tokens.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

/// A word, a number, `::`, `->`, `...` or another single character. In bytes.
struct CToken {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool first_on_line = false;
};

/// Returns code with blanks in place of preprocessor lines, of `#if 0`, and of all branches but the first of an `#if` whose
/// branches have unmatched braces. Positions stay the same.
[[nodiscard]] std::string without_c_directives(std::string code);

/// `code`: without comments and literals (c_text::code_only).
[[nodiscard]] std::vector<CToken> c_tokens_of(std::string_view code);

/// Bytes of a text, from `begin` to before `end`.
struct CRange {
    std::size_t begin = 0;
    std::size_t end = 0;
    [[nodiscard]] bool empty() const noexcept { return begin == end; }
};

/// A file's tokens by number, with their brackets matched. Skips comments and preprocessor lines, and reads literals as zeros.
/// Numbers past the last token are valid, and stand for an empty one at the end.
class CTokens {
public:
    /// Keeps the text by reference.
    explicit CTokens(std::string_view text);

    [[nodiscard]] std::size_t size() const noexcept { return tokens_.size(); }
    /// Returns its text.
    [[nodiscard]] std::string_view at(std::size_t token) const;
    [[nodiscard]] bool is(std::size_t token, std::string_view text) const { return at(token) == text; }
    [[nodiscard]] bool is_word_at(std::size_t token) const;
    [[nodiscard]] bool is_literal(std::size_t token) const { return at(token).starts_with("00"); }
    [[nodiscard]] bool is_first_on_line(std::size_t token) const { return token < size() && tokens_[token].first_on_line; }
    [[nodiscard]] std::size_t end_of(std::size_t token) const { return token < size() ? tokens_[token].end : text_.size(); }

    /// Returns the place of the tokens from `first` to before `last`.
    [[nodiscard]] CRange range(std::size_t first, std::size_t last) const;
    /// Returns their text, with each run of blanks as one space.
    [[nodiscard]] std::string written(std::size_t first, std::size_t last) const;
    /// Returns the same without comments and literals, blanks unchanged.
    [[nodiscard]] std::string_view code(CRange range) const;

    /// Returns the token after the bracket that closes this one, or the end.
    [[nodiscard]] std::size_t after_bracket(std::size_t token) const;
    /// Returns the token after the `>` that closes this `<`, or the next `;`, or the end.
    [[nodiscard]] std::size_t after_angle(std::size_t token) const;

private:
    void match_brackets();

    std::string_view text_;
    std::string code_;
    std::vector<CToken> tokens_;
    std::vector<std::size_t> closing_;  ///< Of each opening bracket: the token that closes it, or npos.
};

}  // namespace agentforge::kernel
