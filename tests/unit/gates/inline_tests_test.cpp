// SPDX-License-Identifier: Apache-2.0
// Splitting files that contain their own tests, and skeletons for Go, Java and Rust.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/language/inline_tests.hpp"
#include "gates/stubs/skeleton_plain.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

const std::string cfg_test = R"(^\s*#\[cfg\(test\)\])";

TEST(InlineTests, a_test_module_ends_at_its_closing_brace) {
    const auto split =
        split_inline_tests("fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() { if true {} }\n}\n\nfn c() {}\n", cfg_test);
    EXPECT_EQ(split.tests, "#[cfg(test)]\nmod tests {\n    fn b() { if true {} }\n}\n");
    EXPECT_EQ(split.code, "fn a() {}\nfn c() {}\n");
}

TEST(InlineTests, ignores_braces_in_strings_and_comments) {
    const std::string tests =
        "#[cfg(test)]\nmod tests {\n    const A: &str = \"}\\\"}\";\n    const B: &str = r#\"}\"}\"#;\n    // }\n    /* } /* } */ } */\n"
        "    const C: char = '}';\n    const D: char = '\\'';\n    fn e<'a>(x: &'a str) {}\n}\n";
    const auto split = split_inline_tests(tests + "fn code() {}\n", cfg_test);
    EXPECT_EQ(split.tests, tests);
    EXPECT_EQ(split.code, "fn code() {}\n");
}

TEST(InlineTests, ignores_attributes_in_strings_and_comments) {
    const std::string code = "const A: &str = \"\n#[cfg(test)]\n\";\n/*\n#[cfg(test)]\n*/\nfn code() {}\n";
    EXPECT_EQ(split_inline_tests(code, cfg_test).tests, "");
    EXPECT_EQ(split_inline_tests(code, cfg_test).code, code);
}

TEST(InlineTests, an_item_without_braces_ends_with_its_semicolon) {
    const auto split = split_inline_tests("#[cfg(test)]\nmod tests;\nfn code() { [0; 2]; }\n", cfg_test);
    EXPECT_EQ(split.tests, "#[cfg(test)]\nmod tests;\n");
    EXPECT_EQ(split.code, "fn code() { [0; 2]; }\n");
}

TEST(InlineTests, an_unclosed_item_belongs_to_the_tests) {
    EXPECT_EQ(split_inline_tests("#[cfg(test)]\nmod tests {\nfn code() {}\n", cfg_test).code, "");
}

Skeletons plain(std::string_view kind, const SkeletonInterface& interface,
                const std::map<std::string, std::string>& contents = {}) {
    return write_plain_skeletons(kind, {interface}, contents, {}, "agentforge: skeleton of");
}

std::string only(const Skeletons& skeletons) {
    EXPECT_EQ(skeletons.files.size(), 1U) << (skeletons.problems.empty() ? "nothing changed" : skeletons.problems.front());
    return skeletons.files.empty() ? std::string{} : skeletons.files.front().second;
}

TEST(PlainSkeletons, go_functions_and_methods_panic_with_the_marker) {
    EXPECT_THAT(plain("go", {"Slugify", "slug/slug.go", "func Slugify(text string) string"}).files,
                ElementsAre(Pair(
                    "slug/slug.go",
                    "package slug\n\nfunc Slugify(text string) string {\n\tpanic(\"agentforge: skeleton of Slugify\")\n}\n")));
    EXPECT_THAT(plain("go", {"Slugger.Slugify", "a.go", "func (s *Slugger) Slugify(values ...interface{}) (string, error)"},
                      {{"a.go", "package a\n\ntype Slugger struct{}\n"}})
                    .files,
                ElementsAre(Pair("a.go", HasSubstr("func (s *Slugger) Slugify(values ...interface{}) (string, error) {\n"))));
    EXPECT_THAT(plain("go", {"Max", "a.go", "Max(a, b int) int"}, {{"b.go", "package words\n"}}).files,
                ElementsAre(Pair("a.go", HasSubstr("package words\n\nfunc Max(a, b int) int {"))));
    EXPECT_THAT(plain("go", {"Slugger", "a.go", "type Slugger struct{}"}, {{"go.mod", "module example.com/slug\n"}}).files,
                ElementsAre(Pair("a.go", "package slug\n\ntype Slugger struct{}\n")));
}

