// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/runs_without_change.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "gates/language/source_text.hpp"
#include "gates/stubs/waiting.hpp"
#include "gates/test_quality/same_code.hpp"

namespace agentforge::kernel {
namespace {

/// Marks all tests of a file as failed if the file, while it loads, calls a function whose body was removed.
void fail_tests_of_broken_files(TestRun& run, const TestRun& whole, const std::string& marker) {
    std::set<std::string> files;
    for (const auto& test : run.tests) {
        if (is_broken_file(test) && test.message.find(marker) != std::string::npos) { files.insert(test.file); }
    }
    std::erase_if(run.tests, [&](const TestOutcome& test) { return files.contains(test.file); });
    for (auto test : whole.tests) {
        if (!files.contains(test.file)) { continue; }
        test.status = TestStatus::failed_skeleton;
        test.message = "its file does not load without the change's function bodies";
        run.tests.push_back(std::move(test));
    }
}

}  // namespace

Result<void> RunsWithoutChange::run_without_change(const Language& language, const std::string& red_tree, const std::string& tree,
                                                   GreenEvidence& evidence, TestQualityEvidence& meaning, const Stop& stop) {
    TestSelection selection{
        .files = evidence.red_files, .names = {}, .judged = true, .timeout = {}, .purpose = "change-taken-back"};
    AF_TRY(selection.instead, change_as_comments(language, red_tree, tree));
    const bool commented = !selection.instead.empty();
    AF_TRY(auto run, commands_.run_tests(language, red_tree, selection, stop));
    AF_CHECK(red_runs_.mark_stub_failures(language, red_tree, evidence.red_files, run, stop));
    const auto fresh = red_ids(evidence.declared, evidence.red_run.tests, evidence.base_tests).fresh;
    const auto fails = [&](const TestOutcome& test) {
        return test.status == TestStatus::failed_assertion || test.status == TestStatus::failed_skeleton;
    };
    std::size_t failing = 0;
    std::vector<std::string> passing;
    for (const auto& test : run.tests) {
        if (std::find(fresh.begin(), fresh.end(), test.id) == fresh.end()) { continue; }
        failing += fails(test) ? 1 : 0;
        if (test.status == TestStatus::passed) { passing.push_back(test.id); }
    }
    if (commented && (!run.trusted || failing < fresh.size())) {
        // The added comments may be the cause, so a run without them decides. Reports tests that pass only with the comments.
        const bool trusted = run.trusted;
        AF_TRY(run, red_runs_.run(red_tree, evidence.red_files, true, stop));
        for (const auto& test : run.tests) {
            if (trusted && fails(test) && std::find(passing.begin(), passing.end(), test.id) != passing.end()) {
                meaning.text_tests.push_back(test.id);
            }
        }
    }
    evidence.red_run = std::move(run);
    return {};
}

Result<std::map<std::string, std::string>> RunsWithoutChange::change_as_comments(const Language& language,
                                                                                 const std::string& red_tree,
                                                                                 const std::string& tree) {
    std::map<std::string, std::string> files;
    if (language.code.line_comments.empty()) { return files; }
    AF_TRY(const auto* runner, commands_.runner(language, tree));
    const bool interpreted =
        runner != nullptr && runner->format == "agentforge-lines";  // These accept a file that contains only comments.
    AF_TRY(const auto changes, checkout_.changes(red_tree, tree));
    for (const auto& change : changes) {
        if (change.status == 'D' || !language.sources.matches(change.path) || language.belongs_to_tests(change.path)) {
            continue;
        }
        AF_TRY(const auto now, checkout_.file(tree, change.path));
        AF_TRY(const auto before, checkout_.file(red_tree, change.path));
        if (!now || (!before && !interpreted)) { continue; }
        if (auto text = with_text_as_comment(before.value_or(""), *now, language.code, language.skeleton_marker); !text.empty()) {
            files[change.path] = std::move(text);
        }
    }
    return files;
}

Result<TestRun> RunsWithoutChange::run_without_bodies(const Language& language, const std::string& red_tree,
                                                      const std::string& tree, const GreenEvidence& evidence, const Stop& stop) {
    TestRun nothing;
    nothing.trusted = true;
    const auto& files = evidence.red_files;
    const bool loads =
        evidence.run.trusted && std::none_of(evidence.run.tests.begin(), evidence.run.tests.end(), [&](const TestOutcome& test) {
            return is_broken_file(test) && std::find(files.begin(), files.end(), test.file) != files.end();
        });
    if (!loads) { return nothing; }
    AF_TRY(const auto sources, changed_sources(checkout_, language, red_tree, tree));
    AF_TRY(auto marked, marks_.marked_changes(language, sources, Mark::end_test, stop));
    const TestSelection selection{.files = files, .names = {}, .judged = true, .timeout = {}, .purpose = "without-bodies"};
    commands_.overlay_files(std::move(marked));
    auto run = commands_.run_tests(language, tree, selection, stop);
    commands_.overlay_files({});
    if (!run.ok()) { return run; }
    fail_tests_of_broken_files(*run, evidence.run, language.skeleton_marker);
    AF_CHECK(run_lost_tests(language, tree, sources, evidence, *run, stop));
    AF_CHECK(alter_outside_functions(language, red_tree, tree, evidence, *run, stop));
    return run;
}

Result<void> RunsWithoutChange::run_lost_tests(const Language& language, const std::string& tree, const ChangedSources& sources,
                                               const GreenEvidence& evidence, TestRun& run, const Stop& stop) {
    if (language.stubs.failed.empty() || !run.trusted) { return {}; }
    const auto& files = evidence.red_files;
    std::map<std::string, TestStatus> measured;
    for (const auto& test : run.tests) { measured[test.id] = test.status; }
    std::set<std::string> lost;
    for (const auto& test : evidence.run.tests) {
        const bool is_of_red = std::find(files.begin(), files.end(), test.file) != files.end() && test.id != test.file;
        if (!is_of_red || measured.contains(test.file)) { continue; }  // A file that does not build has no test to run.
        const auto found = measured.find(test.id);
        if (found == measured.end() || found->second == TestStatus::error) { lost.insert(test.id); }
    }
    if (lost.empty()) { return {}; }
    AF_TRY(auto marked, marks_.marked_changes(language, sources, Mark::fail_test, stop));
    const TestSelection selection{
        .files = files, .names = {}, .judged = true, .timeout = {}, .purpose = "without-bodies-going-on"};
    commands_.overlay_files(std::move(marked));
    auto second = commands_.run_tests(language, tree, selection, stop);
    commands_.overlay_files({});
    if (!second.ok()) { return second.error(); }
    if (!second->trusted) { return {}; }
    for (const auto& test : second->tests) {
        if (!lost.contains(test.id)) { continue; }
        std::erase_if(run.tests, [&](const TestOutcome& before) { return before.id == test.id; });
        run.tests.push_back(test);
    }
    return {};
}

Result<void> RunsWithoutChange::alter_outside_functions(const Language& language, const std::string& red_tree,
                                                        const std::string& tree, const GreenEvidence& evidence, TestRun& run,
                                                        const Stop& stop) {
    constexpr std::size_t most = 10;
    const auto new_tests = red_ids(evidence.declared, run.tests, evidence.base_tests).fresh;
    std::map<std::string, TestOutcome*> open;
    for (auto& test : run.tests) {
        if (test.status == TestStatus::passed && std::find(new_tests.begin(), new_tests.end(), test.id) != new_tests.end()) {
            open[test.id] = &test;
        }
    }
    if (open.empty()) { return {}; }
    AF_TRY(auto possible, mutants_.mutants(language, red_tree, tree, false, {}));
    for (auto& of_file : possible) {
        if (of_file.empty()) { continue; }
        AF_TRY(const auto text, checkout_.file(tree, of_file.front().file));
        const auto functions = function_lines(text.value_or(""), language.code);
        std::erase_if(of_file, [&](const Mutant& mutant) {
            return std::any_of(functions.begin(), functions.end(), [&](const FunctionLines& each) {
                return !each.expression && each.first <= mutant.line && mutant.line <= each.last;
            });
        });
    }
    MutationRequest request{red_tree, evidence.red_files, {}, evidence.run.duration};
    request.mutants_until =
        std::chrono::steady_clock::now() + std::max<std::chrono::milliseconds>(std::chrono::seconds(30), request.suite_time);
    TestQualityEvidence nothing;
    for (const auto& mutant : choose_mutants(std::move(possible), most)) {
        if (open.empty()) { break; }
        AF_TRY(const auto altered, mutants_.run_mutant(language, tree, request.files, mutant, request, nothing, stop));
        if (!altered) { continue; }
        for (const auto& test : altered->tests) {
            const auto found = open.find(test.id);
            if (found == open.end() || test.status != TestStatus::failed_assertion) { continue; }
            *found->second = test;
            open.erase(found);
        }
    }
    return {};
}

}  // namespace agentforge::kernel
