// SPDX-License-Identifier: Apache-2.0
// A Maven project with JUnit 5, measured by the real toolchain in the real sandbox, with Debian's packages.
#include <unistd.h>

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/run/language_commands.hpp"
#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

const char* const pom = R"(<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId>
  <artifactId>slug</artifactId>
  <version>1.0</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.9.2</version><scope>test</scope></dependency>
  </dependencies>
</project>
)";

const char* const java_tests = R"(package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;

class SlugTest {
    @Test void skeleton() { assertEquals("a", Slug.slugify("A")); }
    @Test void passes() {}
    @Test void fails() { assertEquals(1, 2, "one is not two"); }
    @Test void breaks() { Object none = null; none.toString(); }
    @Test @Disabled("later") void later() {}
}
)";

/// Typical tests: nested classes, arguments, several cases, another class in the same file, a class whose setup fails.
const char* const more_java_tests = R"java(package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.*;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.*;

class KindsTest {
    @Test void withFolder(@TempDir Path folder) { assertEquals(1, 2); }
    @Test @DisplayName("a name, with [brackets] and (more)") void displayed() {}
    @ParameterizedTest @ValueSource(strings = {"a", "b"}) void values(String text) { assertEquals("a", text); }
    @ParameterizedTest(name = "{0} and {1}") @CsvSource({"1, x", "2, y"}) void lines(int number, String text) { assertEquals(1, number); }
    static Stream<Arguments> numbers() { return Stream.of(Arguments.of(1, List.of("a"))); }
    @ParameterizedTest @MethodSource("numbers") void given(int number, List<String> texts) { assertEquals(1, number); }
    @RepeatedTest(2) void again(RepetitionInfo info) { assertEquals(1, info.getCurrentRepetition()); }
    @TestFactory Stream<DynamicTest> made() { return Stream.of("one", "two").map(each -> DynamicTest.dynamicTest("is " + each, () -> assertEquals("one", each))); }
    @Nested class Inner {
        @Test void passes() {}
        @Nested class Innermost { @Test void deepest() { assertEquals(1, 3); } }
    }
}

class OtherTest { @Test void besides() {} }

class SetUpTest {
    @BeforeAll static void all() { throw new IllegalStateException("not set up"); }
    @Test void never() {}
}
)java";

TEST(JavaTests, distinguishes_outcomes) {
    if (!std::filesystem::exists("/usr/bin/mvn") || !std::filesystem::exists("/usr/share/maven-repo/org/junit/jupiter")) {
        GTEST_SKIP() << "not run: Maven, surefire and JUnit 5 are not installed";
    }
    Project project;
    project.tree("t") = {{"pom.xml", pom},
                         {"src/main/java/com/example/Slug.java",
                          "package com.example;\n\npublic class Slug {\n    public static String slugify(String text) {\n"
                          "        throw new UnsupportedOperationException(\"agentforge: skeleton of slugify\");\n    }\n}\n"},
                         {"src/test/java/com/example/SlugTest.java", java_tests},
                         {"src/test/java/com/example/KindsTest.java", more_java_tests}};
    const auto report = project.gate("tests", "t");
    const std::string prefix = "src/test/java/com/example/SlugTest.java::SlugTest::";
    EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary;
    EXPECT_EQ(status_of(report, prefix + "skeleton"), TestStatus::failed_skeleton);
    EXPECT_EQ(status_of(report, prefix + "passes"), TestStatus::passed);
    EXPECT_EQ(status_of(report, prefix + "fails"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, prefix + "breaks"), TestStatus::error);
    EXPECT_EQ(status_of(report, prefix + "later"), TestStatus::skipped);
    const std::string kinds = "src/test/java/com/example/KindsTest.java";
    std::vector<std::string> passed;
    std::vector<std::string> failed;
    for (const auto& test : report.tests) {
        if (test.file != kinds) { continue; }
        const auto rest = test.id == kinds ? test.message : test.id.substr(kinds.size() + 2);
        (test.status == TestStatus::passed ? passed : failed).push_back(rest);
    }
    EXPECT_THAT(passed, ::testing::UnorderedElementsAre("KindsTest::displayed", "KindsTest::values[1]", "KindsTest::lines[1]",
                                                        "KindsTest::given[1]", "KindsTest::again[1]", "KindsTest::made[1]",
                                                        "KindsTest::Inner::passes", "OtherTest::besides"));
    EXPECT_THAT(failed, ::testing::UnorderedElementsAre(
                            "KindsTest::withFolder", "KindsTest::values[2]", "KindsTest::lines[2]", "KindsTest::again[2]",
                            "KindsTest::made[2]", "KindsTest::Inner::Innermost::deepest", ::testing::HasSubstr("not set up")));
    EXPECT_EQ(report.tests.size(), 5U + passed.size() + failed.size()) << joined(report.blocking_issues);
    const auto single = project.gate("tests", "t", {prefix + "passes"});
    EXPECT_TRUE(single.passed) << joined(single.blocking_issues);
    EXPECT_EQ(single.tests.size(), 1U);
    EXPECT_EQ(project.gate("tests", "t", {kinds + "::KindsTest::Inner::Innermost::deepest"}).tests.size(), 1U);
}

/// Returns the kernel's own test that must fail, written for a project of these files, with a Maven that does nothing.
std::string canary_of(const Files& files) {
    const ScratchFolder folder(std::filesystem::temp_directory_path() / ("canary-" + std::to_string(::getpid())));
    const auto place = folder.path();
    for (const auto& [path, text] : files) {
        std::filesystem::create_directories((place / "root" / path).parent_path());
        std::ofstream(place / "root" / path) << text;
    }
    std::filesystem::create_directories(place / "bin");
    std::ofstream(place / "bin/mvn") << "#!/bin/sh\nexit 0\n";
    std::filesystem::permissions(place / "bin/mvn", std::filesystem::perms::owner_all);
    const auto script = std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages/java/maven_test.sh";
    const auto command = "PATH=" + (place / "bin").string() + ":$PATH sh " + script + " build " + (place / "root").string() +
                         " " + (place / "build").string() + " 1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream canary(place / "build/tree/src/test/java/AgentForge1Test.java");
    return {std::istreambuf_iterator<char>(canary), {}};
}

TEST(JavaCanary, uses_the_framework_of_the_tests_or_else_of_the_project) {
    const std::string test = "src/test/java/a/ATest.java";
    using ::testing::HasSubstr;
    EXPECT_THAT(canary_of({{"pom.xml", "<project/>"}, {test, "import org.testng.annotations.Test;\n"}}),
                HasSubstr("@org.testng.annotations.Test public void fails() { org.testng.Assert.fail("));
    EXPECT_THAT(canary_of({{"pom.xml", "junit-jupiter"}, {test, "import org.junit.Test;\n"}}), HasSubstr("@org.junit.Test "));
    EXPECT_THAT(canary_of({{"pom.xml", "junit-jupiter"}, {test, "class Helper {}\n"}}),
                HasSubstr("@org.junit.jupiter.api.Test "));
    EXPECT_THAT(canary_of({{"pom.xml", "<artifactId>testng</artifactId>"}, {test, "class Helper {}\n"}}),
                HasSubstr("@org.testng.annotations.Test "));
}

}  // namespace
}  // namespace agentforge::kernel::testing
