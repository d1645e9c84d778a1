// SPDX-License-Identifier: Apache-2.0
// Alters what functions return, to see whether a test notices.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gates/language/source_text.hpp"
#include "gates/test_quality/mutants.hpp"

namespace agentforge::kernel {

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

}  // namespace agentforge::kernel
