// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/plugins/plugin_folder.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;
using test::PluginFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* good_id = "org.agentforge.test.good";

class PluginSet : public testing::Test {
protected:
    void SetUp() override { folder.add("good", test::good_manifest(), "good/good.so"); }
    [[nodiscard]] static std::string place(const std::string& key) { return "settings.yaml, " + key; }

    PluginFolder folder;
    PluginSearch search;
};

TEST_F(PluginSet, without_a_choice_contains_all) {
    search.configured = {folder.path()};
    EXPECT_TRUE(PluginRegistry::discover(search).has(PluginKind::tool, "good_tool"));
}

TEST_F(PluginSet, that_enables_none_contains_only_built_in_plugins) {
    search.configured = {folder.path()};
    search.choice.enable.emplace();
    PluginRegistry registry = PluginRegistry::discover(search);
    EXPECT_EQ(registry.plugins()[0].state, PluginState::disabled);
    EXPECT_THAT(registry.problems(), IsEmpty());
    EXPECT_THAT(registry.tool("good_tool").error().message, HasSubstr("disabled: plugins.enable does not name it"));
    search.product = folder.path();
    search.configured.clear();
    EXPECT_TRUE(PluginRegistry::discover(search).has(PluginKind::tool, "good_tool"));
}

TEST_F(PluginSet, contains_an_enabled_plugin) {
    search.configured = {folder.path()};
    search.choice.enable = {good_id};
    EXPECT_TRUE(PluginRegistry::discover(search).has(PluginKind::tool, "good_tool"));
}

TEST_F(PluginSet, disable_takes_precedence_over_enable) {
    search.configured = {folder.path()};
    search.choice.enable = {good_id};
    search.choice.disable = {good_id};
    EXPECT_THAT(PluginRegistry::discover(search).tool("good_tool").error().message, HasSubstr("disabled by plugins.disable"));
}

TEST_F(PluginSet, may_exclude_a_built_in_plugin) {
    search.product = folder.path();
    search.choice.disable = {good_id};
    EXPECT_FALSE(PluginRegistry::discover(search).has(PluginKind::tool, "good_tool"));
}

TEST_F(PluginSet, with_an_unknown_id_is_an_error_that_names_the_nearest) {
    search.configured = {folder.path()};
    search.choice.disable = {"org.agentforge.test.god"};
    const auto checked = PluginRegistry::discover(search).check_choice(place);
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, "AF-PLUG-036");
    EXPECT_EQ(checked.error().where, "settings.yaml, disable");
    EXPECT_EQ(checked.error().remedy, "Did you mean `org.agentforge.test.good`?");
}

TEST_F(PluginSet, is_named_by_ids_and_not_by_what_a_plugin_provides) {
    search.configured = {folder.path()};
    search.choice.enable = {"good_tool"};
    EXPECT_FALSE(PluginRegistry::discover(search).check_choice(place).ok());
}

TEST_F(PluginSet, of_an_untrusted_project_is_named_and_not_used) {
    search.project = {folder.path()};
    PluginRegistry registry = PluginRegistry::discover(search);
    EXPECT_EQ(registry.plugins()[0].state, PluginState::not_trusted);
    EXPECT_THAT(registry.names(PluginKind::tool), IsEmpty());
    const auto tool = registry.tool("good_tool");
    EXPECT_EQ(tool.error().code, "AF-PLUG-030");
    EXPECT_THAT(tool.error().remedy, HasSubstr("agentforge trust"));
}

TEST_F(PluginSet, of_an_untrusted_project_does_not_hide_the_users_plugins) {
    const PluginFolder mine;
    json::object manifest = test::good_manifest();
    manifest["description"] = "mine";
    mine.add("good", manifest, "good/good.so");
    search.project = {folder.path()};
    search.configured = {mine.path()};
    PluginRegistry registry = PluginRegistry::discover(search);
    EXPECT_EQ(registry.plugins()[0].description, "mine");
    EXPECT_TRUE(registry.tool("good_tool").ok());
}

TEST_F(PluginSet, of_a_trusted_project_must_match_what_was_trusted) {
    search.project = {folder.path()};
    search.project_trusted = true;
    search.trusted_files[fs::canonical(folder.path() + "/good").string()] = hash_folder(folder.path() + "/good").value();
    std::ofstream(folder.path() + "/good/good.so", std::ios::app) << "x";
    ASSERT_TRUE(PluginRegistry::discover(search).has(PluginKind::tool, "good_tool"));
    const auto tool = PluginRegistry::discover(search).tool("good_tool");
    ASSERT_FALSE(tool.ok());
    EXPECT_THAT(tool.error().message, AllOf(HasSubstr("`good.so`"), HasSubstr("what you trusted")));
}

TEST_F(PluginSet, with_the_same_id_in_two_folders_uses_the_first_and_names_both) {
    const PluginFolder second;
    second.add("good", test::good_manifest(), "good/good.so");
    search.configured = {folder.path(), second.path()};
    const PluginRegistry registry = PluginRegistry::discover(search);
    ASSERT_THAT(registry.problems(), SizeIs(1));
    EXPECT_EQ(registry.problems()[0].code, "AF-PLUG-009");
    EXPECT_THAT(registry.problems()[0].message, HasSubstr(folder.path() + "/good"));
    EXPECT_EQ(registry.problems()[0].where, second.path() + "/good/plugin.json");
    EXPECT_EQ(registry.plugins()[1].state, PluginState::duplicate);
}

