// SPDX-License-Identifier: Apache-2.0
// C++ and C projects, built and run by the real CMake, compiler and GoogleTest.
#include <algorithm>
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;

const char* const top_list =
    "cmake_minimum_required(VERSION 3.16)\nproject(slug CXX C)\nset(CMAKE_CXX_STANDARD 17)\n"
    "add_library(slug src/slug.cpp)\ntarget_include_directories(slug PUBLIC include)\nenable_testing()\n"
    "add_subdirectory(tests)\n";
const char* const header = "#pragma once\n#include <string>\nnamespace slug { std::string slugify(const std::string& text); }\n";
const char* const source =
    "#include \"slug/slug.hpp\"\n#include <stdexcept>\nnamespace slug {\nstd::string slugify(const std::string& text) {\n"
    "    if (text == \"x\") { throw std::logic_error(\"agentforge: skeleton of slugify\"); }\n    return text;\n}\n}\n";

TEST(CppTests, distinguishes_all_outcomes) {
    Project project;
    project.tree("t") = {
        {"CMakeLists.txt", top_list},
        {"include/slug/slug.hpp", header},
        {"src/slug.cpp", source},
        {"tests/CMakeLists.txt",
         "find_package(GTest REQUIRED)\ninclude(GoogleTest)\nadd_executable(slug_test slug_test.cpp)\n"
         "target_link_libraries(slug_test slug GTest::gtest_main)\ngtest_discover_tests(slug_test)\n"
         "add_executable(plain_test plain_test.cpp)\ntarget_link_libraries(plain_test slug)\nadd_test(NAME plain COMMAND plain_test)\n"
         "add_executable(c_test c_test.c)\nadd_test(NAME c COMMAND c_test)\nadd_test(NAME c_leaves COMMAND c_test leave)\n"
         "add_test(NAME script COMMAND cmake -E false)\n"},
        {"tests/slug_test.cpp",
         "#include <gtest/gtest.h>\n#include <cstdlib>\n#include <stdexcept>\n#include \"slug/slug.hpp\"\n"
         "TEST(Slug, passes) { EXPECT_EQ(slug::slugify(\"a\"), \"a\"); }\n"
         "TEST(Slug, fails) { EXPECT_EQ(slug::slugify(\"A\"), \"a\"); }\n"
         "TEST(Slug, is_a_skeleton) { EXPECT_EQ(slug::slugify(\"x\"), \"a\"); }\n"
         "TEST(Slug, throws) { throw std::runtime_error(\"no\"); }\n"
         "TEST(Slug, crashes) { std::abort(); }\n"
         "TEST(Slug, leaves) { std::_Exit(0); }\n"
         "TEST(Slug, skips) { GTEST_SKIP(); }\n"
         "class Odd : public testing::TestWithParam<int> {};\n"
         "TEST_P(Odd, is_odd) { EXPECT_EQ(GetParam() % 2, 1); }\nINSTANTIATE_TEST_SUITE_P(Some, Odd, testing::Values(1, 2));\n"},
        {"tests/plain_test.cpp",
         "#include <cassert>\n#include \"slug/slug.hpp\"\nint main() { assert(slug::slugify(\"A\") == \"a\"); }\n"},
        {"tests/nobody_test.cpp",
         "#include <gtest/gtest.h>\n#include \"slug/slug.hpp\"\nTEST(Nobody, lists_it) { EXPECT_EQ(slug::slugify(\"a\"), \"a\"); }\n"},
        {"tests/data/test_nothing.cpp", "int main() { return nothing; }\n"},
        {"tests/c_test.c",
         "#include <stdlib.h>\nint main(int argc, char **argv) { (void)argv; if (argc > 1) { exit(0); } return 0; }\n"}};
    const auto report = project.gate("tests", "t");
    ASSERT_EQ(report.facts.at("believed"), json::value(true)) << report.summary << "\n" << joined(report.blocking_issues);
    const std::string slug = "tests/slug_test.cpp::Slug::";
    EXPECT_EQ(status_of(report, slug + "passes"), TestStatus::passed);
    EXPECT_EQ(status_of(report, slug + "fails"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, slug + "is_a_skeleton"), TestStatus::failed_skeleton);
    EXPECT_EQ(status_of(report, slug + "throws"), TestStatus::error);
    EXPECT_EQ(status_of(report, slug + "crashes"), TestStatus::error);
    EXPECT_EQ(status_of(report, slug + "leaves"), TestStatus::error);
    EXPECT_EQ(status_of(report, slug + "skips"), TestStatus::skipped);
    EXPECT_EQ(status_of(report, "tests/slug_test.cpp::Odd::is_odd[Some/0]"), TestStatus::passed);
    EXPECT_EQ(status_of(report, "tests/slug_test.cpp::Odd::is_odd[Some/1]"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, "tests/plain_test.cpp::plain"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, "tests/c_test.c::c"), TestStatus::passed);
    EXPECT_EQ(status_of(report, "tests/c_test.c::c_leaves"), TestStatus::error);
    EXPECT_EQ(status_of(report, "tests/nobody_test.cpp::Nobody::lists_it"), TestStatus::passed);
    EXPECT_THAT(json::serialize(report.facts.at("notes")), HasSubstr("tests/nobody_test.cpp: built as a program of its own"));
    EXPECT_EQ(status_of(report, "tests/data/test_nothing.cpp"), TestStatus::error);
    EXPECT_THAT(find_test(report, "tests/data/test_nothing.cpp")->message,
                HasSubstr("does not build: tests/data/test_nothing.cpp:1:21: error: "));
    EXPECT_EQ(status_of(report, "script"), TestStatus::failed_assertion);
    EXPECT_EQ(report.tests.size(), 15U) << "the canaries are not tests of the project";
}