TEST(PlainSkeletons, rust_declares_a_new_module) {
    EXPECT_THAT(
        plain("rust", {"slugify", "src/slug.rs", "pub fn slugify(text: &str) -> String"}, {{"src/lib.rs", "pub fn one() {}\n"}})
            .files,
        ElementsAre(
            Pair("src/lib.rs", "pub mod slug;\npub fn one() {}\n"),
            Pair("src/slug.rs", "pub fn slugify(text: &str) -> String {\n    todo!(\"agentforge: skeleton of slugify\")\n}\n")));
}

TEST(PlainSkeletons, rust_returns_a_value_for_an_opaque_type) {
    const auto written = [](const std::string& result) {
        const auto files = plain("rust", {"every", "src/lib.rs", "pub fn every() -> " + result}, {{"src/lib.rs", ""}}).files;
        return files.empty() ? std::string() : files.front().second;
    };
    EXPECT_THAT(written("impl Iterator<Item = u8>"),
                HasSubstr("    if true {\n        todo!(\"agentforge: skeleton of every\")\n    }\n    std::iter::empty()\n}"));
    EXPECT_THAT(written("Option<impl Iterator<Item = u8>>"), HasSubstr("    Some(std::iter::empty())\n"));
    EXPECT_THAT(written("impl Fn(i32, i32) -> i32"), HasSubstr("    move |_, _| todo!()\n"));
    EXPECT_THAT(written("Vec<u8>"), ::testing::Not(HasSubstr("if true")));
}

std::string rust_file(const std::vector<SkeletonInterface>& interfaces, const std::string& before = "//! Code.\n") {
    const auto skeletons =
        write_plain_skeletons("rust", interfaces, {{"src/lib.rs", before}}, {"src/lib.rs"}, "agentforge: skeleton of");
    return only(skeletons);
}

TEST(PlainSkeletons, rust_implements_a_trait_without_bodies) {
    EXPECT_EQ(
        rust_file({{"FromStr for A", "src/lib.rs",
                    "impl FromStr for A { type Err = String; fn from_str(text: &str) -> Result<Self, Self::Err>; }"}},
                  "//! Code.\npub struct A;\n"),
        "//! Code.\nuse std::str::FromStr;\npub struct A;\n\nimpl FromStr for A {\n    type Err = String;\n\n"
        "    fn from_str(text: &str) -> Result<Self, Self::Err> {\n        todo!(\"agentforge: skeleton of from_str\")\n    }\n}\n");
    EXPECT_THAT(
        rust_file(
            {{"Index", "src/lib.rs",
              "impl<T: Clone> std::ops::Index<usize> for A<T> { type Output = T; fn index(&self, at: usize) -> &T { &self.0[at] } }"}}),
        HasSubstr("        todo!(\"agentforge: skeleton of index\")\n"))
        << "the body is the implementation";
    EXPECT_THAT(rust_file({{"A", "src/lib.rs", "impl Display for A"}}),
                HasSubstr("use std::fmt::Display;\nimpl Display for A {\n    fn fmt(&self, f: &mut std::fmt::Formatter<'_>)"));
    EXPECT_THAT(rust_file({{"A", "src/lib.rs", "impl std::error::Error for A {}"}}),
                HasSubstr("\nimpl std::error::Error for A {}\n"));
    EXPECT_THAT(rust_file({{"A", "src/lib.rs", "impl Drop for A { fn drop(&mut self); }"}}),
                HasSubstr("    fn drop(&mut self) {}\n"));
    EXPECT_THAT(rust_file({{"A", "src/lib.rs", "impl A { pub const ROOM: usize = 2; pub fn new() -> Self; }"}}),
                HasSubstr("impl A {\n    pub const ROOM: usize = 2;\n\n    pub fn new() -> Self {\n"));
    EXPECT_TRUE(
        plain("rust", {"A", "src/lib.rs", "impl Eq for A {}"}, {{"src/lib.rs", "struct A;\nimpl Eq for A {}\n"}}).files.empty());
    EXPECT_THAT(plain("rust", {"FromStr", "src/lib.rs", "impl FromStr for A"}).problems,
                ElementsAre(HasSubstr("give the associated types and functions of `impl FromStr for A`")));
}

