// SPDX-License-Identifier: Apache-2.0
// Checks arguments against schemas as servers publish them, and how such a schema is prepared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/arguments_check.hpp"
#include "tools/usable_schema.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Returns "" if the arguments are valid, else the message.
std::string problem(const char* schema, const char* arguments) {
    json::object given = json::parse(arguments).as_object();
    const auto fits = check_arguments("tool", json::parse(schema).as_object(), given);
    return fits.ok() ? "" : fits.error().code + " " + fits.error().message;
}

std::string property(const char* rule, const char* value) {
    return problem((std::string(R"({"type": "object", "properties": {"a": )") + rule + "}}").c_str(),
                   (std::string(R"({"a": )") + value + "}").c_str());
}

TEST(ToolArguments, any_of_accepts_either_form) {
    EXPECT_EQ(property(R"({"anyOf": [{"type": "string"}, {"type": "null"}]})", "null"), "");
    EXPECT_THAT(property(R"({"anyOf": [{"type": "string"}, {"type": "null"}]})", "7"), HasSubstr("none of its 2 forms"));
}

TEST(ToolArguments, one_of_accepts_exactly_one_form) {
    EXPECT_EQ(property(R"({"oneOf": [{"type": "integer"}, {"type": "string"}]})", "7"), "");
    EXPECT_THAT(property(R"({"oneOf": [{"type": "integer"}, {"minimum": 1}]})", "7"), HasSubstr("more than one"));
}

TEST(ToolArguments, all_of_requires_every_form) {
    const char* rule = R"({"allOf": [{"type": "object", "properties": {"x": {"type": "integer"}}}, {"required": ["y"]}]})";
    EXPECT_EQ(property(rule, R"({"x": 1, "y": 2})"), "");
    EXPECT_THAT(property(rule, R"({"x": "1", "y": 2})"), HasSubstr("'a.x'"));
    EXPECT_THAT(property(rule, R"({"x": 1})"), HasSubstr("'a.y' is missing"));
}

TEST(ToolArguments, not_refuses_a_form) { EXPECT_THAT(property(R"({"not": {"const": 3}})", "3"), HasSubstr("must not fit")); }

TEST(ToolArguments, a_reference_inside_the_schema_is_followed) {
    const char* schema =
        R"({"type": "object", "properties": {"a": {"$ref": "#/$defs/name"}}, "$defs": {"name": {"type": "string", "maxLength": 3}}})";
    EXPECT_EQ(problem(schema, R"({"a": "abc"})"), "");
    EXPECT_THAT(problem(schema, R"({"a": "abcd"})"), HasSubstr("at most 3"));
}