TEST(CppTests, a_skeleton_does_not_include_test_headers) {
    Project project;
    project.tree("base") = {
        {"CMakeLists.txt", top_list}, {"include/slug/slug.hpp", header}, {"tests/words.hpp", "#pragma once\nstruct Words {};\n"}};
    const auto files =
        project.runner().skeleton("base", {{"count", "include/count.hpp", "int count(const Words& words)"}}, Stop{});
    ASSERT_TRUE(files.ok()) << files.error().to_string();
    EXPECT_THAT(files->front().second, ::testing::Not(HasSubstr("words.hpp")));
}

TEST(CppTests, a_new_file_matched_by_a_glob_is_built) {
    Project project;
    project.tree("one") = {
        {"CMakeLists.txt",
         "cmake_minimum_required(VERSION 3.16)\nproject(small C)\nenable_testing()\nfile(GLOB files checks/*.c)\n"
         "foreach(file IN LISTS files)\n  get_filename_component(name ${file} NAME_WE)\n  add_executable(${name} ${file})\n"
         "  add_test(NAME ${name} COMMAND ${name})\nendforeach()\n"},
        {"checks/first_test.c", "int main(void) { return 0; }\n"}};
    project.tree("two") = project.tree("one");
    project.tree("two")["checks/second_test.c"] = "int main(void) { return 0; }\n";
    EXPECT_EQ(project.gate("tests", "one").tests.size(), 1U);
    EXPECT_EQ(project.gate("tests", "two").tests.size(), 2U);
    EXPECT_EQ(project.gate("tests", "one").tests.size(), 1U);
}

TEST(CppTests, a_project_for_an_old_cmake_is_measured) {
    Project project;
    project.tree("t") = {
        {"CMakeLists.txt",
         "cmake_minimum_required(VERSION 3.0)\nproject(small C)\nenable_testing()\nadd_executable(one tests/one_test.c)\nadd_test(NAME one COMMAND one)\n"},
        {"tests/one_test.c", "int main(void) { return 0; }\n"}};
    const auto report = project.gate("tests", "t");
    EXPECT_TRUE(report.passed) << report.summary << joined(report.blocking_issues);
}

TEST(CppTests, a_test_beside_the_sources_needs_no_cmake_entry) {
    Project project;
    project.tree("t") = {
        {"CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(small C)\nenable_testing()\nadd_library(one one.c)\n"},
        {"one.c", "int one(void) { return 1; }\n"},
        {"one_test.c", "int one(void);\nint main(void) { return one() == 1 ? 0 : 1; }\n"}};
    const auto report = project.gate("tests", "t");
    EXPECT_TRUE(report.passed) << report.summary;
    EXPECT_EQ(report.tests.size(), 1U);
}

