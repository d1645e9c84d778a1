// SPDX-License-Identifier: Apache-2.0
// Alters what tests expect, to see whether they notice.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

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

}  // namespace agentforge::kernel
