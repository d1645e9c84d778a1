// SPDX-License-Identifier: Apache-2.0
#include "unit/contracts/fixtures.hpp"

#include <set>

#include <gmock/gmock.h>

#include "base/files.hpp"
#include "contracts/rules.hpp"

namespace agentforge::kernel {

TEST(ShippedContracts, all_are_there) {
    EXPECT_THAT(shipped().names(), testing::ElementsAre("agent_definition", "analysis", "clarification", "delivery_report",
                                                        "execution", "implementation", "intake_record", "pipeline_template",
                                                        "plan", "review_decision", "security_review", "specification",
                                                        "step_result", "test_suite", "verification", "violation_fix"));
}

TEST(ShippedContracts, whole_artifacts_are_valid) {
    const Artifacts artifacts{{"spec", specification()}, {"red", test_suite()}};
    RuleContext context;
    context.artifacts = &artifacts;
    const std::vector<std::pair<std::string, json::object>> whole{
        {"intake_record",
         object(
             R"({"request_id": "R", "original_request": "Add slugs", "extracted_intent": {"action": "create", "target": "slugify", "scope": "module"},
            "detected_scope": "feature_addition", "identified_ambiguities": [], "metadata": {"intake_timestamp": "2026-01-02T15:30:00Z", "tokens_used": 12}})")},
        {"clarification", object(R"({"request_id": "R", "clarified_requirements": "Slugs", "scope_confirmed": true,
            "questions": [{"question": "Which?", "source": "agent_inference", "answer": "ASCII", "confidence": 0.9, "evidence": [{"file": "a.py", "snippet": "x"}]}]})")},
        {"analysis",
         object(
             R"({"request_id": "R", "analysis": {"summary": "s", "free": 1}, "components": [{"name": "a", "type": "module"}], "affected_files": ["a.py"]})")},
        {"specification", specification()},
        {"test_suite", test_suite()},
        {"implementation", implementation()},
        {"delivery_report",
         object(
             R"({"spec_ref": "S", "deliverable_type": "commit", "commit_sha": "0123456789012345678901234567890123456789", "branch": "agentforge/x",
            "files_modified": ["a.py"], "summary": "s", "verification": {"deployment_ready": true}})")},
        {"violation_fix",
         object(
             R"({"summary": "s", "files_created": [], "files_modified": [{"path": "a.py"}], "final_files": ["a.py"], "test_results": {"total": 1, "passed": 1, "failed": 0},
            "verification": {"violation_gone": true, "no_new_violations": true, "no_regressions": true, "conformance_passing": true}})")},
        {"security_review", object(R"({"summary": "s", "blocking_issues": [], "advisory_issues": []})")}};
    for (const auto& [name, artifact] : whole) { EXPECT_EQ(all(shipped().get(name)->validate(artifact, context)), "") << name; }
}

TEST(ShippedContracts, measure_only_the_agreed_facts) {
    const std::set<std::string> agreed{"request_id",
                                       "original_request",
                                       "timestamp",
                                       "tokens_used",
                                       "spec_id",
                                       "spec_ref",
                                       "suite_id",
                                       "test_suite_ref",
                                       "implementation_id",
                                       "coverage_mapping",
                                       "test_results",
                                       "failing_tests",
                                       "passing_tests",
                                       "skeleton_files",
                                       "all_tests_fail",
                                       "no_implementation_exists",
                                       "files_created",
                                       "files_modified",
                                       "final_files",
                                       "all_tests_pass",
                                       "conformance_passing",
                                       "no_regressions",
                                       "type_check_passing",
                                       "complexity_acceptable",
                                       "to_look_at",
                                       "deliverable_type",
                                       "commit_sha",
                                       "branch",
                                       "base_commit",
                                       "violation_gone",
                                       "no_new_violations",
                                       "deployment_ready",
                                       "pr_url",
                                       "patch_file",
                                       "drift",
                                       "signed",
                                       "commit_hooks"};
    for (const auto& name : shipped().names()) {
        const auto contract = shipped().get(name);
        for (const auto& [pointer, fact] : contract->measured()) { EXPECT_TRUE(agreed.contains(fact)) << name << pointer; }
    }
}

TEST(ShippedContracts, model_schemas_request_no_measured_fields) {
    for (const auto& name : shipped().names()) {
        const auto contract = shipped().get(name);
        for (const auto& [pointer, fact] : contract->measured()) {
            const auto field = pointer.substr(1, pointer.find('/', 1) - 1);
            const auto& properties = contract->model_schema().at("properties").as_object();
            if (pointer.find('/', 1) == std::string::npos) { EXPECT_FALSE(properties.contains(field)) << name << pointer; }
        }
    }
}

TEST(ContractDocumentation, describes_every_named_rule) {
    const auto page = read_file(std::string(AGENTFORGE_SOURCE_DIR) + "/docs/contracts.md");
    for (const auto& rule : named_rules()) { EXPECT_THAT(*page, testing::HasSubstr(std::string(rule.text))); }
}

TEST(ContractDocumentation, names_every_measured_fact) {
    const auto page = read_file(std::string(AGENTFORGE_SOURCE_DIR) + "/docs/contracts.md");
    for (const auto& name : shipped().names()) {
        const auto contract = shipped().get(name);
        for (const auto& [pointer, fact] : contract->measured()) { EXPECT_THAT(*page, testing::HasSubstr("`" + fact + "`")); }
    }
}

}  // namespace agentforge::kernel