TEST(CppTests, reads_catch2_like_googletest) {
    Project project;
    project.tree("t") = {
        {"CMakeLists.txt",
         "cmake_minimum_required(VERSION 3.16)\nproject(small CXX)\nset(CMAKE_CXX_STANDARD 17)\nenable_testing()\nfind_package(Catch2 REQUIRED)\n"
         "include(Catch)\nadd_executable(small_test tests/small_test.cpp)\ntarget_link_libraries(small_test Catch2::Catch2)\n"
         "catch_discover_tests(small_test)\n"},
        {"tests/small_test.cpp",
         "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n#include <cstdlib>\n#include <stdexcept>\n"
         "TEST_CASE(\"keeps, small\") { CHECK(1 + 1 == 2); }\nTEST_CASE(\"fails\") { REQUIRE(1 + 1 == 3); }\n"
         "TEST_CASE(\"is a skeleton\") { throw std::logic_error(\"agentforge: skeleton of x\"); }\n"
         "TEST_CASE(\"throws\") { throw std::runtime_error(\"no\"); }\nTEST_CASE(\"leaves\") { std::_Exit(0); }\n"}};
    const auto report = project.gate("tests", "t");
    ASSERT_EQ(report.facts.at("believed"), json::value(true)) << report.summary << "\n" << joined(report.blocking_issues);
    const std::string file = "tests/small_test.cpp::";
    EXPECT_EQ(status_of(report, file + "keeps, small"), TestStatus::passed);
    EXPECT_EQ(status_of(report, file + "fails"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, file + "is a skeleton"), TestStatus::failed_skeleton);
    EXPECT_EQ(status_of(report, file + "throws"), TestStatus::error);
    EXPECT_EQ(status_of(report, file + "leaves"), TestStatus::error);
    EXPECT_EQ(report.tests.size(), 5U);
}

TEST(CppTests, reads_boost_test_like_googletest) {
    Project project;
    project.tree("t") = {
        {"CMakeLists.txt",
         "cmake_minimum_required(VERSION 3.16)\nproject(small CXX)\nset(CMAKE_CXX_STANDARD 17)\nenable_testing()\n"
         "add_executable(small_test tests/small_test.cpp)\nadd_test(NAME small COMMAND small_test)\n"},
        {"tests/small_test.cpp",
         "#define BOOST_TEST_MODULE small\n#include <boost/test/included/unit_test.hpp>\n#include <stdexcept>\n"
         "BOOST_AUTO_TEST_CASE(keeps) { BOOST_TEST(1 + 1 == 2); }\n"
         "BOOST_AUTO_TEST_SUITE(sums)\nBOOST_AUTO_TEST_CASE(fails) { BOOST_TEST(1 + 1 == 3); }\n"
         "BOOST_AUTO_TEST_CASE(is_a_skeleton) { throw std::logic_error(\"agentforge: skeleton of x\"); }\nBOOST_AUTO_TEST_SUITE_END()\n"
         "BOOST_AUTO_TEST_CASE(throws) { throw std::runtime_error(\"no\"); }\n"}};
    const auto report = project.gate("tests", "t");
    ASSERT_EQ(report.facts.at("believed"), json::value(true)) << report.summary << "\n" << joined(report.blocking_issues);
    const std::string file = "tests/small_test.cpp::";
    EXPECT_EQ(status_of(report, file + "keeps"), TestStatus::passed);
    EXPECT_EQ(status_of(report, file + "sums::fails"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, file + "sums::is_a_skeleton"), TestStatus::failed_skeleton);
    EXPECT_EQ(status_of(report, file + "throws"), TestStatus::error);
    EXPECT_EQ(report.tests.size(), 4U);
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("has failed [1 + 1 != 3]"));
}

