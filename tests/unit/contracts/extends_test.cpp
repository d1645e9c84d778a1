// SPDX-License-Identifier: Apache-2.0
// A contract that extends another, and the rules of a plan and of a review.
#include "unit/contracts/fixtures.hpp"

#include <fstream>

#include <gmock/gmock.h>

#include "base/files.hpp"

namespace agentforge::kernel {
namespace {

using testing::HasSubstr;

constexpr const char* extended_text =
    "contract: base\nversion: \"1.0\"\ndescription: A base\nschema:\n  one: {type: string, required: true}\n  two: {type: string}\nvalidation: [no circular dependencies]\n";
constexpr const char* extending_text =
    "contract: more\nversion: \"1.0\"\nextends: base\ndescription: More\nschema:\n  two: {type: integer}\n  three: {type: string, required: true}\nvalidation: [requirement ids are unique]\n";

Result<ContractSet> set_of_files(std::initializer_list<const char*> files) {
    const TemporaryDirectory folder("extends-test");
    int number = 0;
    for (const char* text : files) { std::ofstream(folder.path() / (std::to_string(++number) + ".yaml")) << text; }
    return ContractSet::load({folder.path().string()});
}

json::object plan_with(std::string_view steps) {
    json::object made = specification();
    made["steps"] = json::parse({steps.data(), steps.size()});
    return made;
}

std::string faults_under(const char* contract, const json::object& artifact) {
    return all(shipped().get(contract)->validate_answer(artifact, {}));
}

}  // namespace

TEST(ContractExtends, inherits_fields_and_rules) {
    const auto set = set_of_files({extended_text, extending_text});
    ASSERT_TRUE(set.ok()) << set.error().to_string();
    const auto contract = set->get("more");
    EXPECT_EQ(contract->extends(), "base");
    const auto& fields = contract->schema().at("properties").as_object();
    for (const char* field : {"one", "two", "three"}) { EXPECT_TRUE(fields.contains(field)) << field; }
    EXPECT_EQ(fields.at("two").at("type"), "integer") << "its own stands in place of the other's";
    EXPECT_THAT(contract->rules(), testing::ElementsAre("no circular dependencies", "requirement ids are unique"));
}

TEST(ContractExtends, of_an_unknown_contract_is_refused) {
    const auto set = set_of_files({extending_text});
    ASSERT_FALSE(set.ok());
    EXPECT_EQ(set.error().code, "AF-CONT-014");
    EXPECT_THAT(set.error().where, HasSubstr("1.yaml:3"));
}

TEST(ContractExtends, without_a_base_name_is_refused) {
    const auto set = set_of_files(
        {extended_text,
         "contract: more\nversion: \"1.0\"\nextends: [base]\ndescription: More\nschema:\n  three: {type: string}\n"});
    ASSERT_FALSE(set.ok());
    EXPECT_EQ(set.error().code, "AF-CONT-001");
}

TEST(ContractPlan, that_numbers_its_steps_and_covers_its_requirements_is_valid) {
    EXPECT_EQ(
        faults_under(
            "plan",
            plan_with(R"([{"number": 1, "title": "a", "description": "b", "estimate": "small", "requirements": ["REQ-001"]}])")),
        "");
}

TEST(ContractPlan, steps_are_numbered_without_a_gap) {
    EXPECT_THAT(
        faults_under(
            "plan",
            plan_with(R"([{"number": 2, "title": "a", "description": "b", "estimate": "small", "requirements": ["REQ-001"]}])")),
        HasSubstr("steps[0].number is 2; it must be 1"));
}

TEST(ContractPlan, steps_depend_on_earlier_ones) {
    EXPECT_THAT(
        faults_under(
            "plan",
            plan_with(
                R"([{"number": 1, "title": "a", "description": "b", "estimate": "small", "requirements": ["REQ-001"], "depends_on": [1]}])")),
        HasSubstr("not a step before it"));
}

TEST(ContractPlan, each_tested_requirement_belongs_to_a_step) {
    EXPECT_THAT(
        faults_under("plan",
                     plan_with(R"([{"number": 1, "title": "a", "description": "b", "estimate": "small", "requirements": []}])")),
        HasSubstr("which no step names"));
}

TEST(ReviewDecision, that_approves_a_severe_issue_is_refused) {
    EXPECT_THAT(
        faults_under(
            "review_decision",
            object(
                R"({"decision": "approve", "summary": "s", "issues": [{"id": "R", "severity": "critical", "description": "d", "remediation": "r"}]})")),
        HasSubstr("the decision is approve"));
}

TEST(ReviewDecision, that_sends_work_back_needs_a_reason) {
    EXPECT_THAT(faults_under("review_decision", object(R"({"decision": "revise", "summary": "s", "issues": []})")),
                HasSubstr("nobody would know what to change"));
}

}  // namespace agentforge::kernel
