// SPDX-License-Identifier: Apache-2.0
#include "pipeline/entry/adopted_tests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agentforge::kernel {

namespace {

json::object specification_with(const std::vector<std::string>& ids) {
    json::array requirements;
    for (const std::string& id : ids) { requirements.push_back(json::object{{"id", id}, {"verification_method", "test"}}); }
    return {{"requirements", std::move(requirements)},
            {"test_cases", json::array{json::object{{"id", "TC-7"}, {"requirement_ref", "REQ-002"}}}}};
}

std::vector<std::string> traced(std::string_view file, const std::vector<std::string>& names,
                                const std::vector<std::string>& ids = {"REQ-001", "REQ-002"}) {
    std::vector<std::string> found;
    for (const TracedTest& test : trace_tests(file, names, specification_with(ids))) {
        found.push_back(test.requirement + (test.guard ? " guard" : ""));
    }
    return found;
}

}  // namespace

TEST(TracedTests, name_body_or_comment_above_names_the_requirement) {
    const char* file =
        "def test_req_001_a():\n    pass\n\ndef test_b():\n    \"\"\"REQ-002\"\"\"\n# REQ-001\ndef test_c():\n    pass\n";
    EXPECT_THAT(traced(file, {"test_req_001_a", "test_b", "test_c"}), ::testing::ElementsAre("REQ-001", "REQ-002", "REQ-001"));
}

TEST(TracedTests, a_test_case_of_the_specification_names_its_requirement) {
    EXPECT_THAT(traced("def test_tc_7():\n    pass\n", {"test_tc_7"}), ::testing::ElementsAre("REQ-002"));
}

TEST(TracedTests, a_requirement_named_before_the_first_test_applies_to_the_whole_file) {
    EXPECT_THAT(traced("# all of REQ-002\n\ndef test_a(): pass\n", {"test_a"}), ::testing::ElementsAre("REQ-002"));
}

TEST(TracedTests, a_specification_with_one_requirement_needs_no_mention) {
    EXPECT_THAT(traced("def test_a(): pass\n", {"test_a"}, {"REQ-009"}), ::testing::ElementsAre("REQ-009"));
}

TEST(TracedTests, a_test_that_names_no_requirement_has_none) {
    EXPECT_THAT(traced("def test_a(): pass\n# REQ-0011\n", {"test_a"}), ::testing::ElementsAre(""));
}

TEST(TracedTests, an_id_that_the_specification_lacks_matches_no_requirement) {
    for (const char* comment : {"# REQ-099", "# req_099", "# see Req099."}) {
        const auto tests =
            trace_tests(std::string(comment) + "\ndef test_a(): pass\n", {"test_a"}, specification_with({"REQ-001"}));
        ASSERT_EQ(tests.size(), 1U);
        EXPECT_EQ(tests.front().requirement, "") << comment;
        EXPECT_EQ(tests.front().unknown, "REQ-099") << comment;
    }
    EXPECT_THAT(traced("def test_required_100_times(): pass\n", {"test_required_100_times"}, {"REQ-001"}),
                ::testing::ElementsAre("REQ-001"));
}

TEST(TracedTests, a_comment_marks_a_guard) {
    EXPECT_THAT(traced("# REQ-001 (guard)\ndef test_a(): pass\n", {"test_a"}), ::testing::ElementsAre("REQ-001 guard"));
}

TEST(TracedTests, names_of_other_languages_are_found_by_their_last_word) {
    EXPECT_THAT(traced("TEST(Slug, JoinsWords) {  // REQ-001\n}\nTEST(Slug, DropsAccents) {  // REQ-002\n}\n",
                       {"Slug.JoinsWords", "Slug.DropsAccents"}),
                ::testing::ElementsAre("REQ-001", "REQ-002"));
}

}  // namespace agentforge::kernel
