// SPDX-License-Identifier: Apache-2.0
// Tests of templates and of many cases, in files that do not compile before the implementation exists. All tests of a file run in
// one process, so a marked function must not end it.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;

struct WaitingCase {
    const char* name;
    const char* needs;  ///< A file; without it the case is skipped.
    const char* libraries;
    const char* tests;
    std::vector<const char*> declared;  ///< As RED may write them.
};

/// `has` and `close` must not throw, and `close` is called by a destructor.
const char* const box_header =
    "#pragma once\n#include <utility>\nnamespace box {\n"
    "template <typename T>\nclass Box {\npublic:\n    explicit Box(T value) : value_(std::move(value)) {}\n"
    "    bool has() const noexcept {\n        return true;\n    }\n"
    "    T get() const {\n        return value_;\n    }\nprivate:\n    T value_;\n};\n"
    "class Door {\npublic:\n    ~Door() { close(); }\n    void close() {\n        open_ = false;\n    }\n"
    "    bool is_open() const {\n        return open_;\n    }\nprivate:\n    bool open_ = true;\n};\n}\n";

void fill(Project& project, const WaitingCase& waiting) {
    project.baseline.specification =
        json::parse(R"({"requirements": [{"id": "REQ-001", "verification_method": "test"}], "interfaces": [
        {"name": "box::Box", "type": "api", "file": "include/box/box.hpp"}, {"name": "box::Door", "type": "api", "file": "include/box/box.hpp"}],
        "files_to_create": ["include/box/box.hpp"]})")
            .as_object();
    json::array declared;
    for (const auto* name : waiting.declared) {
        declared.push_back({{"name", name}, {"requirement_ref", "REQ-001"}, {"kind", "new"}});
    }
    project.baseline.test_suite = {
        {"test_files", json::array{json::object{{"path", "tests/box_test.cpp"}, {"tests", declared}}}}};
    project.baseline.test_files = {"tests/box_test.cpp"};
    project.tree("base") = {
        {"CMakeLists.txt",
         "cmake_minimum_required(VERSION 3.16)\nproject(box CXX)\nset(CMAKE_CXX_STANDARD 17)\nenable_testing()\nadd_subdirectory(tests)\n"},
        {"tests/CMakeLists.txt", std::string("find_package(GTest REQUIRED)\nadd_executable(box_test box_test.cpp)\n"
                                             "target_include_directories(box_test PRIVATE ../include)\n"
                                             "target_link_libraries(box_test PRIVATE ") +
                                     waiting.libraries + ")\nadd_test(NAME box COMMAND box_test)\n"}};
    project.tree("red") = project.tree("base");
    project.tree("red")["tests/box_test.cpp"] = waiting.tests;
    project.tree("green") = project.tree("red");
    project.tree("green")["include/box/box.hpp"] = box_header;
}

WaitingCase googletest() {
    return WaitingCase{
        "GoogleTest",
        "/usr/include/gtest/gtest.h",
        "GTest::gtest_main",
        "#include <gtest/gtest.h>\n#include \"box/box.hpp\"\n"
        "TEST(Box, has) { EXPECT_TRUE(box::Box<int>(1).has()); }\n"
        "template <typename T>\nclass Typed : public ::testing::Test {};\nusing Types = ::testing::Types<int, long>;\n"
        "TYPED_TEST_SUITE(Typed, Types);\nTYPED_TEST(Typed, keeps) { EXPECT_EQ(box::Box<TypeParam>(1).get(), 1); }\n"
        "TEST(Door, closes) { box::Door door; EXPECT_TRUE(door.is_open()); }\n"
        "template <typename T>\nclass Later : public ::testing::Test {};\nTYPED_TEST_SUITE_P(Later);\n"
        "TYPED_TEST_P(Later, keeps) { EXPECT_TRUE(box::Box<TypeParam>(1).has()); }\n"
        "REGISTER_TYPED_TEST_SUITE_P(Later, keeps);\nINSTANTIATE_TYPED_TEST_SUITE_P(Both, Later, Types);\n"
        "class Values : public ::testing::TestWithParam<int> {};\n"
        "TEST_P(Values, keeps) { EXPECT_EQ(box::Box<int>(GetParam()).get(), GetParam()); }\n"
        "INSTANTIATE_TEST_SUITE_P(Some, Values, ::testing::Values(1, 2));\n"
        "TEST(Box, last) { EXPECT_TRUE(box::Box<int>(4).get() == 4); }\n",
        {"Box.has", "Typed.keeps", "Door.closes", "Later.keeps", "Values.keeps", "Box::last"}};
}

class CppWaiting : public ::testing::TestWithParam<WaitingCase> {};

TEST_P(CppWaiting, red_and_green_pass) {
    if (!std::filesystem::exists(GetParam().needs)) { GTEST_SKIP() << "not run: there is no " << GetParam().needs; }
    Project project{{{"mutants", 0}}};
    fill(project, GetParam());
    const auto red = project.gate("red", "red");
    ASSERT_TRUE(red.passed) << joined(red.blocking_issues);
    EXPECT_EQ(red.facts.at("waiting_tests").as_array().size(), GetParam().declared.size());
    project.baseline.red_tests = red.tests;
    const auto green = project.gate("green", "green");
    EXPECT_TRUE(green.passed) << joined(green.blocking_issues);
}

