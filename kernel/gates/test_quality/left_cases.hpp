// SPDX-License-Identifier: Apache-2.0
// Cases that leave the table of an outdated test. A case may get another expected result, but it may not leave if it fails now:
// then nobody says what the code should do there. And cases and arguments that a line of a test gains.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "base/cancel_token.hpp"
#include "gates/engine/rules.hpp"
#include "gates/gate_runner.hpp"
#include "gates/language/language.hpp"
#include "gates/language/source_text.hpp"
#include "gates/run/language_commands.hpp"

namespace agentforge::kernel {

/// A row of a table that left a test file.
struct LeftCase {
    std::string text;  ///< Trimmed.
    std::string with;  ///< The file now, with this row.
    std::string file = {};
    std::string failing = {};  ///< The test that fails with it.
};

/// Returns the rows of `before` (`{"a", 1, "b"},`, one a line) that `now` lacks. A row that only got another name or another
/// expected result has not left.
[[nodiscard]] std::vector<LeftCase> left_cases(std::string_view before, std::string_view now, const CodeRules& rules);

/// True if a request to remove something is all that took cases from a test: its lines `before` (trimmed) became `after` by
/// losing elements of lists (`"xml"`, `("xml", 3),`), each with a word of what the request removes and none of what it keeps.
[[nodiscard]] bool lost_only_removed_cases(const std::vector<std::string>& before, const std::vector<std::string>& after,
                                           std::string_view request);

/// True if each of a test's lines `before` (trimmed) is one of `after`, in the same order, with more literals in the list that
/// its loop goes through (`for x in ["a"]:` became `for x in ["a", "b"]:`). Other lines of `after` do not matter.
[[nodiscard]] bool only_gained_cases(const std::vector<std::string>& before, const std::vector<std::string>& after);

/// True if each of a test's or a file's lines `before` is one of `after`, in the same order, and at least one of them has more
/// last arguments in its calls of `functions` (`f(a)` became `f(a, UTC)`). Other lines of `after` do not matter.
[[nodiscard]] bool only_gained_arguments(const std::vector<std::string>& before, const std::vector<std::string>& after,
                                         const std::set<std::string>& functions);

/// Puts rows that left the files of outdated tests back, one at a time (six at most), and returns those with which a test fails
/// that passes without it. Leaves out rows that do not build, and those about what the request asks to remove. Errors: git's and
/// the sandbox's own.
[[nodiscard]] Result<std::vector<LeftCase>> failing_left_cases(LanguageCommands& commands, const Language& language,
                                                               const GateCall& call, const GreenEvidence& green,
                                                               const Stop& stop);

}  // namespace agentforge::kernel
