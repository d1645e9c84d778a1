// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <re2/re2.h>

#include "gates/language/language.hpp"
#include "gates/run/language_commands.hpp"
#include "gates/run/report_trust.hpp"
#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;

const std::string languages = std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages";

TEST(Language, python_is_detected_by_its_files) {
    for (const auto* file : {"pyproject.toml", "setup.py", "src/a.py"}) {
        const auto found = detect_language(languages, {"README", file});
        ASSERT_TRUE(found.ok()) << found.error().to_string();
        ASSERT_TRUE(found->has_value()) << file;
        EXPECT_EQ((*found)->name, "python");
    }
    EXPECT_FALSE(detect_language(languages, {"README"}).value().has_value());
}

TEST(Language, test_files_are_known_by_their_names) {
    const auto python = load_language(languages, "python").value();
    for (const auto* file : {"tests/test_a.py", "tests/x/test_a.py", "test_a.py", "src/a_test.py"}) {
        EXPECT_TRUE(python.tests.matches(file)) << file;
    }
    EXPECT_FALSE(python.tests.matches("src/a.py"));
    EXPECT_FALSE(python.tests.matches("tests/helper.py"));
    EXPECT_TRUE(python.belongs_to_tests("tests/helper.py"));
}

TEST(Language, an_unknown_key_is_an_error_with_its_place) {
    TemporaryDirectory folder("language");
    auto text = read_file(languages + "/python.yaml").value();
    std::ofstream(folder.path() / "python.yaml") << text << "sourses: []\n";
    const auto language = load_language(folder.path().string(), "python");
    ASSERT_FALSE(language.ok());
    EXPECT_EQ(language.error().code, "AF-GATE-010");
    EXPECT_THAT(language.error().remedy, HasSubstr("sources"));
    EXPECT_THAT(language.error().where, HasSubstr("python.yaml:"));
}

TEST(Language, a_pattern_for_a_missing_member_needs_one_group) {
    TemporaryDirectory folder("language");
    auto text = read_file(languages + "/python.yaml").value();
    std::ofstream(folder.path() / "python.yaml") << text << "missing_member: ['no member of \\w+']\n";
    const auto language = load_language(folder.path().string(), "python");
    ASSERT_FALSE(language.ok());
    EXPECT_EQ(language.error().code, "AF-GATE-010");
    EXPECT_THAT(language.error().message, HasSubstr("one group"));
}

TEST(Language, finds_cpp_build_errors) {
    const auto cpp = load_language(languages, "cpp").value();
    const auto found =
        find_messages(cpp.runners.front().build_error,
                      "/t/src/a.cpp:3:5: error: 'x' was not declared in this scope\n/t/src/a.cpp:4:5: warning: unused variable\n"
                      "/t/src/b.c:1:10: fatal error: no.h: No such file or directory\n"
                      "/usr/bin/ld: /t/tests/c.cpp:12: undefined reference to `n::f()'\n"
                      "CMake Error at tests/CMakeLists.txt:2 (find_package):\n  Could not find GTest\n",
                      "/t");
    std::string all;
    for (const auto& each : found) { all += each.file + ":" + std::to_string(each.line) + " " + each.message + "\n"; }
    EXPECT_EQ(all,
              "src/a.cpp:3 error: 'x' was not declared in this scope\nsrc/b.c:1 error: no.h: No such file or directory\n"
              "tests/c.cpp:12 undefined reference to `n::f()'\ntests/CMakeLists.txt:2 (find_package): Could not find GTest\n");
}

TEST(Language, distinguishes_missing_maven_artifacts_from_test_output) {
    const auto pattern = load_language(languages, "java").value().setup.front().missing;
    for (
        const auto* line :
        {"[ERROR] Failed to execute goal on project slug: Could not resolve dependencies for project a:slug:jar:1: Cannot access central (https://repo) in offline mode",
         "\x1b[0m\x1b[0m[ERROR] Plugin org.apache.maven.plugins:maven-jar-plugin:3.4.1 or one of its dependencies could not be resolved: no",
         "[FATAL] Non-resolvable parent POM for a:slug:1: Could not find artifact",
         "[ERROR]     Unresolveable build extension: Plugin a:b:1"}) {
        EXPECT_TRUE(RE2::PartialMatch(std::string("[INFO] a\n") + line + "\n", pattern)) << line;
    }
    for (
        const auto* line :
        {"[ERROR]   SlugTest.slug:9 Could not find the slug ==> expected: <a> but was: <b>",
         "org.opentest4j.AssertionFailedError: Could not find artifact",
         "[ERROR] com.example.SlugTest.slug -- Time elapsed: 0 s <<< FAILURE! Could not resolve the name",
         "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.0.0:test (default-test) on project slug: There are test failures."}) {
        EXPECT_FALSE(RE2::PartialMatch(std::string("[INFO] a\n") + line + "\n", pattern)) << line;
    }
}

