// SPDX-License-Identifier: Apache-2.0
#include "contracts/conditions.hpp"

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

Result<Contract> contract_with(const std::string& conditions) {
    const auto document = parse_yaml(
        "contract: c\nversion: \"1.0\"\ndescription: d\nschema:\n  list: {type: array, items: {type: string}}\nconditions:\n" +
            conditions,
        "c.yaml");
    return compile_contract(document.value());
}

std::vector<std::string> words(const std::string& conditions, const json::object& artifact,
                               const std::map<std::string, json::object, std::less<>>& artifacts = {}) {
    RuleContext context;
    context.artifacts = &artifacts;
    return contract_with(conditions).value().conditions_of(artifact, context);
}

TEST(ContractConditions, an_empty_list_makes_its_word_true) {
    const std::string conditions = "  none: [{empty: list}]\n";
    EXPECT_EQ(words(conditions, {{"list", json::array()}}), std::vector<std::string>{"none"});
    EXPECT_EQ(words(conditions, {}), std::vector<std::string>{"none"});
    EXPECT_TRUE(words(conditions, {{"list", json::array{"a"}}}).empty());
    EXPECT_TRUE(words(conditions, {{"list", "none"}}).empty());
}

TEST(ContractConditions, a_change_is_small_up_to_two_files_and_ten_lines) {
    const std::string conditions = "  small: [{small_change: true}]\n";
    const auto change = [](std::int64_t lines) {
        return json::object{{"files_created", json::array()},
                            {"files_modified", json::array{json::object{{"lines_added", lines}}}}};
    };
    EXPECT_EQ(words(conditions, change(10)).size(), 1U);
    EXPECT_TRUE(words(conditions, change(11)).empty());
    EXPECT_TRUE(words(conditions, {{"files_created", json::array{json::object(), json::object(), json::object()}},
                                   {"files_modified", json::array()}})
                    .empty());
    EXPECT_TRUE(words(conditions, {}).empty()) << "what was not measured is not small";
}

TEST(ContractConditions, may_depend_on_another_artifact) {
    const std::string conditions = "  trivial: [{contract: intake_record, field: initial_complexity, is: trivial}]\n";
    EXPECT_EQ(words(conditions, {}, {{"intake_record", {{"initial_complexity", "trivial"}}}}).size(), 1U);
    EXPECT_TRUE(words(conditions, {}, {{"intake_record", {{"initial_complexity", "large"}}}}).empty());
    EXPECT_TRUE(words(conditions, {}).empty());
}

TEST(ContractConditions, all_checks_of_a_word_must_hold) {
    const std::string conditions = "  both: [{empty: list}, {contract: a, field: f, is: x}]\n";
    EXPECT_TRUE(words(conditions, {}).empty());
    EXPECT_EQ(words(conditions, {}, {{"a", {{"f", "x"}}}}).size(), 1U);
}

TEST(ContractConditions, an_unknown_check_is_named_with_its_line) {
    for (const char* wrong : {"  w: [{emptied: list}]\n", "  w: [{small_change: false}]\n", "  w: [{contract: a, field: f}]\n",
                              "  w: [{empty: list, is: x}]\n", "  w: []\n", "  w: {empty: list}\n"}) {
        const auto contract = contract_with(wrong);
        ASSERT_FALSE(contract.ok()) << wrong;
        EXPECT_EQ(contract.error().code, "AF-CONT-013");
        EXPECT_NE(contract.error().where.find("c.yaml:7"), std::string::npos) << contract.error().where;
    }
}

TEST(ContractConditions, words_for_external_artifacts_must_be_valid_in_skip_if) {
    const auto with = [](const std::string& words) {
        const std::string text = "contract: c\nversion: \"1.0\"\ndescription: d\nschema:\n  list: {type: string}\nprovided_as: ";
        return compile_contract(parse_yaml(text + words + "\n", "c.yaml").value());
    };
    EXPECT_EQ(with("[c_given, c_2]")->provided_as(), (std::vector<std::string>{"c_given", "c_2"}));
    for (const char* wrong : {"c_given", "[C given]", "['']", "[never]", "[or]", "[1]"}) {
        const auto contract = with(wrong);
        ASSERT_FALSE(contract.ok()) << wrong;
        EXPECT_EQ(contract.error().code, "AF-CONT-013");
        EXPECT_NE(contract.error().where.find("c.yaml:6"), std::string::npos) << contract.error().where;
    }
}

}  // namespace
}  // namespace agentforge::kernel
