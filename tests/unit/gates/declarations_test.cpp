// SPDX-License-Identifier: Apache-2.0
// A specification's declarations added to a tree, and marks in its functions, where no program is needed.
#include "gates/stubs/declarations.hpp"

#include <gmock/gmock.h>

#include "gates/stubs/declarable_interfaces.hpp"
#include "gates/stubs/scaffold.hpp"
#include "gates/stubs/waiting.hpp"
#include "unit/gates/engine_parts.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

struct DeclaringParts : EngineParts {
    DeclaringParts() : EngineParts("go") {}
    BuiltTrees built{current};
    SourceChecks checks{checkout, languages, commands, current, built};
    Declarations declarations{checkout, languages, commands, checks};
};

TEST(Declarations, add_a_skeleton_without_running_a_program) {
    DeclaringParts parts;
    parts.tree("base") = {{"go.mod", "module shop\n"}, {"shop.go", "package shop\n"}};
    const auto files = parts.declarations.skeleton("base", {{"Price", "shop.go", "func Price(name string) int"}}, Stop{});
    ASSERT_TRUE(files.ok()) << files.error().to_string();
    ASSERT_THAT(*files, SizeIs(1));
    EXPECT_EQ(files->front().first, "shop.go");
    EXPECT_THAT(files->front().second, HasSubstr("func Price(name string) int"));
    EXPECT_THAT(files->front().second, HasSubstr("agentforge: skeleton of Price"));
    EXPECT_EQ(parts.programs.runs, 0);
    EXPECT_EQ(parts.tree("base").at("shop.go"), "package shop\n");
}

TEST(Declarations, are_tried_once_for_each_tree_and_interfaces) {
    DeclaringParts parts;
    parts.tree("base") = {{"go.mod", "module shop\n"}, {"shop.go", "package shop\n"}};
    parts.programs.answer = [](const ProcessRequest&) {
        ProcessOutcome outcome;
        outcome.exit_code = 1;
        outcome.err = "./shop.go:3:25: undefined: Money\n";
        return outcome;
    };
    const std::vector<SkeletonInterface> interfaces{{"Price", "shop.go", "func Price() Money"}};
    // The stand-in answers the same without the declarations, so the error is not theirs.
    EXPECT_TRUE(parts.declarations.try_skeleton("base", interfaces, Stop{}).ok());
    EXPECT_EQ(parts.programs.runs, 2);
    EXPECT_TRUE(parts.declarations.try_skeleton("base", interfaces, Stop{}).ok());
    EXPECT_EQ(parts.programs.runs, 2);
    EXPECT_TRUE(parts.commands.has_no_overlay());
}

TEST(Declarations, that_do_not_compile_are_an_error_with_the_compilers_message) {
    DeclaringParts parts;
    parts.tree("base") = {{"go.mod", "module shop\n"}, {"shop.go", "package shop\n"}};
    parts.programs.answer = [&](const ProcessRequest&) {
        ProcessOutcome outcome;
        std::ifstream file(parts.checkout.path() / "shop.go");
        const std::string text(std::istreambuf_iterator<char>(file), {});
        if (text.find("Money") != std::string::npos) {
            outcome.exit_code = 1;
            outcome.err = "./shop.go:3:14: undefined: Money\n";
        }
        return outcome;
    };
    const auto tried = parts.declarations.try_skeleton("base", {{"Price", "shop.go", "func Price() Money"}}, Stop{});
    ASSERT_FALSE(tried.ok());
    EXPECT_EQ(tried.error().code, "AF-GATE-030");
    EXPECT_THAT(tried.error().message, HasSubstr("shop.go:3: undefined: Money"));
}

TEST(DeclaredNames, are_those_whose_skeletons_are_in_the_tree) {
    EngineParts parts("go");
    parts.tree("now") = {{"a.go", "package a\n\nfunc Price() { panic(\"agentforge: skeleton of Price\") }\n"},
                         {"b.go", "package a\n\nfunc Total() {}\n"}};
    const json::object specification{{"interfaces", json::array{json::object{{"name", "Shop.Price"}, {"file", "a.go"}},
                                                                json::object{{"name", "Total"}, {"file", "b.go"}},
                                                                json::object{{"name", "Missing"}, {"file", "c.go"}}}}};
    EXPECT_THAT(*declared_names(parts.checkout, parts.language(), specification, "now"), ElementsAre("Price"));
}

TEST(FunctionMarks, are_in_changed_functions_only) {
    EngineParts parts("go");
    const std::string add = "package shop\n\nfunc Add(a int) int {\n\treturn a\n}\n";
    parts.tree("base") = {{"shop.go", add}, {"same.go", add}};
    parts.tree("now") = {{"shop.go", add + "\nfunc Sub(a int) int {\n\treturn -a\n}\n"}, {"same.go", add}};
    const auto sources = changed_sources(parts.checkout, parts.language(), "base", "now");
    ASSERT_TRUE(sources.ok());
    const auto marked = parts.marks.marked_changes(parts.language(), *sources, Mark::end_test, Stop{});
    ASSERT_TRUE(marked.ok());
    ASSERT_THAT(*marked, SizeIs(1));
    EXPECT_THAT(marked->at("shop.go"), HasSubstr("agentforge: skeleton of Sub"));
    EXPECT_THAT(marked->at("shop.go"), Not(HasSubstr("agentforge: skeleton of Add")));
    EXPECT_EQ(parts.programs.runs, 0);
}

TEST(FunctionMarks, are_in_stubs_and_in_what_the_specification_declares) {
    EngineParts parts("go");
    parts.tree("now") = {{"a.go", "package a\n\nfunc Later() int {\n\tpanic(\"later\")\n}\n"},
                         {"b.go", "package a\n\nfunc Price() int {\n\treturn n\n}\n\nfunc Other() int {\n\treturn n\n}\n"},
                         {"a_test.go", "package a\n\nfunc helper() int {\n\tpanic(\"later\")\n}\n"}};
    parts.baseline.specification = {
        {"interfaces", json::array{json::object{{"name", "Price"}, {"file", "b.go"}, {"signature", "func Price() int"}}}}};
    parts.call("red");
    const auto marked = parts.marks.marked_stubs(parts.language(), "now", Stop{});
    ASSERT_TRUE(marked.ok());
    ASSERT_THAT(*marked, SizeIs(2));
    EXPECT_THAT(marked->at("a.go"), HasSubstr("agentforge: skeleton of Later"));
    EXPECT_THAT(marked->at("b.go"), HasSubstr("agentforge: skeleton of Price"));
    EXPECT_THAT(marked->at("b.go"), Not(HasSubstr("agentforge: skeleton of Other")));
}

TEST(ScaffoldOfATree, is_empty_once_there_are_tests) {
    EngineParts parts("go");
    parts.tree("now") = {{"a.go", "package a\n"}};
    const auto files = scaffold_of(parts.checkout, parts.languages, "now");
    ASSERT_TRUE(files.ok());
    EXPECT_THAT(*files, ElementsAre(Pair("go.mod", HasSubstr("module project"))));
    parts.tree("now")["a_test.go"] = "package a\n";
    EXPECT_THAT(*scaffold_of(parts.checkout, parts.languages, "now"), IsEmpty());
}

}  // namespace
}  // namespace agentforge::kernel::testing
