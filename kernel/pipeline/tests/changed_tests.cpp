// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tests/changed_tests.hpp"

#include <algorithm>

#include "base/json_fields.hpp"
#include "config/gate_names.hpp"
#include "gates/engine/baseline.hpp"
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

Result<std::vector<ChangedTestNote>> changed_test_notes(const TaskSession& session) {
    AF_TRY(const auto red, newest_report(session, gate_name::red));
    return red ? changed_tests_in(red->facts) : std::vector<ChangedTestNote>();
}

std::vector<ChangedTestNote> without_allowed(std::vector<ChangedTestNote> notes, const std::vector<std::string>& allowed) {
    std::vector<std::string> names;  // One note covers all cases of a test.
    for (const std::string& each : allowed) { names.push_back(without_parameters(each)); }
    std::erase_if(notes, [&](const ChangedTestNote& note) {
        TestOutcome test;
        test.id = note.test;
        test.file = test.id.substr(0, test.id.find("::"));
        return !tests_named(names, {test}).empty() || std::ranges::find(allowed, test.file) != allowed.end();
    });
    return notes;
}

std::vector<std::string> descriptions(const std::vector<ChangedTestNote>& notes) {
    std::vector<std::string> lines;
    std::ranges::transform(notes, std::back_inserter(lines), &ChangedTestNote::description);
    return lines;
}

}  // namespace agentforge::kernel
