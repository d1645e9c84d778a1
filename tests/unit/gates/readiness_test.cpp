// SPDX-License-Identifier: Apache-2.0
// What gates need, reported in advance: invalid settings, missing programs, dependencies that were not fetched.
#include "gates/engine/readiness.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Readiness : public ::testing::Test {
protected:
    Readiness() { project.tree("t") = {{"setup.py", ""}, {"a.py", "x = 1\n"}, {"tests/test_a.py", ""}}; }
    Result<GateReadiness> readiness(json::object settings = {}, const std::string& language = {}) {
        project.options().language = language;
        project.configure(std::move(settings));
        return project.runner().readiness("t");
    }
    std::string refusal(json::object settings, const std::string& language = {}) {
        const auto found = readiness(std::move(settings), language);
        return found.ok()
                   ? ""
                   : found.error().code + " " + found.error().where + ": " + found.error().message + " " + found.error().remedy;
    }
    Project project;
};

TEST_F(Readiness, reports_language_runner_tests_and_programs) {
    const auto found = readiness();
    ASSERT_TRUE(found.ok()) << found.error().to_string();
    ASSERT_EQ(found->scopes.size(), 1U);
    EXPECT_EQ(found->scopes[0].language, "python");
    EXPECT_EQ(found->scopes[0].runner, "python");
    EXPECT_EQ(found->scopes[0].test_files, 1U);
    ASSERT_EQ(found->scopes[0].tools.size(), 1U);
    EXPECT_EQ(found->scopes[0].tools[0].program, "python3");
    EXPECT_TRUE(found->scopes[0].tools[0].found);
    EXPECT_TRUE(check_can_measure(*found, "ask").ok());
}

TEST_F(Readiness, reports_each_scope_of_a_monorepo) {
    project.tree("t")["services/api/go.mod"] = "module api\n";
    project.tree("t")["services/api/main.go"] = "package main\n";
    const auto found = readiness();
    ASSERT_TRUE(found.ok()) << found.error().to_string();
    ASSERT_EQ(found->scopes.size(), 2U);
    EXPECT_EQ(found->scopes[1].directory, "services/api");
    EXPECT_EQ(found->scopes[1].test_files, 0U);
    EXPECT_EQ(found->scopes[1].tools.at(0).program, "go");
}

TEST_F(Readiness, counts_tests_among_other_code) {
    project.tree("t") = {{"Cargo.toml", ""}, {"src/lib.rs", "#[cfg(test)]\nmod tests {\n}\n"}, {"src/other.rs", "fn a() {}\n"}};
    const auto found = readiness();
    ASSERT_TRUE(found.ok()) << found.error().to_string();
    EXPECT_EQ(found->scopes.at(0).test_files, 1U);
    EXPECT_EQ(found->scopes.at(0).source_files, 2U);
}

TEST_F(Readiness, omits_the_root_of_a_monorepo_without_sources) {
    project.tree("t") = {
        {"README.md", ""}, {"a/go.mod", "module a\n"}, {"a/a.go", "package a\n"}, {"b/setup.py", ""}, {"b/b.py", ""}};
    const auto found = readiness();
    ASSERT_TRUE(found.ok()) << found.error().to_string();
    ASSERT_EQ(found->scopes.size(), 2U);
    EXPECT_EQ(found->scopes[0].directory, "a");
}

TEST_F(Readiness, a_tree_without_a_language_is_not_an_error) {
    project.tree("t") = {{"README.md", "hello\n"}};
    const auto found = readiness();
    ASSERT_TRUE(found.ok()) << found.error().to_string();
    EXPECT_TRUE(found->scopes.empty());
    EXPECT_TRUE(check_can_measure(*found, "ask").ok());
}

TEST_F(Readiness, refuses_an_unknown_language) {
    EXPECT_THAT(refusal({}, "cobol"), HasSubstr("AF-GATE-002 gates.language: "));
    EXPECT_THAT(refusal({}, "pyton"), HasSubstr("did you mean `python`"));
}

TEST_F(Readiness, refuses_an_unknown_scope_folder_or_language) {
    EXPECT_THAT(refusal({{"scopes", {{"nowhere", "go"}}}}), HasSubstr("AF-GATE-080 gates.scopes.nowhere: "));
    EXPECT_THAT(refusal({{"scopes", {{"tests", "cobol"}}}}), HasSubstr("AF-GATE-002 gates.scopes.tests: "));
}

TEST_F(Readiness, refuses_generic_without_its_command) {
    EXPECT_THAT(refusal({}, "generic"), HasSubstr("AF-GATE-060 gates.command: "));
}

