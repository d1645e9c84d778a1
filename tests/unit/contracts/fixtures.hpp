// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "contracts/contract.hpp"

namespace agentforge::kernel {

inline const ContractSet& shipped() {
    static const ContractSet set = [] {
        auto loaded = ContractSet::load({std::string(AGENTFORGE_SOURCE_DIR) + "/config/contracts"});
        if (!loaded.ok()) {
            ADD_FAILURE() << loaded.error().to_string();
            return ContractSet();
        }
        return std::move(loaded).value();
    }();
    return set;
}

inline json::object object(std::string_view text) { return parse_json(text, "test").value().as_object(); }

inline Contract contract(const std::string& text) { return compile_contract(parse_yaml(text, "c.yaml").value()).value(); }

inline Error refused(const std::string& text) {
    auto compiled = compile_contract(parse_yaml(text, "c.yaml").value());
    if (compiled.ok()) {
        ADD_FAILURE() << "the contract was accepted";
        return {};
    }
    return compiled.error();
}

inline std::string all(const ContractVerdict& verdict) {
    std::string text;
    for (const auto& message : verdict.messages()) { text += message + "\n"; }
    return text;
}

inline json::object specification() {
    return object(R"({"spec_id": "SPEC-1", "request_id": "R", "title": "Slugs", "description": "Make slugs.",
        "requirements": [{"id": "REQ-001", "description": "Lower case", "priority": "must", "acceptance_criteria": ["A becomes a"], "verification_method": "test"}],
        "components": [{"name": "slug", "type": "module"}]})");
}

inline json::object test_suite() {
    return object(R"({"suite_id": "S", "spec_ref": "SPEC-1",
        "test_files": [{"path": "tests/test_slug.py", "tests": [{"name": "test_lowercase", "requirement_ref": "REQ-001"}]}],
        "test_results": {"total": 1, "passed": 0, "failed": 1}, "failing_tests": ["tests/test_slug.py::test_lowercase"],
        "verification": {"all_tests_fail": true, "no_implementation_exists": true}})");
}

inline json::object implementation() {
    return object(
        R"({"implementation_id": "I", "spec_ref": "SPEC-1", "test_suite_ref": "S", "summary": "Did it.", "files_created": [], "files_modified": [],
        "final_files": ["slug.py"], "test_results": {"total": 1, "passed": 1, "failed": 0}, "passing_tests": ["tests/test_slug.py::test_lowercase"],
        "verification": {"all_tests_pass": true, "conformance_passing": true, "no_regressions": true, "type_check_passing": true}})");
}

using Artifacts = std::map<std::string, json::object, std::less<>>;

}  // namespace agentforge::kernel
