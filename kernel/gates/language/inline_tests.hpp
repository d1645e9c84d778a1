// SPDX-License-Identifier: Apache-2.0
// Splits a file that contains its own tests into two parts.
#pragma once

#include <string>
#include <string_view>

namespace agentforge::kernel {

/// The text of the test items, and all other lines, both without empty lines. If only tests were added, `code` is unchanged; if
/// only code was added, `tests` is.
struct InlineTestsSplit {
    std::string tests;
    std::string code;
    std::string lines = {};  ///< The whole text with the items' lines emptied, so line numbers stay the same.
};

/// An item begins with a line that `begins` (RE2) matches outside strings and comments. It ends with the `}` of its first `{`, or
/// with an earlier `;`. Strings, raw strings, characters and comments follow Rust's syntax. An unclosed one belongs to the tests.
[[nodiscard]] InlineTestsSplit split_inline_tests(std::string_view text, const std::string& begins);

}  // namespace agentforge::kernel