TEST(PlainSkeletons, rust_imports_names_of_the_standard_library) {
    EXPECT_THAT(rust_file({{"wait", "src/lib.rs", "pub fn wait(time: Duration, names: &HashMap<String, Arc<str>>)"}}),
                HasSubstr("//! Code.\n\nuse std::sync::Arc;\nuse std::collections::HashMap;\nuse std::time::Duration;\n"));
    EXPECT_THAT(rust_file({{"A", "src/lib.rs", "#[derive(Hash)] pub struct A { pub time: std::time::Duration }"}}),
                Not(HasSubstr("use ")));
    EXPECT_THAT(rust_file({{"f", "src/lib.rs", "pub fn f(path: Path)"}}, "pub struct Path;\n"), Not(HasSubstr("use ")));
    EXPECT_THAT(rust_file({{"f", "src/lib.rs", "pub fn f(path: &Path)"}}, "use std::path::{Path, PathBuf};\n"),
                Not(HasSubstr("use std::path::Path;")));
    EXPECT_THAT(
        rust_file({{"Error", "src/lib.rs", "pub enum Error { Full }"}, {"f", "src/lib.rs", "pub fn f() -> Result<(), Error>"}}),
        Not(HasSubstr("use ")));
}

TEST(PlainSkeletons, rust_repeats_bounds_and_writes_associated_constants) {
    EXPECT_THAT(rust_file({{"A", "src/lib.rs", "pub struct A<K, F: Fn() -> K = fn() -> K> where K: Clone { key: K, f: F }"},
                           {"A.key", "src/lib.rs", "#[must_use] pub fn key(&self) -> &K"},
                           {"A::ROOM", "src/lib.rs", "pub const ROOM: usize = 2"}}),
                HasSubstr("impl<K, F: Fn() -> K> A<K, F> where K: Clone {\n    #[must_use] pub fn key(&self) -> &K {\n"
                          "        todo!(\"agentforge: skeleton of key\")\n    }\n\n    pub const ROOM: usize = 2;\n}\n"));
}

TEST(PlainSkeletons, rust_adds_a_method_to_a_trait) {
    EXPECT_THAT(rust_file({{"Walk", "src/lib.rs", "pub trait Walk { fn can(&self) -> bool; }"},
                           {"Walk.steps", "src/lib.rs", "fn steps(&self) -> usize"}}),
                HasSubstr("    fn steps(&self) -> usize;\n }"));
    EXPECT_THAT(rust_file({{"Walk::steps", "src/lib.rs", "fn steps(&self) -> usize"}},
                          "pub trait Walk {\n    fn can(&self) -> bool;\n}\n"),
                HasSubstr("    fn steps(&self) -> usize {\n        todo!("))
        << "other types implement the trait";
}

TEST(PlainSkeletons, go_generics_may_have_nested_brackets_and_constants_a_group) {
    EXPECT_THAT(plain("go", {"Map", "a.go", "func Map[S ~[]E, E any](items S) []E"}).files,
                ElementsAre(Pair("a.go", HasSubstr("\nfunc Map[S ~[]E, E any](items S) []E {\n"))));
    EXPECT_THAT(plain("go", {"Sum", "a.go", "func Sum[T interface{ ~int | ~float64 }](items ...T) T"}).files,
                ElementsAre(Pair("a.go", HasSubstr("](items ...T) T {\n"))));
    EXPECT_THAT(plain("go", {"Good", "a.go", "const (\n\tGood Status = iota\n\tBad\n)"}).files,
                ElementsAre(Pair("a.go", HasSubstr("\nconst (\n\tGood Status = iota\n\tBad\n)\n"))));
}

std::string java_file(const std::vector<SkeletonInterface>& interfaces, const std::string& path) {
    return only(write_plain_skeletons("java", interfaces, {}, {path}, "agentforge: skeleton of"));
}

TEST(PlainSkeletons, java_types_get_missing_bodies) {
    const auto text =
        java_file({{"Pay", "src/main/java/p/Pay.java",
                    "public sealed interface Pay { long cents(); default long twice(); "
                    "record Card(long cents) implements Pay { public Card { check(cents); } public long fee(); } "
                    "enum Kind { A(1), B(2); Kind(int n); abstract class Base { abstract int f(); int g() throws E; } } }"}},
                  "src/main/java/p/Pay.java");
    const std::string body = " { throw new UnsupportedOperationException(\"agentforge: skeleton of ";
    EXPECT_THAT(text, HasSubstr("interface Pay { long cents(); default long twice()" + body + "twice\"); } record"));
    EXPECT_THAT(text, HasSubstr("public Card { check(cents); } public long fee()" + body + "fee\"); } }"));
    EXPECT_THAT(text, HasSubstr("enum Kind { A(1), B(2); Kind(int n)" + body + "Kind\"); } abstract"));
    EXPECT_THAT(text, HasSubstr("abstract int f(); int g() throws E" + body + "g\"); }"));
}

