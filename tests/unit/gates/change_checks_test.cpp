// SPDX-License-Identifier: Apache-2.0
// What the gates read about a change from recorded trees, without a program.
#include "gates/test_quality/change_checks.hpp"

#include <gmock/gmock.h>

#include "gates/engine/locked_files.hpp"
#include "gates/test_quality/mutant_runs.hpp"
#include "unit/gates/engine_parts.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr const char* adding_code = "package shop\n\nfunc Add(a int, b int) int {\n\treturn a + b\n}\n";

class ChangeOfCode : public ::testing::Test {
protected:
    ChangeOfCode() {
        parts_.tree("base") = {{"shop.go", adding_code}, {"shop_test.go", "package shop\n"}};
        parts_.tree("now") = parts_.tree("base");
    }

    EngineParts parts_{"go"};
    ChangeChecks change_{parts_.checkout, parts_.languages, parts_.marks, parts_.current};
};

TEST_F(ChangeOfCode, is_not_a_change_of_comments_tests_or_documents) {
    parts_.tree("now")["shop.go"] = std::string("// Adds.\n") + adding_code;
    parts_.tree("now")["shop_test.go"] = "package shop // other\n";
    parts_.tree("now")["README.md"] = "Adds.\n";
    EXPECT_EQ(*change_.changed_code(parts_.call("green")), std::nullopt);
    parts_.tree("now")["shop.go"] = "package shop\n";
    EXPECT_EQ(*change_.changed_code(parts_.call("green")), "shop.go");
}

TEST_F(ChangeOfCode, lists_removed_functions_that_nobody_named) {
    parts_.tree("now")["shop.go"] = "package shop\n";
    EXPECT_THAT(*change_.removed_functions(parts_.call("green")), ElementsAre("shop.go: Add"));
    parts_.baseline.request = "Remove Add";
    EXPECT_THAT(*change_.removed_functions(parts_.call("green")), IsEmpty());
}

TEST_F(ChangeOfCode, lists_other_files_that_nobody_named) {
    parts_.tree("now")["prices.csv"] = "1\n";
    parts_.tree("now")["go.sum"] = "";
    EXPECT_THAT(*change_.unnamed_files(parts_.call("green")), ElementsAre("prices.csv"));
    parts_.baseline.specification = {{"files_to_create", json::array{"data/prices.csv"}}};
    EXPECT_THAT(*change_.unnamed_files(parts_.call("green")), IsEmpty());
}

class NamesOfTheRequest : public ChangeOfCode {
protected:
    NamesOfTheRequest() {
        parts_.baseline.request = "Let Add refuse more than 30 items";
        parts_.baseline.specification = {{"requirements", json::array{json::object{{"description", "Add refuses items"}}}},
                                         {"description", "At most 30 items"}};
        parts_.tree("now")["shop_test.go"] = "package shop\n\n// Few items.\n";
    }

    std::vector<std::string> unmentioned() { return *change_.unmentioned_names(parts_.call("green"), {"shop_test.go"}); }
};

TEST_F(NamesOfTheRequest, are_listed_if_no_requirement_and_no_test_has_them) {
    EXPECT_THAT(unmentioned(), ElementsAre("30"));
    parts_.tree("now")["shop_test.go"] = "package shop\n\nconst most = 30\n";
    EXPECT_THAT(unmentioned(), IsEmpty());
}

TEST_F(NamesOfTheRequest, may_stand_in_the_specification) {
    parts_.baseline.specification["interfaces"] = json::array{"const most = 30"};
    EXPECT_THAT(unmentioned(), IsEmpty());
}

TEST_F(NamesOfTheRequest, may_be_what_the_change_removes) {
    parts_.tree("base")["shop.go"] = std::string(adding_code) + "\nconst most = 30\n";
    EXPECT_THAT(unmentioned(), IsEmpty());
}

TEST_F(NamesOfTheRequest, may_be_files_that_the_change_touches_or_uses) {
    parts_.baseline.request = "Use slugs.go in posts.go and feeds.go";
    parts_.tree("now")["posts.go"] = "package shop\n\nvar post = slugs.Of(1)\n";
    EXPECT_THAT(unmentioned(), ElementsAre("feeds.go"));
}