TEST_F(PluginSet, of_two_versions_in_the_users_folders_uses_the_newer) {
    const PluginFolder second;
    json::object newer = test::good_manifest();
    newer["version"] = "1.10.0";
    second.add("good", newer, "good/good.so");
    search.configured = {folder.path(), second.path()};
    const PluginRegistry registry = PluginRegistry::discover(search);
    EXPECT_EQ(registry.owner(PluginKind::tool, "good_tool")->version, "1.10.0");
    ASSERT_THAT(registry.problems(), SizeIs(1));
    EXPECT_EQ(registry.problems()[0].code, "AF-PLUG-009");
    EXPECT_EQ(registry.problems()[0].where, folder.path() + "/good/plugin.json");
    EXPECT_THAT(registry.problems()[0].message, AllOf(HasSubstr("1.2.3 is not used"), HasSubstr("version 1.10.0")));
}

TEST_F(PluginSet, prefers_the_users_plugin_to_a_newer_built_in_version) {
    const PluginFolder product;
    json::object newer = test::good_manifest();
    newer["version"] = "2.0.0";
    product.add("good", newer, "good/good.so");
    search.configured = {folder.path()};
    search.product = product.path();
    EXPECT_EQ(PluginRegistry::discover(search).owner(PluginKind::tool, "good_tool")->version, "1.2.3");
}

TEST_F(PluginSet, of_two_versions_uses_the_locked_one) {
    const PluginFolder second;
    json::object newer = test::good_manifest();
    newer["version"] = "2.0.0";
    second.add("good", newer, "good/good.so");
    const TemporaryDirectory place{"lock"};
    search.lock = (place.path() / "plugins.lock").string();
    const PluginRegistry before = folder.discover();
    std::ofstream(search.lock) << PluginLock::of({&before.plugins()[0]}, search.lock)->text();
    search.configured = {second.path(), folder.path()};
    PluginRegistry registry = PluginRegistry::discover(search);
    ASSERT_NE(registry.owner(PluginKind::tool, "good_tool"), nullptr);
    EXPECT_EQ(registry.owner(PluginKind::tool, "good_tool")->version, "1.2.3");
    EXPECT_TRUE(registry.tool("good_tool").ok());
}

/// A file that anyone on the machine may write.
class PluginWorldWritable : public PluginSet {
protected:
    [[nodiscard]] std::vector<Error> problems_with(const std::string& file) {
        fs::permissions(folder.path() + file, fs::perms::others_write, fs::perm_options::add);
        search.configured = {folder.path()};
        return PluginRegistry::discover(search).problems();
    }
};

TEST_F(PluginWorldWritable, folder_of_a_plugin_is_named) {
    const auto problems = problems_with("/good");
    ASSERT_THAT(problems, SizeIs(1));
    EXPECT_EQ(problems[0].code, "AF-PLUG-038");
    EXPECT_EQ(problems[0].where, folder.path() + "/good");
    EXPECT_THAT(problems[0].remedy, HasSubstr("chmod o-w"));
}

TEST_F(PluginWorldWritable, library_of_a_plugin_is_named) {
    EXPECT_EQ(problems_with("/good/good.so").at(0).where, folder.path() + "/good/good.so");
}

TEST_F(PluginWorldWritable, folder_of_plugins_is_named_once) {
    folder.add("again", test::manifest_of("org.agentforge.test.again", "good.so", {test::entry("tool", "again")}),
               "good/good.so");
    const auto problems = problems_with("");
    ASSERT_THAT(problems, SizeIs(1));
    EXPECT_EQ(problems[0].where, folder.path());
}

TEST_F(PluginSet, finds_a_plugin_by_id_and_by_provided_name) {
    search.configured = {folder.path()};
    const PluginRegistry registry = PluginRegistry::discover(search);
    EXPECT_EQ((*registry.find(good_id))[0]->id, good_id);
    EXPECT_EQ((*registry.find("good_llm"))[0]->id, good_id);
    EXPECT_EQ(registry.find("god_llm").error().remedy, "Did you mean `good_llm`?");
}

class PluginSettings : public PluginSet {
protected:
    void SetUp() override {
        json::object manifest = test::good_manifest();
        manifest["config_schema"] = json::object{{"type", "object"},
                                                 {"additionalProperties", false},
                                                 {"required", json::array{"depth"}},
                                                 {"properties", json::object{{"depth", json::object{{"type", "integer"}}},
                                                                             {"name", json::object{{"type", "string"}}}}}};
        folder.add("good", manifest, "good/good.so");
        search.configured = {folder.path()};
        search.place = [](const PluginManifest&, PluginKind, std::string_view name, std::string_view pointer) {
            return std::string(name) + " at " + std::string(pointer);
        };
    }
    [[nodiscard]] PluginRegistry registry() const { return PluginRegistry::discover(search); }
};

