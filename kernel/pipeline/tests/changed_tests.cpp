// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tests/changed_tests.hpp"

#include <algorithm>

#include "base/json_fields.hpp"
#include "config/gate_names.hpp"
#include "gates/engine/baseline.hpp"
#include "gates/test_quality/outdated_tests.hpp"
#include "gates/test_quality/test_quality.hpp"
#include "pipeline/gate_runs.hpp"

namespace agentforge::kernel {

std::vector<std::string> outdated_tests(const TaskState& state, const json::object& specification,
                                        const std::vector<TestOutcome>& base_tests) {
    std::vector<std::string> names;
    for (const json::object& each : objects_of(specification, "outdated_tests")) { names.push_back(text_of(each, "test")); }
    for (const auto& past : state.resumption.hand_backs) {
        const auto stage = state.pipeline.index_of(past.to);
        if (stage && writes_tests(state.pipeline.stages[*stage])) {
            names.insert(names.end(), past.evidence.tests.begin(), past.evidence.tests.end());
        }
    }
    std::vector<TestOutcome> passed;
    std::ranges::copy_if(base_tests, std::back_inserter(passed),
                         [](const TestOutcome& test) { return test.status == TestStatus::passed; });
    return tests_named(names, passed);
}

Result<std::vector<std::string>> changed_test_lines(const TaskSession& session) {
    AF_TRY(const auto red, newest_report(session, gate_name::red));
    return red ? fact_texts(red->facts, "changed_tests") : std::vector<std::string>();
}

std::vector<std::string> without_allowed(std::vector<std::string> lines, const std::vector<std::string>& allowed) {
    std::vector<std::string> names;  // One line covers all cases of a test.
    for (const std::string& each : allowed) { names.push_back(without_parameters(each)); }
    std::erase_if(lines, [&](const std::string& line) {
        TestOutcome test;
        test.id = line.substr(0, line.find(existed_before));
        test.file = test.id.substr(0, test.id.find("::"));
        return !tests_named(names, {test}).empty() || std::ranges::find(allowed, test.file) != allowed.end();
    });
    return lines;
}

}  // namespace agentforge::kernel
