// SPDX-License-Identifier: Apache-2.0
#include "contracts/form.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

Contract shipped_contract(std::string_view name) {
    return ContractSet::load({std::string(AGENTFORGE_SOURCE_DIR) + "/config/contracts"})->get(name).value();
}

/// Includes every optional line and fills in every empty text; nothing depends on itself.
std::string filled_in(std::string form) {
    std::string out;
    for (auto at = form.find("depends_on:"); at != std::string::npos; at = form.find("depends_on:")) {
        const auto begin = form.rfind('\n', at) + 1;
        form.erase(begin, form.find('\n', form.find('\n', at) + 1) + 1 - begin);
    }
    for (std::size_t begin = 0; begin < form.size();) {
        const std::size_t end = std::min(form.find('\n', begin), form.size());
        std::string line = form.substr(begin, end - begin);
        if (line.starts_with('#') && !line.starts_with("##")) { line.erase(0, 1); }
        if (const auto empty = line.find("\"\""); empty != std::string::npos) { line.replace(empty, 2, "\"filled in\""); }
        out += line + "\n";
        begin = end + 1;
    }
    return out;
}

}  // namespace

TEST(ContractForm, satisfies_its_contract_once_filled_in) {
    for (const char* name : {"specification", "intake_record", "analysis", "clarification", "test_suite", "implementation",
                             "security_review", "delivery_report", "violation_fix"}) {
        const Contract contract = shipped_contract(name);
        const auto document = parse_yaml(filled_in(contract_form(contract)), name);
        ASSERT_TRUE(document.ok()) << name << ": " << document.error().to_string() << "\n" << filled_in(contract_form(contract));
        const std::map<std::string, json::object, std::less<>> others{
            {"specification", json::object{{"requirements", json::array{json::object{{"id", "REQ-001"}}}}}}};
        RuleContext context;
        context.artifacts = &others;
        const auto verdict = contract.validate_answer(document->value.as_object(), context);
        EXPECT_TRUE(verdict.valid()) << name << ": " << (verdict.valid() ? "" : verdict.messages().front()) << "\n"
                                     << filled_in(contract_form(contract));
    }
}

TEST(ContractForm, marks_the_fields_to_fill_in) {
    const Contract contract = shipped_contract("specification");
    const auto document = parse_yaml(contract_form(contract), "form");
    ASSERT_TRUE(document.ok()) << document.error().to_string();
    std::vector<std::string> paths;
    for (const auto& violation : contract.validate_answer(document->value.as_object(), {}).violations) {
        paths.push_back(violation.path);
    }
    EXPECT_THAT(paths, testing::IsSupersetOf({"/title", "/description", "/requirements/0/description"}));
}

TEST(ContractForm, omits_fields_that_the_kernel_measures) {
    EXPECT_THAT(contract_form(shipped_contract("specification")), testing::Not(testing::HasSubstr("spec_id")));
}

TEST(ContractDefaults, fill_missing_fields) {
    const json::object artifact{
        {"requirements",
         json::array{json::object{{"id", "REQ-001"}}, json::object{{"id", "REQ-002"}, {"verification_method", "inspection"}}}}};
    const json::object whole = with_defaults(shipped_contract("specification"), artifact);
    EXPECT_EQ(whole.at("requirements").at(0).at("verification_method"), json::value("test"));
    EXPECT_EQ(whole.at("requirements").at(1).at("verification_method"), json::value("inspection"));
}

}  // namespace agentforge::kernel
