// SPDX-License-Identifier: Apache-2.0
#include "unit/contracts/fixtures.hpp"

#include <fstream>

#include "base/files.hpp"

namespace agentforge::kernel {

namespace {
const std::string head = "contract: c\nversion: \"1.0\"\ndescription: d\nschema:\n";
}

TEST(ContractLanguage, compiles_to_json_schema) {
    const auto compiled = contract(
        head + "  ids: {type: array, required: true, min_items: 1, items: {type: string, pattern: '^a$', max_length: 3}}\n");
    EXPECT_EQ(
        compiled.schema().at("properties").at("ids"),
        parse_json(R"({"type":"array","minItems":1,"items":{"type":"string","maxLength":3,"pattern":"^a$"}})", "t").value());
    EXPECT_EQ(compiled.schema().at("required"), json::value(json::array{"ids"}));
}

TEST(ContractLanguage, refuses_unknown_fields_by_default) {
    EXPECT_EQ(contract(head + "  a: {type: string}\n").schema().at("additionalProperties"), json::value(false));
}

TEST(ContractLanguage, a_contract_may_allow_unknown_fields) {
    EXPECT_TRUE(
        contract("additionalProperties: true\n" + head + "  a: {type: string}\n").validate(object(R"({"b": 1})"), {}).valid());
}

TEST(ContractLanguage, an_object_without_properties_takes_any_field) {
    EXPECT_TRUE(contract(head + "  a: {type: object}\n").validate(object(R"({"a": {"any": 1}})"), {}).valid());
}

TEST(ContractLanguage, additional_properties_may_have_a_schema) {
    EXPECT_EQ(all(contract(head + "  a: {type: object, additionalProperties: {type: string}}\n")
                      .validate(object(R"({"a": {"x": 1}})"), {})),
              "a.x is an integer; it must be a string\n");
}

TEST(ContractLanguage, several_types_may_be_allowed) {
    EXPECT_EQ(all(contract(head + "  a: {type: [string, null]}\n").validate(object(R"({"a": 1})"), {})),
              "a is an integer; it must be a string or null\n");
}

TEST(ContractLanguage, unknown_keyword_names_place_and_nearest) {
    const auto error = refused(head + "  a: {type: string, patern: x}\n");
    EXPECT_EQ(error.code, "AF-CONT-003");
    EXPECT_EQ(error.where.substr(0, 9), "c.yaml:5:");
    EXPECT_EQ(error.remedy, "Did you mean `pattern`?");
}

TEST(ContractLanguage, unknown_top_keyword_is_refused) {
    EXPECT_EQ(refused("schemas: 1\n" + head + "  a: {type: string}\n").code, "AF-CONT-003");
}

TEST(ContractLanguage, unknown_type_names_the_nearest) {
    const auto error = refused(head + "  a: {type: strin}\n");
    EXPECT_EQ(error.code, "AF-CONT-004");
    EXPECT_EQ(error.remedy, "Did you mean `string`?");
}

TEST(ContractLanguage, a_property_without_type_is_refused) {
    EXPECT_EQ(refused(head + "  a: {required: true}\n").code, "AF-CONT-004");
}

TEST(ContractLanguage, unknown_rule_names_the_nearest) {
    const auto error = refused(head + "  a: {type: string}\nvalidation:\n  - conformance check pass\n");
    EXPECT_EQ(error.code, "AF-CONT-005");
    EXPECT_EQ(error.remedy, "Did you mean `conformance checks pass`?");
    EXPECT_EQ(error.where, "c.yaml:7:5");
}

TEST(ContractLanguage, an_invalid_pattern_is_refused) {
    EXPECT_EQ(refused(head + "  a: {type: string, pattern: '('}\n").code, "AF-CONT-006");
}

TEST(ContractLanguage, a_keyword_of_another_type_is_refused) {
    const auto error = refused(head + "  a: {type: string, min_items: 1}\n");
    EXPECT_EQ(error.code, "AF-CONT-007");
    EXPECT_EQ(error.message, "`min_items` cannot be used with type string");
}

TEST(ContractLanguage, a_negative_count_is_refused) {
    EXPECT_EQ(refused(head + "  a: {type: string, min_length: -1}\n").code, "AF-CONT-007");
}

TEST(ContractLanguage, a_fact_inside_a_list_is_refused) {
    EXPECT_EQ(refused(head + "  a: {type: array, items: {type: string, measured: f}}\n").code, "AF-CONT-008");
}

TEST(ContractLanguage, a_fact_inside_a_measured_object_is_refused) {
    EXPECT_EQ(refused(head + "  a: {type: object, measured: f, properties: {b: {type: string, measured: g}}}\n").code,
              "AF-CONT-008");
}

TEST(ContractLanguage, unknown_format_is_refused) {
    EXPECT_EQ(refused(head + "  a: {type: string, format: date_time}\n").code, "AF-CONT-009");
}

TEST(ContractLanguage, a_schema_nested_too_deeply_is_refused) {
    std::string inner = "{type: string}";
    for (int i = 0; i < 30; ++i) { inner = "{type: array, items: " + inner + "}"; }
    EXPECT_EQ(refused(head + "  a: " + inner + "\n").code, "AF-CONT-007");
}

TEST(ContractLanguage, a_contract_without_schema_is_refused) {
    EXPECT_EQ(refused("contract: c\nversion: \"1.0\"\ndescription: d\n").code, "AF-CONT-001");
}

TEST(ContractLanguage, datetime_is_checked) {
    EXPECT_EQ(all(contract(head + "  a: {type: string, format: datetime}\n").validate(object(R"({"a": "yesterday"})"), {})),
              "a is \"yesterday\"; it must be a time like 2026-01-02T15:30:00Z\n");
}

TEST(ContractLanguage, unique_items_are_checked) {
    EXPECT_EQ(all(contract(head + "  a: {type: array, unique_items: true, items: {type: integer}}\n")
                      .validate(object(R"({"a": [1, 2, 1]})"), {})),
              "a[2] is 1, which is already in the list\n");
}

TEST(ContractLanguage, numbers_are_bounded) {
    EXPECT_EQ(all(contract(head + "  a: {type: number, minimum: 0, maximum: 1}\n").validate(object(R"({"a": 2})"), {})),
              "a is 2; it must be at most 1\n");
}

TEST(ContractLanguage, a_field_may_have_the_name_of_a_keyword) {
    EXPECT_EQ(all(contract(head + "  o: {type: object, properties: {pattern: {type: string, required: true}}}\n")
                      .validate(object(R"({"o": {}})"), {})),
              "o.pattern is missing\n");
}

TEST(ContractLanguage, an_object_of_measured_fields_only_is_not_requested) {
    const auto compiled = contract(
        head +
        "  s: {type: string}\n  v: {type: object, required: true, properties: {f: {type: boolean, required: true, measured: fact}}}\n");
    EXPECT_EQ(compiled.model_schema().at("properties").as_object().size(), 1U);
    EXPECT_FALSE(compiled.model_schema().contains("required"));
}

TEST(ContractLanguage, lists_measured_pointers_and_facts) {
    const auto compiled = contract(head + "  v: {type: object, properties: {f: {type: boolean, measured: fact}}}\n");
    EXPECT_EQ(compiled.measured(), (std::map<std::string, std::string, std::less<>>{{"/v/f", "fact"}}));
}

TEST(ContractSet, a_later_folder_wins_by_name) {
    const TemporaryDirectory folder("contracts");
    std::ofstream(folder.path() / "mine.yaml")
        << "contract: specification\nversion: \"9.0\"\ndescription: d\nschema:\n  a: {type: string}\n";
    const auto set = ContractSet::load({std::string(AGENTFORGE_SOURCE_DIR) + "/config/contracts", folder.path().string()});
    EXPECT_EQ(set->get("specification")->version(), "9.0");
}

TEST(ContractSet, a_missing_folder_is_empty) { EXPECT_TRUE(ContractSet::load({"/nowhere/at/all"})->names().empty()); }

TEST(ContractSet, two_definitions_in_one_folder_are_refused) {
    const TemporaryDirectory folder("contracts");
    for (const auto* name : {"a.yaml", "b.yaml"}) { std::ofstream(folder.path() / name) << head << "  a: {type: string}\n"; }
    EXPECT_EQ(ContractSet::load({folder.path().string()}).error().code, "AF-CONT-010");
}

TEST(ContractSet, reads_yml_files_too) {
    const TemporaryDirectory folder("contracts");
    std::ofstream(folder.path() / "a.yml") << head << "  a: {type: string}\n";
    EXPECT_EQ(ContractSet::load({folder.path().string()}).error().code, "AF-CONF-030");
}

TEST(ContractSet, unknown_contract_names_the_nearest) {
    const auto missing = shipped().get("specifcation");
    EXPECT_EQ(missing.error().code, "AF-CONT-002");
    EXPECT_EQ(missing.error().remedy, "Did you mean specification?");
}

}  // namespace agentforge::kernel
