// SPDX-License-Identifier: Apache-2.0
// Every kind of file that a user writes, with every fault that applies to all: refused with code, file, line and column.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/yaml.hpp"
#include "config/agent_set.hpp"
#include "config/pipeline_set.hpp"
#include "config/settings.hpp"
#include "contracts/contract.hpp"
#include "cost/price_table.hpp"
#include "gates/conformance/conformance_search.hpp"
#include "gates/language/language.hpp"
#include "plugins/plugin_registry.hpp"
#include "unit/config/fixtures.hpp"

namespace agentforge::kernel {

namespace {

template <class T>
Result<void> verdict(const Result<T>& result) {
    if (result.ok()) { return {}; }
    return result.error();
}

/// A kind of file: its place in a project, and how it is read.
struct WrittenFile {
    std::string name;
    std::string file;
    std::function<Result<void>(const std::string& folder)> read;
};

const std::vector<WrittenFile>& kinds_of_files() {
    static const std::vector<WrittenFile> kinds{
        {"settings", "settings.yaml",
         [](const std::string& folder) {
             Settings::Sources sources;
             sources.project_file = folder + "/settings.yaml";
             return verdict(Settings::load(shipped_config, sources));
         }},
        {"user_settings", "config.yaml",
         [](const std::string& folder) {
             Settings::Sources sources;
             sources.user_file = folder + "/config.yaml";
             return verdict(Settings::load(shipped_config, sources));
         }},
        {"agent", "agents/mine.yaml",
         [](const std::string& folder) {
             return verdict(AgentSet::load(shipped_config + "/agents", folder + "/agents", contracts()));
         }},
        {"contract", "contracts/mine.yaml",
         [](const std::string& folder) {
             return verdict(ContractSet::load({shipped_config + "/contracts", folder + "/contracts"}));
         }},
        {"pipeline", "pipelines/mine.yaml",
         [](const std::string& folder) {
             return verdict(
                 PipelineSet::load(shipped_config + "/pipelines", folder + "/pipelines", folder + "/pipeline.yaml", contracts()));
         }},
        {"orchestration", "pipeline.yaml",
         [](const std::string& folder) {
             return verdict(
                 PipelineSet::load(shipped_config + "/pipelines", folder + "/pipelines", folder + "/pipeline.yaml", contracts()));
         }},
        {"language", "languages/mine.yaml",
         [](const std::string& folder) { return verdict(load_language(folder + "/languages", "mine")); }},
        {"conformance", "conformance/mine.yaml",
         [](const std::string& folder) {
             return verdict(load_checks({shipped_config + "/conformance", folder + "/conformance"}, {}));
         }},
        {"prices", "prices.yaml",
         [](const std::string& folder) {
             return verdict(PriceTable::load(shipped_config + "/prices.yaml", folder + "/prices.yaml", "cost.prices"));
         }},
    };
    return kinds;
}

/// A hundred times a text of 60 kB, if its aliases were expanded.
std::string bomb() {
    std::string ten = "[*a";
    for (int i = 1; i < 10; ++i) { ten += ", *a"; }
    std::string tens = "[*b";
    for (int i = 1; i < 10; ++i) { tens += ", *b"; }
    return "a: &a " + std::string(60'000, 'x') + "\nb: &b " + ten + "]\nc: " + tens + "]\n";
}

std::string deep(std::size_t levels) { return "a: " + std::string(levels, '[') + std::string(levels, ']') + "\n"; }

struct Fault {
    std::string name;
    std::string text;
    std::string code;
    std::string place;
};

const std::vector<Fault>& faults_of_yaml() {
    static const std::vector<Fault> faults{
        {"a_key_twice", "a: 1\nb: 2\na: 3\n", "AF-CONF-002", ":3:1"},
        {"a_merge_key", "a: &a {x: 1}\nb:\n  <<: *a\n", "AF-CONF-003", ":3:3"},
        {"a_date_as_a_key", "2026-01-02: x\n", "AF-CONF-004", ":1:1"},
        {"a_second_document", "a: 1\n---\nb: 2\n", "AF-CONF-005", ":2:1"},
        {"a_tag_of_a_program", "a: !!python/object:os.system x\n", "AF-CONF-006", ":1:4"},
        {"a_number_beyond_64_bits", "a: 99999999999999999999\n", "AF-CONF-006", ":1:4"},
        {"a_value_inside_itself", "a: &a [*a]\n", "AF-CONF-007", ":1:8"},
        {"a_bomb_of_aliases", bomb(), "AF-CONF-008", ":3:"},
        {"more_than_100_levels", deep(101), "AF-CONF-008", ":1:"},
        {"latin_1", "a: caf\xe9\n", "AF-CONF-009", ":1:7"},
        {"utf_16",
         std::string("\xff\xfe"
                     "a\0:\0",
                     6),
         "AF-CONF-009", ":1:1"},
        {"a_zero_byte", std::string("a: x\0y\n", 7), "AF-CONF-009", ":1:5"},
        {"a_control_character", "a: \x1b[31mred\n", "AF-CONF-009", ":1:4"},
        {"a_tab_as_indentation", "a:\n\tb: 1\n", "AF-CONF-001", ":2:"},
        {"a_quote_that_is_never_closed", "a: \"x\n", "AF-CONF-001", ":"},
    };
    return faults;
}

class FileErrors : public ::testing::TestWithParam<WrittenFile> {
protected:
    Result<void> read(const std::string& text) {
        folder_.write(GetParam().file, text);
        return GetParam().read(folder_.path());
    }
    /// Returns the file's path; its folder exists.
    [[nodiscard]] std::filesystem::path place() const {
        const std::filesystem::path file = std::filesystem::path(folder_.path()) / GetParam().file;
        std::filesystem::create_directories(file.parent_path());
        return file;
    }
    /// Checks that what is at the file's path is refused, and named.
    void expect_refused(const std::string& code = {}) const {
        const auto result = GetParam().read(folder_.path());
        ASSERT_FALSE(result.ok());
        EXPECT_THAT(result.error().to_string(),
                    ::testing::AllOf(::testing::HasSubstr(code), ::testing::HasSubstr(GetParam().file)));
    }

    Folder folder_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, FileErrors, ::testing::ValuesIn(kinds_of_files()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(FileErrors, is_refused_with_code_and_position_for_any_yaml_error) {
    for (const Fault& fault : faults_of_yaml()) {
        const auto result = read(fault.text);
        ASSERT_FALSE(result.ok()) << fault.name;
        EXPECT_EQ(result.error().code, fault.code) << fault.name << ": " << result.error().to_string();
        EXPECT_THAT(result.error().where, ::testing::HasSubstr(GetParam().file + fault.place)) << fault.name;
        EXPECT_FALSE(result.error().remedy.empty()) << fault.name;
    }
}

TEST_P(FileErrors, is_refused_with_the_position_of_an_unknown_key) {
    const auto result = read("agentforg: 1\n");
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().where, ::testing::HasSubstr(GetParam().file + ":1:")) << result.error().to_string();
    EXPECT_THAT(result.error().message, ::testing::HasSubstr("agentforg"));
}

TEST_P(FileErrors, is_refused_if_it_is_a_list) {
    const auto result = read("- 1\n");
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().where, ::testing::HasSubstr(GetParam().file)) << result.error().to_string();
}

TEST_P(FileErrors, is_refused_if_it_is_a_single_word) {
    const auto result = read("word\n");
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().where, ::testing::HasSubstr(GetParam().file)) << result.error().to_string();
}

TEST_P(FileErrors, never_puts_a_carriage_return_into_an_error) {
    const auto result = read("\"k\\u202e\\e[2J\": 1\n");
    ASSERT_FALSE(result.ok());
    const std::string shown = result.error().to_string();
    // `printable` escapes the output later. Until then, nothing in the key may split a line.
    EXPECT_EQ(shown.find('\r'), std::string::npos);
}

TEST_P(FileErrors, is_refused_if_it_is_a_folder) {
    std::filesystem::create_directories(folder_.path() + "/" + GetParam().file);
    expect_refused("AF-BASE-011");
}

TEST_P(FileErrors, is_refused_without_waiting_if_it_is_a_pipe) {
    ASSERT_EQ(::mkfifo(place().c_str(), 0600), 0);
    expect_refused("AF-BASE-011");
}

TEST_P(FileErrors, is_refused_if_it_links_to_itself) {
    const auto file = place();
    std::filesystem::create_symlink(file.filename(), file);
    expect_refused("AF-BASE-011");
}

TEST_P(FileErrors, is_refused_if_it_is_a_dangling_link) {
    std::filesystem::create_symlink("/nowhere/at/all", place());
    expect_refused();
}

TEST_P(FileErrors, is_refused_if_it_is_too_large) {
    const auto result = read("a: " + std::string(9U << 20U, 'x') + "\n");
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().message, ::testing::HasSubstr("larger than"));
}

TEST(MisplacedFiles, refuses_other_files_among_definitions_by_name) {
    for (const char* name : {"mine.json", "mine.YAML", "mine", "mine.yml", "mine.toml"}) {
        const Folder folder;
        folder.write(name, "x: 1\n");
        const auto files = yaml_files_of(folder.path());
        ASSERT_FALSE(files.ok()) << name;
        EXPECT_THAT(files.error().where, ::testing::EndsWith(name));
    }
}

TEST(MisplacedFiles, a_folder_among_definitions_is_refused_by_name) {
    const Folder folder;
    folder.write("more/mine.yaml", "x: 1\n");
    const auto files = yaml_files_of(folder.path());
    ASSERT_FALSE(files.ok());
    EXPECT_EQ(files.error().code, "AF-CONF-080");
    EXPECT_THAT(files.error().message, ::testing::HasSubstr("folder"));
}

TEST(MisplacedFiles, notes_and_editor_backups_are_ignored) {
    const Folder folder;
    for (const char* name :
         {"README", "README.md", "notes.txt", "a.yaml~", "a.yaml.bak", ".a.yaml.swp", ".hidden.yaml", "a.yaml.orig"}) {
        folder.write(name, "x: 1\n");
    }
    folder.write("a.yaml", "x: 1\n");
    const auto files = yaml_files_of(folder.path());
    ASSERT_TRUE(files.ok()) << files.error().to_string();
    EXPECT_EQ(files->size(), 1U);
}

TEST(ManifestFileErrors, each_fault_is_refused_with_its_position) {
    const std::vector<Fault> faults{
        {"empty", "", "AF-PLUG-002", ""},
        {"not_json", "{\"id\": }", "AF-PLUG-002", ":1:"},
        {"a_key_twice", "{\"id\": \"a\", \"id\": \"b\"}", "AF-PLUG-002", ":1:"},
        {"a_list", "[]", "AF-PLUG-002", ""},
        {"latin_1", "{\"id\": \"caf\xe9\"}", "AF-PLUG-002", ":1:"},
        {"a_byte_order_mark", "\xef\xbb\xbf{}", "AF-PLUG-002", ":1:"},
        {"too_deep", "{\"id\": " + std::string(300, '[') + std::string(300, ']') + "}", "AF-PLUG-002", ":1:"},
        {"comments", "{} // done", "AF-PLUG-002", ":1:"},
        {"an_unknown_field", "{\"idd\": \"a\"}", "AF-PLUG-003", ""},
        {"nothing_in_it", "{}", "AF-PLUG-004", ""},
    };
    for (const Fault& fault : faults) {
        const Folder folder;
        const auto result = read_manifest(folder.write("plugin.json", fault.text));
        ASSERT_FALSE(result.ok()) << fault.name;
        EXPECT_EQ(result.error().code, fault.code) << fault.name << ": " << result.error().to_string();
        EXPECT_THAT(result.error().where, ::testing::HasSubstr("plugin.json" + fault.place)) << fault.name;
    }
}

TEST(AgentFileErrors, a_cycle_of_extends_is_refused) {
    const Folder folder;
    folder.write("product/a.yaml", "extends: \"agentforge:b\"\nagent: {role: a}\n");
    folder.write("product/b.yaml", "extends: \"agentforge:a\"\nagent: {role: b}\n");
    const auto result = AgentSet::load(folder.path() + "/product", folder.path() + "/own", contracts());
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, "AF-AGENT-005") << result.error().to_string();
    EXPECT_THAT(result.error().where, ::testing::HasSubstr(".yaml:1:"));
}

}  // namespace
}  // namespace agentforge::kernel