TEST(CppTests, reads_doctest_like_googletest) {
    if (!std::filesystem::exists("/usr/include/doctest/doctest.h")) {
        GTEST_SKIP() << "not run: doctest is not installed (doctest-dev)";
    }
    Project project;
    project.tree("t") = {
        {"CMakeLists.txt",
         "cmake_minimum_required(VERSION 3.16)\nproject(small CXX)\nset(CMAKE_CXX_STANDARD 17)\nenable_testing()\n"
         "add_executable(small_test tests/small_test.cpp)\nadd_test(NAME small COMMAND small_test)\n"},
        {"tests/small_test.cpp",
         "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n#include <doctest/doctest.h>\n#include <stdexcept>\n"
         "TEST_CASE(\"keeps, small\") { WARN(1 + 1 == 3); CHECK(1 + 1 == 2); }\n"
         "TEST_SUITE(\"sums\") {\nTEST_CASE(\"fails\") { CHECK(1 + 1 == 3); }\n"
         "TEST_CASE(\"is a skeleton\") { throw std::logic_error(\"agentforge: skeleton of x\"); }\n}\n"
         "TEST_CASE(\"parts\") { SUBCASE(\"a\") { CHECK(true); } SUBCASE(\"b\") { CHECK(false); } }\n"
         "TEST_CASE(\"throws\") { throw std::runtime_error(\"no\"); }\n"}};
    const auto report = project.gate("tests", "t");
    ASSERT_EQ(report.facts.at("believed"), json::value(true)) << report.summary << "\n" << joined(report.blocking_issues);
    const std::string file = "tests/small_test.cpp::";
    EXPECT_EQ(status_of(report, file + "keeps, small"), TestStatus::passed);
    EXPECT_EQ(status_of(report, file + "sums::fails"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, file + "sums::is a skeleton"), TestStatus::failed_skeleton);
    EXPECT_EQ(status_of(report, file + "parts"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, file + "throws"), TestStatus::error);
    EXPECT_EQ(report.tests.size(), 5U);
}

const char* const slug_list =
    "find_package(GTest REQUIRED)\ninclude(GoogleTest)\nadd_executable(slug_test slug_test.cpp)\n"
    "target_link_libraries(slug_test slug GTest::gtest_main)\ngtest_discover_tests(slug_test)\n";

TEST(CppPhases, red_and_green_pass_for_a_library_with_googletest) {
    Project project;
    const SkeletonInterface interface { "slug::shout", "include/slug/shout.hpp", "std::string shout(const std::string& text);" };
    project.baseline.specification =
        json::parse(R"({"requirements": [{"id": "REQ-001", "verification_method": "test"}], "interfaces": [{"name": "slug::shout",
        "type": "api", "file": "include/slug/shout.hpp", "signature": "std::string shout(const std::string& text);"}]})")
            .as_object();
    project.baseline.test_suite = json::parse(R"({"test_files": [{"path": "tests/slug_test.cpp", "tests": [
        {"name": "Slug.shouts", "requirement_ref": "REQ-001", "kind": "new"}, {"name": "Slug::keeps", "kind": "guard"}]}]})")
                                      .as_object();
    project.baseline.test_files = {"tests/slug_test.cpp"};
    project.tree("base") = {{"CMakeLists.txt", top_list},
                            {"include/slug/slug.hpp", header},
                            {"src/slug.cpp", source},
                            {"tests/CMakeLists.txt", slug_list},
                            {"tests/slug_test.cpp",
                             "#include <gtest/gtest.h>\n#include \"slug/slug.hpp\"\n"
                             "TEST(Slug, keeps) { EXPECT_EQ(slug::slugify(\"a\"), \"a\"); }\n"}};
    const auto skeleton = project.runner().skeleton("base", {interface}, Stop{});
    ASSERT_TRUE(skeleton.ok()) << skeleton.error().to_string();
    project.tree("red") = project.tree("base");
    for (const auto& [path, content] : *skeleton) { project.tree("red")[path] = content; }
    project.tree("red")["tests/slug_test.cpp"] +=
        "#include \"slug/shout.hpp\"\nTEST(Slug, shouts) { EXPECT_EQ(slug::shout(\"a\"), \"A\"); }\n";

    const auto red = project.gate("red", "red");
    EXPECT_TRUE(red.passed) << joined(red.blocking_issues);
    EXPECT_EQ(status_of(red, "tests/slug_test.cpp::Slug::shouts"), TestStatus::failed_skeleton);

    // GREEN moves the function into a source file of its own, as a developer would.
    project.tree("green") = project.tree("red");
    project.tree("green")["include/slug/shout.hpp"] =
        "#pragma once\n#include <string>\nnamespace slug { std::string shout(const std::string& text); }\n";
    project.tree("green")["src/shout.cpp"] =
        "#include \"slug/shout.hpp\"\nnamespace slug {\nstd::string shout(const std::string& text) {\n    std::string result;\n"
        "    for (const char each : text) { result += static_cast<char>(each - 'a' + 'A'); }\n    return result;\n}\n}\n";
    auto list = std::string(top_list);
    list.replace(list.find("src/slug.cpp"), 12, "src/slug.cpp src/shout.cpp");
    project.tree("green")["CMakeLists.txt"] = list;
    const auto green = project.gate("green", "green");
    EXPECT_TRUE(green.passed) << joined(green.blocking_issues);
    EXPECT_EQ(green.facts.at("fails_without_change"), json::value(true));
    EXPECT_EQ(green.facts.at("type_check"), json::value("checked"));

    // A process that leaves with exit code 0 is not trusted, whatever its tests report.
    project.tree("leaves") = project.tree("green");
    project.tree("leaves")["src/shout.cpp"] =
        "#include \"slug/shout.hpp\"\n#include <cstdlib>\n#include <unistd.h>\nnamespace slug {\n"
        "static const int leaving = std::atexit([] { ::_exit(0); });\n"
        "std::string shout(const std::string& text) { return leaving == 0 ? text : text; }\n}\n";
    const auto leaves = project.gate("green", "leaves");
    EXPECT_FALSE(leaves.passed);
    EXPECT_THAT(joined(leaves.blocking_issues), HasSubstr("ended with exit code 0, though"));

    // A tree that does not compile reports where.
    project.tree("broken") = project.tree("green");
    project.tree("broken")["src/shout.cpp"] = "int nothing() { return missing; }\n";
    const auto broken = project.gate("tests", "broken");
    EXPECT_FALSE(broken.passed);
    EXPECT_THAT(joined(broken.blocking_issues), HasSubstr("does not build: src/shout.cpp:1: "));
}