TEST_F(ChangeOfCode, lists_new_data_that_tests_read) {
    parts_.tree("now")["prices.csv"] = "1\n";
    parts_.tree("now")["shop_test.go"] = "package shop\n\nvar file = \"prices.csv\"\n";
    const auto found = [&] { return *change_.tests_naming_new_data(parts_.call("green"), "base", {"shop_test.go"}); };
    EXPECT_THAT(found(), ElementsAre("shop_test.go names prices.csv"));
    parts_.baseline.request = "Read prices.csv";
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(ChangeOfCode, lists_skeletons_that_it_leaves) {
    parts_.tree("now")["new.go"] = "package shop\n\nfunc New() {\n\tpanic(\"agentforge: skeleton of New\")\n}\n";
    EXPECT_THAT(*change_.skeletons_left(parts_.call("green"), Stop{}), ElementsAre("new.go:4"));
    parts_.tree("base")["new.go"] = "package shop // agentforge: skeleton of New\n";  // The user's own text.
    EXPECT_THAT(*change_.skeletons_left(parts_.call("green"), Stop{}), IsEmpty());
}

TEST_F(ChangeOfCode, lists_declared_stubs_of_the_project_that_it_leaves) {
    const std::string stub = "package shop\n\nfunc Sub(a int) int {\n\tpanic(\"later\")\n}\n";
    parts_.tree("base")["sub.go"] = stub;
    parts_.tree("now")["sub.go"] = stub;
    parts_.baseline.specification = {
        {"interfaces", json::array{json::object{{"name", "Sub"}, {"file", "sub.go"}, {"signature", "func Sub(a int) int"}}}}};
    EXPECT_THAT(*change_.skeletons_left(parts_.call("green"), Stop{}), ElementsAre(HasSubstr("sub.go:")));
    parts_.tree("now")["sub.go"] = "package shop\n\nfunc Sub(a int) int {\n\treturn -a\n}\n";
    EXPECT_THAT(*change_.skeletons_left(parts_.call("green"), Stop{}), IsEmpty());
    EXPECT_EQ(parts_.programs.runs, 0);
}

TEST_F(ChangeOfCode, has_mutants_only_in_its_own_lines) {
    MutantRuns runs(parts_.checkout, parts_.languages, parts_.commands, parts_.current);
    parts_.tree("now")["shop.go"] = std::string(adding_code) + "\nfunc Sub(a int, b int) int {\n\treturn a - b\n}\n";
    parts_.tree("now")["prices.csv"] = "17\n";
    const auto changed = runs.mutants(parts_.language(), "base", "now", false, "");
    ASSERT_TRUE(changed.ok());
    ASSERT_THAT(*changed, SizeIs(1));  // The data does not count beside code.
    ASSERT_FALSE(changed->front().empty());
    for (const auto& mutant : changed->front()) { EXPECT_GE(mutant.line, 7U) << mutant.after; }
    const auto whole = runs.mutants(parts_.language(), "base", "now", true, "");
    EXPECT_GT(whole->front().size(), changed->front().size());
}

TEST(LockedFiles, contain_what_configures_the_runner) {
    EngineParts parts("rust");
    parts.tree("base") = {{"Cargo.toml", "[package]\nname = \"a\"\n[profile.test]\nopt-level = 1\n"}};
    parts.tree("now") = {
        {"Cargo.toml", "[package]\nname = \"b\"\n[profile.test]\nopt-level = 1\n"}, {"build.rs", ""}, {"src/a.rs", ""}};
    LockedFiles locked(parts.checkout);
    const auto changed = [&] {
        return *locked.changed_runner_configuration(parts.language(), "base", *parts.checkout.changes("base", "now"), "now");
    };
    EXPECT_THAT(changed(), ElementsAre("build.rs"));
    parts.tree("now")["Cargo.toml"] = "[package]\nname = \"a\"\n[profile.test]\nopt-level = 3\n";
    EXPECT_THAT(changed(), ElementsAre("Cargo.toml", "build.rs"));
}

TEST(LockedFiles, contain_what_tests_reach_through_links) {
    EngineParts parts("go");
    parts.tree("now") = {{"testdata/cases", ""}, {"middle", ""}, {"data/cases.txt", "1\n"}, {"shop_test.go", ""}};
    parts.checkout.links = {{"testdata/cases", "../middle"}, {"middle", "data/cases.txt"}};
    LockedFiles locked(parts.checkout);
    const auto behind = [&] { return *locked.behind_links(parts.language(), "now"); };
    EXPECT_THAT(behind(), ElementsAre(Pair("data/cases.txt", "testdata/cases"), Pair("middle", "testdata/cases")));
    behind();
    EXPECT_EQ(parts.checkout.checkouts, 1);
}

}  // namespace
}  // namespace agentforge::kernel::testing
