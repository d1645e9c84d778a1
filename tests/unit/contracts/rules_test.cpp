// SPDX-License-Identifier: Apache-2.0
#include "unit/contracts/fixtures.hpp"

#include "contracts/rules.hpp"

namespace agentforge::kernel {

namespace {

std::string broken(std::string_view rule_text, const json::object& artifact, const RuleContext& context = {}) {
    const auto* rule = find_rule(rule_text);
    if (rule == nullptr) { return "no such rule"; }
    ViolationList violations;
    rule->check(*rule, artifact, context, violations);
    return all(std::move(violations).verdict());
}

RuleContext with(const Artifacts& artifacts) {
    RuleContext context;
    context.artifacts = &artifacts;
    return context;
}

}  // namespace

TEST(RelativePath, ordinary_paths_are_accepted) {
    for (const auto* path : {"a.py", "src/a b/c.py", ".github/x.yml", "a..b", "ä/ö.txt"}) {
        EXPECT_EQ(relative_path_problem(path), "") << path;
    }
}

TEST(RelativePath, paths_that_leave_the_project_are_refused) {
    for (const auto* path :
         {"", "/etc/passwd", "../x", "a/../../x", "a/..", "./a", "a//b", "a/", "~/x", "C:/x", "a\\b", "a\nb"}) {
        EXPECT_NE(relative_path_problem(path), "") << path;
    }
}

TEST(RelativePath, a_path_with_a_null_byte_is_refused) { EXPECT_NE(relative_path_problem(std::string_view("a\0b", 3)), ""); }

TEST(ContractRules, requirement_without_criterion_is_named) {
    EXPECT_EQ(
        broken("every requirement has at least one acceptance criterion", object(R"({"requirements": [{"id": "REQ-001"}]})")),
        "requirements[0] (REQ-001) has no acceptance criterion\n");
}

TEST(ContractRules, paths_are_checked_in_every_field) {
    const auto artifact = object(
        R"({"files_to_modify": ["/a"], "test_files": [{"path": "../b"}], "interfaces": [{"file": "/c"}], "files_created": [{"path": "d/../e"}],
        "affected_files": ["a//b"], "file_notes": {"/n": "x"}, "improvements": [{"files": ["/i"]}], "components": [{"path": "/z"}]})");
    ViolationList violations;
    const auto* rule = find_rule("all file paths are valid relative paths");
    rule->check(*rule, artifact, {}, violations);
    EXPECT_EQ(std::move(violations).verdict().violations.size(), 8U);
}

TEST(ContractRules, a_component_may_be_a_folder) {
    EXPECT_EQ(broken("all file paths are valid relative paths", object(R"({"components": [{"path": "src/auth/"}]})")), "");
}

TEST(ContractRules, a_cycle_of_components_is_shown) {
    EXPECT_EQ(broken("no circular dependencies",
                     object(R"({"components": [{"name": "a", "depends_on": ["b"]}, {"name": "b", "depends_on": ["c", "a"]}]})")),
              "components depend on each other in a cycle: a → b → a\n");
}

TEST(ContractRules, a_component_that_depends_on_itself_is_a_cycle) {
    EXPECT_NE(broken("no circular dependencies", object(R"({"components": [{"name": "a", "depends_on": ["a"]}]})")), "");
}

TEST(ContractRules, two_paths_to_one_component_are_not_a_cycle) {
    EXPECT_EQ(
        broken(
            "no circular dependencies",
            object(
                R"({"components": [{"name": "a", "depends_on": ["b", "c"]}, {"name": "b", "depends_on": ["d"]}, {"name": "c", "depends_on": ["d"]}]})")),
        "");
}

TEST(ContractRules, a_long_chain_of_dependencies_is_walked) {
    json::array components;
    for (int i = 0; i < 50'000; ++i) {
        components.push_back(json::object{{"name", std::to_string(i)}, {"depends_on", json::array{std::to_string(i + 1)}}});
    }
    EXPECT_EQ(broken("no circular dependencies", json::object{{"components", components}}), "");
}

TEST(ContractRules, a_requirement_id_used_twice_is_named) {
    EXPECT_EQ(broken("requirement ids are unique", object(R"({"requirements": [{"id": "REQ-001"}, {"id": "REQ-001"}]})")),
              "requirements[1].id is \"REQ-001\", which another requirement has already\n");
}

TEST(ContractRules, a_test_case_for_no_requirement_is_named) {
    EXPECT_EQ(broken("every test case names a requirement of this specification",
                     object(R"({"requirements": [{"id": "REQ-001"}], "test_cases": [{"requirement_ref": "REQ-002"}]})")),
              "test_cases[0].requirement_ref is \"REQ-002\", which is not a requirement of the specification\n");
}

TEST(ContractRules, a_requirement_without_test_is_named) {
    const Artifacts artifacts{{"spec", specification()}};
    EXPECT_EQ(broken("every requirement in spec has at least one test", object(R"({"test_files": []})"), with(artifacts)),
              "requirement REQ-001 has no test\n");
}

TEST(ContractRules, coverage_fails_without_a_specification) {
    EXPECT_EQ(broken("every requirement in spec has at least one test", test_suite()),
              "there is no specification to compare the tests with\n");
}

TEST(ContractRules, the_specification_is_found_by_its_contents) {
    const Artifacts artifacts{{"external", specification()}};
    EXPECT_EQ(broken("every requirement in spec has at least one test", test_suite(), with(artifacts)), "");
}

