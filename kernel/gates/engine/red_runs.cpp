// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/red_runs.hpp"

#include <algorithm>

#include <re2/re2.h>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "gates/stubs/waiting.hpp"

namespace agentforge::kernel {

Result<TestRun> RedRuns::run(const std::string& tree, const std::vector<std::string>& files, bool again, const Stop& stop) {
    AF_TRY(const auto* found, languages_.of(tree));
    const TestSelection selection{.files = files, .names = {}, .judged = true, .timeout = {}};
    TestRun run;
    if (again) {
        AF_TRY(run, commands_.run_tests(*found, tree, selection, stop));
    } else {
        AF_TRY(run, suite_.run_tests(tree, files, stop));
    }
    AF_CHECK(mark_stub_failures(*found, tree, files, run, stop));
    return run;
}

Result<void> RedRuns::mark_stub_failures(const Language& language, const std::string& tree, const std::vector<std::string>& files,
                                         TestRun& run, const Stop& stop) {
    const auto broken = [](const TestOutcome& test) { return test.status == TestStatus::error && test.id != test.file; };
    for (auto& test : run.tests) {
        if (!run.trusted || !broken(test)) { continue; }
        const bool by_result = !language.result_errors.empty() && RE2::PartialMatch(test.message, language.result_errors);
        if (!by_result && !lacks_specified_name(language, current_.specification(), test.message)) { continue; }
        test.status = TestStatus::failed_skeleton;
        test.message = ellipsis("hits an error in the code's result: " + test.message, 500);
    }
    if (!run.trusted || std::none_of(run.tests.begin(), run.tests.end(), broken)) { return {}; }
    auto key = tree + hash_of(json::array(files.begin(), files.end()));
    for (const auto& [file, names] : current_.to_be_changed()) { key += file + hash_of(json::array(names.begin(), names.end())); }
    for (const auto& file : current_.files_of_removal()) { key += file + "\n"; }
    if (!at_stubs_.contains(key)) {
        std::set<std::string> ids;
        AF_TRY(auto marked, marks_.marked_stubs(language, tree, stop));
        if (!marked.empty()) {
            commands_.overlay_files(std::move(marked));
            const TestSelection selection{.files = files, .names = {}, .judged = true, .timeout = {}, .purpose = "stubs"};
            const auto second = commands_.run_tests(language, tree, selection, stop);
            commands_.overlay_files({});
            if (!second.ok()) { return second.error(); }
            for (const auto& test : second->tests) {
                if (second->trusted && test.status == TestStatus::failed_skeleton) { ids.insert(test.id); }
            }
        }
        at_stubs_.emplace(key, std::move(ids));
    }
    for (auto& test : run.tests) {
        if (!broken(test) || !at_stubs_.at(key).contains(test.id)) { continue; }
        test.status = TestStatus::failed_skeleton;
        test.message = ellipsis("reaches a function that has yet to be written or changed: " + test.message, 500);
    }
    return {};
}

}  // namespace agentforge::kernel