TEST(PlainSkeletons, java_methods_go_into_their_type) {
    const std::string path = "src/main/java/p/Shape.java";
    EXPECT_THAT(java_file({{"Shape", path, "@FunctionalInterface public interface Shape"},
                           {"Shape.area", path, "double area()"},
                           {"Shape.twice", path, "default double twice()"}},
                          path),
                HasSubstr("public interface Shape {\n    double area();\n\n    default double twice() {\n        throw"));
    EXPECT_THAT(java_file({{"Shape", path, "public enum Shape { A, B }"}, {"Shape.area", path, "public int area()"}}, path),
                HasSubstr("public enum Shape { A, B;\n\n    public int area() {\n"));
    EXPECT_THAT(java_file({{"Shape", path, "public class Shape {\n    public static class Side {\n    }\n}"},
                           {"Shape.Side.length", path, "public int length()"}},
                          path),
                HasSubstr("    public static class Side {\n        public int length() {\n            throw"));
}

TEST(PlainSkeletons, java_puts_a_function_into_the_class_of_its_file) {
    EXPECT_THAT(
        plain("java", {"Slug.slugify", "src/main/java/com/example/Slug.java", "public static String slugify(String text)"}).files,
        ElementsAre(Pair("src/main/java/com/example/Slug.java",
                         "package com.example;\n\npublic class Slug {\n    public static String slugify(String text) {\n"
                         "        throw new UnsupportedOperationException(\"agentforge: skeleton of slugify\");\n    }\n}\n")));
}

TEST(PlainSkeletons, an_existing_declaration_is_left_alone) {
    EXPECT_TRUE(plain("go", {"F", "a.go", "func F()"}, {{"a.go", "package a\n\nfunc F() { work() }\n"}}).files.empty());
    EXPECT_TRUE(plain("rust", {"f", "src/lib.rs", "fn f()"}, {{"src/lib.rs", "pub(crate) fn f() { work() }\n"}}).files.empty());
}

TEST(PlainSkeletons, go_declares_types_constants_and_variables_with_their_imports) {
    const std::string text = "package a\n\nfunc F() {}\n";
    EXPECT_EQ(only(plain("go", {"Votes", "a.go", "type Votes map[string]int"}, {{"a.go", text}})),
              text + "\ntype Votes map[string]int\n");
    EXPECT_EQ(only(plain("go", {"Most", "a.go", "const Most = 3"}, {{"a.go", text}})), text + "\nconst Most = 3\n");
    EXPECT_EQ(only(plain("go", {"ErrFull", "a.go", "var ErrFull = errors.New(\"full\")"}, {{"a.go", text}})),
              "package a\n\nimport \"errors\"\n\nfunc F() {}\n\nvar ErrFull = errors.New(\"full\")\n");
    EXPECT_THAT(only(plain("go", {"At", "a.go", "func At(when time.Time) bool"}, {{"a.go", text}})),
                ::testing::HasSubstr("import \"time\"\n"));
    EXPECT_TRUE(plain("go", {"Most", "a.go", "const Most = 3"}, {{"a.go", text}, {"b.go", "package a\n\nconst Most = 2\n"}})
                    .files.empty())
        << "the package has it";
}

TEST(PlainSkeletons, go_imports_a_package_of_the_module_whose_type_a_signature_names) {
    const std::map<std::string, std::string> contents{{"go.mod", "module example.com/shop\n"}, {"a.go", "package shop\n"}};
    const auto text = only(write_plain_skeletons("go", {{"Open", "a.go", "func Open(now clock.Clock) bool"}}, contents,
                                                 {"go.mod", "a.go", "internal/clock/clock.go"}, "m"));
    EXPECT_THAT(text, ::testing::HasSubstr("import \"example.com/shop/internal/clock\"\n"));
}

TEST(PlainSkeletons, go_turns_imports_used_only_by_a_body_into_blank_imports) {
    const std::string text =
        "package a\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc Read(path string) {\n\tfmt.Println(os.Args)\n}\n\nfunc Write() { os.Exit(1) }\n";
    const auto changed = only(plain("go", {"Read", "a.go", "func Read(path string) error"}, {{"a.go", text}}));
    EXPECT_THAT(changed, ::testing::HasSubstr("\t_ \"fmt\"\n\t\"os\"\n"));
}

