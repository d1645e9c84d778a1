// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/plugins/plugin_folder.hpp"

namespace agentforge::kernel {
namespace {

using test::PluginFolder;
using testing::HasSubstr;

TEST(PluginManifest, is_read_whole) {
    const PluginFolder folder;
    json::object text = test::good_manifest();
    text["description"] = "All four kinds.";
    text["config_schema"] = json::parse(R"({"type":"object"})");
    const auto manifest = read_manifest(folder.manifest_text("a", json::serialize(text)));
    ASSERT_TRUE(manifest.ok()) << manifest.error().to_string();
    EXPECT_EQ(manifest->id, "org.agentforge.test.good");
    EXPECT_EQ(manifest->version, "1.2.3");
    EXPECT_EQ(manifest->licence, "Apache-2.0");
    EXPECT_EQ(manifest->description, "All four kinds.");
    EXPECT_EQ(manifest->library, "good.so");
    EXPECT_EQ(manifest->sdk, ">=0.1 <0.2");
    EXPECT_EQ(manifest->directory, folder.path() + "/a");
    EXPECT_EQ(json::serialize(manifest->config_schema), R"({"type":"object"})");
    ASSERT_EQ(manifest->provides.size(), 4U);
    EXPECT_EQ(manifest->provides[2].kind, PluginKind::llm);
    EXPECT_EQ(manifest->provides[2].name, "good_llm");
}

TEST(PluginManifest, a_stage_may_say_which_contracts_it_needs) {
    const PluginFolder folder;
    json::object text = test::good_manifest();
    text["provides"] = json::parse(
        R"([{"kind": "stage", "name": "one", "needs": ["specification", "test_suite"]}, {"kind": "stage", "name": "two"}])");
    const auto manifest = read_manifest(folder.manifest_text("a", json::serialize(text)));
    ASSERT_TRUE(manifest.ok()) << manifest.error().to_string();
    EXPECT_THAT(manifest->provides[0].needs, testing::ElementsAre("specification", "test_suite"));
    EXPECT_TRUE(manifest->provides[1].needs.empty());
    for (const char* wrong :
         {R"([{"kind": "stage", "name": "one", "needs": "specification"}])",
          R"([{"kind": "stage", "name": "one", "needs": [1]}])", R"([{"kind": "tool", "name": "one", "needs": ["plan"]}])"}) {
        text["provides"] = json::parse(wrong);
        const auto refused = read_manifest(folder.manifest_text("b", json::serialize(text)));
        ASSERT_FALSE(refused.ok()) << wrong;
        EXPECT_EQ(refused.error().code, "AF-PLUG-005");
        EXPECT_THAT(refused.error().where, HasSubstr("provides[0].needs"));
    }
}

TEST(PluginManifest, missing_file_is_not_found) {
    const PluginFolder folder;
    const auto manifest = read_manifest(folder.path() + "/plugin.json");
    ASSERT_FALSE(manifest.ok());
    EXPECT_EQ(manifest.error().code, "AF-PLUG-001");
    EXPECT_EQ(manifest.error().kind, ErrorKind::not_found);
}

TEST(PluginManifest, unknown_field_is_refused_with_the_nearest_known_one) {
    const PluginFolder folder;
    json::object text = test::good_manifest();
    text["license"] = "MIT";
    const auto manifest = read_manifest(folder.manifest_text("a", json::serialize(text)));
    ASSERT_FALSE(manifest.ok());
    EXPECT_EQ(manifest.error().code, "AF-PLUG-003");
    EXPECT_THAT(manifest.error().where, HasSubstr("/a/plugin.json, field license"));
    EXPECT_EQ(manifest.error().remedy, "Did you mean `licence`?");
}

/// A manifest with one error: `change` is merged over the valid one; null removes a field.
struct Wrong {
    const char* name;
    const char* change;
    const char* code;
    const char* field;
};
class PluginManifestWrong : public testing::TestWithParam<Wrong> {};

TEST_P(PluginManifestWrong, is_refused_and_its_field_named) {
    const PluginFolder folder;
    json::object text = test::good_manifest();
    const json::value change = json::parse(GetParam().change);
    for (const auto& [key, value] : change.get_object()) {
        if (value.is_null()) {
            text.erase(key);
        } else {
            text[key] = value;
        }
    }
    const auto manifest = read_manifest(folder.manifest_text("a", json::serialize(text)));
    ASSERT_FALSE(manifest.ok());
    EXPECT_EQ(manifest.error().code, GetParam().code) << manifest.error().to_string();
    EXPECT_THAT(manifest.error().where, HasSubstr(std::string("field ") + GetParam().field));
    EXPECT_FALSE(manifest.error().remedy.empty());
}

INSTANTIATE_TEST_SUITE_P(
    PluginManifest, PluginManifestWrong,
    testing::Values(Wrong{"no_id", R"({"id": null})", "AF-PLUG-004", "id"},
                    Wrong{"no_provides", R"({"provides": null})", "AF-PLUG-004", "provides"},
                    Wrong{"no_library", R"({"library": null})", "AF-PLUG-004", "library"},
                    Wrong{"no_sdk", R"({"sdk": null})", "AF-PLUG-004", "sdk"},
                    Wrong{"id_without_domain", R"({"id": "mine"})", "AF-PLUG-005", "id"},
                    Wrong{"id_with_blank", R"({"id": "a.b c"})", "AF-PLUG-005", "id"},
                    Wrong{"version_is_a_number", R"({"version": 1})", "AF-PLUG-005", "version"},
                    Wrong{"version_is_a_word", R"({"version": "new"})", "AF-PLUG-005", "version"},
                    Wrong{"licence_is_empty", R"({"licence": ""})", "AF-PLUG-005", "licence"},
                    Wrong{"library_elsewhere", R"({"library": "../x.so"})", "AF-PLUG-005", "library"},
                    Wrong{"library_is_no_so", R"({"library": "x.dll"})", "AF-PLUG-005", "library"},
                    Wrong{"library_with_nul", R"({"library": "a\u0000.so"})", "AF-PLUG-005", "library"},
                    Wrong{"library_and_command", R"({"command": ["x"]})", "AF-PLUG-005", "command"},
                    Wrong{"command_is_a_text", R"({"library": null, "command": "x"})", "AF-PLUG-005", "command"},
                    Wrong{"command_is_empty", R"({"library": null, "command": []})", "AF-PLUG-005", "command"},
                    Wrong{"command_of_an_empty_word", R"({"library": null, "command": ["x", ""]})", "AF-PLUG-005", "command"},
                    Wrong{"process_that_is_a_backend",
                          R"({"library": null, "command": ["x"], "provides": [{"kind": "llm", "name": "x"}]})", "AF-PLUG-005",
                          "provides"},
                    Wrong{"sdk_is_no_range", R"({"sdk": "any"})", "AF-PLUG-005", "sdk"},
                    Wrong{"sdk_of_the_future", R"({"sdk": ">=9"})", "AF-PLUG-006", "sdk"},
                    Wrong{"provides_nothing", R"({"provides": []})", "AF-PLUG-005", "provides"},
                    Wrong{"provides_a_text", R"({"provides": ["x"]})", "AF-PLUG-005", "provides[0]"},
                    Wrong{"unknown_kind", R"({"provides": [{"kind": "stge", "name": "x"}]})", "AF-PLUG-005", "provides[0].kind"},
                    Wrong{"entry_without_name", R"({"provides": [{"kind": "stage"}]})", "AF-PLUG-004", "provides[0].name"},
                    Wrong{"capital_name", R"({"provides": [{"kind": "stage", "name": "X"}]})", "AF-PLUG-005", "provides[0].name"},
                    Wrong{"unknown_field_of_entry", R"({"provides": [{"kind": "stage", "name": "x", "nam": 1}]})", "AF-PLUG-003",
                          "provides[0].nam"},
                    Wrong{"name_twice", R"({"provides": [{"kind": "tool", "name": "x"}, {"kind": "tool", "name": "x"}]})",
                          "AF-PLUG-005", "provides[1].name"},
                    Wrong{"schema_is_a_list", R"({"config_schema": []})", "AF-PLUG-005", "config_schema"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(PluginManifest, a_command_gets_absolute_paths_of_files_beside_it) {
    const auto manifest = read_manifest(AGENTFORGE_SOURCE_DIR "/examples/plugins/survey/plugin.json");
    ASSERT_TRUE(manifest.ok()) << manifest.error().to_string();
    EXPECT_TRUE(manifest->library.empty());
    EXPECT_THAT(manifest->command,
                testing::ElementsAre("python3", "-B", AGENTFORGE_SOURCE_DIR "/examples/plugins/survey/survey.py"));
}

struct Broken {
    const char* name;
    const char* text;
};
class PluginManifestBroken : public testing::TestWithParam<Broken> {};

TEST_P(PluginManifestBroken, is_refused) {
    const PluginFolder folder;
    const auto manifest = read_manifest(folder.manifest_text("a", GetParam().text));
    ASSERT_FALSE(manifest.ok());
    EXPECT_EQ(manifest.error().code, "AF-PLUG-002");
}

INSTANTIATE_TEST_SUITE_P(PluginManifest, PluginManifestBroken,
                         testing::Values(Broken{"empty", ""}, Broken{"half", "{\"id\": "}, Broken{"list", "[]"},
                                         Broken{"trailing", "{} {}"}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace agentforge::kernel
