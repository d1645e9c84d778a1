// SPDX-License-Identifier: Apache-2.0
// What the running call and the trees' languages say, before anything runs.
#include "gates/language/tree_languages.hpp"

#include <gmock/gmock.h>

#include "gates/engine/built_trees.hpp"
#include "gates/engine/measured_files.hpp"
#include "unit/gates/engine_parts.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(TreeLanguages, detect_the_language_of_each_tree_once) {
    EngineParts parts("");
    parts.tree("now") = {{"a.go", "package a\n"}};
    parts.tree("base") = {{"a.py", "x = 1\n"}};
    const auto go = parts.languages.of("now");
    ASSERT_TRUE(go.ok());
    EXPECT_EQ((*go)->name, "go");
    EXPECT_EQ((*parts.languages.of("base"))->name, "python");
    parts.tree("now").clear();  // A recorded tree never changes, so nothing is read again.
    EXPECT_EQ(*parts.languages.of("now"), *go);
}

TEST(TreeLanguages, are_the_configured_one_whatever_a_tree_contains) {
    EngineParts parts("rust");
    parts.tree("now") = {{"a.go", "package a\n"}};
    EXPECT_EQ((*parts.languages.of("now"))->name, "rust");
}

TEST(TreeLanguages, are_an_error_for_a_tree_without_sources) {
    EngineParts parts("");
    parts.tree("now") = {{"README", "hello\n"}};
    const auto found = parts.languages.of("now");
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, "AF-GATE-002");
}

TEST(TreeLanguages, list_test_files_and_sources_that_contain_tests) {
    EngineParts parts("rust");
    parts.tree("now") = {{"tests/b.rs", ""},
                         {"src/a.rs", "fn a() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}\n"},
                         {"src/c.rs", "fn c() {}\n"}};
    EXPECT_THAT(*parts.languages.test_files("now"), ElementsAre("src/a.rs", "tests/b.rs"));
}

TEST(TreeLanguages, know_the_type_checker_that_a_tree_declares) {
    EngineParts parts("go");
    parts.tree("base") = {{"a.go", "package a\n"}};
    parts.tree("now") = {{"a.go", "package a\n"}, {"go.mod", "module a\n"}};
    EXPECT_EQ(*parts.languages.type_checker("base"), nullptr);
    ASSERT_NE(*parts.languages.type_checker("now"), nullptr);
    EXPECT_EQ((*parts.languages.type_checker("now"))->name, "go vet");
    EXPECT_EQ(parts.programs.runs, 0);
}

TEST(CurrentCall, says_what_the_specification_declares_and_whether_a_stage_is_judged) {
    EngineParts parts("go");
    EXPECT_FALSE(parts.current.judges_a_stage());
    const json::object price{{"name", "Shop.Price"}, {"file", "shop/shop.go"}, {"signature", "func Price() int"}};
    const json::object constructor{{"name", "shop"}, {"file", "shop/shop.go"}, {"signature", "func shop() int"}};
    const json::object undeclared{{"name", "Later"}, {"file", "shop/later.go"}};
    parts.baseline.specification = {{"interfaces", json::array{price, constructor, undeclared}}};
    parts.call("green");
    EXPECT_TRUE(parts.current.judges_a_stage());
    EXPECT_EQ(parts.current.specification(), parts.baseline.specification);
    EXPECT_THAT(parts.current.to_be_changed(), ElementsAre(Pair("shop/shop.go", ElementsAre("Price"))));
    parts.current.begin({{"tests", {}, {}}, "now", nullptr});
    EXPECT_FALSE(parts.current.judges_a_stage());
    EXPECT_THAT(parts.current.specification(), IsEmpty());
    EXPECT_THAT(parts.current.to_be_changed(), IsEmpty());
}

TEST(BuiltTrees, count_isolated_builds_separately) {
    EngineParts parts("go");
    BuiltTrees built(parts.current);
    parts.call("types");
    built.add("now");
    EXPECT_TRUE(built.contains("now"));
    EXPECT_FALSE(built.contains("base"));
    parts.call("green");
    EXPECT_FALSE(built.contains("now"));
    built.add("now");
    EXPECT_TRUE(built.contains("now"));
}

TEST(MeasuredFiles, are_what_changed_below_the_paths_of_the_call) {
    EngineParts parts("go");
    parts.tree("base") = {{"old.go", ""}, {"shop/same.go", ""}, {"gone.go", ""}};
    parts.tree("now") = {{"old.go", "x"}, {"shop/same.go", ""}, {"shop/new.go", ""}, {"shopping.go", ""}};
    const auto paths = [&](const GateCall& call) {
        const auto files = measured_files(parts.checkout, call);
        EXPECT_TRUE(files.ok());
        std::vector<std::string> result;
        for (const auto& each : *files) { result.push_back(each.path); }
        return result;
    };
    EXPECT_THAT(paths(parts.call("syntax")), UnorderedElementsAre("old.go", "shop/new.go", "shopping.go"));
    EXPECT_THAT(paths(parts.call("syntax", {"shop"})), ElementsAre("shop/new.go"));
    EXPECT_THAT(paths({{"syntax", {"shop/"}, {}}, "now", nullptr}), UnorderedElementsAre("shop/new.go", "shop/same.go"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
