// SPDX-License-Identifier: Apache-2.0
// Source text read by a language's rules for it (`code:` of the language's file), without a parser of the language: what is code
// and what is not, where its functions are and how complex, and what it compares with. Nothing is run. Plain functions over
// values.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

/// How a language's text is read. Patterns are RE2.
struct CodeRules {
    struct Quote {
        std::string begins;
        std::string ends;
        bool escapes = true;  ///< A backslash takes the next byte along.
        bool lines = false;   ///< May go over more than one line.
        bool character =
            false;  ///< One character only (`'x'`, `'\n'`): otherwise the mark begins nothing (Rust's lifetimes, C++'s 1'000).
    };
    std::vector<std::string> line_comments;
    std::string comment_begins;  ///< Of a comment over lines; empty: there are none.
    std::string comment_ends;
    bool comments_nest = false;
    std::vector<Quote> quotes;    ///< In this order.
    bool preprocessor = false;    ///< Lines that begin with `#` are no code, nor is what stands behind `#else`.
    std::string function;         ///< Found in what stands before a `{`: begins a function. With the group `name`.
    std::string no_function;      ///< Found there as well: it does not.
    std::string decision;         ///< Each one in a function's body is one more way through it.
    std::string acting_comments;  ///< Found in a line with a comment that is more than a comment (`//go:build`, `# coding:`).
    std::string
        comments_act_where;  ///< Found in a file whose comments may be code (cgo's), or which `read_code` does not read right.
    std::string compared_before;  ///< Found at the end of what stands before a literal: something is compared with it,
    std::string compared_after;   ///< or found at the begin of what stands behind it.

    [[nodiscard]] bool empty() const noexcept { return function.empty(); }
};

/// A text or a number that stands in code.
struct CodeLiteral {
    std::size_t begin = 0;  ///< Bytes.
    std::size_t end = 0;
    std::uint64_t line = 0;
    std::string value;     ///< As written, with its marks.
    bool telling = false;  ///< Says something about a test: no empty text, single letter, or number of at most 2.
};

struct CodeText {
    std::string code;  ///< As long as the text, with the same lines; comments, texts and directives are blanks.
    std::vector<CodeLiteral> literals;
};
[[nodiscard]] CodeText read_code(std::string_view text, const CodeRules& rules);

struct CodeFunction {
    std::string name;
    std::uint64_t first_line = 0;  ///< Where what stands before its body begins.
    std::uint64_t last_line = 0;
    std::int64_t complexity = 1;  ///< Cyclomatic: 1 and its decisions; a function in it counts for itself.
    std::size_t begin = 0;        ///< Bytes: where what stands before its body begins,
    std::size_t open = 0;         ///< its `{`,
    std::size_t close = 0;        ///< and the `}` that closes it.
};
/// By their begin. Where braces do not match, what was found before that.
[[nodiscard]] std::vector<CodeFunction> functions_of(const CodeText& text, const CodeRules& rules);

/// A function by its lines.
struct FunctionLines {
    std::string name;
    std::uint64_t first = 0;  ///< Of its header.
    std::uint64_t last = 0;
    bool expression = false;  ///< Written on one line, without a body: `const f = (a) => a + 1;`, `f = lambda a: a + 1`.
};
/// The functions of a text in the order of their first lines. They are found by their braces, or by indentation in a language
/// without C comments; functions that are a single expression count too. A line belongs to the last function that contains it.
[[nodiscard]] std::vector<FunctionLines> function_lines(std::string_view text, const CodeRules& rules);

/// Literals that say something about a test.
[[nodiscard]] std::set<std::string> telling_literals(const CodeText& text);

/// A line of code that compares with what the tests have as well, or has two of their literals beside each other (a table of
/// answers).
struct ComparedLiteral {
    std::uint64_t line = 0;
    std::string value;
    std::uint64_t depends = 0;  ///< The first line of code that is run where the comparison holds, as far as the text tells.
};
[[nodiscard]] std::vector<ComparedLiteral> compared_literals(const CodeText& text, const CodeRules& rules,
                                                             const std::set<std::string>& known);

/// The literals on one line of a test: a function's input and its expected result.
struct TestLine {
    std::string file;
    std::uint64_t line = 0;
    std::set<std::string> values;  ///< Without quotation marks.
};
/// Lines of a test file with telling literals.
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

/// The lines of a text, without their line ends.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// `before` with one name, or part of a name, replaced by another everywhere, as `now` has it: `load(1)` for `fetch(1)`,
/// `test_load` for `test_fetch`. `words` must have both, and `before` not the new one. Unchanged where that brings it no nearer
/// to `now`.
[[nodiscard]] std::string with_new_names(std::string_view before, std::string_view now, std::string_view words);

/// Numbers of the lines of `now` that `old` has not, each as often as it has it.
[[nodiscard]] std::set<std::uint64_t> changed_line_numbers(std::string_view now, std::string_view old);

/// How many more brackets a line opens than it closes.
[[nodiscard]] int bracket_balance(std::string_view line);

/// Whether a line says anything: braces alone can not be run.
[[nodiscard]] bool says_something(std::string_view line) noexcept;

}  // namespace agentforge::kernel