INSTANTIATE_TEST_SUITE_P(
    Frameworks, CppWaiting,
    ::testing::Values(
        WaitingCase{
            "doctest",
            "/usr/include/doctest/doctest.h",
            "",
            "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n#include <doctest/doctest.h>\n#include <string>\n#include <tuple>\n"
            "#include \"box/box.hpp\"\n"
            "TEST_CASE(\"has\") {\n    SUBCASE(\"a number\") { CHECK(box::Box<int>(1).has()); }\n"
            "    SUBCASE(\"a text\") { CHECK(box::Box<std::string>(\"a\").has()); }\n}\n"
            "TEST_CASE_TEMPLATE(\"keeps\", T, int, long, unsigned long) { CHECK(box::Box<T>(T(1)).get() == T(1)); }\n"
            "TEST_CASE_TEMPLATE(\"named\", T, long, std::string) { CHECK(box::Box<T>(T()).get() == T()); }\n"
            "TEST_CASE(\"closes\") { box::Door door; CHECK(door.is_open()); }\n"
            "TEST_CASE_TEMPLATE_DEFINE(\"defined\", T, defined) { CHECK(box::Box<T>(T(2)).has()); }\n"
            "TEST_CASE_TEMPLATE_INVOKE(defined, int, char);\n"
            "using Types = std::tuple<short, float>;\nTEST_CASE_TEMPLATE_APPLY(defined, Types);\n"
            "TEST_CASE(\"last\") { CHECK(box::Box<int>(4).get() == 4); }\n",
            {"has", "keeps", "named<long>", "named<std::string>", "closes", "defined", "last"}},
        WaitingCase{
            "Catch2",
            "/usr/include/catch2/catch.hpp",
            "",
            "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n#include <string>\n#include <tuple>\n#include <vector>\n"
            "#include \"box/box.hpp\"\n"
            "TEST_CASE(\"has\") {\n    SECTION(\"a number\") { CHECK(box::Box<int>(1).has()); }\n"
            "    for (int i = 0; i < 2; ++i) {\n        DYNAMIC_SECTION(\"number \" << i) { CHECK(box::Box<int>(i).get() == i); }\n    }\n}\n"
            "TEMPLATE_TEST_CASE(\"keeps\", \"\", int, long) { CHECK(box::Box<TestType>(TestType(1)).get() == TestType(1)); }\n"
            "TEST_CASE(\"closes\") { box::Door door; CHECK(door.is_open()); }\n"
            "TEMPLATE_PRODUCT_TEST_CASE(\"products\", \"\", (std::vector), (int, long)) { CHECK(box::Box<TestType>(TestType()).has()); }\n"
            "using Types = std::tuple<int, std::string>;\n"
            "TEMPLATE_LIST_TEST_CASE(\"listed\", \"\", Types) { CHECK(box::Box<TestType>(TestType()).has()); }\n"
            "TEST_CASE(\"last\") { CHECK(box::Box<int>(4).get() == 4); }\n",
            {"has", "keeps - int", "keeps - long", "closes", "products", "listed", "last"}},
        googletest(),
        WaitingCase{
            "Boost",
            "/usr/include/boost/test/included/unit_test.hpp",
            "",
            "#define BOOST_TEST_MODULE box\n#include <boost/test/included/unit_test.hpp>\n#include <boost/test/data/test_case.hpp>\n"
            "#include <string>\n#include <tuple>\n#include \"box/box.hpp\"\n"
            "BOOST_AUTO_TEST_CASE(has) { BOOST_TEST(box::Box<int>(1).has()); }\n"
            "using Types = std::tuple<int, long>;\n"
            "BOOST_AUTO_TEST_SUITE(typed)\nBOOST_AUTO_TEST_CASE_TEMPLATE(keeps, T, Types) { BOOST_TEST(box::Box<T>(T(1)).get() == T(1)); }\n"
            "BOOST_DATA_TEST_CASE(data, boost::unit_test::data::xrange(3), value) { BOOST_TEST(box::Box<int>(value).get() == value); }\n"
            "BOOST_AUTO_TEST_SUITE_END()\n"
            "BOOST_AUTO_TEST_CASE(closes) { box::Door door; BOOST_TEST(door.is_open()); }\n"
            "BOOST_AUTO_TEST_CASE(last) { BOOST_TEST((box::Box<int>(4).get() == 4)); }\n",
            {"has", "keeps", "typed::data", "closes", "last"}}),
    [](const auto& each) { return std::string(each.param.name); });

/// As much for every framework: what differs is how the tests before it end.
TEST(CppWaitingTests, that_pass_without_the_implementation_are_refused) {
    Project project{{{"mutants", 0}}};
    fill(project, googletest());
    // Nothing that the implementation could decide, behind tests that end at noexcept functions and in destructors.
    for (const auto* tree : {"red", "green"}) {
        auto& text = project.tree(tree)["tests/box_test.cpp"];
        const auto at = text.rfind("box::Box<int>(4).get() == 4");
        ASSERT_NE(at, std::string::npos);
        text.replace(at, 27, "2 + 2 == 4");
    }
    const auto green = project.gate("green", "green");
    EXPECT_THAT(joined(green.blocking_issues),
                HasSubstr("tests/box_test.cpp::Box::last does not fail without the change (passed)"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
