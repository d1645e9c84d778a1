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

/// Returns at most `most` of them, taken in turn from each file and spread over its lines.
[[nodiscard]] std::vector<Mutant> choose_mutants(std::vector<std::vector<Mutant>> by_file, std::size_t most);

}  // namespace agentforge::kernel
