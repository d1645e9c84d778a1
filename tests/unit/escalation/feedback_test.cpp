// SPDX-License-Identifier: Apache-2.0
#include "escalation/feedback.hpp"

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

Result<Feedback> read(std::string_view text, const FeedbackPlace& about = {"task-1", "spec", 2}) {
    const auto document = parse_yaml(text, "feedback.yaml");
    EXPECT_TRUE(document.ok()) << document.error().to_string();
    return read_feedback(*document, about);
}

TEST(FeedbackFile, has_the_format_of_the_north_star) {
    const auto feedback = read(R"(
feedback:
  task_id: task-1
  stage: spec
  iteration: 2
  previous_version: artifacts/specification_v2.yaml
  decision: revise
  overall_comments: |
    On the right track.
  specific_issues:
    - {location: requirements.REQ-003, issue: Missing criteria, suggestion: Name a number, priority: must_address}
    - {location: constraints, issue: No rate limits, priority: should_consider}
  timestamp: "2025-12-31T10:30:00Z"
)");
    ASSERT_TRUE(feedback.ok()) << feedback.error().to_string();
    EXPECT_EQ(feedback->overall, "On the right track.");
    EXPECT_EQ(feedback->issues, (std::vector<FeedbackIssue>{{"requirements.REQ-003", "Missing criteria", "Name a number", true},
                                                            {"constraints", "No rate limits", "", false}}));
}

TEST(FeedbackFile, accepts_lists_of_texts_that_may_start_with_a_position) {
    const auto feedback =
        read("must_address: ['REQ-003: Add criteria', 'Say what is left: all of it']\nshould_consider: [Rate limits]\n");
    ASSERT_TRUE(feedback.ok()) << feedback.error().to_string();
    EXPECT_EQ(feedback->issues, (std::vector<FeedbackIssue>{{"REQ-003", "Add criteria", "", true},
                                                            {"", "Say what is left: all of it", "", true},
                                                            {"", "Rate limits", "", false}}));
}

TEST(FeedbackFile, about_another_version_is_refused_with_its_line) {
    const auto feedback = read("overall_comments: Better\niteration: 1\n");
    ASSERT_FALSE(feedback.ok());
    EXPECT_EQ(feedback.error().code, "AF-ESC-064");
    EXPECT_TRUE(feedback.error().where.starts_with("feedback.yaml:2:")) << feedback.error().where;
}

TEST(FeedbackFile, that_has_an_unknown_key_names_the_nearest) {
    const auto feedback = read("must_adress: [x]\n");
    ASSERT_FALSE(feedback.ok());
    EXPECT_NE(feedback.error().remedy.find("`must_address`"), std::string::npos);
}

TEST(FeedbackFile, too_large_for_a_context_is_refused) {
    EXPECT_EQ(read("must_address: ['" + std::string(4100, 'x') + "']\n").error().code, "AF-ESC-065");
    EXPECT_TRUE(read("should_consider: ['" + std::string(4100, 'x') + "']\n").ok());
}

TEST(FeedbackText, says_what_must_be_addressed_first) {
    const Feedback feedback{"On the right track", {{"c", "Rate limits", "", false}, {"a.b", "Wrong", "Right", true}}};
    EXPECT_EQ(in_words(feedback),
              "On the right track\nMust be addressed:\n- a.b: Wrong (Right)\nShould be considered:\n- c: Rate limits");
}

TEST(FeedbackIssues, read_back_as_written) {
    const std::vector<FeedbackIssue> issues{{"a", "b", "c", true}, {"", "d", "", false}};
    EXPECT_EQ(issues_from(json::value(to_json(issues)), [](const std::string& pointer) { return pointer; }).value(), issues);
}

}  // namespace
}  // namespace agentforge::kernel