TEST_F(PluginSettings, reach_the_plugin_by_its_id) {
    search.settings = {{good_id, json::object{{"depth", 1}}}};
    EXPECT_TRUE(registry().stage("good_stage").ok());
}

TEST_F(PluginSettings, by_name_override_those_by_id_and_local_settings_override_both) {
    search.settings = {{good_id, json::object{{"depth", 1}, {"name", "a"}}}, {"good_stage", json::object{{"depth", 2}}}};
    const PluginRegistry made = registry();
    EXPECT_EQ(made.settings_of(made.plugins()[0], "good_stage"), (json::object{{"depth", 2}, {"name", "a"}}));
    EXPECT_EQ(made.settings_of(made.plugins()[0], "good_stage", {{"depth", 3}}), (json::object{{"depth", 3}, {"name", "a"}}));
    EXPECT_EQ(made.settings_of(made.plugins()[0], "good_tool"), (json::object{{"depth", 1}, {"name", "a"}}));
}

TEST_F(PluginSettings, unset_take_the_defaults_of_the_schema) {
    json::object manifest = test::good_manifest();
    manifest["config_schema"] = json::parse(R"({"type": "object", "required": ["depth"], "properties": {
        "depth": {"type": "integer", "default": 4}, "name": {"type": "string"},
        "colour": {"type": "object", "properties": {"hue": {"type": "string", "default": "red"}, "dark": {"type": "boolean"}}}}})");
    folder.add("good", manifest, "good/good.so");
    const PluginRegistry made = registry();
    EXPECT_EQ(made.settings_of(made.plugins()[0], "good_stage"), (json::object{{"depth", 4}}));
    EXPECT_EQ(made.settings_of(made.plugins()[0], "good_stage", {{"depth", 3}, {"colour", json::object{{"dark", true}}}}),
              (json::object{{"depth", 3}, {"colour", json::object{{"dark", true}, {"hue", "red"}}}}));
    EXPECT_TRUE(registry().stage("good_stage").ok());
}

TEST_F(PluginSettings, invalid_are_named_with_their_position_before_the_library_is_opened) {
    fs::remove(folder.path() + "/good/good.so");
    const auto stage = registry().stage("good_stage", {{"depth", "deep"}});
    ASSERT_FALSE(stage.ok());
    EXPECT_EQ(stage.error().code, "AF-PLUG-050");
    EXPECT_EQ(stage.error().where, "good_stage at /depth");
    EXPECT_THAT(stage.error().message,
                AllOf(HasSubstr("stage `good_stage`"), HasSubstr("`org.agentforge.test.good`"), HasSubstr("an integer")));
}

TEST_F(PluginSettings, with_an_unknown_name_get_the_nearest) {
    const auto stage = registry().stage("good_stage", {{"dept", 1}, {"depth", 1}});
    ASSERT_FALSE(stage.ok());
    EXPECT_THAT(stage.error().message, HasSubstr("dept is not a setting of this plugin; did you mean depth?"));
}

TEST_F(PluginSettings, of_an_unused_plugin_are_checked_but_may_be_incomplete) {
    search.settings = {{"good_stage", json::object{{"name", "a"}}}};
    EXPECT_TRUE(registry().check_all_settings().ok());
    search.settings = {{"good_stage", json::object{{"name", 1}}}};
    EXPECT_EQ(registry().check_all_settings().error().where, "good_stage at /name");
}

TEST_F(PluginSettings, missing_when_it_is_used_are_named) {
    EXPECT_THAT(registry().stage("good_stage").error().message, HasSubstr("depth is missing"));
}

TEST_F(PluginSettings, of_an_unknown_plugin_are_an_error) {
    search.settings = {{"god_stage", json::object{{"depth", 1}}}};
    const auto checked = registry().check_choice(place);
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().where, "settings.yaml, settings.god_stage");
    EXPECT_EQ(checked.error().remedy, "Did you mean `good_stage`?");
}

TEST_F(PluginSettings, that_are_not_a_map_are_an_error) {
    search.settings = {{"good_stage", 3}};
    EXPECT_EQ(registry().check_choice(place).error().code, "AF-PLUG-050");
}

TEST_F(PluginSettings, of_a_manifest_without_a_schema_are_left_to_the_plugin) {
    folder.add("good", test::good_manifest(), "good/good.so");
    EXPECT_TRUE(registry().stage("good_stage", {{"anything", 1}}).ok());
}

TEST_F(PluginSettings, with_an_invalid_schema_exclude_the_plugin) {
    json::object manifest = test::good_manifest();
    manifest["config_schema"] = json::object{{"type", "objekt"}};
    folder.add("good", manifest, "good/good.so");
    PluginRegistry made = registry();
    EXPECT_EQ(made.plugins()[0].state, PluginState::broken);
    EXPECT_EQ(made.problems()[0].code, "AF-PLUG-051");
    EXPECT_THAT(made.problems()[0].where, HasSubstr("/good/plugin.json, field config_schema"));
}

}  // namespace
}  // namespace agentforge::kernel