TEST(ContractRules, a_requirement_verified_by_inspection_needs_no_test) {
    auto spec = specification();
    spec["requirements"].as_array()[0].as_object()["verification_method"] = "inspection";
    const Artifacts artifacts{{"spec", spec}};
    EXPECT_EQ(broken("every requirement in spec has at least one test", object(R"({"test_files": []})"), with(artifacts)), "");
}

TEST(ContractRules, a_guard_is_not_a_new_test) {
    auto suite = test_suite();
    suite["test_files"].as_array()[0].as_object()["tests"].as_array()[0].as_object()["kind"] = "guard";
    const Artifacts artifacts{{"spec", specification()}};
    EXPECT_EQ(broken("every requirement in spec has at least one test", suite, with(artifacts)),
              "requirement REQ-001 has only guards; it needs a test that fails before the change\n");
}

TEST(ContractRules, guards_suffice_for_a_requirement_that_something_stays_beside_one_with_a_new_test) {
    auto spec = specification();
    auto stays = spec["requirements"].as_array()[0];
    stays.as_object()["id"] = "REQ-002";
    stays.as_object()["description"] = "The figures stay the same";
    spec["requirements"].as_array().push_back(stays);
    auto suite = test_suite();
    auto& tests = suite["test_files"].as_array()[0].as_object()["tests"].as_array();
    auto guard = tests[0];
    guard.as_object()["kind"] = "guard";
    guard.as_object()["requirement_ref"] = "REQ-002";
    tests.push_back(guard);
    const auto said = [&] {
        const Artifacts artifacts{{"spec", spec}};
        return broken("every requirement in spec has at least one test", suite, with(artifacts));
    };
    EXPECT_EQ(said(), "");
    tests[0].as_object()["kind"] = "guard";
    EXPECT_NE(said(), "");
}

TEST(ContractRules, a_refactoring_needs_guards_only) {
    auto suite = test_suite();
    suite["test_files"].as_array()[0].as_object()["tests"].as_array()[0].as_object()["kind"] = "guard";
    const Artifacts artifacts{{"spec", specification()}, {"intake", object(R"({"extracted_intent": {"action": "refactor"}})")}};
    EXPECT_EQ(broken("every requirement in spec has at least one test", suite, with(artifacts)), "");
}

TEST(ContractRules, a_test_for_no_requirement_is_named) {
    auto suite = test_suite();
    suite["test_files"].as_array()[0].as_object()["tests"].as_array()[0].as_object()["requirement_ref"] = "REQ-009";
    const Artifacts artifacts{{"spec", specification()}};
    EXPECT_EQ(broken("every test names a requirement of the specification", suite, with(artifacts)),
              "test_files[0].tests[0].requirement_ref is \"REQ-009\", which is not a requirement of the specification\n");
}

TEST(ContractRules, an_unmeasured_fact_is_not_true) {
    EXPECT_EQ(broken("all tests currently fail (verified by execution)", {}), "verification.all_tests_fail was not measured\n");
}

TEST(ContractRules, a_suite_of_guards_needs_no_failing_test) {
    EXPECT_EQ(broken("failing tests exist unless every test is a guard",
                     object(R"({"test_files": [{"tests": [{"kind": "guard"}]}], "failing_tests": []})")),
              "");
}

TEST(ContractRules, a_failing_test_of_the_suite_is_named) {
    const Artifacts artifacts{{"red", test_suite()}};
    auto done = implementation();
    done["passing_tests"] = json::array();
    EXPECT_EQ(broken("all tests from test_suite now pass", done, with(artifacts)),
              "tests/test_slug.py::test_lowercase failed before the change and does not pass now\n");
}

TEST(ContractRules, conformance_and_regressions_are_facts) {
    const auto artifact = object(R"({"verification": {"conformance_passing": false, "no_regressions": "yes"}})");
    EXPECT_NE(broken("conformance checks pass", artifact), "");
    EXPECT_NE(broken("no existing tests broken", artifact), "");
}

TEST(ContractRules, a_blocking_issue_with_a_blank_remediation_is_named) {
    EXPECT_EQ(broken("every blocking issue has a remediation", object(R"({"blocking_issues": [{"remediation": "  \n"}]})")),
              "blocking_issues[0] blocks but says no remediation\n");
}

TEST(ContractRules, an_inferred_answer_needs_a_confidence) {
    EXPECT_NE(broken("every inferred answer has a confidence", object(R"({"questions": [{"source": "agent_inference"}]})")), "");
}

TEST(ContractRules, an_allowed_tool_that_is_forbidden_is_named) {
    EXPECT_EQ(broken("allowed and forbidden tools must not overlap",
                     object(R"({"capabilities": {"tools": {"allowed": ["a", "b"], "forbidden": ["b"]}}})")),
              "capabilities.tools.allowed[1] is \"b\", which is also forbidden\n");
}

TEST(ContractRules, every_rule_survives_values_of_the_wrong_shape) {
    const auto strange = object(
        R"({"requirements": [1, {"acceptance_criteria": 3, "id": []}], "components": {"a": 1}, "test_files": [{"tests": "x"}], "capabilities": [],
        "orchestration": {"reviews": 3}, "verification": 7, "pipeline": {"stages": [3]}, "failing_tests": {}, "blocking_issues": [null], "questions": [[]], "file_notes": 1})");
    const Artifacts artifacts{{"spec", strange}, {"red", strange}};
    auto context = with(artifacts);
    context.agent_exists = [](std::string_view) { return false; };
    context.contract_exists = [](std::string_view) { return false; };
    for (const auto& rule : named_rules()) {
        ViolationList violations;
        rule.check(rule, strange, context, violations);
    }
    SUCCEED();
}

}  // namespace agentforge::kernel
