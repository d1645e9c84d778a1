// SPDX-License-Identifier: Apache-2.0
// Files that hold tests among other code, and skeletons of functions that stand by themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/items.hpp"
#include "gates/skeleton_plain.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const std::string cfg_test = R"(^\s*#\[cfg\(test\)\])";

TEST(SplitItems, a_module_of_tests_ends_with_its_brace) {
    const auto split = split_items("fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() { if true {} }\n}\n\nfn c() {}\n", cfg_test);
    EXPECT_EQ(split.tests, "#[cfg(test)]\nmod tests {\n    fn b() { if true {} }\n}\n");
    EXPECT_EQ(split.code, "fn a() {}\nfn c() {}\n");
}

TEST(SplitItems, braces_in_text_and_comments_are_none) {
    const std::string tests = "#[cfg(test)]\nmod tests {\n    const A: &str = \"}\\\"}\";\n    const B: &str = r#\"}\"}\"#;\n    // }\n    /* } /* } */ } */\n"
                              "    const C: char = '}';\n    const D: char = '\\'';\n    fn e<'a>(x: &'a str) {}\n}\n";
    const auto split = split_items(tests + "fn code() {}\n", cfg_test);
    EXPECT_EQ(split.tests, tests);
    EXPECT_EQ(split.code, "fn code() {}\n");
}

TEST(SplitItems, an_attribute_in_text_or_comment_begins_nothing) {
    const std::string code = "const A: &str = \"\n#[cfg(test)]\n\";\n/*\n#[cfg(test)]\n*/\nfn code() {}\n";
    EXPECT_EQ(split_items(code, cfg_test).tests, "");
    EXPECT_EQ(split_items(code, cfg_test).code, code);
}

TEST(SplitItems, an_item_without_braces_ends_with_its_semicolon) {
    const auto split = split_items("#[cfg(test)]\nmod tests;\nfn code() { [0; 2]; }\n", cfg_test);
    EXPECT_EQ(split.tests, "#[cfg(test)]\nmod tests;\n");
    EXPECT_EQ(split.code, "fn code() { [0; 2]; }\n");
}

TEST(SplitItems, what_is_not_closed_belongs_to_the_tests) {
    EXPECT_EQ(split_items("#[cfg(test)]\nmod tests {\nfn code() {}\n", cfg_test).code, "");
}

Skeletons plain(std::string_view kind, const SkeletonInterface& interface, const std::map<std::string, std::string>& contents = {}) {
    return write_plain_skeletons(kind, {interface}, contents, {}, "agentforge: skeleton of");
}

TEST(PlainSkeletons, go_functions_and_methods_panic_with_the_marker) {
    EXPECT_THAT(plain("go", {"Slugify", "slug/slug.go", "func Slugify(text string) string"}).files,
                ElementsAre(Pair("slug/slug.go", "package slug\n\nfunc Slugify(text string) string {\n\tpanic(\"agentforge: skeleton of Slugify\")\n}\n")));
    EXPECT_THAT(plain("go", {"Slugger.Slugify", "a.go", "func (s *Slugger) Slugify(values ...interface{}) (string, error)"}, {{"a.go", "package a\n\ntype Slugger struct{}\n"}}).files,
                ElementsAre(Pair("a.go", HasSubstr("func (s *Slugger) Slugify(values ...interface{}) (string, error) {\n"))));
    EXPECT_THAT(plain("go", {"Max", "a.go", "Max(a, b int) int"}, {{"b.go", "package words\n"}}).files,
                ElementsAre(Pair("a.go", HasSubstr("package words\n\nfunc Max(a, b int) int {"))));
    EXPECT_THAT(plain("go", {"Slugger", "a.go", "type Slugger struct{}"}, {{"go.mod", "module example.com/slug\n"}}).files,
                ElementsAre(Pair("a.go", "package slug\n\ntype Slugger struct{}\n")));
}

TEST(PlainSkeletons, rust_makes_a_new_module_known) {
    EXPECT_THAT(plain("rust", {"slugify", "src/slug.rs", "pub fn slugify(text: &str) -> String"}, {{"src/lib.rs", "pub fn one() {}\n"}}).files,
                ElementsAre(Pair("src/lib.rs", "pub mod slug;\npub fn one() {}\n"),
                            Pair("src/slug.rs", "pub fn slugify(text: &str) -> String {\n    todo!(\"agentforge: skeleton of slugify\")\n}\n")));
}

TEST(PlainSkeletons, java_stands_in_the_class_of_its_file) {
    EXPECT_THAT(plain("java", {"Slug.slugify", "src/main/java/com/example/Slug.java", "public static String slugify(String text)"}).files,
                ElementsAre(Pair("src/main/java/com/example/Slug.java",
                                 "package com.example;\n\npublic class Slug {\n    public static String slugify(String text) {\n"
                                 "        throw new UnsupportedOperationException(\"agentforge: skeleton of slugify\");\n    }\n}\n")));
}

TEST(PlainSkeletons, what_is_declared_already_is_left_alone) {
    EXPECT_TRUE(plain("go", {"F", "a.go", "func F()"}, {{"a.go", "package a\n\nfunc F() { work() }\n"}}).files.empty());
    EXPECT_TRUE(plain("rust", {"f", "src/lib.rs", "fn f()"}, {{"src/lib.rs", "pub(crate) fn f() { work() }\n"}}).files.empty());
}

TEST(PlainSkeletons, a_signature_that_brings_more_than_itself_is_refused) {
    for (const char* signature : {"func F() { work() }; func G()", "func F() {", "func F(); func G()", "func G()", "func F() // x\nfunc G() {}", "not a signature"}) {
        EXPECT_FALSE(plain("go", {"F", "a.go", signature}).problems.empty()) << signature;
    }
    EXPECT_FALSE(plain("rust", {"f", "src/lib.rs", "pub fn f() { work() } pub fn g()"}).problems.empty());
    EXPECT_FALSE(plain("java", {"f", "F.java", "public void f() { work(); } public void g()"}).problems.empty());
}

}  // namespace
}  // namespace agentforge::kernel