TEST(ToolArguments, a_reference_to_nothing_is_an_error_in_the_schema) {
    EXPECT_THAT(property(R"({"$ref": "#/$defs/none"})", "1"), HasSubstr("AF-TOOL-008"));
}

TEST(ToolArguments, a_self_reference_terminates) {
    const char* schema =
        R"({"type": "object", "properties": {"a": {"$ref": "#/$defs/loop"}}, "$defs": {"loop": {"$ref": "#/$defs/loop"}}})";
    EXPECT_THAT(problem(schema, R"({"a": 1})"), HasSubstr("too deeply"));
}

TEST(ToolArguments, an_exponential_schema_is_stopped) {
    const char* schema = R"({"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"anyOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}]}}})";
    EXPECT_THAT(problem(schema, R"({"a": 1})"), AllOf(HasSubstr("AF-TOOL-008"), HasSubstr("too many comparisons")));
}

TEST(ToolArguments, a_form_that_names_itself_twice_is_stopped) {
    const char* schema = R"({"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"required": ["z"],
        "properties": {"c": {"anyOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}]}}}}})";
    std::string value = "{}";
    for (int i = 0; i < 14; ++i) { value = R"({"c": )" + value + "}"; }
    EXPECT_THAT(problem(schema, (R"({"a": )" + value + "}").c_str()),
                AllOf(HasSubstr("AF-TOOL-008"), HasSubstr("too many comparisons")));
}

TEST(ToolArguments, a_whole_number_becomes_an_integer_only_in_the_form_that_fits) {
    const auto converted = [](const char* forms) {
        json::object given = json::parse(R"({"a": {"n": 3.0, "s": "x"}})").as_object();
        const auto schema = json::parse(std::string(R"({"type": "object", "properties": {"a": {"anyOf": )") + forms + "}}}");
        EXPECT_TRUE(check_arguments("tool", schema.as_object(), given).ok()) << forms;
        return given.at("a").at("n").is_int64();
    };
    const std::string integer = R"({"properties": {"n": {"type": "integer"}, "s": {"type": "integer"}}})";
    const std::string number = R"({"properties": {"n": {"type": "number"}}})";
    EXPECT_FALSE(converted(("[" + integer + "," + number + "]").c_str()));
    EXPECT_TRUE(converted(R"([{"properties": {"n": {"type": "integer"}}}])"));
}

TEST(ToolArguments, a_form_that_does_not_fit_is_explained_by_the_nearest) {
    EXPECT_THAT(property(R"({"anyOf": [{"type": "null"}, {"type": "object", "required": ["x"]}]})", R"({"y": 1})"),
                HasSubstr("the nearest:"));
}

TEST(ToolArguments, exclusive_limits_exclude) {
    EXPECT_EQ(property(R"({"exclusiveMinimum": 0})", "1"), "");
    EXPECT_THAT(property(R"({"exclusiveMinimum": 0})", "0"), HasSubstr("more than 0"));
    EXPECT_THAT(property(R"({"exclusiveMaximum": 5})", "5"), HasSubstr("less than 5"));
}

TEST(ToolArguments, multiple_of_is_checked) {
    EXPECT_EQ(property(R"({"multipleOf": 0.5})", "1.5"), "");
    EXPECT_THAT(property(R"({"multipleOf": 2})", "3"), HasSubstr("multiple of 2"));
}

TEST(ToolArguments, unique_items_are_checked) {
    EXPECT_THAT(property(R"({"type": "array", "uniqueItems": true})", "[1, 1]"), HasSubstr("twice"));
    EXPECT_EQ(property(R"({"type": "array", "uniqueItems": true})", R"([1, "1"])"), "");
    EXPECT_EQ(property(R"({"type": "array", "uniqueItems": false})", "[1, 1]"), "");
}

TEST(ToolArguments, default_and_format_are_not_checked) {
    EXPECT_EQ(property(R"({"type": "string", "format": "uri", "default": "x", "deprecated": true})", R"("y")"), "");
}

TEST(ToolArguments, a_false_schema_refuses_every_value) { EXPECT_THAT(property("false", "1"), HasSubstr("may not be given")); }

// ---------------------------------------------------------------------------------------- usable_schema --

TEST(UsableSchema, omits_and_lists_unchecked_keywords) {
    const auto made = usable_schema(json::parse(
        R"x({"type": "object", "properties": {"a": {"type": "string", "if": {}, "pattern": "(?=x)"}}, "x-vendor": 1})x"));
    ASSERT_TRUE(made.ok());
    EXPECT_THAT(made->left_out, ElementsAre("properties.a.if", "properties.a.pattern", "x-vendor"));
    EXPECT_FALSE(made->schema.at("properties").at("a").as_object().contains("if"));
}

TEST(UsableSchema, a_property_may_have_the_name_of_a_keyword) {
    const auto made = usable_schema(
        json::parse(R"({"type": "object", "properties": {"if": {"type": "string"}, "items": {"type": "integer"}}})"));
    ASSERT_TRUE(made.ok());
    EXPECT_THAT(made->left_out, IsEmpty());
}

TEST(UsableSchema, without_properties_accepts_anything) {
    const auto made = usable_schema(json::parse(R"({"type": "object"})"));
    ASSERT_TRUE(made.ok());
    json::object arguments{{"x", 1}};
    EXPECT_TRUE(check_arguments("tool", made->schema, arguments).ok());
}

TEST(UsableSchema, omits_an_external_reference) {
    const auto made =
        usable_schema(json::parse(R"({"type": "object", "properties": {"a": {"$ref": "https://example.org/x.json"}}})"));
    ASSERT_TRUE(made.ok());
    EXPECT_THAT(made->left_out, ElementsAre("properties.a.$ref"));
}

TEST(UsableSchema, detects_path_parameters_by_format) {
    const auto made = usable_schema(json::parse(
        R"({"type": "object", "properties": {"a": {"type": "string", "format": "file-path"}, "b": {"type": "string"}}})"));
    ASSERT_TRUE(made.ok());
    EXPECT_THAT(made->paths, ElementsAre("a"));
}

TEST(UsableSchema, refuses_a_schema_that_is_not_an_object) {
    EXPECT_EQ(usable_schema(json::parse("[]")).error().code, "AF-TOOL-008");
    EXPECT_EQ(usable_schema(json::parse(R"({"type": "string"})")).error().code, "AF-TOOL-008");
}

TEST(UsableSchema, refuses_a_schema_that_is_too_deep) {
    std::string text = "{}";
    for (int i = 0; i < 100; ++i) { text = R"({"properties": {"a": )" + text + "}}"; }
    EXPECT_THAT(usable_schema(json::parse(text, {}, {.max_depth = 400})).error().message, HasSubstr("too deep"));
}

}  // namespace
}  // namespace agentforge::kernel