TEST(Language, distinguishes_cpp_from_python_by_sources) {
    EXPECT_EQ((*detect_language(languages, {"CMakeLists.txt", "src/a.cpp", "src/b.cpp", "scripts/x.py"}).value()).name, "cpp");
    const auto cpp = load_language(languages, "cpp").value();
    for (const auto* file : {"tests/slug.cpp", "src/slug_test.cc", "test/a/b.c"}) {
        EXPECT_TRUE(cpp.tests.matches(file)) << file;
    }
    EXPECT_FALSE(cpp.tests.matches("tests/helper.hpp"));
    EXPECT_TRUE(cpp.belongs_to_tests("tests/CMakeLists.txt"));
}

/// A language file with one runner; `more` goes into the runner.
Result<Language> language_with(const std::string& more) {
    TemporaryDirectory folder("language");
    std::ofstream(folder.path() / "x.yaml")
        << "agentforge_language: 1\nname: x\ndetect: ['*.x']\nsources: ['*.x']\ntests: ['*_test.x']\nrunners:\n"
           "  - name: r\n"
        << more;
    return load_language(folder.path().string(), "x");
}

TEST(Language, a_fault_in_a_runner_is_named_with_its_position) {
    EXPECT_TRUE(language_with("    run: {argv: [make, check], format: googletest-json}\n").ok());
    const std::vector<std::pair<std::string, std::string>> cases{
        {"    run: {argv: [make], format: xml}\n", "`xml` is not a known format"},
        {"    run: {argv: [make]}\n", "`format` is missing"},
        {"    build: []\n", "`run` is missing"},
        {"    run: {argv: [make], format: ctest, exit_failed: [a]}\n", "exit codes"},
        {"    run: {argv: [make], format: ctest}\n    build_error: 'x'\n", "no group (?P<file>"},
        {"    run: {argv: [make], format: ctest}\n    declaration: 'x'\n", "no group (?P<name>"},
        {"    run: {argv: [make], format: ctest}\n    canaries: [{source: a, path: '{root}/a'}]\n", "must have {unique}"},
        {"    run: {argv: [make], format: ctest}\n    canaries: [{source: a, path: 'a{unique}', fill: {p: 'x'}}]\n", "one group"},
        {"    run: {argv: [make], format: ctest}\n    detects: []\n", "unknown key `detects`"}};
    for (const auto& [text, message] : cases) {
        const auto language = language_with(text);
        ASSERT_FALSE(language.ok()) << text;
        EXPECT_THAT(language.error().message, HasSubstr(message)) << text;
        EXPECT_THAT(language.error().where, HasSubstr("x.yaml:")) << text;
    }
}

TEST(Language, uses_the_first_runner_whose_conditions_hold) {
    Language language;
    language.runners.resize(2);
    language.runners[0].name = "a";
    language.runners[0].detect = {{"*.json", "jest"}};
    language.runners[1].name = "b";
    const auto taken = [&](const std::string& content) {
        return choose_runner(language, {"package.json"},
                             [&](const std::string&) { return Result<std::optional<std::string>>(content); })
            .value()
            ->name;
    };
    EXPECT_EQ(taken("{\"jest\": 1}"), "a");
    EXPECT_EQ(taken("{}"), "b");
}

TEST(Language, extracts_a_section_of_a_file) {
    const FileSection section{"pyproject.toml", "^\\s*\\[tool\\.pytest"};
    EXPECT_EQ(section_text("[project]\nname = 'a'\n[tool.pytest.ini_options]\nx = 1\n[tool.black]\ny = 2\n", section),
              "[tool.pytest.ini_options]\nx = 1\n");
    EXPECT_EQ(section_text("[project]\n", section), "");
}

TEST(Language, extracts_a_section_of_a_json_file_by_pointer) {
    const FileSection section{"package.json", "", "/jest"};
    EXPECT_EQ(section_text(R"({"name": "a", "jest": {"bail": true}})", section), R"({"bail":true})");
    EXPECT_EQ(section_text(R"({"name": "a"})", section), "");
    EXPECT_EQ(section_text("{ broken", section), "{ broken");
}

TEST(GateSettings, an_unknown_key_is_an_error) {
    EXPECT_THAT(GateSettings::read({{"timeout", json::object{}}}).error().message, HasSubstr("timeouts"));
    EXPECT_EQ(GateSettings::read({{"timeouts", json::object{{"lint", 3}}}}).error().code, "AF-GATE-012");
    EXPECT_EQ(GateSettings::read({{"timeouts", json::object{{"tests", 0}}}}).error().code, "AF-GATE-012");
    EXPECT_EQ(GateSettings::read({{"timeouts", json::object{{"tests", 5}}}})->timeouts.at("tests"), std::chrono::seconds(5));
}

}  // namespace
}  // namespace agentforge::kernel::testing
