// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/test_run.hpp"

#include <algorithm>

#include <re2/re2.h>

#include "base/disk_failure.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

std::string last_output_line(std::string_view text) {
    while (!text.empty()) {
        const auto end = text.find_last_not_of(" \r\n\t");
        if (end == std::string_view::npos) { return {}; }
        text = text.substr(0, end + 1);
        const auto begin = text.rfind('\n');
        return ellipsis(sanitize_utf8(begin == std::string_view::npos ? text : text.substr(begin + 1)), 300);
    }
    return {};
}

bool may_be_machine_failure(const TestRun& run) {
    return !run.trusted ||
           std::any_of(run.tests.begin(), run.tests.end(), [](const auto& test) { return mentions_failing_disk(test.message); });
}

bool is_failure(TestStatus status) noexcept { return status != TestStatus::passed && status != TestStatus::skipped; }

json::object count_tests(const std::vector<TestOutcome>& tests) {
    std::int64_t passed = 0;
    std::int64_t failed = 0;
    std::int64_t errors = 0;
    std::int64_t skipped = 0;
    for (const auto& test : tests) {
        switch (test.status) {
            case TestStatus::passed:
                ++passed;
                break;
            case TestStatus::failed_assertion:
            case TestStatus::failed_skeleton:
                ++failed;
                break;
            case TestStatus::skipped:
                ++skipped;
                break;
            case TestStatus::error:
            case TestStatus::not_collected:
                ++errors;
                break;
        }
    }
    return {{"total", static_cast<std::int64_t>(tests.size())},
            {"passed", passed},
            {"failed", failed},
            {"errors", errors},
            {"skipped", skipped}};
}

bool is_built(const TestRun& run) {
    static const RE2 said("^(?:the package )?does not build: ");
    const auto is_unbuilt = [](const TestOutcome& test) {
        return test.status == TestStatus::error && RE2::PartialMatch(test.message, said);
    };
    return !run.not_built && std::none_of(run.tests.begin(), run.tests.end(), is_unbuilt);
}

const TestOutcome* outcome_with(const std::vector<TestOutcome>& tests, const std::string& id) {
    const auto found = std::find_if(tests.begin(), tests.end(), [&](const TestOutcome& test) { return test.id == id; });
    return found == tests.end() ? nullptr : &*found;
}

}  // namespace agentforge::kernel