TEST_F(Readiness, needs_pytest_if_the_project_names_it) {
    for (const auto& [file, text] :
         std::map<std::string, std::string>{{"pyproject.toml", "[project.optional-dependencies]\ntest = [\"pytest>=7\"]\n"},
                                            {"tox.ini", "[testenv]\ndeps = pytest\n"},
                                            {"requirements-dev.txt", "pytest==8.0\n"},
                                            {"tests/test_plain.py", "def test_a():\n    assert True\n"}}) {
        project.tree("t") = {{file, text}, {"a.py", "x = 1\n"}, {"tests/test_a.py", "import unittest\n"}};
        const auto found = readiness();
        ASSERT_TRUE(found.ok()) << found.error().to_string();
        const auto& tools = found->scopes.at(0).tools;
        EXPECT_TRUE(std::ranges::any_of(tools, [](const ToolState& tool) { return tool.name == "pytest"; })) << file;
    }
    project.tree("t") = {{"requirements.txt", "pytest-cov==4\n"}, {"a.py", "x = 1\n"}, {"tests/test_a.py", "import unittest\n"}};
    EXPECT_TRUE(
        std::ranges::none_of(readiness()->scopes.at(0).tools, [](const ToolState& tool) { return tool.name == "pytest"; }));
}

TEST_F(Readiness, uses_the_runner_that_the_test_script_calls) {
    const std::map<std::string, std::string> scripts{
        {"npx mocha spec", "mocha"}, {"eslint . && c8 tap", "tap"}, {"node --test --test-reporter tap", "node by default"}};
    for (const auto& [script, runner] : scripts) {
        project.tree("t") = {{"package.json", R"({"scripts": {"test": ")" + script + R"("}})"}, {"a.js", ""}, {"test/a.js", ""}};
        EXPECT_EQ(readiness()->scopes.at(0).runner, runner) << script;
    }
}

TEST_F(Readiness, checks_that_the_command_of_generic_exists) {
    const auto found = readiness({{"command", {"no-such-program-here", "check"}}}, "generic");
    ASSERT_TRUE(found.ok()) << found.error().to_string();
    const auto can = check_can_measure(*found, "ask");
    ASSERT_FALSE(can.ok());
    EXPECT_EQ(can.error().code, "AF-GATE-144");
    EXPECT_THAT(can.error().message, HasSubstr("no-such-program-here"));
}

TEST_F(Readiness, names_an_unsupported_test_runner_instead_of_using_nodes) {
    project.tree("t") = {{"package.json", R"({"devDependencies": {"uvu": "^0.5.0"}})"}, {"a.js", ""}, {"test/a.js", ""}};
    const auto found = readiness();
    ASSERT_TRUE(found.ok()) << found.error().to_string();
    const auto can = check_can_measure(*found, "ask");
    ASSERT_FALSE(can.ok());
    EXPECT_EQ(can.error().code, "AF-GATE-144");
    EXPECT_THAT(can.error().message, HasSubstr("use uvu"));
    EXPECT_THAT(can.error().remedy, HasSubstr("gates.command"));
}

TEST_F(Readiness, says_how_to_measure_meson_make_and_gradle) {
    const std::vector<std::tuple<std::string, std::string, std::string>> cases{
        {"meson.build", "project('a', 'c')\n", "Meson"},
        {"Makefile", "check: a\n\t./a\n", "Make"},
        {"build.gradle", "plugins { id 'java' }\n", "Gradle"}};
    for (const auto& [file, content, name] : cases) {
        const std::string source = name == "Gradle" ? "src/main/java/A.java" : "a.c";
        project.tree("t") = {{file, content}, {source, ""}};
        const auto found = readiness();
        ASSERT_TRUE(found.ok()) << found.error().to_string();
        const auto can = check_can_measure(*found, "ask");
        ASSERT_FALSE(can.ok()) << name;
        EXPECT_EQ(can.error().code, "AF-GATE-144");
        EXPECT_THAT(can.error().message, HasSubstr("use " + name));
        EXPECT_THAT(can.error().remedy, HasSubstr("AGENTFORGE_RESULTS"));
        project.tree("t")[name == "Gradle" ? "pom.xml" : "CMakeLists.txt"] =
            name == "Gradle" ? "<project/>" : "enable_testing()\n";
        const auto beside = readiness();
        ASSERT_TRUE(beside.ok());
        for (const auto& tool : beside->scopes.front().tools) { EXPECT_NE(tool.name, name); }
    }
}

TEST_F(Readiness, names_a_missing_pytest_that_the_project_configures) {
    const fs::path python = project.folder() / "python3";
    std::ofstream(python) << "#!/bin/sh\n[ \"$2\" != 'import pytest' ]\n";
    fs::permissions(python, fs::perms::owner_all);
    project.tree("t") = {{"pyproject.toml", "[tool.pytest.ini_options]\n"}, {"a.py", ""}, {"tests/test_a.py", ""}};
    const auto found = readiness({{"programs", {{"python3", python.string()}}}});
    ASSERT_TRUE(found.ok()) << found.error().to_string();
    const auto can = check_can_measure(*found, "ask");
    ASSERT_FALSE(can.ok());
    EXPECT_EQ(can.error().code, "AF-GATE-144");
    EXPECT_THAT(can.error().message, HasSubstr("use pytest"));
    EXPECT_THAT(can.error().remedy, HasSubstr("apt-get install python3-pytest"));
}

