// SPDX-License-Identifier: Apache-2.0
#include "plugins/config_check.hpp"

#include <gmock/gmock.h>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

using testing::HasSubstr;

PluginManifest with_schema(const std::string& schema) {
    PluginManifest manifest;
    manifest.id = "a.b";
    manifest.directory = "/plugins/a";
    manifest.config_schema = parse_json(schema, "test").value().as_object();
    return manifest;
}

struct Bad {
    const char* name;
    const char* schema;
    const char* message;
};
class ConfigSchemaRefused : public testing::TestWithParam<Bad> {};

TEST_P(ConfigSchemaRefused, is_named) {
    const auto checked = check_config_schema(with_schema(GetParam().schema));
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, "AF-PLUG-051");
    EXPECT_THAT(checked.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    , ConfigSchemaRefused,
    testing::Values(
        Bad{"of_a_list", R"({"type": "array"})", "must be \"object\""},
        Bad{"unknown_type", R"({"type": "strng"})", "must name a JSON type"},
        Bad{"properties_list", R"({"properties": []})", "config_schema.properties must be an object"},
        Bad{"property_text", R"({"properties": {"a": "string"}})", "config_schema.properties.a must be a schema object"},
        Bad{"pattern_number", R"({"properties": {"a": {"pattern": 5}}})", "a.pattern must be a string"},
        Bad{"pattern_broken", R"({"properties": {"a": {"pattern": "("}}})", "is not a regular expression"},
        Bad{"reference", R"({"properties": {"a": {"$ref": "http://example.org"}}})", "manifest must be self-contained"},
        Bad{"reference_to_itself", R"({"properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}]}}})",
            "config_schema.properties.a.anyOf has a $ref"},
        Bad{"reference_in_definitions", R"({"definitions": {"a": {"not": {"$ref": "#/definitions/a"}}}})",
            "config_schema.definitions has a $ref"},
        Bad{"empty_enum", R"({"properties": {"a": {"enum": []}}})", "one value or more"},
        Bad{"required_text", R"({"required": "a"})", "must be a list of names"},
        Bad{"minimum_text", R"({"properties": {"a": {"minimum": "1"}}})", "must be a number"},
        Bad{"unique_text", R"({"properties": {"a": {"uniqueItems": "yes"}}})", "must be true or false"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(ConfigSchema, that_is_too_deep_is_named) {
    std::string text = R"({"type": "string"})";
    for (int depth = 0; depth < 40; ++depth) { text = R"({"properties": {"a": )" + text + "}}"; }
    EXPECT_THAT(check_config_schema(with_schema(text)).error().message, HasSubstr("nested deeper"));
}

TEST(ConfigSchema, problem_points_to_the_value) {
    const auto problem = check_config(
        with_schema(
            R"({"properties": {"a": {"type": "object", "properties": {"b": {"type": "array", "items": {"type": "string"}}}}}})"),
        {{"a", json::object{{"b", json::array{"x", 1}}}}});
    ASSERT_TRUE(problem.ok() && problem->has_value());
    EXPECT_EQ((*problem)->pointer, "/a/b/1");
}

TEST(ConfigSchema, may_have_a_setting_or_a_value_with_the_name_of_a_reference) {
    for (const char* text :
         {R"({"properties": {"$ref": {"type": "string"}}})", R"({"properties": {"a": {"default": {"$ref": 1}}}})",
          R"({"anyOf": [{"properties": {"$ref": {"type": "string"}}}]})"}) {
        EXPECT_TRUE(check_config_schema(with_schema(text)).ok()) << text;
    }
}

TEST(ConfigSchema, missing_accepts_anything) { EXPECT_FALSE(check_config(PluginManifest(), {{"a", 1}}).value().has_value()); }

TEST(ConfigSchema, without_settings_says_that_it_takes_none) {
    const auto problem = check_config(with_schema(R"({"type": "object", "additionalProperties": false})"), {{"a", 1}});
    EXPECT_EQ((*problem)->message, "a is not a setting of this plugin; it takes none");
}

TEST(ConfigSchema, of_each_shipped_plugin_is_valid) {
    PluginSearch search;
    search.product = SHIPPED_PLUGINS;
    const PluginRegistry registry = PluginRegistry::discover(search);
    ASSERT_GE(registry.plugins().size(), 25U);
    for (const PluginManifest& plugin : registry.plugins()) {
        const auto checked = check_config_schema(plugin);
        EXPECT_TRUE(checked.ok()) << (checked.ok() ? "" : checked.error().to_string());
    }
}

}  // namespace
}  // namespace agentforge::kernel
