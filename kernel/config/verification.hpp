// SPDX-License-Identifier: Apache-2.0
// What a stage's `config` says about verification: which gates run after every edit, and what the exit gate must have
// measured before the stage may end (North Star 2.4.3, 2.4.5).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// One entry of `verify_edits`: `types`, or `{gate: syntax, must_pass: true}`, or `{gate: tests, scope: affected}`.
struct EditCheck {
    std::string gate;        ///< syntax, types, conformance or tests; in the order as written.
    bool must_pass = false;  ///< Where it does not pass the rest is not run: nothing after it would mean anything. `syntax`: true
                             ///< unless said otherwise.
    bool affected = false;   ///< tests: only those that the edited files may affect.
    bool operator==(const EditCheck&) const = default;
};

/// One entry of `exit_criteria.required`: `{all_tests_pass: true, description: …}` or `{coverage_percent: ">= 80"}`.
struct ExitCriterion {
    std::string fact;      ///< By the name under which the exit gate reports it.
    json::value expected;  ///< true, false, a number, a text, or a comparison: `>= 80`, `<= 10`, `> 0`, `< 5`.
    std::string description;
    bool operator==(const ExitCriterion&) const = default;
};

struct JudgedCriterion {
    ExitCriterion criterion;
    std::optional<json::value> found;  ///< Empty: the gate measured no such fact, which does not satisfy anything.
    bool met = false;
};

/// Errors: AF-PIPE-001, `where` being a JSON pointer below `pointer`: no list, an unknown key or gate, a gate twice, a scope that
/// is not affected or all.
[[nodiscard]] Result<std::vector<EditCheck>> edit_checks(const json::object& config, const std::string& pointer = "");
/// Errors: AF-PIPE-001: an unknown key, no fact or several in one entry, a value that is no scalar, a comparison without a
/// number.
[[nodiscard]] Result<std::vector<ExitCriterion>> exit_criteria(const json::object& config, const std::string& pointer = "");

[[nodiscard]] std::vector<JudgedCriterion> judge_criteria(const std::vector<ExitCriterion>& criteria, const json::object& facts);
/// "all_tests_pass must be true and is false: every new test passes"
[[nodiscard]] std::string unmet_text(const JudgedCriterion& judged);
/// `{fact, expected, met, found?, description?}` each, for the report.
[[nodiscard]] json::array to_json(const std::vector<JudgedCriterion>& judged);

}  // namespace agentforge::kernel
