// SPDX-License-Identifier: Apache-2.0
// Which test files may wait for the implementation: those that need a name of the specification.
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/stubs/waiting.hpp"

namespace agentforge::kernel::testing {
namespace {

/// True if a file that fails to load with this message waits, when the specification has `Quota`, `gather_limited` and the files
/// errors.go and meter.py.
bool waits(const std::string& language, const std::string& message) {
    const auto loaded = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", language);
    EXPECT_TRUE(loaded.ok()) << loaded.error().to_string();
    TestRun run;
    run.trusted = true;
    run.tests = {{"tests/a", "tests/a", "tests/a", 1, TestStatus::error, message}};
    const json::object specification{
        {"interfaces", json::array{json::object{{"name", "Quota"}}, json::object{{"name", "gather_limited"}}}},
        {"files_to_create", json::array{"meter/errors.go", "meter.py"}}};
    return waiting_files(*loaded, specification, run).contains("tests/a");
}

TEST(WaitingFiles, may_lack_a_specified_name) {
    EXPECT_TRUE(waits("rust", "does not build: tests/a.rs:4: unresolved import `meter::Quota`"));
    EXPECT_TRUE(waits("rust", "does not build: tests/a.rs:4: `Quota` doesn't implement `std::fmt::Display`"));
    EXPECT_TRUE(waits("go", "does not build: a_test.go:4: undefined: meter.Quota"));
    EXPECT_TRUE(waits("java", "does not build: ATest.java:4: cannot find symbol; symbol:   class Quota"));
    EXPECT_TRUE(waits("cpp", "does not build: a.cpp:4: error: ‘class a::Box’ has no member named ‘Quota’"));
    EXPECT_TRUE(
        waits("python", "cannot be loaded: ImportError: cannot import name 'gather_limited' from 'aiokit' (aiokit/__init__.py)"));
    EXPECT_TRUE(waits("javascript",
                      "cannot be loaded: SyntaxError: The requested module './a.js' does not provide an export named 'Quota'"));
}

TEST(WaitingFiles, may_not_lack_an_unspecified_name) {
    EXPECT_FALSE(waits(
        "java", "does not build: ATest.java:4: cannot find symbol; symbol:   method assertThrows(Class<T>,()->Quota.of(1))"));
    EXPECT_FALSE(waits("go", "does not build: a_test.go:4: undefined: helper"));
    EXPECT_FALSE(waits("rust", "does not build: tests/a.rs:4: cannot find function `helper` in this scope"));
    EXPECT_FALSE(waits("python", "cannot be loaded: ModuleNotFoundError: No module named 'requests'"));
}

TEST(WaitingFiles, may_call_a_skeleton_while_they_load) {
    EXPECT_TRUE(waits("python", "cannot be loaded: NotImplementedError: agentforge: skeleton of Quota"));
    EXPECT_TRUE(waits("javascript", "cannot be loaded: Error: agentforge: skeleton of Quota"));
    EXPECT_FALSE(waits("javascript", "cannot be loaded: Error: no database"));
    EXPECT_FALSE(waits("cpp", "does not build: a.cpp:4: error: throw std::logic_error(\"agentforge: skeleton of Quota\");"));
}

TEST(WaitingFiles, may_lack_a_specified_file_only_as_a_module) {
    EXPECT_TRUE(waits("python", "cannot be loaded: ModuleNotFoundError: No module named 'meter'"));
    EXPECT_FALSE(waits("go", "does not build: a_test.go:4: undefined: errors"));
    EXPECT_FALSE(waits("go", "does not build: a_test.go:4: undeclared name: errors"));
}

TEST(WaitingFiles, may_not_lack_a_module_without_a_specified_file) {
    const auto javascript = [](const std::string& module) {
        return waits("javascript", "cannot be loaded: Error [ERR_MODULE_NOT_FOUND]: Cannot find module '" + module +
                                       "' imported from /r/tests/a.test.js");
    };
    const auto language = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", "javascript");
    ASSERT_TRUE(language.ok());
    const json::object specification{{"interfaces", json::array{json::object{{"name", "triple"}, {"file", "src/ops.js"}}}}};
    const auto misses = [&](const std::string& module) {
        return lacks_specified_name(*language, specification, "Cannot find module '" + module + "' imported from /r/tests/a.js",
                                    {}, "tests/a.js");
    };
    EXPECT_TRUE(misses("/r/src/ops.js"));
    EXPECT_FALSE(misses("/r/src/opps.js"));
    EXPECT_FALSE(misses("/r/tests/src/ops.js"));
    EXPECT_FALSE(javascript("/r/meters.js"));
}

TEST(WaitingFiles, may_lack_a_package_by_its_last_component) {
    EXPECT_TRUE(
        waits("go", "does not build: tests/a_test.go:6:2: no required module provides package example.com/m/meter; to add it:"));
    EXPECT_FALSE(
        waits("go", "does not build: tests/a_test.go:6:2: no required module provides package example.com/m/metre; to add it:"));
    EXPECT_FALSE(waits("go", "does not build: tests/a_test.go:6:2: package m/metre is not in GOROOT (/usr/lib/go/src/m/metre)"));
    EXPECT_FALSE(waits("java", "does not build: ATest.java:4: package org.nope does not exist"));
}

TEST(WaitingFiles, may_lack_a_specified_header) {
    EXPECT_TRUE(waits("cpp", "does not build: a.cpp:2:10: fatal error: meter/errors.hpp: No such file or directory"));
    EXPECT_FALSE(waits("cpp", "does not build: a.cpp:2:10: fatal error: mteer.hpp: No such file or directory"));
}

TEST(WaitingFiles, may_lack_a_specified_attribute) {
    EXPECT_TRUE(waits("python", "AttributeError: module 'aiokit' has no attribute 'gather_limited'"));
    EXPECT_FALSE(waits("python", "AttributeError: module 'meter' has no attribute 'gather_limitde'"));
}

TEST(WaitingFiles, may_not_lack_a_name_declared_elsewhere) {
    const auto language = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", "go");
    ASSERT_TRUE(language.ok());
    const json::object specification{{"interfaces", json::array{json::object{{"name", "Triple"}, {"file", "ops.go"}}}}};
    const std::string message = "does not build: tests/a_test.go:4: undefined: Triple";
    EXPECT_TRUE(lacks_specified_name(*language, specification, message));
    EXPECT_FALSE(lacks_specified_name(*language, specification, message, {"Triple"}));
}

TEST(WaitingFiles, may_lack_the_definition_of_a_declared_name_at_link_time) {
    const auto language = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", "cpp");
    ASSERT_TRUE(language.ok());
    const json::object specification{{"interfaces", json::array{json::object{{"name", "triple"}, {"file", "ops.hpp"}}}}};
    EXPECT_TRUE(
        lacks_specified_name(*language, specification, "does not build: undefined reference to `triple(int)'", {"triple"}));
}

TEST(WaitingFiles, may_lack_any_member_of_a_type_specified_without_members) {
    const std::array<std::array<const char*, 3>, 5> messages{
        {{"cpp", "namespace pools { template <class T> class Pool; }",
          "error: 'class pools::Pool<int>' has no member named 'acquire'"},
         {"cpp", "template <class T> class Pool",
          "error: ‘make’ is not a member of ‘{anonymous}::IntPool’ {aka ‘pools::Pool<int>’}"},
         {"cpp", "struct Pool;", "error: no member named 'acquire' in 'pools::Pool<int>'"},
         {"rust", "pub struct Pool<T>;",
          "error[E0599]: no method named `acquire` found for struct `Pool<T>` in the current scope"},
         {"java", "public class Pool",
          "error: cannot find symbol symbol: method acquire() location: variable pool of type Pool"}}};
    for (const auto& [name, signature, message] : messages) {
        const auto language = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", name);
        ASSERT_TRUE(language.ok());
        const auto specified = [](const char* text) {
            return json::object{{"interfaces", json::array{json::object{{"name", "Pool"}, {"signature", text}}}}};
        };
        EXPECT_TRUE(lacks_specified_name(*language, specified(signature), message)) << message;
        EXPECT_FALSE(lacks_specified_name(*language, specified("class Pool { public: int available(); };"), message)) << message;
    }
}

/// True if a file may wait with these messages when the specification declares the types `Grid` and `GridError`, with members.
bool waits_for_grid(const std::string& name, const std::string& messages) {
    const auto language = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", name);
    EXPECT_TRUE(language.ok()) << language.error().to_string();
    const std::string file = name == "rust" ? "src/grid.rs" : "include/grid.hpp";
    const json::object specification{
        {"interfaces",
         json::array{json::object{{"name", "Grid"}, {"file", file}, {"signature", "pub struct Grid<T> { cells: Vec<T> }"}},
                     json::object{{"name", "GridError"}, {"file", file}, {"signature", "pub enum GridError { Ragged }"}}}}};
    return lacks_specified_name(*language, specification, "does not build: " + messages);
}

TEST(WaitingFiles, may_lack_a_trait_that_a_specified_type_of_rust_implements_later) {
    for (const auto* message :
         {"no method named `next` found for struct `Grid` in the current scope",
          "no method named `next` found for struct `Grid<'a, T>` in the current scope: method not found in `Grid<'_, i32>`",
          "no method named `source` found for enum `GridError` in the current scope",
          "no function or associated item named `default` found for struct `m::Grid` in the current scope",
          "no variant or associated item named `from_str` found for enum `GridError` in the current scope",
          "`Grid<i32>` is not an iterator", "cannot index into a value of type `m::Grid<i32>`",
          "cannot multiply `{float}` by `m::Grid<i32>`", "cannot mod `Grid<i32>` by `{integer}`",
          "no implementation for `Grid<i32> << {integer}`",
          "binary operation `==` cannot be applied to type `Result<i32, GridError>`",
          "the trait bound `Vec<i32>: From<Grid<i32>>` is not satisfied", "`?` couldn't convert the error to `String`",
          "a value of type `Grid<i32>` cannot be built from an iterator over elements of type `{integer}`",
          "the method `to_string` exists for reference `&Grid<i32>`, but its trait bounds were not satisfied",
          "mismatched types: expected `f64`, found `Grid<i32>`", "expected function, found `m::Grid<i32>`"}) {
        EXPECT_TRUE(waits_for_grid("rust", std::string("tests/a.rs:4: ") + message)) << message;
    }
}

TEST(WaitingFiles, may_not_lack_what_no_trait_of_a_specified_type_brings) {
    for (const auto* message :
         {"no field `wdth` on type `Grid<i32>`", "no variant or associated item named `Raged` found for enum `GridError`",
          "no method named `checked_into` found for type `u16` in the current scope",
          "`Other<i32>` doesn't implement `std::fmt::Display`", "cannot add `f64` to `{integer}`",
          "cannot find type `Grdi` in this scope", "use of moved value: `grid`"}) {
        EXPECT_FALSE(waits_for_grid("rust", std::string("tests/a.rs:4: ") + message)) << message;
    }
}

TEST(WaitingFiles, may_lack_operators_and_constant_expressions_of_a_specified_type) {
    for (const auto* message : {"no match for ‘operator<’ (operand types are ‘o::Grid’ and ‘o::Grid’)",
                                "use of deleted function ‘std::hash<o::Grid>::hash()’",
                                "‘constexpr o::Grid<T>::Grid(T) [with T = int]’ called in a constant expression",
                                "the type ‘const o::Grid’ of ‘constexpr’ variable ‘grid’ is not literal"}) {
        EXPECT_TRUE(waits_for_grid("cpp", std::string("a.cpp:4:1: error: ") + message)) << message;
    }
    EXPECT_FALSE(
        waits_for_grid("cpp", "a.cpp:4:1: error: no match for ‘operator<’ (operand types are ‘o::Other’ and ‘o::Other’)"));
    EXPECT_FALSE(waits_for_grid("cpp", "a.cpp:4:1: error: use of deleted function ‘std::unique_ptr<int>::unique_ptr()’"));
}

TEST(WaitingFiles, may_lack_any_member_of_a_type_that_is_declared_without_members) {
    const auto lacks = [](const std::string& name, const std::string& message) {
        const auto language = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", name);
        EXPECT_TRUE(language.ok());
        const json::object specification{
            {"interfaces", json::array{json::object{{"name", "Pool"}, {"signature", "class Pool {}"}}}}};
        return lacks_specified_name(*language, specification, message);
    };
    for (const auto* message :
         {"‘class m::Pool’ has no member named ‘acquire’", "‘acquire’ is not a member of ‘P’ {aka ‘m::Pool’}",
          "‘acquire’ is not a member of ‘const m::Pool’", "no member named 'acquire' in 'm::Pool'"}) {
        EXPECT_TRUE(lacks("cpp", message)) << message;
    }
    EXPECT_TRUE(lacks("rust", "no method named `acquire` found for struct `m::Pool` in the current scope"));
    EXPECT_TRUE(lacks("java", "cannot find symbol; symbol: method acquire() location: variable pool of type Pool"));
    EXPECT_FALSE(lacks("cpp", "‘class m::Other’ has no member named ‘acquire’"));
    EXPECT_FALSE(lacks("rust", "no method named `acquire` found for struct `m::Other` in the current scope"));
    EXPECT_FALSE(lacks("java", "cannot find symbol; symbol: method acquire() location: class Other"));
}

TEST(WaitingFiles, may_have_errors_that_follow_from_a_missing_name) {
    const std::string follows =
        "\n/usr/include/c++/12/bits/hashtable.h:1578:21: error: static assertion failed: Cache the hash code\n"
        "a.cpp:9:1: error: the value of ‘price’ is not usable in a constant expression";
    EXPECT_TRUE(waits_for_grid("cpp", "a.cpp:4:1: error: use of deleted function ‘std::hash<o::Grid>::hash()’" + follows));
    EXPECT_FALSE(waits_for_grid("cpp", follows)) << "nothing is missing";
}

TEST(WaitingFiles, may_miss_qualifiers_of_declared_types_and_what_follows_from_a_missing_member) {
    const auto language = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", "cpp");
    ASSERT_TRUE(language.ok());
    const json::object specification{
        {"interfaces",
         json::array{json::object{{"name", "Pool"}, {"signature", "namespace pools { template <class T> class Pool; }"}}}}};
    EXPECT_TRUE(
        lacks_specified_name(*language, specification,
                             "does not build: t.cpp:53:21: error: 'class pools::Pool<int>' has no member named 'acquire'\n"
                             "t.cpp:54:25: error: template argument 1 is invalid\n"
                             "t.cpp:23:33: error: passing 'const pools::Pool<int>' as 'this' argument discards qualifiers"));
}

TEST(WaitingNames, include_specified_functions_that_a_test_calls) {
    const auto language = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", "javascript");
    ASSERT_TRUE(language.ok());
    const json::object specification{
        {"interfaces", json::array{json::object{{"name", "slugify"}}, json::object{{"name", "Cart.add"}}}}};
    for (const auto* message : {"TypeError: slugify is not a function", "TypeError: (0 , index_1.slugify) is not a function",
                                "TypeError: cart.add is not a function", "TypeError: Cart is not a constructor"}) {
        EXPECT_TRUE(lacks_specified_name(*language, specification, message)) << message;
    }
    for (const auto* message : {"TypeError: assert.equals is not a function", "ReferenceError: slugfy is not defined", ""}) {
        EXPECT_FALSE(lacks_specified_name(*language, specification, message)) << message;
    }
}

TEST(WaitingNames, come_from_the_requirements_if_no_interface_is_specified) {
    const auto language = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", "javascript");
    ASSERT_TRUE(language.ok());
    json::object specification{{"requirements", json::array{json::object{{"description", "keys gives the sorted names"}}}},
                               {"interfaces", json::array{}}};
    EXPECT_TRUE(lacks_specified_name(*language, specification, "TypeError: ini.keys is not a function"));
    EXPECT_FALSE(lacks_specified_name(*language, specification, "TypeError: ini.kyes is not a function"));
    specification["interfaces"] = json::array{json::object{{"name", "parse"}}};
    EXPECT_FALSE(lacks_specified_name(*language, specification, "TypeError: ini.keys is not a function"));
}

TEST(WaitingFiles, may_not_have_another_error) {
    EXPECT_FALSE(waits("python", "cannot be loaded: SyntaxError: invalid syntax"));
    EXPECT_FALSE(waits(
        "rust", "does not build: tests/a.rs:4: unresolved import `meter::Quota`\ntests/a.rs:9: expected one of `!`, found `)`"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
