// SPDX-License-Identifier: Apache-2.0
#include "config/verification.hpp"

#include <gtest/gtest.h>

#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

json::object config_of(const std::string& text) {
    const auto document = parse_yaml(text, "config");
    EXPECT_TRUE(document.ok()) << document.error().to_string();
    return document.ok() && document->value.is_object() ? document->value.get_object() : json::object();
}

std::string refusal_of_checks(const std::string& text) {
    const auto checks = edit_checks(config_of(text), "/config");
    return checks.ok() ? "" : checks.error().where + ": " + checks.error().message;
}

std::string refusal_of_criteria(const std::string& text) {
    const auto criteria = exit_criteria(config_of(text), "/config");
    return criteria.ok() ? "" : criteria.error().where + ": " + criteria.error().message;
}

bool met(const std::string& criterion, const json::object& facts) {
    const auto criteria = exit_criteria(config_of("exit_criteria: {required: [" + criterion + "]}"));
    EXPECT_TRUE(criteria.ok()) << criteria.error().to_string();
    return criteria.ok() && judge_criteria(*criteria, facts).front().met;
}

}  // namespace

TEST(VerificationAfterEdits, run_in_the_order_listed) {
    const auto checks = edit_checks(config_of("verify_edits: [{gate: tests, scope: affected}, types]"));
    ASSERT_TRUE(checks.ok()) << checks.error().to_string();
    EXPECT_EQ(*checks, (std::vector<EditCheck>{{"tests", false, true}, {"types", false, false}}));
}

TEST(VerificationAfterEdits, syntax_must_pass_by_default) {
    EXPECT_TRUE(edit_checks(config_of("verify_edits: [syntax]"))->front().must_pass);
    EXPECT_FALSE(edit_checks(config_of("verify_edits: [{gate: syntax, must_pass: false}]"))->front().must_pass);
}

TEST(VerificationAfterEdits, are_none_by_default) { EXPECT_TRUE(edit_checks(json::object{})->empty()); }

TEST(VerificationAfterEdits, refuse_an_unknown_check) {
    EXPECT_EQ(refusal_of_checks("verify_edits: [green]"),
              "/config/verify_edits/0: `green` is not a gate that can run after an edit");
    EXPECT_EQ(refusal_of_checks("verify_edits: syntax"), "/config/verify_edits: `verify_edits` has a wrong value");
    EXPECT_EQ(refusal_of_checks("verify_edits: [{gate: syntax, must: true}]"),
              "/config/verify_edits/0/must: `must` is not a field of a check after edits");
    EXPECT_EQ(refusal_of_checks("verify_edits: [{gate: tests, scope: some}]"),
              "/config/verify_edits/0/scope: `scope` has a wrong value");
    EXPECT_EQ(refusal_of_checks("verify_edits: [tests, syntax, tests]"), "/config/verify_edits/2: `tests` appears there twice");
    EXPECT_EQ(refusal_of_checks("verify_edits: [{gate: types, scope: affected}]"),
              "/config/verify_edits/0/scope: only `tests` has a scope; syntax and conformance look at the edited files anyway");
}

TEST(VerificationExitCriteria, compare_facts_with_required_values) {
    EXPECT_TRUE(met("{all_tests_pass: true}", {{"all_tests_pass", true}}));
    EXPECT_FALSE(met("{all_tests_pass: true}", {{"all_tests_pass", false}}));
    EXPECT_TRUE(met("{coverage_percent: '>= 80'}", {{"coverage_percent", 80}}));
    EXPECT_FALSE(met("{coverage_percent: '>= 80'}", {{"coverage_percent", 79.9}}));
    EXPECT_TRUE(met("{max_complexity: '<= 10'}", {{"max_complexity", std::uint64_t{10}}}));
    EXPECT_FALSE(met("{type_errors: '< 1'}", {{"type_errors", 1}}));
    EXPECT_TRUE(met("{type_errors: 0}", {{"type_errors", std::uint64_t{0}}}));
    EXPECT_TRUE(met("{type_check: checked}", {{"type_check", "checked"}}));
    EXPECT_FALSE(met("{type_check: checked}", {{"type_check", "not installed"}}));
}

TEST(VerificationExitCriteria, are_not_met_by_an_unmeasured_fact) {
    EXPECT_FALSE(met("{coverage_percent: '>= 0'}", {}));
    EXPECT_FALSE(met("{coverage_percent: '>= 0'}", {{"coverage_percent", "high"}}));
}

TEST(VerificationExitCriteria, name_the_measured_value_if_not_met) {
    const auto criteria =
        exit_criteria(config_of("exit_criteria: {required: [{coverage_percent: '>= 80', description: enough is covered}]}"));
    ASSERT_TRUE(criteria.ok());
    EXPECT_EQ(unmet_text(judge_criteria(*criteria, {{"coverage_percent", 61}}).front()),
              "exit criterion: coverage_percent must be >= 80 and is 61 (enough is covered)");
    EXPECT_EQ(unmet_text(judge_criteria(*criteria, {}).front()),
              "exit criterion: coverage_percent must be >= 80, and the gate measured no such fact (enough is covered)");
}

TEST(VerificationExitCriteria, refuse_an_unknown_criterion) {
    EXPECT_EQ(refusal_of_criteria("exit_criteria: [all_tests_pass]"), "/config/exit_criteria: `exit_criteria` has a wrong value");
    EXPECT_EQ(refusal_of_criteria("exit_criteria: {required: [], optional: []}"),
              "/config/exit_criteria: `exit_criteria` has a wrong value");
    EXPECT_EQ(refusal_of_criteria("exit_criteria: {required: [{description: nothing}]}"),
              "/config/exit_criteria/required/0: the exit criterion names no fact");
    EXPECT_EQ(refusal_of_criteria("exit_criteria: {required: [{a: true, b: true}]}"),
              "/config/exit_criteria/required/0/b: one criterion names two facts, `a` and `b`");
    EXPECT_EQ(refusal_of_criteria("exit_criteria: {required: [{a: '>= many'}]}"),
              "/config/exit_criteria/required/0/a: `>= many` is not a comparison");
    EXPECT_EQ(refusal_of_criteria("exit_criteria: {required: [{a: []}]}"),
              "/config/exit_criteria/required/0/a: `a` has a wrong value");
}

}  // namespace agentforge::kernel
