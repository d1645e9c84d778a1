// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "gates/commands.hpp"
#include "gates/language.hpp"
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

TEST(Language, a_section_is_cut_out_of_its_file) {
    const FileSection section{"pyproject.toml", "^\\s*\\[tool\\.pytest"};
    EXPECT_EQ(section_text("[project]\nname = 'a'\n[tool.pytest.ini_options]\nx = 1\n[tool.black]\ny = 2\n", section),
              "[tool.pytest.ini_options]\nx = 1\n");
    EXPECT_EQ(section_text("[project]\n", section), "");
}

TEST(Language, a_section_of_a_json_file_is_what_a_pointer_leads_to) {
    const FileSection section{"package.json", "", "/jest"};
    EXPECT_EQ(section_text(R"({"name": "a", "jest": {"bail": true}})", section), R"({"bail":true})");
    EXPECT_EQ(section_text(R"({"name": "a"})", section), "");
    EXPECT_EQ(section_text("{ broken", section), "{ broken");
}

TEST(GateSettings, what_is_not_known_is_an_error) {
    EXPECT_THAT(GateSettings::read({{"timeout", json::object{}}}).error().message, HasSubstr("timeouts"));
    EXPECT_EQ(GateSettings::read({{"timeouts", json::object{{"lint", 3}}}}).error().code, "AF-GATE-012");
    EXPECT_EQ(GateSettings::read({{"timeouts", json::object{{"tests", 0}}}}).error().code, "AF-GATE-012");
    EXPECT_EQ(GateSettings::read({{"timeouts", json::object{{"tests", 5}}}})->timeouts.at("tests"), std::chrono::seconds(5));
}

}  // namespace
}  // namespace agentforge::kernel::testing
