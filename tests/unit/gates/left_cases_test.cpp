// SPDX-License-Identifier: Apache-2.0
// Which cases count as having left the table of an outdated test.
#include "gates/test_quality/left_cases.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gates/shipped_language.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> texts_left(const std::string& before, const std::string& now) {
    std::vector<std::string> texts;
    for (const auto& each : left_cases(before, now, rules_of_language("go"))) { texts.push_back(each.text); }
    return texts;
}

const std::string table = "func TestFormat(t *testing.T) {\n\ttests := []struct{\n\t}{\n";
const std::string half = "\t\t{\"half\", 15, \"0.01\"},\n";
const std::string negative = "\t\t{\"negative\", -250, \"-0.25\"},\n";
const std::string table_end = "\t}\n}\n";

TEST(LeftCases, are_rows_that_no_new_row_replaces) {
    const std::string changed = "\t\t{\"half\", 15, \"0.02\"},\n";
    const auto before = table + half + negative + table_end;
    EXPECT_THAT(texts_left(before, table + changed + table_end), ElementsAre("{\"negative\", -250, \"-0.25\"},"));
    EXPECT_THAT(texts_left(before, table + table_end), SizeIs(2));
    EXPECT_THAT(texts_left(before, table + changed + negative + table_end), IsEmpty());
}

TEST(LeftCases, may_get_another_name_and_another_result) {
    const auto with = [](const std::string& row) { return texts_left(table + half + table_end, table + row + table_end); };
    EXPECT_THAT(with("\t\t{\"half rounds\", 15, \"0.02\"},\n"), IsEmpty());
    EXPECT_THAT(with("\t\t{\"other\", 16, \"0.02\"},\n"), ElementsAre("{\"half\", 15, \"0.01\"},"));
}

TEST(LeftCases, do_not_share_one_new_row) {
    const std::string again = "\t\t{\"again\", 15, \"0.01\"},\n";
    EXPECT_THAT(texts_left(table + half + again + table_end, table + "\t\t{\"any\", 15, \"0.02\"},\n" + table_end), SizeIs(1));
}

TEST(LeftCases, come_back_behind_the_row_before_them) {
    const auto before = table + half + negative + table_end;
    const auto found = left_cases(before, table + half + table_end, rules_of_language("go"));
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found.front().with, before);
}

TEST(LeftCases, are_no_other_lines) {
    EXPECT_THAT(texts_left(table + "\t\tcheck(t, 1)\n\t\tf(1, 2)\n" + table_end, table + table_end), IsEmpty());
}

const std::string remove_xml =
    "Remove the XML export. Nobody uses it, and it drags in our only XML code. The formats csv and json stay, and asking for xml "
    "must be refused like any unknown format.";

TEST(LeftCases, of_what_the_request_removes_are_elements_of_lists) {
    const auto only = [](const std::vector<std::string>& before, const std::vector<std::string>& after = {}) {
        return lost_only_removed_cases(before, after, remove_xml);
    };
    EXPECT_TRUE(only({"(\"xml\", \"books.xml\"),"}));
    EXPECT_TRUE(only({"(\"xml\", \"books.xml\")"}));
    EXPECT_TRUE(only({"\"xml\","}));
    EXPECT_TRUE(only({"{", "name: \"xml\",", "size: 3,", "},"}));
    EXPECT_TRUE(only({"pytest.param(\"xml\", 3, id=\"xml\"),"}));
    EXPECT_TRUE(only({"for (const each of ['csv', 'xml', 'json']) {"}, {"for (const each of ['csv', 'json']) {"}));
    EXPECT_TRUE(only({"cases = [(\"xml\", 1), (\"csv\", 2)]"}, {"cases = [(\"csv\", 2)]"}));
    EXPECT_TRUE(only({"cases = [(\"csv\", 2), (\"xml\", 1)]"}, {"cases = [(\"csv\", 2)]"}));
}

TEST(LeftCases, of_other_things_are_not_those_of_what_the_request_removes) {
    const auto only = [](const std::vector<std::string>& before, const std::vector<std::string>& after = {}) {
        return lost_only_removed_cases(before, after, remove_xml);
    };
    EXPECT_FALSE(only({}));
    EXPECT_FALSE(only({"(\"toml\", \"books.toml\"),"}));
    EXPECT_FALSE(only({"(\"xml\", \"books.xml\"),", "(\"toml\", \"books.toml\"),"}));
    EXPECT_FALSE(only({"(\"json\", \"from xml\"),"})) << "it stays";
    EXPECT_FALSE(only({"(\"xml\", 1),"}, {"(\"xml\", 2),"})) << "another result";
    EXPECT_FALSE(only({"assert f(\"xml\") == 1"})) << "an assertion";
    EXPECT_FALSE(only({"check(\"xml\")"})) << "an assertion";
    EXPECT_FALSE(only({"check(\"xml\");"})) << "an assertion";
    EXPECT_FALSE(only({"['xml'].forEach(check)"})) << "an assertion";
    EXPECT_FALSE(only({"for (const each of ['csv', 'xml', 'toml']) {"}, {"for (const each of ['csv']) {"}));
    EXPECT_FALSE(only({"[\"xml\", 1], [\"a\""}, {"[\"a\""})) << "not a whole element";
    EXPECT_FALSE(lost_only_removed_cases({"(\"xml\", 1),"}, {}, "Add an option for xml and csv")) << "no removal";
}

