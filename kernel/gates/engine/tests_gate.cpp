// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/tests_gate.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <re2/re2.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "gates/engine/baseline.hpp"
#include "gates/engine/report_parts.hpp"

namespace agentforge::kernel {
namespace {

/// Returns the names of single tests, without their parameters, if only such are requested and a runner can be given each.
std::set<std::string> requested_test_names(const std::vector<std::string>& paths) {
    static const RE2 word(R"([\w$]+)");
    std::set<std::string> names;
    for (const auto& path : paths) {
        const auto colon = path.rfind("::");
        if (colon == std::string::npos) { return {}; }
        const auto name = path.substr(colon + 2);
        names.insert(name.substr(0, name.find_first_of("[/(")));
    }
    const bool plain = std::all_of(names.begin(), names.end(), [](const auto& name) { return RE2::FullMatch(name, word); });
    return plain ? names : std::set<std::string>();
}

}  // namespace

/// One call of the gate `tests`.
class TestsGate::Measurement {
public:
    Measurement(TestsGate& gate, const GateCall& call, const Stop& stop)
        : gate_(gate), call_(call), stop_(stop), affected_(call.request.parameters.contains("scope")) {}

    Result<GateReport> measure();

private:
    Result<void> choose_files();
    Result<void> choose_requested_files();
    bool add_files_under(const std::string& place, std::vector<std::string>& chosen) const;
    Result<void> choose_single_tests();
    Result<GateReport> report_no_tests();
    Result<TestRun> run_chosen();
    void check_named_tests_ran();
    void report_run();
    void report_part_of_files();
    Result<void> judge_failures();
    void describe_uncounted_failures(std::size_t excused);
    [[nodiscard]] std::string summary() const;

