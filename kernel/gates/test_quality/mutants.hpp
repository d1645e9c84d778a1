// SPDX-License-Identifier: Apache-2.0
// Small faults put into changed lines, to see whether a test notices. Read by a language's rules for its text; nothing is run
// here.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gates/language/globs.hpp"
#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

/// One way to alter a line of code: what `match` (RE2) finds becomes `replace`, where `\1` is its first group. Texts and comments
/// are blank while it searches, and kept where a group spans them.
struct MutationRule {
    std::string name;
    std::string match;
    std::string replace;
    std::string told;  ///< Shown to people in place of the replacement; empty: the replacement itself.
    Globs files;       ///< Only in these; empty: in all.
};

/// One line altered, and nothing else. It may not compile; whoever runs it finds out.
struct Mutant {
    std::string file;
    std::uint64_t line = 0;
    std::string rule;     ///< In words: `turns == into !=`.
    std::string before;   ///< The line, without its margins.
    std::string after;    ///< As shown to people.
    std::string content;  ///< The whole file.
};

/// Mutants of these lines, the more telling first: line by line, each line's first rule before any line's second. `code` is the
/// text with lines that must not be touched left empty (tests that stand beside code); elsewhere the text itself. Rules of the
/// language come first, then other values for its literals. Without rules for its text (data) only numbers and words are altered.
[[nodiscard]] std::vector<Mutant> mutants_of(const std::string& path, std::string_view text, std::string_view code,
                                             const std::set<std::uint64_t>& lines, const CodeRules& rules,
                                             const std::vector<MutationRule>& mutations);

/// A function with all of its results altered.
struct AlteredResults {
    std::string function;
    std::uint64_t line = 0;  ///< Of the first result.
    std::string before;      ///< That line, without its margins.
    std::string after;       ///< As shown to people.
    std::vector<std::string>
        contents;  ///< The whole file, once for each kind of value. Only the kind that fits the return type compiles.
};

/// Alters all results of each function that has a result on one of these lines. Functions that return nothing, or the object they
/// were called on, are left out. `code` is as for `mutants_of`.
[[nodiscard]] std::vector<AlteredResults> altered_results(const std::string& path, std::string_view text, std::string_view code,
                                                          const std::set<std::uint64_t>& lines, const CodeRules& rules,
                                                          const std::vector<MutationRule>& mutations);

/// A test's text that expects other values.
struct OtherExpectations {
    std::string text;       ///< Empty: no line is of this kind.
    bool decisive = false;  ///< Whether one of the altered values is what something must equal: a test that reaches it fails now.
                            ///< Others may be arguments.
};

/// On each line that asserts something, alters the literal that something must equal (`== 4`) or, without one, what is last in
/// the fewest brackets; the largest number with decimals where there are some (`assertAlmostEqual(f(), 2.5, delta=0.1)`); and on
/// each row of a table of cases the last value. A call that is compared with itself stays. `lines`: only these.
[[nodiscard]] OtherExpectations with_other_expectations(std::string_view text, const std::set<std::uint64_t>& lines,
                                                        const CodeRules& rules);

/// The functions that assert on one of these lines that something equals a literal, under no condition: with another literal
/// there, they fail. One of several functions of the same name is left out.
[[nodiscard]] std::set<std::string> plainly_equating(std::string_view text, const std::set<std::uint64_t>& lines,
                                                     const CodeRules& rules);

/// At most `most` of them, taken in turn from each file and spread over its lines.
[[nodiscard]] std::vector<Mutant> choose_mutants(std::vector<std::vector<Mutant>> by_file, std::size_t most);

/// `before` with `after` beside it as nothing but comments: it does what it did, and holds every word of the new text. The
/// comments stand in front of each line that holds `marker`, as deep as it, so that they are part of the skeleton's body; without
/// such a line, at the end. Empty: the language has no comments of one line.
[[nodiscard]] std::string with_text_as_comment(std::string_view before, std::string_view after, const CodeRules& rules,
                                               std::string_view marker);

/// The function around a line if `before` has none of that name; empty otherwise. Found by braces, or by indentation if the
/// language has no C comments.
[[nodiscard]] std::string added_function(std::string_view before, std::string_view now, std::uint64_t line,
                                         const CodeRules& rules);

/// Whether two texts differ in anything but comments and blanks, as far as the rules can tell.
[[nodiscard]] bool same_code(std::string_view before, std::string_view after, const CodeRules& rules);

}  // namespace agentforge::kernel
