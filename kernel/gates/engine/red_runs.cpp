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

namespace {

bool is_broken_test(const TestOutcome& test) { return test.status == TestStatus::error && test.id != test.file; }

/// True for errors that a wrong test causes, such as a misspelled name. RED is told of them at once; GREEN could not mend them.
bool is_mistake(std::string_view message) {
    static const RE2 mistake(
        R"(^not trusted|\b(?:NameError|UnboundLocalError|ImportError|ModuleNotFoundError|SyntaxError|IndentationError|ReferenceError|NoSuchMethodError|fixture '[^']*' not found|is not defined|is not a function|undefined)\b)");
    return RE2::PartialMatch(re2::StringPiece(message.data(), message.size()), mistake);
}

}  // namespace

Result<std::set<std::string>> RedRuns::tests_ending_at(std::map<std::string, std::string> marked, const Language& language,
                                                       const std::string& tree, const std::vector<std::string>& files,
                                                       const Stop& stop) {
    std::set<std::string> ids;
    if (marked.empty()) { return ids; }
    commands_.overlay_files(std::move(marked));
    const TestSelection selection{.files = files, .names = {}, .judged = true, .timeout = {}, .purpose = "stubs"};
    const auto run = commands_.run_tests(language, tree, selection, stop);
    commands_.overlay_files({});
    if (!run.ok()) { return run.error(); }
    for (const auto& test : run->tests) {
        if (run->trusted && test.status == TestStatus::failed_skeleton) { ids.insert(test.id); }
    }
    return ids;
}

Result<std::set<std::string>> RedRuns::waiting_tests(const Language& language, const std::string& tree,
                                                     const std::vector<std::string>& files, const TestRun& run,
                                                     const Stop& stop) {
    AF_TRY(auto stubs, marks_.marked_stubs(language, tree, stop));
    AF_TRY(auto ids, tests_ending_at(std::move(stubs), language, tree, files, stop));
    // The request may report a crash, or ask for what the test then misses, such as a file.
    const bool any_fails = std::ranges::any_of(run.tests, [&](const TestOutcome& test) {
        return is_broken_test(test) && !ids.contains(test.id) && !is_mistake(test.message);
    });
    if (!any_fails) { return ids; }
    AF_TRY(const auto named, marks_.functions_to_change(language, tree));
    AF_TRY(auto marked, marks_.marked_named(language, tree, named, stop));
    AF_TRY(const auto reaching, tests_ending_at(std::move(marked), language, tree, files, stop));
    for (const auto& test : run.tests) {
        if (is_broken_test(test) && !is_mistake(test.message) && reaching.contains(test.id)) { ids.insert(test.id); }
    }
    return ids;
}

Result<void> RedRuns::mark_stub_failures(const Language& language, const std::string& tree, const std::vector<std::string>& files,
                                         TestRun& run, const Stop& stop) {
    for (auto& test : run.tests) {
        if (!run.trusted || !is_broken_test(test)) { continue; }
        const bool by_result = !language.result_errors.empty() && RE2::PartialMatch(test.message, language.result_errors);
        if (!by_result && !lacks_specified_name(language, current_.specification(), test.message)) { continue; }
        test.status = TestStatus::failed_skeleton;
        test.message = ellipsis("hits an error in the code's result: " + test.message, 500);
    }
    if (!run.trusted || std::none_of(run.tests.begin(), run.tests.end(), is_broken_test)) { return {}; }
    auto key = tree + hash_of(json::array(files.begin(), files.end()));
    for (const auto& [file, names] : current_.to_be_changed()) { key += file + hash_of(json::array(names.begin(), names.end())); }
    for (const auto& file : current_.files_to_change()) { key += file + "\n"; }
    key += current_.files_of_removal().empty() ? "" : "removal";
    if (!at_stubs_.contains(key)) {
        AF_TRY(auto ids, waiting_tests(language, tree, files, run, stop));
        at_stubs_.emplace(key, std::move(ids));
    }
    for (auto& test : run.tests) {
        if (!is_broken_test(test) || !at_stubs_.at(key).contains(test.id)) { continue; }
        test.status = TestStatus::failed_skeleton;
        test.message = ellipsis("reaches a function that has yet to be written or changed: " + test.message, 500);
    }
    return {};
}

}  // namespace agentforge::kernel
