// SPDX-License-Identifier: Apache-2.0
// The lines of a source file: as written, without comments, and also without string literals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

/// The line does not exist.
constexpr std::size_t no_line = static_cast<std::size_t>(-1);

/// All lists have one entry for each line.
struct SourceLines {
    SourceLines(std::string_view text, const CodeRules& rules);

    std::string bare;  ///< The text without comments.
    std::vector<std::string> written;
    std::vector<std::string> code;     ///< Without comments.
    std::vector<std::string> blanked;  ///< Without comments and texts.
    std::vector<FunctionLines> functions;
};

/// Returns the line without leading and trailing whitespace.
[[nodiscard]] std::string_view bare_line(std::string_view line);

/// Returns the number of blanks that the line begins with, or `npos` if it has nothing else.
[[nodiscard]] std::size_t margin_of(std::string_view line);

/// Returns these lines, each with a line end. `numbers`: indexes.
[[nodiscard]] std::string joined_lines(const std::vector<std::string>& lines, const std::vector<std::size_t>& numbers);

/// Returns the function that contains a line, by its index, or nullptr.
[[nodiscard]] const FunctionLines* function_around(const SourceLines& text, std::size_t line);

/// Returns the text without comments and docstrings, with its lines kept.
[[nodiscard]] std::string without_comments(std::string_view text, const CodeRules& rules);

/// Returns the code without statements that do nothing: a block that lost its last line needs one.
[[nodiscard]] std::string without_idle_lines(std::string_view code);

}  // namespace agentforge::kernel
