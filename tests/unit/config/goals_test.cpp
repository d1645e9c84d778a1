// SPDX-License-Identifier: Apache-2.0
#include "config/goals.hpp"

#include "config/pipeline_set.hpp"

#include "unit/config/fixtures.hpp"

namespace agentforge::kernel {

namespace {

ChosenGoal chosen(std::string_view request) {
    const auto goals = Goals::load(shipped_config + "/goals.yaml");
    if (!goals.ok()) {
        ADD_FAILURE() << goals.error().to_string();
        return {};
    }
    return goals->of_request(request);
}

Result<Goals> read(const std::string& text) {
    const Folder folder;
    folder.write("goals.yaml", text);
    return Goals::load(folder.path() + "/goals.yaml");
}

const std::string one = "goals:\n  - {name: a, pipeline: p, words: [\"do a thing\", do]}\n";

}  // namespace

TEST(Goals, the_word_that_begins_the_request_decides) {
    EXPECT_EQ(chosen("Design a login").goal, "design");
    EXPECT_EQ(chosen("Please review the parser and plan nothing").goal, "review");
    EXPECT_EQ(chosen("Add a page with our design plans").goal, "implement");
    EXPECT_EQ(chosen("Add a page with our design plans").word, "Add");
}

TEST(Goals, part_of_a_word_or_file_name_is_ignored) {
    for (const std::string_view request :
         {"the latest prefix", "re-design", "designs", "redesign_it", "docs/design.md", "plan.py",
          "entw\xC3\xBC"
          "design"}) {
        EXPECT_EQ(chosen(request).word, "") << request;
        EXPECT_EQ(chosen(request).goal, "implement") << request;
    }
}

TEST(Goals, punctuation_and_case_do_not_hide_a_word) {
    EXPECT_EQ(chosen("\"REVIEW\": src").word, "REVIEW");
    EXPECT_EQ(chosen("a plan.").goal, "design");
    EXPECT_EQ(chosen("").goal, "implement");
}

TEST(Goals, the_longest_match_at_a_position_decides) {
    EXPECT_EQ(chosen("Write a  spec for slugs").goal, "design");
    EXPECT_EQ(chosen("Write a  spec for slugs").word, "Write a  spec");
    EXPECT_EQ(chosen("Design and implement slugs").goal, "implement");
}

TEST(Goals, a_word_after_the_beginning_is_ignored) {
    for (const std::string_view request :
         {"Return 404 for a missing document", "Please speed up the test suite", "Can you stop the crash in the docs page?",
          "We should expose a /docs endpoint", "Ensure that audit events are stored", "The test runner should print colors",
          "Don't analyze binary files", "Users should be able to review their orders", "When a spec is missing, show a message",
          "Return 404 and update the docs", "Please review and then fix the parser", "Plan & implement OAuth2"}) {
        EXPECT_EQ(chosen(request).goal, "implement") << request;
    }
}

TEST(Goals, opening_words_may_precede_the_goal) {
    EXPECT_EQ(chosen("Let's plan the migration").goal, "design");
    EXPECT_EQ(chosen("I need a design for caching").goal, "design");
    EXPECT_EQ(chosen("Security review of the payments").goal, "review");
    EXPECT_EQ(chosen("Write unit tests for calc").goal, "test");
    EXPECT_EQ(chosen("Create documentation for calc").goal, "document");
    EXPECT_EQ(chosen("For the log module, write tests").goal, "test");
    EXPECT_EQ(chosen("Before we code: design the schema").goal, "design");
}

TEST(Goals, a_fault_in_the_file_is_named_with_its_position) {
    const std::pair<std::string, std::string> cases[] = {
        {"default: b\n" + one, ":1:10"},
        {one, "`default` is missing"},
        {"default: a\n" + one + "  - {name: b, pipeline: q, words: [DO]}\n", "`do` appears twice"},
        {"default: a\n" + one + "  - {name: a, pipeline: q, words: [be]}\n", "`a` appears twice"},
        {"default: a\n" + one + "  - {name: b, words: [be]}\n", "`pipeline` is missing"},
        {"default: a\n" + one + "  - {name: b, pipeline: q, words: []}\n", "no list of words"},
        {"default: a\n" + one + "  - {name: b, pipeline: q, words: [be], wrods: [c]}\n", "Did you mean `words`?"},
        {"default: a\n" + one + "  - {name: b, pipeline: q, words: [\"!\"]}\n", "not text with a letter"},
        {"default: a\nopenings: [\"!\"]\n" + one, "not text with a letter"},
        {"default: a\n", "no list of goals"}};
    for (const auto& [text, said] : cases) {
        const auto goals = read(text);
        ASSERT_FALSE(goals.ok()) << text;
        EXPECT_EQ(goals.error().code, "AF-PIPE-014") << text;
        EXPECT_NE(goals.error().to_string().find(said), std::string::npos) << goals.error().to_string();
    }
}

TEST(Goals, every_goal_names_a_shipped_pipeline_of_that_goal) {
    const auto goals = Goals::load(shipped_config + "/goals.yaml");
    const auto pipelines = PipelineSet::load(shipped_config + "/pipelines", "", "", contracts());
    ASSERT_TRUE(goals.ok() && pipelines.ok());
    for (const Goal& goal : goals->all()) { EXPECT_EQ(pipelines->get(goal.pipeline)->goal_type, goal.name); }
}

}  // namespace agentforge::kernel
