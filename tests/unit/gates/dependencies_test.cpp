// SPDX-License-Identifier: Apache-2.0
// Dependencies: approved, fetched once for each lockfile, then readable.
#include "gates/run/dependencies.hpp"

#include "unit/gates/slug_project.hpp"

namespace agentforge::kernel::testing {
namespace {

/// Python with our own rule in place of pip's, so the test needs no network.
class DependenciesTest : public ::testing::Test {
protected:
    DependenciesTest() {
        const auto languages = project.folder() / "languages";
        const std::filesystem::path shipped = std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages";
        std::filesystem::create_directories(languages);
        std::filesystem::copy(shipped / "python", languages / "python", std::filesystem::copy_options::recursive);
        auto text = read_file(shipped / "python.yaml").value();
        const auto rule = text.find("\nsetup:");
        EXPECT_NE(rule, std::string::npos);
        text.resize(rule);
        std::ofstream(languages / "python.yaml") << text << R"(
setup:
  - name: "toy"
    lockfiles: ["toys.lock"]
    inputs: ["toys.cfg"]
    argv: ["sh", "-c", "echo run >> {dependencies}/runs && cp toys.lock fetched.py && test ! -e fail.cfg && ! grep -q broken toys.lock"]
    environment: {TOYS: "{dependencies}"}
    links: {toys: "{dependencies}"}
)";
        project.options().languages_directory = languages.string();
        project.options().dependencies_directory = (project.folder() / "dependencies").string();
        project.tree("green")["toys.lock"] = "answer = 42\n";
        project.configure({});
    }
    SetupStep step(const std::string& tree = "green") {
        const auto steps = project.runner().setup_steps(tree);
        EXPECT_TRUE(steps.ok()) << steps.error().to_string();
        return steps.ok() && steps->size() == 1 ? steps->front() : SetupStep{};
    }
    std::string refusal() {
        const auto report = project.try_gate("tests", "green");
        return report.ok() ? "" : report.error().code;
    }
    /// A test that reads what was fetched, and tries to write there.
    void test_that(const std::string& body) {
        project.tree("green")["tests/test_toys.py"] =
            "import os, sys, unittest\nclass TestToys(unittest.TestCase):\n    def test_it(self):\n        " + body + "\n";
    }
    TestStatus outcome() { return status_of(project.gate("tests", "green"), "tests/test_toys.py::TestToys::test_it"); }

    SlugProject project;
};

TEST_F(DependenciesTest, need_approval) {
    const auto report = project.try_gate("tests", "green");
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().code, "AF-GATE-100");
    EXPECT_EQ(report.error().kind, ErrorKind::unavailable);
    EXPECT_THAT(report.error().remedy, HasSubstr("agentforge setup"));
    EXPECT_FALSE(std::filesystem::exists(step().folder));
}

TEST_F(DependenciesTest, are_available_to_gates_once_fetched) {
    test_that(
        "sys.path.insert(0, os.environ['TOYS']); import fetched; self.assertEqual(open('toys/toys.lock').read(), 'answer = 42\\n'); self.assertEqual(fetched.answer, 42)");
    ASSERT_TRUE(project.runner().set_up("green", Stop{}).ok());
    EXPECT_TRUE(step().ready);
    EXPECT_EQ(outcome(), TestStatus::passed);
}

TEST_F(DependenciesTest, cannot_be_changed_by_gate_commands) {
    test_that("open(os.environ['TOYS'] + '/fetched.py', 'w')");
    ASSERT_TRUE(project.runner().set_up("green", Stop{}).ok());
    EXPECT_EQ(outcome(), TestStatus::error);
    EXPECT_EQ(read_file(std::filesystem::path(step().folder) / "fetched.py").value(), "answer = 42\n");
}

TEST_F(DependenciesTest, are_fetched_once_for_each_lockfile) {
    ASSERT_TRUE(project.runner().set_up("green", Stop{}).ok());
    ASSERT_TRUE(project.runner().set_up("green", Stop{}).ok());
    EXPECT_EQ(read_file(std::filesystem::path(step().folder) / "runs").value(), "run\n");
    project.tree("red") = project.tree("green");
    project.tree("red")["toys.lock"] = "answer = 43\n";
    EXPECT_FALSE(step("red").ready);
    EXPECT_NE(step("red").folder, step("green").folder);
}