TEST(PlainSkeletons, go_declares_the_missing_type_of_a_method) {
    const auto text = only(write_plain_skeletons("go",
                                                 {{"New", "a.go", "func New[K comparable, V any](limit int) *Cache[K, V]"},
                                                  {"Get", "a.go", "func (c *Cache[K, V]) Get(key K) (V, bool)"},
                                                  {"Put", "a.go", "func (c *Cache[K, V]) Put(key K, value V)"}},
                                                 {}, {}, "m"));
    EXPECT_THAT(text, ::testing::HasSubstr("type Cache[K any, V any] struct{}\n"));
    EXPECT_EQ(text.find("type Cache"), text.rfind("type Cache"));
}

TEST(PlainSkeletons, rust_declares_a_module_after_crate_docs_and_attributes) {
    const auto files = plain("rust", {"left", "src/quota.rs", "pub fn left() -> u32"},
                             {{"src/lib.rs", "//! Limits.\n//!\n//! More.\n#![allow(dead_code)]\n\npub mod clock;\n"}})
                           .files;
    EXPECT_THAT(files,
                ::testing::Contains(
                    Pair("src/lib.rs", "//! Limits.\n//!\n//! More.\n#![allow(dead_code)]\n\npub mod quota;\npub mod clock;\n")));
}

TEST(PlainSkeletons, rust_types_use_their_parameters) {
    EXPECT_THAT(only(plain("rust", {"Quota", "src/lib.rs", "pub struct Quota<'a, K: Ord, const N: usize>"},
                           {{"src/lib.rs", "pub fn one() {}\n"}})),
                ::testing::HasSubstr("pub struct Quota<'a, K: Ord, const N: usize>(std::marker::PhantomData<(&'a (), K, )>);\n"));
}

TEST(PlainSkeletons, java_knows_a_type_by_its_qualified_name) {
    const std::string text =
        "package a;\n\nimport java.nio.file.Path;\n\npublic class Stock {\n    public int read(Path file) {\n        return 1;\n    }\n}\n";
    EXPECT_TRUE(plain("java", {"Stock.read", "Stock.java", "public int read(java.nio.file.Path file)"}, {{"Stock.java", text}})
                    .files.empty());
}

TEST(PlainSkeletons, a_method_of_another_type_is_a_different_function) {
    const std::string go = "package a\n\nfunc (a *A) Size() int {\n\treturn 1\n}\n";
    EXPECT_THAT(only(plain("go", {"B.Size", "a.go", "func (b *B) Size() int"}, {{"a.go", go}})),
                ::testing::HasSubstr("func (b *B) Size() int {\n\tpanic("));
    EXPECT_TRUE(plain("go", {"A.Size", "a.go", "func (other *A) Size() int"}, {{"a.go", go}}).files.empty());
    const std::string rust =
        "pub struct A;\npub struct B<T: Copy> { v: T }\n\nimpl A {\n    pub fn size(&self) -> usize {\n        1\n    }\n}\n";
    EXPECT_EQ(
        only(plain("rust", {"B::size", "src/lib.rs", "pub fn size(&self) -> usize"}, {{"src/lib.rs", rust}})),
        rust +
            "\nimpl<T: Copy> B<T> {\n    pub fn size(&self) -> usize {\n        todo!(\"agentforge: skeleton of size\")\n    }\n}\n");
    EXPECT_TRUE(plain("rust", {"A::size", "src/lib.rs", "pub fn size(&self) -> usize"}, {{"src/lib.rs", rust}}).files.empty());
}

TEST(PlainSkeletons, a_changed_signature_replaces_the_old_one) {
    EXPECT_EQ(only(plain("go", {"F", "a.go", "func F(name string) *Box"},
                         {{"a.go", "package a\n\nfunc F() *Box {\n\tpanic(\"todo {\")\n}\n\ntype Box struct{}\n"}})),
              "package a\n\nfunc F(name string) *Box {\n\tpanic(\"agentforge: skeleton of F\")\n}\n\ntype Box struct{}\n");
    EXPECT_EQ(only(plain("go", {"F", "a.go", "func F(a, b int) int"},
                         {{"a.go", "package a\n\nfunc F(a int) int {\n\treturn a + 1\n}\n"}})),
              "package a\n\nfunc F(a, b int) int {\n\treturn a + 1\n}\n")
        << "a body that still compiles stays";
    EXPECT_EQ(only(plain("rust", {"A::f", "src/lib.rs", "fn f(&self, n: u8) -> u8"},
                         {{"src/lib.rs", "impl A {\n    pub fn f(&self) -> u8 {\n        todo!()\n    }\n}\n"}})),
              "impl A {\n    pub fn f(&self, n: u8) -> u8 {\n        todo!(\"agentforge: skeleton of f\")\n    }\n}\n");
    EXPECT_EQ(
        only(plain("java", {"A.f", "A.java", "public long f(int a)"},
                   {{"A.java", "public class A {\n    public int f(int b) {\n        return 0;\n    }\n}\n"}})),
        "public class A {\n    public long f(int a) {\n        throw new UnsupportedOperationException(\"agentforge: skeleton of f\");\n    }\n}\n");
}