    TestsGate& gate_;
    const GateCall& call_;
    const Stop& stop_;
    const bool affected_;             ///< Only the tests that the task's changes may affect are wanted.
    std::vector<std::string> files_;  ///< Test files to run.
    std::size_t total_ = 0;           ///< Number of all test files.
    std::set<std::string> names_;     ///< Single tests that were requested. Empty if a whole file or folder was requested too.
    TestRun run_;
    std::vector<std::string> flaky_since_;  ///< Tests that became flaky during the task.
    std::string not_counted_;               ///< For the summary: what was not run, and which failures do not count.
    GateReport report_;
};

Result<GateReport> TestsGate::measure(const GateCall& call, const Stop& stop) { return Measurement(*this, call, stop).measure(); }

Result<GateReport> TestsGate::Measurement::measure() {
    AF_TRY(files_, gate_.languages_.test_files(call_.tree));
    total_ = files_.size();
    AF_CHECK(choose_files());
    if (files_.empty()) { return report_no_tests(); }
    AF_TRY(run_, run_chosen());
    check_named_tests_ran();
    report_run();
    AF_CHECK(judge_failures());
    report_.passed = report_.blocking_issues.empty();
    report_.summary = summary();
    report_.tests = std::move(run_.tests);
    return std::move(report_);
}

Result<void> TestsGate::Measurement::choose_files() {
    if (affected_) {
        AF_TRY(files_, gate_.affected_.files(call_, files_, stop_));
        return {};
    }
    return call_.request.paths.empty() ? Result<void>() : choose_requested_files();
}

Result<void> TestsGate::Measurement::choose_requested_files() {
    AF_TRY(const auto everything, gate_.checkout_.files(call_.tree));
    std::vector<std::string> chosen;
    bool all = false;
    for (const auto& path : call_.request.paths) {
        const auto place = path.substr(0, path.find("::"));
        if (add_files_under(place, chosen)) { continue; }
        if (std::find(everything.begin(), everything.end(), place) != everything.end()) {
            all = true;  // A source file: which tests it affects is unknown, so all run.
        } else {
            report_.blocking_issues.push_back("The workspace has no test file or folder with tests at " + place + ".");
        }
    }
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    if (!all) { files_ = std::move(chosen); }
    AF_CHECK(choose_single_tests());
    if (all) { names_.clear(); }
    return {};
}

/// Adds the test file with this path, or those in the folder with it. Returns whether there are any.
bool TestsGate::Measurement::add_files_under(const std::string& place, std::vector<std::string>& chosen) const {
    const auto folder = place.empty() || place.back() == '/' ? place : place + "/";
    const auto before = chosen.size();
    std::copy_if(files_.begin(), files_.end(), std::back_inserter(chosen), [&](const auto& candidate) {
        return candidate == place || candidate.compare(0, folder.size(), folder) == 0 || place == ".";
    });
    return chosen.size() != before;
}

Result<void> TestsGate::Measurement::choose_single_tests() {
    AF_TRY(const auto* found, gate_.languages_.of(call_.tree));
    AF_TRY(const auto* runner, gate_.commands_.runner(*found, call_.tree));
    if (runner != nullptr && runner->single) { names_ = requested_test_names(call_.request.paths); }
    return {};
}

Result<GateReport> TestsGate::Measurement::report_no_tests() {
    const bool unaffected = affected_ && total_ > 0;
    report_.passed = report_.blocking_issues.empty();
    if (!report_.passed) {
        report_.summary = report_.blocking_issues.front();
    } else if (unaffected) {
        report_.summary = "none of " + counted(total_, "test file", "test files") + " is affected by the change";
    } else {
        report_.summary = "no tests were found";
    }
    report_.facts = {{"tests_found", unaffected}, {"test_results", count_tests({})}};
    if (total_ == 0 && call_.request.parameters.contains("run")) {
        AF_TRY(const auto reason, gate_.suite_.why_no_test_could_run(call_.tree, stop_));
        if (!reason.empty()) { report_.facts["unmeasurable"] = json::array{reason}; }
    }
    return std::move(report_);
}

Result<TestRun> TestsGate::Measurement::run_chosen() {
    if (affected_) { return gate_.suite_.run_tests(call_.tree, files_, stop_, 1, "tests_after_edit"); }
    if (names_.empty()) {
        // The caller named an integration test, so integration tests run.
        const auto wanted = call_.request.paths.empty() ? std::vector<std::string>{} : files_;
        const auto number = integer_of(call_.request.parameters, "run");
        return gate_.suite_.run_suite(call_.tree, files_, true, wanted, stop_, number == 0 ? 1 : number);
    }
    return gate_.suite_.run_single_tests(call_.tree, files_, names_, stop_);
}

/// A runner may run more than requested, but not less.
void TestsGate::Measurement::check_named_tests_ran() {
    if (!run_.trusted || run_.not_built) { return; }
    for (const auto& name : names_) {
        const bool there = std::any_of(run_.tests.begin(), run_.tests.end(), [&](const auto& test) {
            return test.id == test.file || test.id.find(name) != std::string::npos;
        });
        if (there) { continue; }
        report_.blocking_issues.push_back("There is no test " + name + " in " + files_.front() +
                                          (files_.size() > 1 ? " and the other files." : "."));
    }
}

void TestsGate::Measurement::report_run() {
    report_.facts = {{"tests_found", true},
                     {"believed", run_.trusted},
                     {"test_results", count_tests(run_.tests)},
                     {"notes", json::array(run_.notes.begin(), run_.notes.end())},
                     {"confinement", run_.confinement},
                     {"duration_ms", run_.duration.count()},
                     {"runner", run_.runner},
                     {"not_built", run_.not_built}};
    // The runner itself does not work. A crash by the code, or an unknown runner, does not count: the task can fix these.
    if (!run_.trusted && !run_.runner.empty() && !run_.crashed) { report_.facts["unmeasurable"] = json::array{run_.distrust}; }
    if (affected_) { report_part_of_files(); }
}

void TestsGate::Measurement::report_part_of_files() {
    report_.facts["test_files_run"] = static_cast<std::int64_t>(files_.size());
    report_.facts["test_files_total"] = static_cast<std::int64_t>(total_);
    if (files_.size() < total_) {
        not_counted_ = " (" + std::to_string(files_.size()) + " of " + counted(total_, "test file", "test files") +
                       ", those that the change may affect)";
    }
}

Result<void> TestsGate::Measurement::judge_failures() {
    if (!run_.trusted) {
        report_.blocking_issues.push_back("The test run is not trusted: " + run_.distrust + ".");
        return {};
    }
    Excused excused;
    if (call_.baseline != nullptr) {
        // Reruns flaky tests only at the end of a phase. After an edit the answer must be fast.
        if (!affected_) { AF_TRY(flaky_since_, gate_.suite_.flaky_tests(*call_.baseline, call_.tree, files_, run_, stop_)); }
        report_.facts["flaky_since"] = json::array(flaky_since_.begin(), flaky_since_.end());
        excused = excused_failures(call_.baseline->base_tests, call_.baseline->flaky, call_.baseline->test_suite, run_.tests);
        report_.facts["failed_before"] = json::array(excused.failed_before.begin(), excused.failed_before.end());
        report_.facts["flaky"] = json::array(excused.flaky.begin(), excused.flaky.end());
    }
    for (const auto& test : run_.tests) {
        if (!is_failure(test.status) || excused.failed_before.contains(test.id) || excused.flaky.contains(test.id)) { continue; }
        if (std::find(flaky_since_.begin(), flaky_since_.end(), test.id) != flaky_since_.end()) { continue; }
        report_.blocking_issues.push_back(test.id + " failed: " + first_line(test.message));
    }
    describe_uncounted_failures(excused.failed_before.size() + excused.flaky.size());
    return {};
}

void TestsGate::Measurement::describe_uncounted_failures(std::size_t excused) {
    if (!flaky_since_.empty()) {
        not_counted_ += "; " + counted(flaky_since_.size(), "test", "tests") +
                        " failed and then passed twice (flaky): " + flaky_since_.front();
    }
    if (excused > 0) {
        not_counted_ += "; " + counted(excused, "failure", "failures") + " not counted (failed before the task, or flaky)";
    }
}

std::string TestsGate::Measurement::summary() const {
    if (!run_.trusted) { return report_.blocking_issues.back(); }
    if (run_.not_built) { return run_.tests.front().message; }
    const auto tests = counted(run_.tests.size(), "test", "tests");
    if (report_.passed) { return tests + ", none failed" + not_counted_; }
    return std::to_string(report_.blocking_issues.size()) + " of " + tests + " failed" + not_counted_;
}

}  // namespace agentforge::kernel
