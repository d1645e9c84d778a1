// SPDX-License-Identifier: Apache-2.0
// Inserts small faults into changed lines, to see whether a test notices. Works on text by a language's rules; runs nothing.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gates/language/globs.hpp"
#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

/// One way to alter a line of code: replaces the match of `match` (RE2) by `replace`, in which `\1` is its first group. Searches
/// with texts and comments blanked, but keeps them where a group spans them.
struct MutationRule {
    std::string name;
    std::string match;
    std::string replace;
    std::string description;  ///< Shown to people instead of the replacement. Empty: the replacement itself.
    Globs files;              ///< Only in these files. Empty: in all.
};

/// One line altered, and nothing else. It may not compile; running it shows that.
struct Mutant {
    std::string file;
    std::uint64_t line = 0;
    std::string rule;     ///< In words: `turns == into !=`.
    std::string before;   ///< The line, trimmed.
    std::string after;    ///< As shown to people.
    std::string content;  ///< The whole file.
};

/// Returns mutants of these lines, the most informative first: each line's first rule before any line's second. `code`: the text
/// with untouchable lines emptied (tests beside code); otherwise the text itself. Rules of the language come first, then other
/// values for its literals. Without rules for its text (data), alters only numbers and words.
[[nodiscard]] std::vector<Mutant> mutants_of(const std::string& path, std::string_view text, std::string_view code,
                                             const std::set<std::uint64_t>& lines, const CodeRules& rules,
                                             const std::vector<MutationRule>& mutations);

/// A function with all its results altered.
struct AlteredResults {
    std::string function;
    std::uint64_t line = 0;  ///< Line of the first result.
    std::string before;      ///< That line, trimmed.
    std::string after;       ///< As shown to people.
    /// The whole file, once for each kind of value. Only the kind that fits the return type compiles.
    std::vector<std::string> contents;
};

/// Alters all results of each function that has a result on one of these lines. Skips functions that return nothing, or the
/// object they were called on. `code`: as for `mutants_of`.
[[nodiscard]] std::vector<AlteredResults> altered_results(const std::string& path, std::string_view text, std::string_view code,
                                                          const std::set<std::uint64_t>& lines, const CodeRules& rules,
                                                          const std::vector<MutationRule>& mutations);

/// A test's text, altered to expect other values.
struct OtherExpectations {
    std::string text;  ///< Empty: there is no such line.
    /// True if something must equal an altered value, so a test that reaches it must fail. Other altered values may be arguments.
    bool decisive = false;
};

/// On each line with an assertion, alters the literal that something must equal (`== 4`). If there is none, alters the largest
/// decimal (`assertAlmostEqual(f(), 2.5, delta=0.1)`); without decimals, the last of the least nested literals. In each row of a
/// table of cases, alters the last value. A call that is compared with itself stays. `lines`: only these.
[[nodiscard]] OtherExpectations with_other_expectations(std::string_view text, const std::set<std::uint64_t>& lines,
                                                        const CodeRules& rules);

/// Returns the functions that assert on one of these lines, unconditionally, that something equals a literal: with another
/// literal they fail. If several functions have the same name, skips them.
[[nodiscard]] std::set<std::string> asserting_equality(std::string_view text, const std::set<std::uint64_t>& lines,
                                                       const CodeRules& rules);

/// Returns at most `most` of them, taken in turn from each file and spread over its lines.
[[nodiscard]] std::vector<Mutant> choose_mutants(std::vector<std::vector<Mutant>> by_file, std::size_t most);

/// Returns `before` with `after` beside it, all as comments: it behaves as before but contains every word of the new text. The
/// comments are before each line with `marker`, indented alike, so they are part of the skeleton's body; without such a line, at
/// the end. Empty: the language has no one-line comments.
[[nodiscard]] std::string with_text_as_comment(std::string_view before, std::string_view after, const CodeRules& rules,
                                               std::string_view marker);

/// Returns the function around a line if `before` has none of that name. Empty otherwise. Found by braces, or by indentation if
/// the language has no C comments.
[[nodiscard]] std::string added_function(std::string_view before, std::string_view now, std::uint64_t line,
                                         const CodeRules& rules);

/// Returns whether two texts are the same except for comments and blanks, as far as the rules can tell.
[[nodiscard]] bool same_code(std::string_view before, std::string_view after, const CodeRules& rules);

}  // namespace agentforge::kernel