TEST(PlainSkeletons, java_declares_constructors_constants_and_classes) {
    const std::string text = "public class Shelf {\n}\n";
    EXPECT_THAT(
        only(plain("java", {"Shelf", "Shelf.java", "public Shelf(List<String> titles)"}, {{"Shelf.java", text}})),
        ::testing::StartsWith(
            "import java.util.List;\n\npublic class Shelf {\n    public Shelf(List<String> titles) {\n        throw new"));
    EXPECT_EQ(only(plain("java", {"Shelf.ROOM", "Shelf.java", "public static final int ROOM = 2"}, {{"Shelf.java", text}})),
              "public class Shelf {\n    public static final int ROOM = 2;\n}\n");
    EXPECT_EQ(only(plain("java", {"Full", "src/main/java/a/Full.java", "public class Full extends RuntimeException"})),
              "package a;\n\npublic class Full extends RuntimeException {\n}\n");
}

TEST(PlainSkeletons, rust_finds_the_type_of_an_unqualified_method) {
    const std::string text = "pub struct A;\npub struct B;\n\nimpl B {\n    pub fn f(&self) -> u8 {\n        todo!()\n    }\n}\n";
    EXPECT_TRUE(plain("rust", {"f", "src/lib.rs", "pub fn f(&self) -> u8"}, {{"src/lib.rs", text}}).files.empty());
    EXPECT_FALSE(plain("rust", {"g", "src/lib.rs", "pub fn g(&mut self)"}, {{"src/lib.rs", text}}).problems.empty())
        << "which of both is not said";
    EXPECT_THAT(only(plain("rust", {"g", "src/lib.rs", "pub fn g(&mut self)"}, {{"src/lib.rs", "pub struct A;\n"}})),
                HasSubstr("impl A {\n    pub fn g(&mut self) {\n"));
}

TEST(PlainSkeletons, rust_declares_types_and_constants) {
    const std::string text = "pub struct A;\n";
    EXPECT_EQ(only(plain("rust", {"CAPACITY", "src/lib.rs", "pub const CAPACITY: usize = 3"}, {{"src/lib.rs", text}})),
              text + "\npub const CAPACITY: usize = 3;\n");
    EXPECT_EQ(only(plain("rust", {"Error", "src/lib.rs", "#[derive(Debug, PartialEq)] pub enum Error { Full }"},
                         {{"src/lib.rs", text}})),
              text + "\n#[derive(Debug, PartialEq)] pub enum Error { Full }\n");
    EXPECT_EQ(only(plain("rust", {"Pair", "src/lib.rs", "pub type Pair = (i32, i32)"}, {{"src/lib.rs", text}})),
              text + "\npub type Pair = (i32, i32);\n");
}

TEST(PlainSkeletons, a_signature_with_more_than_one_declaration_is_refused) {
    for (const char* signature : {"func F() { work() }; func G()", "func F() {", "func F(); func G()", "func G()",
                                  "func F() // x\nfunc G() {}", "not a signature"}) {
        EXPECT_FALSE(plain("go", {"F", "a.go", signature}).problems.empty()) << signature;
    }
    EXPECT_FALSE(plain("rust", {"f", "src/lib.rs", "pub fn f() { work() } pub fn g()"}).problems.empty());
    EXPECT_FALSE(plain("java", {"f", "F.java", "public void f() { work(); } public void g()"}).problems.empty());
}

TEST(RustSkeleton, does_not_redeclare_a_type_with_attributes) {
    const SkeletonInterface error{"LineError", "src/lib.rs",
                                  "#[derive(Debug, Clone)] pub enum LineError { Missing(&'static str) }"};
    const auto first = write_plain_skeletons("rust", {error}, {{"src/lib.rs", "pub fn old() {}\n"}}, {}, "m");
    ASSERT_EQ(first.files.size(), 1U);
    const auto again = write_plain_skeletons("rust", {error}, {{"src/lib.rs", first.files.front().second}}, {}, "m");
    EXPECT_TRUE(again.problems.empty());
    EXPECT_TRUE(again.files.empty());
}

}  // namespace
}  // namespace agentforge::kernel
