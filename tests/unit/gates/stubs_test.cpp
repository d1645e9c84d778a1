// SPDX-License-Identifier: Apache-2.0
// Functions that exist but do nothing yet, by each shipped language's rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "gates/language/language.hpp"
#include "gates/stubs/function_marks.hpp"
#include "gates/stubs/stubs.hpp"

namespace agentforge::kernel::testing {
namespace {

/// Counts the stubs in a text.
std::size_t stubs_in(const std::string& language, const std::string& text) {
    const auto loaded = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", language);
    EXPECT_TRUE(loaded.ok()) << loaded.error().to_string();
    const auto marked = mark_stubs(text, loaded->code, loaded->stubs, "MARK");
    std::size_t count = 0;
    for (auto at = marked.find("MARK"); at != std::string::npos; at = marked.find("MARK", at + 1)) { ++count; }
    return language == "cpp" ? count / 2 : count;  // Counted once for C and once for C++.
}

TEST(RefusingFunctions, are_those_that_raise_an_error) {
    const auto names = [](const std::string& language, const std::string& text) {
        const auto loaded = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", language);
        EXPECT_TRUE(loaded.ok()) << loaded.error().to_string();
        return refusing_functions(text, loaded->code);
    };
    EXPECT_THAT(
        names("python", "def f(a):\n    if a:\n        raise ValueError(a)\n    return 1\n\n\ndef g(a):\n    return \"raise\"\n"),
        ::testing::ElementsAre("f"));
    EXPECT_THAT(names("javascript", "function f(a) {\n  throw new Error(a);\n}\n\nfunction g(a) {\n  return a; // throw\n}\n"),
                ::testing::ElementsAre("f"));
    EXPECT_THAT(names("go", "package a\n\nfunc f(a int) int {\n\tif a > 3 {\n\t\tpanic(a)\n\t}\n\treturn 1\n}\n"),
                ::testing::ElementsAre("f"));
}

struct StubCase {
    const char* name;
    const char* language;
    std::vector<std::string> stubs;
    std::vector<std::string> others;
};
class Stubs : public ::testing::TestWithParam<StubCase> {};

TEST_P(Stubs, are_distinguished_from_functions_that_do_something) {
    for (const auto& text : GetParam().stubs) { EXPECT_EQ(stubs_in(GetParam().language, text), 1U) << text; }
    for (const auto& text : GetParam().others) { EXPECT_EQ(stubs_in(GetParam().language, text), 0U) << text; }
}

INSTANTIATE_TEST_SUITE_P(
    Each, Stubs,
    ::testing::Values(
        StubCase{"go",
                 "go",
                 {"func F() int {\n\tpanic(\"please write F\")\n}\n", "func F() (int, error) {\n\t// later\n\treturn 0, nil\n}\n",
                  "func (b *Box) F() {\n}\n", "func F() []string {\n\treturn nil\n}\n",
                  "func F() error { return errors.New(\"not implemented\") }\n"},
                 {"func F() int {\n\treturn n\n}\n",
                  "func F(a int) int {\n\tif a == 0 {\n\t\tpanic(\"no\")\n\t}\n\treturn a\n}\n", "type T struct {\n}\n"}},
        StubCase{"rust",
                 "rust",
                 {"pub fn f() -> i32 {\n    todo!()\n}\n", "fn f(a: &str) -> String { unimplemented!(\"f of {}\", a) }\n",
                  "fn f() { panic!(\"later\"); }\n", "fn f() -> Option<i32> {\n    None\n}\n", "fn f() {}\n"},
                 {"fn f(a: i32) -> i32 {\n    a\n}\n", "const fn f() -> i32 { 0 }\n"}},
        StubCase{"java",
                 "java",
                 {"class A {\n    int f() {\n        throw new UnsupportedOperationException(\"Write it.\");\n    }\n}\n",
                  "class A { void f() { } }\n", "class A { String f() { return null; } }\n"},
                 {"class A { int f() { return n; } }\n", "class A {\n}\n", "interface A { int f(); }\n"}},
        StubCase{"javascript",
                 "javascript",
                 {"export const f = (a) => {\n  throw new Error('Remove this line');\n};\n", "export function f(a) {\n}\n",
                  "class A {\n  f() {\n    return null;\n  }\n}\n", "module.exports.f = function (a) { /* later */ };\n"},
                 {"function f(a) {\n  return a;\n}\n", "class A {\n}\n", "if (a) {\n}\n"}},
        StubCase{"cpp",
                 "cpp",
                 {"int f(int a) { throw std::logic_error(\"not yet\"); }\n", "void A::f() {}\n",
                  "int f(int a) {\n    (void)a;\n    return 0;   // later\n}\n", "char *f(void) { return NULL; }\n",
                  "std::vector<int> f() { return {}; }\n", "void f(void) { abort(); }\n"},
                 {"int f(int a) { return a; }\n", "A::A(int a) : a_(a) {}\n", "A::~A() {}\n", "consteval int f() { return 0; }\n",
                  "namespace n {\n}\n", "int main() { return 0; }\n"}}),
    [](const auto& each) { return std::string(each.param.name); });

/// Returns the text with stubs at these lines, by a shipped language's rules.
std::string stubbed(const std::string& language, const std::string& text, const std::set<std::uint64_t>& lines) {
    const auto loaded = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", language);
    EXPECT_TRUE(loaded.ok()) << loaded.error().to_string();
    return stub_functions_at(text, loaded->code, loaded->stubs, lines, "MARK");
}

TEST(MarkFunctionsAt, ends_calls_of_a_constexpr_function_at_run_time) {
    const auto loaded = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", "cpp");
    ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
    EXPECT_EQ(mark_functions_at("constexpr int f() { return 3; }\n", loaded->code, loaded->stubs, {1}, "MARK"),
              loaded->stubs.head +
                  "constexpr int f() {\n#if __cpp_constexpr >= 201304L\nif (!__builtin_is_constant_evaluated()) "
                  "throw std::logic_error(\"MARK f\");\n#endif\n return 3; }\n");
}

TEST(MarkFunctionsAt, lets_a_function_go_on_that_must_not_throw) {
    const auto loaded = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", "cpp");
    ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
    const std::string fails = "agentforge_reached(\"MARK ";
    const std::string ends = "throw std::logic_error(";
    const auto marked = [&](const std::string& text, bool go_on = false) {
        return mark_functions_at(text, loaded->code, loaded->stubs, {1}, "MARK", go_on);
    };
    for (const auto* text : {"int f() noexcept { return 3; }\n", "int A::f() const noexcept override { return 3; }\n",
                             "int f() noexcept(noexcept(g())) { return 3; }\n", "constexpr int f() noexcept { return 3; }\n"}) {
        EXPECT_THAT(marked(text), ::testing::HasSubstr(fails)) << text;
        EXPECT_THAT(marked(text), ::testing::Not(::testing::HasSubstr(ends))) << text;
    }
    for (const auto* text : {"int f() { return 3; }\n", "int f() noexcept(false) { return 3; }\n"}) {
        EXPECT_THAT(marked(text), ::testing::HasSubstr(ends)) << text;
        EXPECT_THAT(marked(text, true), ::testing::HasSubstr(fails)) << text;
    }
}

TEST(StubFunctionsAt, keeps_the_body_as_comments) {
    EXPECT_EQ(stubbed("go", "package a\n\nfunc F() int {\n\tif a {\n\t\treturn 1\n\t}\n\treturn 2\n}\n", {5}),
              "package a\n\nfunc F() int { panic(\"MARK F\"); \n\t// if a {\n\t\t// return 1\n\t// }\n\t// return 2\n}\n");
}

TEST(StubFunctionsAt, leaves_the_other_functions_alone) {
    const std::string text = "fn f() -> i32 {\n    1\n}\nfn g() -> i32 {\n    2\n}\n";
    EXPECT_EQ(stubbed("rust", text, {5}), "fn f() -> i32 {\n    1\n}\nfn g() -> i32 { panic!(\"MARK g\"); \n    // 2\n}\n");
}

TEST(StubFunctionsAt, ignores_lines_outside_functions_and_existing_stubs) {
    const std::string text = "package a\n\nvar b = 1\n\nfunc F() { panic(\"MARK F\") }\n";
    EXPECT_EQ(stubbed("go", text, {3, 5}), text);
}

TEST(MarkFunctionsAt, puts_the_marker_at_the_start_of_the_innermost_function) {
    const auto loaded = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", "go");
    ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
    EXPECT_EQ(mark_functions_at("func F() {\n\tdo()\n}\nfunc G() {\n\tdo()\n}\n", loaded->code, loaded->stubs, {5}, "MARK"),
              "func F() {\n\tdo()\n}\nfunc G() { panic(\"MARK G\"); \n\tdo()\n}\n");
}

TEST(StubFunctionsNamed, are_marked_whatever_their_body) {
    const auto loaded = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", "java");
    ASSERT_TRUE(loaded.ok());
    const std::string text =
        "class A {\n    int f() { return n; }\n    int g() { return n; }\n    int h() { throw new X(\"MARK h\"); }\n}\n";
    const auto marked = mark_stubs(text, loaded->code, loaded->stubs, "MARK", {"f", "h"});
    EXPECT_THAT(marked, ::testing::HasSubstr("\"MARK f\""));
    EXPECT_THAT(marked, ::testing::Not(::testing::HasSubstr("\"MARK g\"")));
}

}  // namespace
}  // namespace agentforge::kernel::testing
