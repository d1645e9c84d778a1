// SPDX-License-Identifier: Apache-2.0
// A Maven project with JUnit 5, measured by the real toolchain in the real sandbox, with what Debian packages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    <dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter-api</artifactId><version>5.9.2</version><scope>test</scope></dependency>
    <dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter-engine</artifactId><version>5.9.2</version><scope>test</scope></dependency>
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

TEST(JavaTests, outcomes_are_told_apart) {
    if (!std::filesystem::exists("/usr/bin/mvn") || !std::filesystem::exists("/usr/share/maven-repo/org/junit/jupiter")) {
        GTEST_SKIP() << "not run: Maven, surefire and JUnit 5 are not installed";
    }
    Project project;
    project.tree("t") = {{"pom.xml", pom},
                         {"src/main/java/com/example/Slug.java", "package com.example;\n\npublic class Slug {\n    public static String slugify(String text) {\n"
                                                                 "        throw new UnsupportedOperationException(\"agentforge: skeleton of slugify\");\n    }\n}\n"},
                         {"src/test/java/com/example/SlugTest.java", java_tests}};
    const auto report = project.gate("tests", "t");
    const std::string prefix = "src/test/java/com/example/SlugTest.java::SlugTest::";
    EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary;
    EXPECT_EQ(status_of(report, prefix + "skeleton"), TestStatus::failed_skeleton);
    EXPECT_EQ(status_of(report, prefix + "passes"), TestStatus::passed);
    EXPECT_EQ(status_of(report, prefix + "fails"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, prefix + "breaks"), TestStatus::error);
    EXPECT_EQ(status_of(report, prefix + "later"), TestStatus::skipped);
    EXPECT_EQ(report.tests.size(), 5U) << joined(report.blocking_issues);
    const auto single = project.gate("tests", "t", {prefix + "passes"});
    EXPECT_TRUE(single.passed) << joined(single.blocking_issues);
    EXPECT_EQ(single.tests.size(), 1U);
}

}  // namespace
}  // namespace agentforge::kernel::testing
