// SPDX-License-Identifier: Apache-2.0
// Reads source text by a language's rules (`code:` of its file), without a parser: what is code, where functions are, how complex
// they are, and what the code compares with. Runs nothing. Plain functions over values.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

/// How to read a language's text. Patterns are RE2.
struct CodeRules {
    struct Quote {
        std::string begins;
        std::string ends;
        bool escapes = true;  ///< A backslash escapes the next byte.
        bool lines = false;   ///< May span lines.
        /// One character only (`'x'`, `'\n'`). Otherwise the mark begins nothing (Rust's lifetimes, C++'s 1'000).
        bool character = false;
    };
    std::vector<std::string> line_comments;
    std::string comment_begins;  ///< Start of a comment over several lines. Empty: there are none.
    std::string comment_ends;
    bool comments_nest = false;
    std::vector<Quote> quotes;    ///< In this order.
    bool preprocessor = false;    ///< Lines that begin with `#` are not code, nor is anything after `#else`.
    std::string function;         ///< If found before a `{`, a function begins. With the group `name`.
    std::string no_function;      ///< Unless this is found there as well.
    std::string decision;         ///< Each match in a function's body is one more path through it.
    std::string acting_comments;  ///< Matches a line whose comment has an effect (`//go:build`, `# coding:`).
    /// Matches a file whose comments may be code (cgo's), or that `read_code` does not read correctly.
    std::string comments_act_where;
    std::string compared_before;  ///< If found at the end of the text before a literal, something is compared with it,
    std::string compared_after;   ///< or if this is found at the start of the text after it.

    [[nodiscard]] bool empty() const noexcept { return function.empty(); }
};

/// A text or a number in code.
struct CodeLiteral {
    std::size_t begin = 0;  ///< In bytes.
    std::size_t end = 0;
    std::uint64_t line = 0;
    std::string value;         ///< As written, with its quotes.
    bool informative = false;  ///< Informative about a test: not an empty text, a single letter, or a number of at most 2.
};

struct CodeText {
    std::string code;  ///< Same length and lines as the text, with comments, texts and directives blanked.
    std::vector<CodeLiteral> literals;
};
[[nodiscard]] CodeText read_code(std::string_view text, const CodeRules& rules);

struct CodeFunction {
    std::string name;
    std::uint64_t first_line = 0;  ///< Line at which its header begins.
    std::uint64_t last_line = 0;
    std::int64_t complexity = 1;  ///< Cyclomatic: 1 plus its decisions. A nested function counts separately.
    std::size_t begin = 0;        ///< In bytes: where its header begins,
    std::size_t open = 0;         ///< its `{`,
    std::size_t close = 0;        ///< and the matching `}`.
};
/// Sorted by begin. If braces do not match, returns what was found before that place.
[[nodiscard]] std::vector<CodeFunction> functions_of(const CodeText& text, const CodeRules& rules);

/// A function by its lines.
struct FunctionLines {
    std::string name;
    std::uint64_t first = 0;  ///< Line of its header.
    std::uint64_t last = 0;
    bool expression = false;  ///< Written on one line, without a body: `const f = (a) => a + 1;`, `f = lambda a: a + 1`.
};
/// Returns the functions of a text by their first lines. Finds them by braces, or by indentation in a language without C
/// comments. Functions that are a single expression count too. A line belongs to the last function that contains it.
[[nodiscard]] std::vector<FunctionLines> function_lines(std::string_view text, const CodeRules& rules);

/// Returns the literals that are informative about a test.
[[nodiscard]] std::set<std::string> informative_literals(const CodeText& text);

/// A line of code that compares with a literal that the tests also have, or has two of their literals side by side (a table of
/// answers).
struct ComparedLiteral {
    std::uint64_t line = 0;
    std::string value;
    std::uint64_t depends = 0;  ///< The first line of code that runs if the comparison is true, as far as the text shows.
};
[[nodiscard]] std::vector<ComparedLiteral> compared_literals(const CodeText& text, const CodeRules& rules,
                                                             const std::set<std::string>& known);

/// The literals on one line of a test: a function's input and its expected result.
struct TestLine {
    std::string file;
    std::uint64_t line = 0;
    std::set<std::string> values;  ///< Without quotes.
};
/// Returns the lines of a test file with informative literals.
[[nodiscard]] std::vector<TestLine> test_lines(const std::string& file, const CodeText& text);

/// A line of code that repeats the values of tests.
struct RepeatedValues {
    std::uint64_t line = 0;
    std::string what;  ///< In words: the values, and where they are in the tests.
};
/// Returns those of `lines` with two literals from one line of the tests, or with three or more literals that are all from the
/// tests.
[[nodiscard]] std::vector<RepeatedValues> repeated_values(const CodeText& code, const std::set<std::uint64_t>& lines,
                                                          const std::vector<TestLine>& tests);

/// Returns the lines of a text, without their line ends.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);
/// Returns the text without blanks and line ends on both sides.
[[nodiscard]] std::string_view without_margins(std::string_view text);

/// Returns `before` with one name, or part of a name, replaced everywhere as in `now`: `load(1)` for `fetch(1)`, `test_load` for
/// `test_fetch`; so are the other forms of the two names, such as `TestFetch`. `words` must contain both names, and `before` must
/// not contain the new one. Returns it unchanged if that brings it no closer to `now`. Also replaces whole names that `words`
/// call the old and the new one (`Gateway to SensorGateway and timeout to timeout_s`), where they call two or more so, but only
/// in lines that `now` then has.
[[nodiscard]] std::string with_new_names(std::string_view before, std::string_view now, std::string_view words);

/// True if `now` has no name, number or mark that `before` does not have at least as often.
[[nodiscard]] bool adds_no_words(std::string_view now, std::string_view before);

/// Returns the numbers of the lines of `now` that `old` lacks. A repeated line counts as often as it occurs.
[[nodiscard]] std::set<std::uint64_t> changed_line_numbers(std::string_view now, std::string_view old);

/// Returns how many more brackets a line opens than it closes.
[[nodiscard]] int bracket_balance(std::string_view line);

/// True if a line has content. Braces alone cannot be run.
[[nodiscard]] bool contains_word(std::string_view line) noexcept;

}  // namespace agentforge::kernel