std::set<std::string> folders_in(const std::filesystem::path& folder) {
    std::set<std::string> names;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        names.insert(entry.path().filename().string());
    }
    return names;
}

std::size_t count_commands(const std::vector<GateCommand>& commands, const std::string& command) {
    return static_cast<std::size_t>(
        std::count_if(commands.begin(), commands.end(), [&](const auto& each) { return each.command == command; }));
}

/// Counts commands on that tree itself, not on a variant of it.
std::size_t count_plain(const std::vector<GateCommand>& commands, const std::string& command, const std::string& tree) {
    return static_cast<std::size_t>(std::count_if(commands.begin(), commands.end(), [&](const auto& each) {
        return each.command == command && each.tree == tree && each.purpose.empty();
    }));
}

std::string in_words(const std::vector<GateCommand>& commands) {
    std::string words;
    for (const auto& each : commands) { words += each.command + " " + each.purpose + " " + each.tree + "\n"; }
    return words;
}

/// A library in C with a stub that RED leaves and that aborts, and a test of it.
void declare_twice(Project& project) {
    project.configure({{"mutants", 0}});
    project.baseline.specification =
        json::parse(R"({"requirements": [{"id": "REQ-001", "verification_method": "test"}]})").as_object();
    project.baseline.test_suite =
        json::parse(
            R"({"test_files": [{"path": "tests/twice_test.c", "tests": [{"name": "twice_test", "requirement_ref": "REQ-001", "kind": "new"}]}]})")
            .as_object();
    project.baseline.test_files = {"tests/twice_test.c"};
    project.tree("base") = {
        {"CMakeLists.txt",
         "cmake_minimum_required(VERSION 3.16)\nproject(twice C)\nadd_library(twice twice.c)\ntarget_include_directories(twice PUBLIC .)\nenable_testing()\n"},
        {"twice.h", "int twice(int number);\n"},
        {"twice.c", "#include \"twice.h\"\nint twice(int number) {\n    return number;\n}\n"}};
    project.tree("red") = project.tree("base");
    project.tree("red")["tests/twice_test.c"] =
        "#include <assert.h>\n#include \"twice.h\"\nint main(void) {\n    assert(twice(2) == 4);\n    return 0;\n}\n";
    project.tree("green") = project.tree("red");
    project.tree("green")["twice.c"] = "#include \"twice.h\"\nint twice(int number) {\n    return number + number;\n}\n";
}

