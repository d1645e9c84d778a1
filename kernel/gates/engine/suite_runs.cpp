// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/suite_runs.hpp"

#include <algorithm>
#include <iterator>

#include "base/hash.hpp"
#include "gates/engine/held_out.hpp"

namespace agentforge::kernel {

Result<TestRun> SuiteRuns::run_tests(const std::string& tree, const std::vector<std::string>& files, const Stop& stop,
                                     std::int64_t number, const std::string& timeout) {
    AF_TRY(const auto* found, languages_.of(tree));
    const auto key = tree + hash_of(json::array(files.begin(), files.end())) + "/" + std::to_string(number);
    if (const auto known = runs_.find(key); known != runs_.end()) { return known->second; }
    if (const auto known = current_.judges_a_stage() ? runs_.end() : runs_.find("kept " + key); known != runs_.end()) {
        return known->second;
    }
    AF_TRY(auto run,
           commands_.run_tests(*found, tree,
                               {.files = files, .names = {}, .judged = current_.judges_a_stage(), .timeout = timeout}, stop));
    if (run.trusted) { runs_.emplace(run.kept_build ? "kept " + key : key, run); }
    if (run.trusted && !run.not_built) { built_.add(tree); }
    return run;
}

Result<TestRun> SuiteRuns::run_single_tests(const std::string& tree, const std::vector<std::string>& files,
                                            const std::set<std::string>& names, const Stop& stop) {
    AF_TRY(const auto* found, languages_.of(tree));
    return commands_.run_tests(*found, tree, {files, {names.begin(), names.end()}, current_.judges_a_stage(), {}}, stop);
}

bool SuiteRuns::is_integration_test(const std::string& path) const { return !integration_.empty() && integration_.matches(path); }

Result<TestRun> SuiteRuns::run_suite(const std::string& tree, const std::vector<std::string>& files, bool integration,
                                     const std::vector<std::string>& always, const Stop& stop, std::int64_t number) {
    std::vector<std::string> first;
    std::vector<std::string> last;
    for (const auto& file : files) {
        if (!is_integration_test(file) || std::find(always.begin(), always.end(), file) != always.end()) {
            first.push_back(file);
        } else if (integration) {
            last.push_back(file);
        }
    }
    TestRun run;
    run.tree = tree;
    run.trusted = true;
    if (!first.empty()) { AF_TRY(run, run_tests(tree, first, stop, number)); }
    if (last.empty()) { return run; }
    AF_TRY(auto more, run_tests(tree, last, stop, number, "integration"));
    if (first.empty()) { return more; }
    // Neither run counts unless both are trusted: a tree gets one verdict.
    if (run.trusted && !more.trusted) { run.distrust = "integration tests: " + more.distrust; }
    run.trusted = run.trusted && more.trusted;
    std::move(more.tests.begin(), more.tests.end(), std::back_inserter(run.tests));
    std::move(more.notes.begin(), more.notes.end(), std::back_inserter(run.notes));
    run.assertions.merge(more.assertions);
    run.invocations.merge(more.invocations);
    run.reads.merge(more.reads);
    run.duration += more.duration;
    return run;
}

Result<std::vector<std::string>> SuiteRuns::flaky_tests(const GateBaseline& baseline, const std::string& tree,
                                                        const std::vector<std::string>& files, const TestRun& run,
                                                        const Stop& stop) {
    constexpr std::size_t most_doubted = 20;
    if (!run.trusted || run.not_built) { return std::vector<std::string>{}; }
    std::set<std::string> passed(baseline.flaky.begin(), baseline.flaky.end());  // Flaky tests cannot regress.
    std::vector<std::string> problems;
    for (const auto& test : declared_tests(baseline.test_suite, problems)) {
        for (const auto* outcome : outcomes_of(test, run.tests)) { passed.insert(outcome->id); }
    }
    const auto left_out = std::move(passed);
    passed.clear();
    for (const auto& test : baseline.base_tests) {
        if (test.status == TestStatus::passed && !left_out.contains(test.id)) { passed.insert(test.id); }
    }
    std::set<std::string> doubted;
    std::set<std::string> own;
    for (const auto& test : run.tests) {
        if (!is_failure(test.status) || !passed.contains(test.id)) { continue; }
        doubted.insert(test.id);
        if (std::find(files.begin(), files.end(), test.file) == files.end()) {
            own.insert(files.begin(), files.end());  // The report names no files.
        } else {
            own.insert(test.file);
        }
    }
    if (doubted.size() > most_doubted) { return std::vector<std::string>{}; }
    // Runs their own files first, which is fast if they just fail. Then runs everything that ran with them, because a test may
    // fail only beside others.
    const std::vector<std::string> alone(own.begin(), own.end());
    for (const auto* selection : {&alone, &files}) {
        if (doubted.empty()) { break; }
        AF_TRY(const auto again,
               run_suite(tree, *selection, true, {}, stop, selection == &alone ? -1 : -2));  // Run numbers that no caller uses.
        std::set<std::string> passing;
        for (const auto& test : again.tests) {
            if (again.trusted && test.status == TestStatus::passed) { passing.insert(test.id); }
        }
        std::erase_if(doubted, [&](const std::string& id) { return !passing.contains(id); });
    }
    return std::vector<std::string>(doubted.begin(), doubted.end());
}

Result<std::string> SuiteRuns::why_no_test_could_run(const std::string& tree, const Stop& stop) {
    AF_TRY(const auto* found, languages_.of(tree));
    AF_TRY(const bool runs_as_it_is, commands_.needs_no_build(*found, tree));
    if (!runs_as_it_is) { return std::string(); }
    AF_TRY(const auto run, run_tests(tree, {}, stop));
    return run.trusted || run.crashed ? std::string() : run.distrust;
}

Result<Verdict> SuiteRuns::held_out(const GateCall& call, const Stop& stop) {
    const auto& held = call.baseline->held_out;
    AF_TRY(const auto* found, languages_.of(call.tree));
    const auto key = held.tree + hash_of(json::array(held.files.begin(), held.files.end())) + "/held out";
    if (const auto known = runs_.find(key); known != runs_.end()) {
        return judge_held_out(held, call.baseline->specification, known->second);
    }
    // Reuses the build folder of the tree without these tests. Only the delivered tree is built from scratch with them.
    const TestSelection selection{.files = held.files, .names = {}, .judged = true, .timeout = {}, .built_in = call.tree};
    AF_TRY(const auto run, commands_.run_tests(*found, held.tree, selection, stop));
    if (run.trusted) { runs_.emplace(key, run); }
    return judge_held_out(held, call.baseline->specification, run);
}

}  // namespace agentforge::kernel
