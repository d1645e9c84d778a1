// SPDX-License-Identifier: Apache-2.0
// Real dependencies: each toolchain fetches `greeter` from a package index on this machine, once approved. Then the index stops,
// and the gates run with what was fetched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/run/dependencies.hpp"
#include "unit/gates/project.hpp"
#include "unit/gates/registries.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;

#define AGENTFORGE_NEEDS(file) \
    if (!std::filesystem::exists(file)) { GTEST_SKIP() << "not run: " << (file) << " is not installed"; }

class SetUpFor : public ::testing::Test {
protected:
    SetUpFor() : registries(project.folder() / "registries") {
        project.options().dependencies_directory = (project.folder() / "dependencies").string();
    }
    void use(json::object settings = {}) { project.configure(std::move(settings)); }
    void environment(const std::string& name, const std::string& value) { project.options().environment[name] = value; }

    /// Refused, fetched, offline, measured: the tree's one test passes and is trusted.
    void expect_fetched_once(const std::string& test) {
        const auto refused = project.try_gate("tests", "t");
        ASSERT_FALSE(refused.ok()) << refused->summary;
        ASSERT_EQ(refused.error().code, "AF-GATE-100") << refused.error().to_string();
        const auto fetched = project.runner().set_up("t", Stop{});
        ASSERT_TRUE(fetched.ok()) << fetched.error().to_string();
        registries.stop();
        const auto steps = project.runner().setup_steps("t");
        ASSERT_TRUE(steps.ok());
        ASSERT_EQ(steps->size(), 1U);
        EXPECT_TRUE(steps->front().ready);
        const auto report = project.gate("tests", "t");
        EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary;
        EXPECT_EQ(status_of(report, test), TestStatus::passed) << joined(report.blocking_issues);
        EXPECT_EQ(report.facts.at("confinement").at("network"), json::value("none"));
    }

    Project project;
    Registries registries;
};

TEST_F(SetUpFor, pip) {
    environment("PIP_INDEX_URL", registries.address() + "/pip/");
    use();
    project.tree("t") = {
        {"requirements.txt", registries.file("requirements.txt")},
        {"setup.py", ""},
        {"test_it.py",
         "import unittest\nimport greeter\n\n\nclass T(unittest.TestCase):\n    def test_greets(self):\n        self.assertEqual(greeter.greet(), 'hello')\n"}};
    expect_fetched_once("test_it.py::T::test_greets");
}

TEST_F(SetUpFor, go) {
    AGENTFORGE_NEEDS("/usr/bin/go")
    environment("GOPROXY", registries.address() + "/go");
    environment("GOSUMDB", "off");
    use();
    project.tree("t") = {
        {"go.mod", "module project\n\ngo 1.16\n\nrequire example.com/greeter v1.0.0\n"},
        {"go.sum", registries.file("go.sum")},
        {"a.go", "package project\n"},
        {"a_test.go",
         "package project\n\nimport (\n\t\"testing\"\n\n\t\"example.com/greeter\"\n)\n\nfunc TestGreets(t *testing.T) {\n\tif greeter.Greet() != \"hello\" {\n\t\tt.Fatal(\"no\")\n\t}\n}\n"}};
    expect_fetched_once("a_test.go::TestGreets");
}

TEST_F(SetUpFor, go_skips_vendored_modules) {
    AGENTFORGE_NEEDS("/usr/bin/go")
    use();
    project.tree("t") = {
        {"go.mod", "module project\n\ngo 1.16\n\nrequire example.com/greeter v1.0.0\n"},
        {"go.sum", registries.file("go.sum")},
        {"a.go", "package project\n"},
        {"vendor/modules.txt", "# example.com/greeter v1.0.0\n## explicit\nexample.com/greeter\n"},
        {"vendor/example.com/greeter/greeter.go", "package greeter\n\nfunc Greet() string { return \"hello\" }\n"},
        {"a_test.go",
         "package project\n\nimport (\n\t\"testing\"\n\n\t\"example.com/greeter\"\n)\n\nfunc TestGreets(t *testing.T) {\n\tif greeter.Greet() != \"hello\" {\n\t\tt.Fatal(\"no\")\n\t}\n}\n"}};
    const auto report = project.gate("tests", "t");
    EXPECT_EQ(status_of(report, "a_test.go::TestGreets"), TestStatus::passed) << joined(report.blocking_issues);
}