TEST_F(DependenciesTest, report_a_failed_fetch_and_stay_absent) {
    project.tree("green")["toys.lock"] = "broken = True\n";
    const auto fetched = project.runner().set_up("green", Stop{});
    ASSERT_FALSE(fetched.ok());
    EXPECT_EQ(fetched.error().code, "AF-GATE-101");
    EXPECT_THAT(fetched.error().message, HasSubstr("`sh` ended with exit code 1"));
    EXPECT_FALSE(step().ready);
    EXPECT_EQ(refusal(), "AF-GATE-100");
}

TEST_F(DependenciesTest, are_fetched_without_asking_or_skipped_if_configured) {
    project.options().setup = "never";
    project.configure({});
    EXPECT_EQ(refusal(), "");
    EXPECT_FALSE(step().ready);
    project.options().setup = "always";
    project.configure({});
    EXPECT_EQ(refusal(), "");
    EXPECT_TRUE(step().ready);
}

TEST_F(DependenciesTest, are_none_without_a_lockfile) {
    EXPECT_TRUE(project.gate("tests", "base").passed);
    EXPECT_EQ(project.runner().setup_steps("base")->size(), 0U);
}

TEST(ShippedSetups, are_skipped_for_a_program_that_the_user_configured) {
    SlugProject project;
    project.tree("green")["requirements.txt"] = "requests\n";
    project.options().dependencies_directory = (project.folder() / "dependencies").string();
    project.configure({});
    EXPECT_EQ(project.runner().setup_steps("green")->size(), 1U);
    project.configure({{"programs", {{"python3", "/usr/bin/python3"}}}});
    EXPECT_EQ(project.runner().setup_steps("green")->size(), 0U);
}

TEST(GateInputs, change_with_settings_and_with_the_languages_files) {
    SlugProject project;
    const auto before = project.runner().inputs().value();
    project.configure({});
    EXPECT_EQ(project.runner().inputs().value(), before);
    project.configure({{"thresholds", {{"max-complexity", 5}}}});
    EXPECT_NE(project.runner().inputs().value(), before);
    std::filesystem::create_directories(project.folder() / "conformance");
    std::ofstream(project.folder() / "conformance" / "own.yaml") << "agentforge_conformance: 1\ncategory: style\nchecks: []\n";
    project.configure({});
    EXPECT_NE(project.runner().inputs().value(), before);
}

TEST(Scaffolds, add_a_test_folder_to_a_cpp_project_without_tests) {
    SlugProject project;
    project.tree("base") = {{"CMakeLists.txt", "project(slug CXX)"}, {"slug.cpp", "int slug() { return 1; }\n"}};
    const auto files = project.runner().scaffold("base");
    ASSERT_TRUE(files.ok()) << files.error().to_string();
    ASSERT_EQ(files->size(), 2U);
    EXPECT_EQ(files->at(0), (std::pair<std::string, std::string>(
                                "CMakeLists.txt", "project(slug CXX)\n\nenable_testing()\nadd_subdirectory(tests)\n")));
    EXPECT_EQ(files->at(1).first, "tests/CMakeLists.txt");
}

TEST(Scaffolds, do_not_overwrite_existing_files) {
    SlugProject project;
    project.tree("base") = {
        {"CMakeLists.txt", "project(slug CXX)\nenable_testing()\n"}, {"slug.cpp", ""}, {"tests/CMakeLists.txt", "# mine\n"}};
    EXPECT_TRUE(project.runner().scaffold("base")->empty());
    project.tree("red") = {{"CMakeLists.txt", "project(slug CXX)\n"}, {"slug.cpp", ""}, {"tests/slug_test.cpp", ""}};
    EXPECT_TRUE(project.runner().scaffold("red")->empty());
}

}  // namespace
}  // namespace agentforge::kernel::testing
