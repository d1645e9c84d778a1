// SPDX-License-Identifier: Apache-2.0
// Where code still uses the name of what a request asks to remove.
#include "gates/removal/left_behind.hpp"

#include <gmock/gmock.h>

#include "gates/test_quality/test_quality.hpp"
#include "unit/gates/shipped_language.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> places_left(const std::string& language, const std::string& request, const std::string& before,
                                     const std::string& now) {
    constexpr std::size_t most = 3;
    std::vector<std::string> places;
    for (const auto& left :
         names_left_behind(RemovalRequest(request), {{"a", before, now, now}}, rules_of_language(language), most)) {
        places.push_back(left.lines.text);
    }
    return places;
}

constexpr const char* logger = R"(static int colour = -1;
void log_set_colour(int on) { colour = on; }
int coloured(void) {
    const char *value = getenv("LOG_COLOUR");
    return value != NULL;
}
)";
constexpr const char* setterless_logger = R"(static int colour = -1;
int coloured(void) {
    const char *value = getenv("LOG_COLOUR");
    return value != NULL;
}
)";

TEST(LeftBehind, a_text_that_is_no_plain_word_counts_in_functions_that_stay) {
    EXPECT_THAT(places_left("cpp", "Remove the colours (log_set_colour and LOG_COLOUR)", logger, setterless_logger),
                ElementsAre("const char *value = getenv(\"LOG_COLOUR\");"));
    EXPECT_THAT(places_left("cpp", "Remove the colours (log_set_colour), but keep LOG_COLOUR", logger, setterless_logger),
                IsEmpty());
    EXPECT_THAT(places_left("cpp", "Remove the colours (log_set_colour)", logger, setterless_logger), IsEmpty());
}

constexpr const char* counting = "def poll(source, retries=3):\n    for _ in range(retries):\n        source()\n";

TEST(LeftBehind, a_removed_argument_may_come_in_another_form) {
    EXPECT_THAT(places_left("python", "Remove the retries argument of poll()", counting,
                            "def poll(source, **others):\n    for _ in range(others.get(\"retries\", 3)):\n        source()\n"),
                ElementsAre("for _ in range(others.get(\"retries\", 3)):"));
    EXPECT_THAT(places_left("javascript", "Remove the retries option of poll()",
                            "function poll(source, { retries }) {\n  return source(retries);\n}\n",
                            "function poll(source, others) {\n  return source(others.retries);\n}\n"),
                ElementsAre("return source(others.retries);"));
}

TEST(LeftBehind, a_plain_word_means_something_else_where_the_change_does_not_touch_it) {
    const std::string other = "\n\ndef report(settings):\n    return settings[\"retries\"]\n";
    EXPECT_THAT(places_left("python", "Remove the retries argument of poll()", counting + other,
                            "def poll(source):\n    source()\n" + other),
                IsEmpty());
}

TEST(LeftBehind, a_name_that_the_project_still_declares_is_not_gone) {
    EXPECT_THAT(places_left("python", "Remove the retries argument of poll()", counting,
                            "def poll(source):\n    retries = 3\n    source(limits.retries)\n"),
                IsEmpty());
}

TEST(LeftBehind, only_the_name_at_the_place_is_altered) {
    const auto left = names_left_behind(RemovalRequest("Remove LOG_COLOUR and log_set_colour"),
                                        {{"a.c", logger, setterless_logger, setterless_logger}}, rules_of_language("cpp"), 3);
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left.front().lines.line, 3U);
    std::string expected = setterless_logger;
    expected.insert(expected.find("LOG_COLOUR\"") + std::string("LOG_COLOUR").size(), "_");
    EXPECT_EQ(left.front().files.at("a.c"), expected);
}

TEST(TestQuality, a_name_that_is_left_behind_blocks_and_names_the_tests_to_rewrite) {
    TestQualityEvidence evidence;
    evidence.fresh = {"t.py::a"};
    evidence.removal.left_behind = {{"a.c", 3, "getenv(\"LOG_COLOUR\")", "LOG_COLOUR"}};
    const auto verdict = judge_test_quality(evidence);
    EXPECT_THAT(verdict.blocking, ElementsAre(HasSubstr("asks to remove `LOG_COLOUR`, and a.c:3 still uses that name")));
    EXPECT_EQ(verdict.facts.at("tests_at_fault"), json::value(json::array{"t.py::a"}));
}

}  // namespace
}  // namespace agentforge::kernel
