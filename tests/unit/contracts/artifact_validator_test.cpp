// SPDX-License-Identifier: Apache-2.0
// The validation of artifacts, and the messages of a verdict.
#include "unit/contracts/fixtures.hpp"

namespace agentforge::kernel {

TEST(TestArtifactValidator, validates_required_fields) {
    auto artifact = specification();
    artifact.erase("title");
    const auto verdict = shipped().get("specification")->validate(artifact, {});
    EXPECT_EQ(all(verdict), "title is missing\n");
}

TEST(TestArtifactValidator, spec_artifact_requires_components) {
    auto artifact = specification();
    artifact["components"] = json::array();
    const auto verdict = shipped().get("specification")->validate(artifact, {});
    EXPECT_EQ(all(verdict), "components has 0 items; it must have at least 1\n");
}

TEST(TestArtifactValidator, spec_components_require_name_and_type) {
    auto artifact = specification();
    artifact["components"] = json::array{json::object{}};
    const auto verdict = shipped().get("specification")->validate(artifact, {});
    EXPECT_EQ(verdict.violations.size(), 2U) << all(verdict);
}

TEST(TestArtifactValidator, red_artifact_requires_failing_tests) {
    const Artifacts artifacts{{"spec", specification()}};
    RuleContext context;
    context.artifacts = &artifacts;
    auto suite = test_suite();
    suite["failing_tests"] = json::array();
    const auto verdict = shipped().get("test_suite")->validate(suite, context);
    EXPECT_EQ(all(verdict), "failing_tests is empty: no test was seen to fail\n");
}

TEST(ArtifactVerdict, names_the_path_in_words) {
    auto artifact = specification();
    artifact["requirements"].as_array()[0].as_object()["id"] = "R1";
    const auto verdict = shipped().get("specification")->validate(artifact, {});
    EXPECT_EQ(all(verdict), "requirements[0].id is \"R1\"; it must match ^REQ-[0-9]{3}$\n");
}

TEST(ArtifactVerdict, names_the_path_as_a_pointer) {
    auto artifact = specification();
    artifact["requirements"].as_array()[0].as_object()["id"] = "R1";
    const auto verdict = shipped().get("specification")->validate(artifact, {});
    ASSERT_EQ(verdict.violations.size(), 1U);
    EXPECT_EQ(verdict.violations[0].path, "/requirements/0/id");
}

TEST(ArtifactVerdict, names_the_nearest_field_for_an_unknown_one) {
    auto artifact = specification();
    artifact["requirements"].as_array()[0].as_object()["priorty"] = "must";
    const auto verdict = shipped().get("specification")->validate(artifact, {});
    EXPECT_EQ(all(verdict), "requirements[0].priorty is not a field of this contract; did you mean priority?\n");
}

TEST(ArtifactVerdict, names_every_unknown_field) {
    auto artifact = specification();
    artifact["zzzz"] = 1;
    artifact["yyyy"] = 1;
    EXPECT_EQ(shipped().get("specification")->validate(artifact, {}).violations.size(), 2U);
}

TEST(ArtifactVerdict, names_the_actual_and_the_required_type) {
    auto artifact = specification();
    artifact["title"] = 7;
    EXPECT_EQ(all(shipped().get("specification")->validate(artifact, {})), "title is an integer; it must be a string\n");
}

TEST(ArtifactVerdict, lists_the_allowed_values) {
    auto artifact = specification();
    artifact["estimated_complexity"] = "hard";
    EXPECT_EQ(
        all(shipped().get("specification")->validate(artifact, {})),
        "estimated_complexity is \"hard\"; it must be one of \"trivial\", \"simple\", \"moderate\", \"complex\", \"epic\"\n");
}

TEST(ArtifactVerdict, counts_characters_and_not_bytes) {
    auto artifact = specification();
    std::string title;
    for (int i = 0; i < 100; ++i) { title += "é"; }
    artifact["title"] = title;
    EXPECT_TRUE(shipped().get("specification")->validate(artifact, {}).valid());
}

TEST(ArtifactVerdict, allows_the_envelope) {
    auto artifact = specification();
    artifact["_artifact_meta"] = json::object{{"stage", "spec"}};
    artifact["_metadata"] = json::object{{"any", 1}};
    EXPECT_TRUE(shipped().get("specification")->validate(artifact, {}).valid());
}

TEST(ArtifactVerdict, bounds_the_number_of_violations_and_counts_the_rest) {
    auto artifact = specification();
    auto& requirements = artifact["requirements"].as_array();
    for (int i = 0; i < 100; ++i) { requirements.push_back(7); }
    const auto verdict = shipped().get("specification")->validate(artifact, {});
    ASSERT_EQ(verdict.violations.size(), 21U);
    EXPECT_EQ(verdict.violations.back().message, "80 more rules are broken");
}

TEST(ArtifactVerdict, bounds_the_length_of_a_message) {
    auto artifact = specification();
    artifact[std::string(100'000, 'k')] = std::string(100'000, 'v');
    for (const auto& message : shipped().get("specification")->validate(artifact, {}).messages()) {
        EXPECT_LE(message.size(), 520U);
    }
}

TEST(ArtifactHostile, a_long_text_is_matched_without_recursion) {
    auto artifact = specification();
    artifact["requirements"].as_array()[0].as_object()["id"] = std::string(4'000'000, 'R');
    EXPECT_FALSE(shipped().get("specification")->validate(artifact, {}).valid());
}

TEST(ArtifactHostile, deep_nesting_is_refused) {
    json::value deep = 1;
    for (int i = 0; i < 150; ++i) { deep = json::array{deep}; }
    json::object artifact{{"deep", deep}};
    EXPECT_EQ(all(shipped().get("specification")->validate(artifact, {})), "the artifact is nested deeper than 64 levels\n");
}

TEST(ArtifactHostile, too_many_values_are_refused) {
    json::array many(300'000, 1);
    json::object artifact{{"many", many}};
    EXPECT_EQ(all(shipped().get("specification")->validate(artifact, {})), "the artifact contains more than 200000 values\n");
}

TEST(ArtifactHostile, too_much_text_is_refused) {
    json::object artifact{{"text", std::string(9UL << 20U, 'x')}};
    EXPECT_EQ(all(shipped().get("specification")->validate(artifact, {})),
              "the artifact contains more than 8388608 bytes of text\n");
}

TEST(ArtifactHostile, control_characters_of_names_do_not_reach_a_message) {
    auto artifact = specification();
    artifact["a\x1b[2J\nb"] = 1;
    EXPECT_EQ(all(shipped().get("specification")->validate(artifact, {})).find('\x1b'), std::string::npos);
}

TEST(ArtifactHostile, names_with_slashes_and_brackets_are_followed) {
    auto artifact = implementation();
    artifact["file_notes"] = json::object{{"a/b]~[c", 7}};
    const auto verdict = shipped().get("implementation")->validate(artifact, {});
    ASSERT_FALSE(verdict.valid());
    EXPECT_EQ(verdict.violations[0].path, "/file_notes/a~1b]~0[c");
}

TEST(ArtifactMeasured, facts_overwrite_the_models_claims) {
    json::object artifact{{"verification", json::object{{"all_tests_fail", true}}}};
    shipped().get("test_suite")->fill_measured(artifact, json::object{{"all_tests_fail", false}});
    EXPECT_EQ(artifact.at("verification").at("all_tests_fail"), json::value(false));
}

TEST(ArtifactMeasured, a_missing_fact_removes_the_models_claim) {
    json::object artifact{{"verification", json::object{{"all_tests_fail", true}}}, {"suite_id", "mine"}};
    shipped().get("test_suite")->fill_measured(artifact, {});
    EXPECT_TRUE(artifact.empty()) << json::serialize(artifact);
}

TEST(ArtifactMeasured, a_fact_replaces_a_parent_of_another_type) {
    json::object artifact{{"verification", "all good"}};
    shipped().get("test_suite")->fill_measured(artifact, json::object{{"all_tests_fail", true}});
    EXPECT_EQ(artifact.at("verification"), json::value(json::object{{"all_tests_fail", true}}));
}

TEST(ArtifactMeasured, siblings_that_the_model_provides_are_kept) {
    json::object artifact{{"summary", "s"}, {"implementation_id", "x"}};
    shipped().get("implementation")->fill_measured(artifact, json::object{{"implementation_id", "I-1"}});
    EXPECT_EQ(artifact, (json::object{{"summary", "s"}, {"implementation_id", "I-1"}}));
}

TEST(ArtifactAnswer, needs_no_measured_fields) {
    const Artifacts artifacts{{"spec", specification()}};
    RuleContext context;
    context.artifacts = &artifacts;
    const auto answer =
        object(R"({"test_files": [{"path": "tests/test_slug.py", "tests": [{"name": "t", "requirement_ref": "REQ-001"}]}]})");
    EXPECT_EQ(all(shipped().get("test_suite")->validate_answer(answer, context)), "");
}

TEST(ArtifactAnswer, ignores_measured_fields_that_the_model_sets) {
    const auto answer = object(R"({"summary": "s", "verification": {"all_tests_pass": false, "more": 1}, "files_created": 3})");
    EXPECT_EQ(all(shipped().get("implementation")->validate_answer(answer, {})), "");
}

TEST(ArtifactAnswer, is_checked_by_rules_that_need_no_measured_fact) {
    auto answer = specification();
    answer["files_to_create"] = json::array{"/etc/passwd"};
    EXPECT_EQ(all(shipped().get("specification")->validate_answer(answer, {})),
              "files_to_create[0] is \"/etc/passwd\", which is absolute; it must be relative to the project\n");
}

}  // namespace agentforge::kernel
