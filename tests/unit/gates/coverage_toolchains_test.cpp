// SPDX-License-Identifier: Apache-2.0
// Which changed lines the tests of compiled languages run, measured by the real tools in the real sandbox.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;

/// If its toolchain is not installed, a case is reported as not run, never as passed.
#define AGENTFORGE_NEEDS_FILE(path, name) \
    if (!std::filesystem::exists(path)) { GTEST_SKIP() << "not run: " name " is not installed"; }

json::value fact(const GateReport& report, const char* name) {
    const auto* found = report.facts.if_contains(name);
    return found == nullptr ? json::value() : *found;
}

const json::object demanding{{"thresholds", {{"min-coverage", 20}}}};

GateReport quality_of(Project& project) { return project.gate("conformance", "green", {}, {{"enforcement", "all"}}); }

std::string message_of(const GateReport& report, const std::string& check) {
    for (const auto& violation : report.violations) {
        if (violation.check_id == check) {
            return violation.file + ":" + std::to_string(violation.line) + ": " + violation.message;
        }
    }
    return {};
}

TEST(CoverageByGcov, names_untested_cpp_lines_and_counts_files_of_no_program) {
    AGENTFORGE_NEEDS_FILE("/usr/bin/gcov", "gcov")
    Project project(demanding);
    project.tree("base") = {
        {"CMakeLists.txt",
         "cmake_minimum_required(VERSION 3.16)\nproject(slug CXX)\nenable_testing()\nadd_library(slug src/sign.cpp)\n"
         "target_include_directories(slug PUBLIC src)\nadd_subdirectory(tests)\n"},
        {"src/sign.hpp", "#pragma once\nint sign(int value);\n"},
        {"src/sign.cpp", "int sign(int) { return 0; }\n"},
        {"tests/CMakeLists.txt",
         "add_executable(sign_test sign_test.cpp)\ntarget_link_libraries(sign_test slug)\nadd_test(NAME sign_test COMMAND sign_test)\n"},
        {"tests/sign_test.cpp", "#include \"sign.hpp\"\nint main() { return sign(3) == 1 ? 0 : 1; }\n"}};
    project.tree("green") = project.tree("base");
    project.tree("green")["src/sign.cpp"] =
        "#include \"sign.hpp\"\n\nint sign(int value) {\n    if (value < 0) {\n        return -1;\n    }\n    return 1;\n}\n";
    project.tree("green")["src/alone.hpp"] =
        "#pragma once\n// Nobody includes it.\ninline int alone(int value) {\n    return value;\n}\n";
    const auto report = quality_of(project);
    EXPECT_EQ(fact(report, "coverage"), json::value("measured"));
    EXPECT_EQ(fact(report, "coverage_lines"), json::value(5))
        << json::serialize(report.facts);  // Lines 3, 4, 5 and 7 of one file, line 4 of the other.
    EXPECT_THAT(message_of(report, "min-coverage"), HasSubstr("src/alone.hpp:4, src/sign.cpp:5"));
}

TEST(CoverageByGo, names_untested_statements_of_a_module_by_path) {
    AGENTFORGE_NEEDS_FILE("/usr/bin/go", "Go")
    Project project(demanding);
    project.tree("base") = {
        {"go.mod", "module example.com/slug\n\ngo 1.19\n"},
        {"sign.go", "package slug\n\nfunc Sign(value int) int { return 0 }\n"},
        {"inner/deep.go", "package inner\n\nfunc Deep() int { return 0 }\n"},
        {"sign_test.go",
         "package slug\n\nimport \"testing\"\n\nfunc TestSign(t *testing.T) {\n\tif Sign(3) != 1 {\n\t\tt.Error(\"no\")\n\t}\n}\n"}};
    project.tree("green") = project.tree("base");
    project.tree("green")["sign.go"] =
        "package slug\n\nfunc Sign(value int) int {\n\tif value < 0 {\n\t\treturn -1\n\t}\n\treturn 1\n}\n";
    project.tree("green")["inner/deep.go"] = "package inner\n\nfunc Deep() int {\n\treturn 1\n}\n";
    const auto report = quality_of(project);
    EXPECT_EQ(fact(report, "coverage"), json::value("measured"));
    EXPECT_THAT(message_of(report, "min-coverage"), HasSubstr("inner/deep.go:4, sign.go:5"));
}

TEST(CoverageByLlvm, covers_rust_lines_without_inline_tests) {
    AGENTFORGE_NEEDS_FILE("/usr/bin/cargo", "Rust")
    AGENTFORGE_NEEDS_FILE("/usr/lib/llvm-14/bin/llvm-cov", "llvm-cov 14")
    Project project(demanding);
    const std::string tests =
        "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn positive() {\n        assert_eq!(sign(3), 1);\n    }\n}\n";
    project.tree("base") = {{"Cargo.toml", "[package]\nname = \"slug\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"},
                            {"src/lib.rs", "pub fn sign(_value: i32) -> i32 {\n    0\n}\n" + tests}};
    project.tree("green") = project.tree("base");
    project.tree("green")["src/lib.rs"] =
        "pub fn sign(value: i32) -> i32 {\n    if value < 0 {\n        return -1;\n    }\n    1\n}\n" + tests;
    const auto report = quality_of(project);
    EXPECT_EQ(fact(report, "coverage"), json::value("measured"));
    EXPECT_EQ(fact(report, "coverage_lines"), json::value(4)) << json::serialize(report.facts);
    EXPECT_THAT(message_of(report, "min-coverage"), HasSubstr("(src/lib.rs:3)"));
}

TEST(CoverageByJacoco, covers_java_lines_by_source_file) {
    AGENTFORGE_NEEDS_FILE("/usr/share/java/org.jacoco.agent.jar", "JaCoCo")
    AGENTFORGE_NEEDS_FILE("/usr/bin/mvn", "Maven")
    Project project(demanding);
    project.tree("base") = {
        {"pom.xml", R"(<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>org.example</groupId><artifactId>slug</artifactId><version>1</version>
<properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target></properties>
<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter-api</artifactId><version>debian</version><scope>test</scope></dependency>
<dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter-engine</artifactId><version>debian</version><scope>test</scope></dependency></dependencies>
</project>)"},
        {"src/main/java/org/example/Sign.java",
         "package org.example;\npublic class Sign { public static int of(int value) { return 0; } }\n"},
        {"src/test/java/org/example/SignTest.java",
         "package org.example;\nimport org.junit.jupiter.api.Assertions;\nimport org.junit.jupiter.api.Test;\nclass SignTest {\n    @Test\n"
         "    void positive() {\n        Assertions.assertEquals(1, Sign.of(3));\n    }\n}\n"}};
    project.tree("green") = project.tree("base");
    project.tree("green")["src/main/java/org/example/Sign.java"] =
        "package org.example;\n\npublic class Sign {\n    public static int of(int value) {\n        if (value < 0) {\n            return -1;\n        }\n        return 1;\n    }\n}\n";
    const auto report = quality_of(project);
    EXPECT_EQ(fact(report, "coverage"), json::value("measured"));
    EXPECT_THAT(message_of(report, "min-coverage"), HasSubstr("src/main/java/org/example/Sign.java:6"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