TEST_F(SetUpFor, cargo) {
    AGENTFORGE_NEEDS("/usr/bin/cargo")
    use({{"readable", {(registries.folder() / "index").string()}}});
    project.tree("t") = {
        {"Cargo.toml",
         "[package]\nname = \"project\"\nversion = \"0.1.0\"\nedition = \"2018\"\n\n[dependencies]\ngreeter = \"1.0.0\"\n"},
        {"Cargo.lock", registries.file("Cargo.lock")},
        {".cargo/config.toml", "[source.crates-io]\nreplace-with = \"here\"\n\n[source.here]\nregistry = \"file://" +
                                   (registries.folder() / "index").string() + "\"\n"},
        {"src/lib.rs",
         "#[cfg(test)]\nmod tests {\n    #[test]\n    fn greets() {\n        assert_eq!(greeter::greet(), \"hello\");\n    }\n}\n"}};
    expect_fetched_once("src/lib.rs::tests::greets");
}

TEST_F(SetUpFor, maven_with_a_scaffolded_suite) {
    AGENTFORGE_NEEDS("/usr/bin/mvn")
    AGENTFORGE_NEEDS("/usr/share/maven-repo/junit/junit/4.13.2")
    // The system's repository is not used: it is empty here.
    const std::filesystem::path shipped = project.options().languages_directory;
    const auto own = project.folder() / "languages";
    std::filesystem::create_directories(own);
    std::filesystem::create_directories(project.folder() / "empty");
    std::filesystem::copy(shipped / "java", own / "java");
    auto text = read_file(shipped / "java.yaml").value();
    text.replace(text.find("environment:\n"), 13,
                 "environment:\n  MAVEN_REPOSITORY: \"" + (project.folder() / "empty").string() + "\"\n");
    std::ofstream(own / "java.yaml") << text;
    project.options().more_languages = {own.string()};
    use();
    project.tree("base") = {
        {"pom.xml",
         "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n  <modelVersion>4.0.0</modelVersion>\n  <groupId>g</groupId><artifactId>one</artifactId><version>1</version>\n"
         "  <properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target></properties>\n</project>\n"},
        {".mvn/maven.config", "-s\n.mvn/settings.xml\n"},
        {".mvn/settings.xml", "<settings><mirrors><mirror><id>here</id><mirrorOf>*</mirrorOf><url>" + registries.address() +
                                  "/maven</url></mirror></mirrors></settings>\n"},
        {"src/main/java/One.java", "public class One { public static int one() { return 1; } }\n"}};
    project.tree("t") = project.tree("base");
    const auto laid = project.runner().scaffold("base");
    ASSERT_TRUE(laid.ok()) << laid.error().to_string();
    for (const auto& [path, content] : *laid) { project.tree("t")[path] = content; }
    project.tree("t")["src/test/java/OneTest.java"] =
        "import static org.junit.Assert.assertEquals;\n\nimport org.junit.Test;\n\npublic class OneTest {\n    @Test public void is() { assertEquals(1, One.one()); }\n}\n";
    expect_fetched_once("src/test/java/OneTest.java::OneTest::is");
}

TEST_F(SetUpFor, a_changed_lockfile_needs_approval_again) {
    AGENTFORGE_NEEDS("/usr/bin/go")
    environment("GOPROXY", registries.address() + "/go");
    environment("GOSUMDB", "off");
    use();
    project.tree("t") = {{"go.mod", "module project\n\ngo 1.16\n\nrequire example.com/greeter v1.0.0\n"},
                         {"go.sum", registries.file("go.sum")},
                         {"a.go", "package project\n"}};
    ASSERT_TRUE(project.runner().set_up("t", Stop{}).ok());
    project.tree("later") = project.tree("t");
    project.tree("later")["go.sum"] += "example.com/other v1.0.0/go.mod h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
    EXPECT_TRUE(project.runner().setup_steps("t")->front().ready);
    EXPECT_FALSE(project.runner().setup_steps("later")->front().ready);
}

}  // namespace
}  // namespace agentforge::kernel::testing
