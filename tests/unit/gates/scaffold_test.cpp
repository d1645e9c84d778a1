// SPDX-License-Identifier: Apache-2.0
// A project without tests: the kernel's scaffold suffices to build and run the first test, with the real toolchain of each
// language.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

#define AGENTFORGE_SCAFFOLD_NEEDS(file) \
    if (!std::filesystem::exists(file)) { GTEST_SKIP() << "not run: " << (file) << " is not installed"; }

class ScaffoldFor : public ::testing::Test {
protected:
    /// Returns the names of the scaffold's files. The tree `t` is the base with them.
    std::vector<std::string> lay(const Files& base) {
        project.tree("base") = base;
        project.tree("t") = base;
        const auto files = project.runner().scaffold("base");
        EXPECT_TRUE(files.ok()) << files.error().to_string();
        std::vector<std::string> names;
        for (const auto& [path, content] : files.ok() ? *files : std::vector<std::pair<std::string, std::string>>()) {
            names.push_back(path);
            project.tree("t")[path] = content;
        }
        return names;
    }
    void expect_run(const std::string& path, const std::string& content, const std::string& passes, const std::string& fails) {
        project.tree("t")[path] = content;
        const auto report = project.gate("tests", "t");
        EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary;
        EXPECT_EQ(status_of(report, path + "::" + passes), TestStatus::passed) << joined(report.blocking_issues);
        EXPECT_EQ(status_of(report, path + "::" + fails), TestStatus::failed_assertion) << joined(report.blocking_issues);
    }
    Project project;
};

TEST_F(ScaffoldFor, cpp) {
    EXPECT_THAT(
        lay({{"CMakeLists.txt",
              "cmake_minimum_required(VERSION 3.19)\nproject(one CXX)\nadd_library(one STATIC src/one.cpp)\ntarget_include_directories(one PUBLIC src)\n"},
             {"src/one.hpp", "int one();\n"},
             {"src/one.cpp", "#include \"one.hpp\"\nint one() { return 1; }\n"}}),
        ElementsAre("CMakeLists.txt", "tests/CMakeLists.txt"));
    // The pipeline case cpp_without_a_suite builds and runs it.
}

TEST_F(ScaffoldFor, go) {
    AGENTFORGE_SCAFFOLD_NEEDS("/usr/bin/go")
    EXPECT_THAT(lay({{"one.go", "package one\n\nfunc One() int { return 1 }\n"}}), ElementsAre("go.mod"));
    expect_run(
        "one_test.go",
        "package one\n\nimport \"testing\"\n\nfunc TestIs(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Error(\"no\")\n\t}\n}\n\nfunc TestIsNot(t *testing.T) {\n\tt.Error(\"no\")\n}\n",
        "TestIs", "TestIsNot");
}

TEST_F(ScaffoldFor, go_with_a_module_needs_nothing) {
    EXPECT_THAT(lay({{"go.mod", "module one\n\ngo 1.16\n"}, {"one.go", "package one\n"}}), IsEmpty());
}

TEST_F(ScaffoldFor, rust) {
    AGENTFORGE_SCAFFOLD_NEEDS("/usr/bin/cargo")
    EXPECT_THAT(lay({{"src/lib.rs", "pub fn one() -> i32 {\n    1\n}\n"}}), ElementsAre("Cargo.toml"));
    expect_run(
        "tests/one.rs",
        "#[test]\nfn is() {\n    assert_eq!(project::one(), 1);\n}\n#[test]\nfn is_not() {\n    assert_eq!(project::one(), 2);\n}\n",
        "is", "is_not");
}

// SetUpFor.maven_with_a_scaffolded_suite builds and runs it.
TEST_F(ScaffoldFor, java_gets_junit) {
    EXPECT_THAT(lay({{"pom.xml", "<project>\n</project>\n"}, {"src/main/java/One.java", ""}}), ElementsAre("pom.xml"));
    EXPECT_THAT(project.tree("t")["pom.xml"],
                HasSubstr("<project>\n  <dependencies>\n    <dependency>\n      <groupId>junit</groupId>"));
    EXPECT_THAT(project.tree("t")["pom.xml"], HasSubstr("  </dependencies>\n</project>\n"));
    project.configure({});
    lay({{"pom.xml",
          "<project>\n  <dependencies>\n    <dependency><groupId>g</groupId><artifactId>a</artifactId><version>1</version></dependency>\n  </dependencies>\n</project>\n"},
         {"src/main/java/One.java", ""}});
    EXPECT_THAT(project.tree("t")["pom.xml"], HasSubstr("</dependency>\n    <dependency>\n      <groupId>junit</groupId>"));
    EXPECT_THAT(project.tree("t")["pom.xml"], HasSubstr("    </dependency>\n  </dependencies>\n</project>\n"));
    project.configure({});
    EXPECT_THAT(
        lay({{"pom.xml",
              "<project><dependencies><dependency><artifactId>junit-jupiter</artifactId></dependency></dependencies></project>"},
             {"src/main/java/One.java", ""}}),
        IsEmpty());
}

TEST_F(ScaffoldFor, node_needs_nothing) {
    EXPECT_THAT(
        lay({{"package.json", "{\"name\": \"one\", \"type\": \"module\"}\n"}, {"src/one.js", "export const one = () => 1;\n"}}),
        IsEmpty());
    expect_run(
        "test/one.test.js",
        "import test from 'node:test';\nimport assert from 'node:assert';\nimport { one } from '../src/one.js';\ntest('is', () => { assert.equal(one(), 1); });\ntest('is not', () => { assert.equal(one(), 2); });\n",
        "is", "is not");
}

TEST_F(ScaffoldFor, python_needs_nothing) {
    EXPECT_THAT(lay({{"one.py", "def one():\n    return 1\n"}}), IsEmpty());
    expect_run(
        "tests/test_one.py",
        "import unittest\n\nimport one\n\n\nclass T(unittest.TestCase):\n    def test_is(self):\n        self.assertEqual(one.one(), 1)\n\n    def test_is_not(self):\n        self.assertEqual(one.one(), 2)\n",
        "T::test_is", "T::test_is_not");
}

}  // namespace
}  // namespace agentforge::kernel::testing