TEST(CppBuilds, a_tree_is_built_once_for_all_gates_of_the_phases) {
    Project project;
    declare_twice(project);
    EXPECT_TRUE(project.gate("red", "red").passed);
    const auto green = project.gate("green", "green");
    ASSERT_TRUE(green.passed) << joined(green.blocking_issues);
    // The last measured tree is RED's with the change reverted; the folder of GREEN's still exists.
    const auto folders = folders_in(project.folder() / "scratch" / "build");
    EXPECT_TRUE(folders.contains("cpp-ctest-tree-red"));
    EXPECT_TRUE(folders.contains("cpp-ctest-tree-green"));

    const auto before = project.runner().take_commands();
    EXPECT_EQ(count_plain(before, "build", "green"), 1U) << in_words(before);
    EXPECT_TRUE(std::any_of(before.begin(), before.end(),
                            [](const auto& each) { return each.purpose == "change-taken-back" && each.tree == "red"; }));
    EXPECT_TRUE(project.gate("refactor", "green").passed);
    EXPECT_TRUE(project.gate("deliver", "green").passed);
    const auto after = project.runner().take_commands();
    EXPECT_EQ(count_commands(after, "build"), 0U) << in_words(after);
    EXPECT_EQ(count_commands(after, "tests"), 0U) << in_words(after);
}

TEST(CppBuilds, reuses_the_stub_failures_of_red_to_check_the_reverted_change) {
    Project project;
    declare_twice(project);
    project.tree("red")["twice.c"] = "#include <stdlib.h>\n#include \"twice.h\"\nint twice(int number) {\n    abort();\n}\n";
    project.tree("base")["twice.c"] = project.tree("red")["twice.c"];
    EXPECT_TRUE(project.gate("red", "red").passed);
    EXPECT_FALSE(project.runner().take_commands().empty());
    const auto green = project.gate("green", "green");
    ASSERT_TRUE(green.passed) << joined(green.blocking_issues);
    const auto commands = project.runner().take_commands();
    EXPECT_EQ(count_plain(commands, "tests", "red"), 0U) << in_words(commands);
}

TEST(CppBuilds, builds_held_out_tests_in_the_same_folder_and_runs_them_once) {
    Project project;
    declare_twice(project);
    EXPECT_TRUE(project.gate("red", "red").passed);
    const std::string file = "tests/more_test.c";
    project.tree("held") = project.tree("green");
    project.tree("held")[file] =
        "#include <assert.h>\n#include \"twice.h\"\nint main(void) {\n    assert(twice(3) == 6);\n    return 0;\n}\n";
    project.baseline.held_out.files = {file};
    project.baseline.held_out.tree = "held";
    project.baseline.held_out.red_tests = {{file + "::more_test", "more_test", file, 0, TestStatus::failed_assertion, ""}};
    project.baseline.held_out.test_suite =
        json::parse(
            R"({"test_files": [{"path": "tests/more_test.c", "tests": [{"name": "more_test", "requirement_ref": "REQ-001", "kind": "new"}]}]})")
            .as_object();
    const auto green = project.gate("green", "green");
    ASSERT_TRUE(green.passed) << joined(green.blocking_issues);
    EXPECT_EQ(green.facts.at("held_out_tests"), json::value(1));
    EXPECT_FALSE(folders_in(project.folder() / "scratch" / "build").contains("cpp-ctest-tree-held"));
    EXPECT_EQ(count_plain(project.runner().take_commands(), "tests", "held"), 1U);
    project.gate("refactor", "green");
    EXPECT_EQ(count_plain(project.runner().take_commands(), "tests", "held"), 0U);
}

TEST(CppBuilds, later_trees_read_but_never_write_the_compiler_cache_of_the_base) {
    if (!std::filesystem::exists("/usr/bin/ccache")) { GTEST_SKIP() << "ccache is not installed"; }
    Project project;
    declare_twice(project);
    const auto compiled = [&] {
        std::set<std::string> files;
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(project.folder() / "scratch" / "build" / "compiled")) {
            if (entry.is_regular_file()) { files.insert(entry.path().string()); }
        }
        return files;
    };
    project.tree("base")["tests/old_test.c"] = "#include \"twice.h\"\nint main(void) { return twice(0); }\n";
    project.tree("red") = project.tree("base");
    project.tree("red")["tests/twice_test.c"] = "#include \"twice.h\"\nint main(void) { return twice(2) == 4 ? 0 : 1; }\n";
    project.use_baseline = false;
    EXPECT_TRUE(project.gate("tests", "base").passed);
    project.use_baseline = true;
    const auto of_the_commit = compiled();
    EXPECT_FALSE(of_the_commit.empty());
    EXPECT_EQ(project.gate("tests", "red").facts.at("believed"), json::value(true));
    EXPECT_EQ(project.gate("red", "red").facts.at("believed"), json::value(true));
    EXPECT_EQ(compiled(), of_the_commit);
}

}  // namespace
}  // namespace agentforge::kernel::testing