TEST_F(Readiness, looks_for_pytest_inside_the_sandbox) {
    const fs::path python = project.folder() / "python3";
    std::ofstream(python) << "#!/bin/sh\ntouch '" << (project.folder() / "planted").string() << "'\nexit 0\n";
    fs::permissions(python, fs::perms::owner_all);
    project.tree("t") = {{"pyproject.toml", "[tool.pytest.ini_options]\n"}, {"a.py", ""}, {"tests/test_a.py", ""}};
    EXPECT_TRUE(check_can_measure(*readiness({{"programs", {{"python3", python.string()}}}}), "ask").ok());
    EXPECT_FALSE(fs::exists(project.folder() / "planted"));
}

TEST_F(Readiness, looks_for_pytest_only_if_the_project_configures_it) {
    const fs::path python = project.folder() / "python3";
    std::ofstream(python) << "#!/bin/sh\n[ \"$2\" != 'import pytest' ]\n";
    fs::permissions(python, fs::perms::owner_all);
    project.tree("t") = {{"pyproject.toml", "[project]\nname = 'a'\n"}, {"a.py", ""}, {"tests/test_a.py", ""}};
    EXPECT_TRUE(check_can_measure(*readiness({{"programs", {{"python3", python.string()}}}}), "ask").ok());
}

TEST_F(Readiness, refuses_a_command_that_no_language_runs) {
    EXPECT_THAT(refusal({{"command", {"make"}}}), HasSubstr("AF-GATE-140 gates.command: "));
}

TEST_F(Readiness, refuses_a_program_that_no_language_runs) {
    EXPECT_THAT(refusal({{"programs", {{"phyton3", "/usr/bin/python3"}}}}), HasSubstr("Did you mean `python3`?"));
}

TEST_F(Readiness, refuses_a_program_that_is_not_a_file) {
    EXPECT_THAT(refusal({{"programs", {{"python3", "/no/such"}}}}), HasSubstr("AF-GATE-142 gates.programs.python3: "));
}

TEST_F(Readiness, does_not_check_programs_of_unused_languages) {
    EXPECT_EQ(refusal({{"programs", {{"cargo", "/no/such"}}}}), "");
}

TEST_F(Readiness, refuses_missing_folders) {
    EXPECT_THAT(refusal({{"readable", {"/no/such"}}}), HasSubstr("AF-GATE-143 gates.readable: "));
}

TEST_F(Readiness, refuses_a_threshold_for_an_unknown_check) {
    EXPECT_THAT(refusal({{"thresholds", {{"complexitty", 3}}}}), HasSubstr("AF-GATE-021 gates.thresholds.complexitty: "));
}

TEST_F(Readiness, refuses_an_invalid_language_file_with_the_position) {
    const auto folder = project.folder() / "own";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "perl.yaml") << "agentforge_language: 1\nname: perl\ndetct: []\n";
    project.options().more_languages = {folder.string()};
    EXPECT_THAT(refusal({}), HasSubstr("AF-GATE-010 " + (folder / "perl.yaml").string() + ":3"));
}

TEST_F(Readiness, missing_programs_stop_only_if_every_scope_lacks_them) {
    GateReadiness readiness;
    readiness.scopes.resize(2);
    readiness.scopes[0].tools = {{"cobc", "cobc", "tests", "apt-get install gnucobol", {}, true, false}};
    readiness.scopes[1].tools = {{"python3", "python3", "tests", "", {}, true, true}};
    EXPECT_TRUE(check_can_measure(readiness, "ask").ok());
    readiness.scopes.pop_back();
    const auto refused = check_can_measure(readiness, "ask");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().remedy, "apt-get install gnucobol");
}

TEST_F(Readiness, unfetched_dependencies_stop_only_if_approval_is_needed) {
    GateReadiness readiness;
    readiness.scopes.resize(1);
    SetupStep step;
    step.name = "npm";
    step.files = {"package-lock.json"};
    readiness.scopes[0].setup = {step};
    EXPECT_EQ(check_can_measure(readiness, "ask").error().code, "AF-GATE-100");
    EXPECT_TRUE(check_can_measure(readiness, "always").ok());
    EXPECT_TRUE(check_can_measure(readiness, "never").ok());
    readiness.scopes[0].setup[0].required = false;
    EXPECT_TRUE(check_can_measure(readiness, "ask").ok());
}

TEST_F(Readiness, every_shipped_language_names_only_programs_of_its_runners) {
    LanguageFiles files({project.options().languages_directory});
    const auto all = files.all();
    ASSERT_TRUE(all.ok()) << all.error().to_string();
    for (const auto& [name, language] : **all) {
        if (name == "generic") { continue; }
        EXPECT_FALSE(tools_of(language, &language.runners.front(), {}, {}, {}).empty()) << name;
        for (const auto& tool : language.tools) { EXPECT_FALSE(tool.install.empty()) << name << " " << tool.program; }
    }
}

}  // namespace
}  // namespace agentforge::kernel::testing
