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

}  // namespace agentforge::kernel
