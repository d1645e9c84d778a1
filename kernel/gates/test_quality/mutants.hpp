// SPDX-License-Identifier: Apache-2.0
// Inserts small faults into changed lines, to see whether a test notices. Changes text by a language's rules; runs nothing.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gates/language/globs.hpp"
#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

/// One way to alter a line of code: replaces the match of `match` (RE2) with `replace`, in which `\1` is its first group. The
/// search ignores strings and comments, but groups keep them.
struct MutationRule {
    std::string name;
    std::string match;
    std::string replace;
    std::string description;  ///< Shown to people instead of the replacement. Empty: the replacement itself.
    Globs files;              ///< Only in these files. Empty: in all.
};

/// A file with one line altered. It may not compile.
struct Mutant {
    std::string file;
    std::uint64_t line = 0;
    std::string rule;     ///< In words: `turns == into !=`.
    std::string before;   ///< The line, trimmed.
    std::string after;    ///< As shown to people.
    std::string content;  ///< The whole file.
};

/// Returns mutants of these lines, the most informative first: the first rule of every line, then the second, and so on. `code`:
/// the text, with lines that must stay (inline tests) emptied. Rules of the language come first, then other values for its
/// literals. Without rules for its text (data), alters only numbers and words.
[[nodiscard]] std::vector<Mutant> mutants_of(const std::string& path, std::string_view text, std::string_view code,
                                             const std::set<std::uint64_t>& lines, const CodeRules& rules,
                                             const std::vector<MutationRule>& mutations);

/// A function with all its return values altered.
struct AlteredResults {
    std::string function;
    std::uint64_t line = 0;  ///< Line of the first result.
    std::string before;      ///< That line, trimmed.
    std::string after;       ///< As shown to people.
    /// The whole file, once for each kind of value. Only the kind that fits the return type compiles.
    std::vector<std::string> contents;
};

/// Alters all results of each function that has a result on one of these lines. Skips functions that return nothing, the
/// object they were called on, or in Go nothing but the error of what they call. `code`: as for `mutants_of`.
[[nodiscard]] std::vector<AlteredResults> altered_results(const std::string& path, std::string_view text, std::string_view code,
                                                          const std::set<std::uint64_t>& lines, const CodeRules& rules,
                                                          const std::vector<MutationRule>& mutations);

/// A test's text, altered to expect other values.
struct OtherExpectations {
    std::string text;  ///< Empty: there is no such line.
    /// True if an assertion compares for equality with an altered value, so a test that reaches it must fail. Other altered
    /// values
    /// may be arguments.
    bool decisive = false;
};

/// On each line with an assertion, alters the literal in an equality comparison (`== 4`); else the largest decimal
/// (`assertAlmostEqual(f(), 2.5, delta=0.1)`); else the last of the least nested literals. In each row of a table of cases,
/// alters the last value. Leaves a call that is compared with itself. `lines`: alters only these.
[[nodiscard]] OtherExpectations with_other_expectations(std::string_view text, const std::set<std::uint64_t>& lines,
                                                        const CodeRules& rules);

/// Returns the functions that, on one of these lines, unconditionally assert equality with a literal. They must fail with another
/// literal. Skips functions that share their name.
[[nodiscard]] std::set<std::string> asserting_equality(std::string_view text, const std::set<std::uint64_t>& lines,
                                                       const CodeRules& rules);

/// Returns at most `most` of them, taken in turn from each file and spread over its lines.
[[nodiscard]] std::vector<Mutant> choose_mutants(std::vector<std::vector<Mutant>> by_file, std::size_t most);

/// Returns `before` with all of `after` added as comments: it behaves as before but contains every word of the new text. The
/// comments stand before each line with `marker`, with its indentation, so they are in the skeleton's body. Without such a line,
/// they stand at the end. Empty if the language has no one-line comments.
[[nodiscard]] std::string with_text_as_comment(std::string_view before, std::string_view after, const CodeRules& rules,
                                               std::string_view marker);

/// Returns the function around a line if `before` has none of that name. Empty otherwise. Finds functions by braces, or by
/// indentation if the language has no C comments.
[[nodiscard]] std::string added_function(std::string_view before, std::string_view now, std::uint64_t line,
                                         const CodeRules& rules);

/// Returns whether two texts are the same except for comments and blanks, as far as the rules can tell.
[[nodiscard]] bool same_code(std::string_view before, std::string_view after, const CodeRules& rules);

/// Returns `now` with the lines of `before` that were only removed, or whose replacement adds no word: with all of them, then
/// with those of each place. Empty if there are none.
[[nodiscard]] std::vector<std::string> with_removed_lines(std::string_view before, std::string_view now);

}  // namespace agentforge::kernel