TEST(GainedCases, are_more_literals_in_the_list_of_a_loop) {
    const auto gained = [](const std::string& before, const std::string& after) { return only_gained_cases({before}, {after}); };
    EXPECT_TRUE(
        gained("for _, line := range []string{`\"`, `a 'b`} {", "for _, line := range []string{`\"`, `a 'b`, `\"a\\\"`} {"));
    EXPECT_TRUE(gained("for name in (\"Zoe\", \"Adam\"):", "for name in (\"Zoe\", 7, None, \"Adam\"):"));
    EXPECT_TRUE(gained("for (const page of [0, -1]) {", "for (const page of [0, -1, 1.5]) {"));
    EXPECT_TRUE(gained("for (String each : List.of(\"a\")) {", "for (String each : List.of(\"a\", \"b\")) {"));
    EXPECT_TRUE(gained("@pytest.mark.parametrize(\"n\", [0, -1])", "@pytest.mark.parametrize(\"n\", [0, -1, -2])"));
    EXPECT_TRUE(only_gained_cases({"for n in [1]:", "for n in [3]:"}, {"other()", "for n in [1, 2]:", "for n in [3, 4]:"}));
}

TEST(GainedCases, are_nothing_else_that_a_line_gains) {
    const auto gained = [](const std::string& before, const std::string& after) { return only_gained_cases({before}, {after}); };
    EXPECT_FALSE(gained("assert f(1) in [2]", "assert f(1) in [2, 3]")) << "an assertion";
    EXPECT_FALSE(gained("for n in range(3):", "for n in range(3, 0):")) << "an argument";
    EXPECT_FALSE(gained("for n in [1, 2]:", "for n in [1, skip()]:")) << "a call, for a case that left";
    EXPECT_FALSE(gained("for n in [1]:", "for n in [1, skip()]:")) << "a call";
    EXPECT_FALSE(gained("for n in [1, 2]:", "for n in [1, 3]:")) << "another case";
    EXPECT_FALSE(gained("for n in [\"a\"]:", "for n in [\"a\" \"b\"]:")) << "a longer text";
    EXPECT_FALSE(gained("for n in [\"a\"]:", "for n in [\"a\"] or 1:")) << "outside the list";
    EXPECT_FALSE(only_gained_cases({"for n in [1]:", "assert f(n)"}, {"for n in [1, 2]:"})) << "a line that left";
    EXPECT_FALSE(only_gained_cases({}, {"for n in [1]:"}));
}

TEST(GainedArguments, are_at_the_end_of_a_call_of_these_functions) {
    const auto gained = [](const std::string& before, const std::string& after) {
        return only_gained_arguments({before}, {after}, {"PerDay", "now"});
    };
    EXPECT_TRUE(gained("if got := days.PerDay(visits(t, times...)); !equal(got, want) {",
                       "if got := days.PerDay(visits(t, times...), time.UTC); !equal(got, want) {"));
    EXPECT_TRUE(gained("assert_eq!(now(), PerDay(1))", "assert_eq!(now(FixedZone(\"x\", 3600)), PerDay(1, true))"));
    EXPECT_TRUE(gained("self.assertEqual(PerDay(1), 2)", "self.assertEqual(PerDay(1, zone=UTC), 2)"));
    EXPECT_TRUE(only_gained_arguments({"class T:", "  PerDay(1)", "  now()"},
                                      {"class T:", "  more()", "  PerDay(1, UTC)", "  now(UTC)"}, {"PerDay", "now"}));
}

TEST(GainedArguments, are_nothing_else_that_a_line_gains) {
    const auto gained = [](const std::string& before, const std::string& after) {
        return only_gained_arguments({before}, {after}, {"PerDay"});
    };
    EXPECT_FALSE(gained("assert(PerDay(1) == 2)", "assert(PerDay(1, UTC) == 3)")) << "another value";
    EXPECT_FALSE(gained("assert(PerDay(1) == 2)", "assert(PerDay(1, UTC) == 2 || true)")) << "another condition";
    EXPECT_FALSE(gained("assert(PerDay(1) == 2)", "assert(PerDay(1) == 2, UTC)")) << "another function";
    EXPECT_FALSE(gained("check([PerDay(1)])", "check([PerDay(1), 2])")) << "a list";
    EXPECT_FALSE(gained("assert PerDay(1)", "assert PerDay(1, a == b)")) << "a comparison";
    EXPECT_FALSE(gained("assert PerDay(1)", "assert PerDay(1, 2 if x else 3)")) << "a condition";
    EXPECT_FALSE(gained("assert PerDay(1)", "assert PerDay(2, 1)")) << "a first argument";
    EXPECT_FALSE(gained("assert PerDay(1)", "assert PerDay(1)")) << "the same";
    EXPECT_FALSE(gained("  assert PerDay(1)", "    assert PerDay(1, UTC)")) << "under something";
    EXPECT_FALSE(only_gained_arguments({"PerDay(1)", "assert(x)"}, {"PerDay(1, UTC)"}, {"PerDay"})) << "a line that left";
    EXPECT_FALSE(only_gained_arguments({}, {"PerDay(1, UTC)"}, {"PerDay"}));
}

}  // namespace
}  // namespace agentforge::kernel
