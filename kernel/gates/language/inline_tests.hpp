// SPDX-License-Identifier: Apache-2.0
// Tests that stand in the file they test: such a file in two parts.
#pragma once

#include <string>
#include <string_view>

namespace agentforge::kernel {

/// The text of the items that are tests, and all other lines, each without empty lines: where nothing but tests was written,
/// `code` is as it was; where nothing but code was, `tests` is.
struct ItemsSplit {
    std::string tests;
    std::string code;
    std::string lines = {};  ///< The whole text with the lines of the items empty, so that numbers of lines hold.
};

/// An item begins with a line that `begins` (RE2) matches outside of strings and comments, and ends with the `}` of its first
/// `{`, or with a `;` before that. Strings, raw strings, characters and comments are those of Rust; what is not closed belongs to
/// the tests.
[[nodiscard]] ItemsSplit split_inline_tests(std::string_view text, const std::string& begins);

}  // namespace agentforge::kernel
