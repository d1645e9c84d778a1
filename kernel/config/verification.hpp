// SPDX-License-Identifier: Apache-2.0
// The verification part of a stage's `config`: the gates to run after every edit, and what the exit gate must have measured
// before the stage may end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// One entry of `verify_edits`: `types`, or `{gate: syntax, must_pass: true}`, or `{gate: tests, scope: affected}`.
struct EditCheck {
    std::string gate;  ///< syntax, types, conformance or tests; in the order written.
    /// If it fails, the following checks are skipped, because they would mean nothing. Default for `syntax`: true.
    bool must_pass = false;
    bool affected = false;  ///< For tests: only those that the edited files may affect.
    bool operator==(const EditCheck&) const = default;
};

/// One entry of `exit_criteria.required`: `{all_tests_pass: true, description: …}` or `{coverage_percent: ">= 80"}`.
struct ExitCriterion {
    std::string fact;      ///< Name under which the exit gate reports the fact.
    json::value expected;  ///< true, false, a number, a text, or a comparison: `>= 80`, `<= 10`, `> 0`, `< 5`.
    std::string description;
    bool operator==(const ExitCriterion&) const = default;
};

struct JudgedCriterion {
    ExitCriterion criterion;
    std::optional<json::value> found;  ///< Empty: the gate did not measure this fact, so the criterion is not met.
    bool met = false;
};

/// Errors: AF-PIPE-001 with a JSON pointer below `pointer` in `where`: not a list, an unknown key or gate, a duplicate gate, a
/// scope other than affected or all.
[[nodiscard]] Result<std::vector<EditCheck>> edit_checks(const json::object& config, const std::string& pointer = "");
/// Errors: AF-PIPE-001: an unknown key, no fact or several in one entry, a value that is not a scalar, a comparison without a
/// number.
[[nodiscard]] Result<std::vector<ExitCriterion>> exit_criteria(const json::object& config, const std::string& pointer = "");

[[nodiscard]] std::vector<JudgedCriterion> judge_criteria(const std::vector<ExitCriterion>& criteria, const json::object& facts);
/// Returns, for instance, "all_tests_pass must be true and is false: every new test passes".
[[nodiscard]] std::string unmet_text(const JudgedCriterion& judged);
/// For the report: `{fact, expected, met, found?, description?}` each.
[[nodiscard]] json::array to_json(const std::vector<JudgedCriterion>& judged);

}  // namespace agentforge::kernel
