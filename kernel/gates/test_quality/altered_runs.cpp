// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/altered_runs.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>

#include <re2/re2.h>

#include "base/text.hpp"
#include "gates/language/inline_tests.hpp"
#include "gates/language/source_text.hpp"
#include "gates/stubs/declarable_interfaces.hpp"
#include "gates/test_quality/leaving_tests.hpp"
#include "gates/test_quality/left_cases.hpp"
#include "gates/test_quality/other_expectations.hpp"
#include "gates/test_quality/outdated_tests.hpp"
#include "gates/test_quality/test_quality.hpp"
#include "gates/test_quality/varied_calls.hpp"

namespace agentforge::kernel {
namespace {

/// Returns the tests that passed before the task, share a file with outdated ones or are in one of `files`, and are not outdated
/// themselves.
std::vector<TestOutcome> neighbours_of_outdated(const GreenEvidence& green, const std::set<std::string>& outdated,
                                                std::set<std::string> files) {
    for (const std::string& id : outdated) { files.insert(id.substr(0, id.find("::"))); }
    std::vector<TestOutcome> neighbours;
    std::ranges::copy_if(green.base_tests, std::back_inserter(neighbours), [&](const TestOutcome& test) {
        const bool flaky = std::ranges::find(green.flaky, test.id) != green.flaky.end();
        return test.status == TestStatus::passed && !flaky && test.id != test.file && !outdated.contains(test.id) &&
               files.contains(test.file);
    });
    return neighbours;
}

/// Adds tests that are not outdated but share a file with outdated ones, if they fail in its former version: a change to shared
/// lines may hide the failure.
void add_former_failures(const std::vector<TestOutcome>& neighbours, const std::string& file, const TestRun& run,
                         TestQualityEvidence& evidence) {
    for (const auto& before : neighbours) {
        if (before.file != file) { continue; }
        const auto* now = outcome_with(run.tests, before.id);
        if (run.trusted && now != nullptr && now->status == TestStatus::passed) { continue; }
        TestOutcome failed = now != nullptr ? *now : before;
        if (now == nullptr || !run.trusted) {
            failed.message = run.trusted ? "its file does not load" : "the run is not trusted: " + run.distrust;
        }
        evidence.former_failures.push_back(std::move(failed));
    }
}

/// True if tests of this file ran.
bool has_loaded(const TestRun& run, const std::string& file) {
    return run.trusted && is_built(run) && std::ranges::any_of(run.tests, [&](const TestOutcome& test) {
               return test.file == file && test.id != file && test.status != TestStatus::not_collected;
           });
}

/// False if a test of this file, or another one of the run, did not end: then the results of the others say nothing.
bool has_ended(const TestRun& run, const std::string& file) {
    static const RE2 endless("never ended|did not finish within");
    const bool any_waits = std::ranges::any_of(run.tests, [&](const TestOutcome& test) {
        return test.file == file && test.status == TestStatus::error && RE2::PartialMatch(test.message, endless);
    });
    return !any_waits && !RE2::PartialMatch(run.distrust, endless);
}

/// Runs a test file without what had to leave with its outdated tests: its former version does not load, because it imports or
/// calls something that the change removes.
class FormerFileRuns {
public:
    using Run = std::function<Result<TestRun>(const std::string& content)>;
    FormerFileRuns(const LeavingTests& leaving, std::string file, const std::vector<TestOutcome>& neighbours,
                   const std::set<std::string>& outdated, const CodeRules& rules, Run run)
        : leaving_(leaving),
          file_(std::move(file)),
          neighbours_(neighbours),
          outdated_(outdated),
          rules_(rules),
          run_(std::move(run)) {}

    /// For a file in whose run a test did not end, so no result counts: judges the tests that stay without the outdated ones, and
    /// these one by one. Returns false if that says nothing, either.
    Result<bool> judge_apart(TestQualityEvidence& evidence) {
        std::set<std::size_t> others;
        for (std::size_t at = 0; at < leaving_.parts().size(); ++at) {
            const auto kind = leaving_.parts()[at].kind;
            if (kind == LeavingPart::Kind::definition || kind == LeavingPart::Kind::import) { others.insert(at); }
        }
        AF_TRY(const auto rest, run_(leaving_.rest(others)));
        if (!has_loaded(rest, file_) || !has_ended(rest, file_)) { return false; }
        add_former_failures(neighbours_, file_, rest, evidence);
        AF_CHECK(put_tests_back(evidence));
        return true;
    }

    Result<void> judge(TestQualityEvidence& evidence) {
        const auto& parts = leaving_.parts();
        std::set<std::size_t> others;
        for (std::size_t at = 0; at < parts.size(); ++at) {
            if (parts[at].kind != LeavingPart::Kind::import) { others.insert(at); }
        }
        // A language that looks names up when a test runs needs only its imports changed.
        AF_TRY(const auto whole, run_(leaving_.rest(others)));
        if (has_loaded(whole, file_)) {
            add_outcomes(whole, evidence);
            add_former_failures(neighbours_, file_, whole, evidence);
            return put_back(others, evidence);
        }
        builds_ = true;
        const auto text = text_with({});
        AF_TRY(auto rest, run_(text));
        if (!has_loaded(rest, file_)) {
            only_used_ = true;
            if (text_with({}) != text) { AF_TRY(rest, run_(text_with({}))); }
        }
        add_former_failures(neighbours_, file_, rest, evidence);
        AF_CHECK(put_tests_back(evidence));
        return put_back({}, evidence);
    }

private:
    [[nodiscard]] std::string text_with(const std::set<std::size_t>& back) const {
        if (only_used_) { return leaving_.rest_with_used_names(back, back, rules_); }
        return builds_ ? leaving_.rest_that_builds(back, rules_) : leaving_.rest(back);
    }

    void add_outcomes(const TestRun& run, TestQualityEvidence& evidence) const {
        for (const auto& test : run.tests) {
            if (outdated_.contains(test.id)) { evidence.outdated.push_back(test); }
        }
    }

    /// Puts outdated tests back, each alone with the helpers that left. One that passes was not outdated.
    Result<void> put_tests_back(TestQualityEvidence& evidence) {
        constexpr std::size_t most = 10;
        const auto& parts = leaving_.parts();
        std::set<std::size_t> helpers;
        std::vector<std::size_t> tests;
        for (std::size_t at = 0; at < parts.size(); ++at) {
            const auto kind = parts[at].kind;
            if (kind == LeavingPart::Kind::test) { tests.push_back(at); }
            const bool is_helper = kind == LeavingPart::Kind::suite || kind == LeavingPart::Kind::definition;
            if (is_helper || (kind == LeavingPart::Kind::import && !builds_)) { helpers.insert(at); }
        }
        tests.resize(std::min(tests.size(), most));
        for (const auto at : tests) {
            auto with = helpers;
            with.insert(at);
            // In the end without the imports that it needs: in Python or JavaScript, it then fails when it runs.
            std::set<std::string> tried;
            TestRun run;
            const auto bare = only_used_ ? leaving_.rest_with_used_names({at}, {}, rules_) : leaving_.rest({at});
            for (auto& text : {text_with(with), text_with({at}), leaving_.rest(with), leaving_.rest({at}), bare}) {
                if (has_loaded(run, file_) || !tried.insert(text).second) { continue; }
                AF_TRY(run, run_(text));
            }
            std::erase_if(run.tests, [&](const TestOutcome& test) { return without_parameters(test.id) != parts[at].id; });
            if (has_loaded(run, file_)) { add_outcomes(run, evidence); }
        }
        return {};
    }

    /// Puts single helpers and imports back: the tests that stay must not notice. `with`: the other parts that are there.
    Result<void> put_back(const std::set<std::size_t>& with, TestQualityEvidence& evidence) {
        constexpr std::size_t most = 5;
        const auto& parts = leaving_.parts();
        std::size_t tried = 0;
        const auto without = text_with(with);
        for (std::size_t at = 0; at < parts.size() && tried < most; ++at) {
            if (with.contains(at) || parts[at].kind == LeavingPart::Kind::test || !parts[at].replacement.empty()) { continue; }
            auto back = with;
            back.insert(at);
            const auto text = text_with(back);
            if (text == without) { continue; }  // Go refuses an import that nothing uses.
            ++tried;
            AF_TRY(const auto run, run_(text));
            if (has_loaded(run, file_)) { add_former_failures(neighbours_, file_, run, evidence); }
        }
        return {};
    }

    const LeavingTests& leaving_;
    std::string file_;
    const std::vector<TestOutcome>& neighbours_;
    const std::set<std::string>& outdated_;
    const CodeRules& rules_;
    Run run_;
    bool builds_ = false;     ///< Each text must have the imports that it uses.
    bool only_used_ = false;  ///< Each text imports only the names that it uses.
};

}  // namespace

Result<std::set<std::string>> AlteredRuns::changed_as_outdated(const Language& language, const GateCall& call) {
    const GateBaseline& baseline = *call.baseline;
    std::set<std::string> ids;
    std::map<std::string, std::vector<TestOutcome>> files;
    for (const auto& test : baseline.base_tests) {
        if (std::ranges::find(baseline.outdated, test.id) != baseline.outdated.end()) { files[test.file].push_back(test); }
    }
    for (const auto& [file, outdated] : files) {
        std::vector<TestOutcome> tests;
        std::ranges::copy_if(baseline.base_tests, std::back_inserter(tests),
                             [&](const TestOutcome& test) { return test.file == file; });
        AF_TRY(const auto before, checkout_.file(baseline.base_tree, file));
        AF_TRY(const auto now, checkout_.file(call.tree, file));
        std::set<std::string> names;
        for (const auto& test : outdated) { names.insert(without_parameters(test.id)); }
        const auto changed = changed_tests(before.value_or(""), now.value_or(""), tests, names, language.code);
        for (const auto& test : outdated) {
            if (std::ranges::any_of(changed, [&](const ChangedTest& each) { return each.id == without_parameters(test.id); })) {
                ids.insert(test.id);
            }
        }
    }
    return ids;
}

Result<std::set<std::string>> AlteredRuns::files_with_more_cases(const Language& language, const GateCall& call) {
    const GateBaseline& baseline = *call.baseline;
    std::set<std::string> outdated;
    for (const auto& id : baseline.outdated) { outdated.insert(without_parameters(id)); }
    std::map<std::string, std::vector<TestOutcome>> tests;
    for (const auto& test : baseline.base_tests) { tests[test.file].push_back(test); }
    std::set<std::string> files;
    AF_TRY(const auto changes, checkout_.changes(baseline.base_tree, call.tree));
    for (const auto& change : changes) {
        if (!tests.contains(change.path) || language.may_hold_tests(change.path)) { continue; }
        AF_TRY(const auto before, checkout_.file(baseline.base_tree, change.path));
        AF_TRY(const auto now, checkout_.file(call.tree, change.path));
        const auto changed = changed_tests(before.value_or(""), now.value_or(""), tests[change.path], outdated, language.code);
        const bool any_gained = std::ranges::any_of(changed, [&](const ChangedTest& test) {
            return !test.id.empty() && !outdated.contains(test.id) && only_gained_cases(test.before, test.after);
        });
        if (any_gained) { files.insert(change.path); }
    }
    return files;
}

Result<std::map<std::string, std::string>> AlteredRuns::former_support(const Language& language, const GateCall& call,
                                                                       const std::map<std::string, std::string>& besides) {
    std::map<std::string, std::string> files;
    AF_TRY(const auto changes, checkout_.changes(call.baseline->base_tree, call.tree));
    for (const auto& change : changes) {
        const auto& path = change.old_path.empty() ? change.path : change.old_path;
        if (besides.contains(path) || !language.belongs_to_tests(path) || !language.sources.matches(path)) { continue; }
        AF_TRY(auto content, checkout_.file(call.baseline->base_tree, path));
        if (content) { files.emplace(path, std::move(*content)); }
    }
    return files;
}

Result<void> AlteredRuns::run_former_tests(const GateCall& call, const GreenEvidence& green, TestQualityEvidence& evidence,
                                           const Stop& stop) {
    AF_TRY(const auto* found, languages_.of(call.tree));
    AF_TRY(const std::set<std::string> outdated, changed_as_outdated(*found, call));
    AF_TRY(const std::set<std::string> with_more_cases, files_with_more_cases(*found, call));
    std::set<std::string> ids;
    std::map<std::string, std::string> old_files;
    for (const auto& before : green.base_tests) {
        const bool flaky = std::find(green.flaky.begin(), green.flaky.end(), before.id) != green.flaky.end();
        const bool former = outdated.contains(before.id) || outcome_with(green.run.tests, before.id) == nullptr;
        if (before.status != TestStatus::passed || flaky || !former || found->may_hold_tests(before.file)) { continue; }
        AF_TRY(auto content, checkout_.file(call.baseline->base_tree, before.file));
        if (!content) { continue; }
        ids.insert(before.id);
        old_files.emplace(before.file, std::move(*content));
    }
    for (const auto& file : with_more_cases) {
        AF_TRY(auto content, checkout_.file(call.baseline->base_tree, file));
        if (content) { old_files.emplace(file, std::move(*content)); }
    }
    if (old_files.empty()) { return {}; }
    AF_TRY(auto support, former_support(*found, call, old_files));
    const auto run_files = [&](std::map<std::string, std::string> files) {
        TestSelection selection;
        for (const auto& [file, content] : files) { selection.files.push_back(file); }
        for (const auto& [file, content] : support) { files.emplace(file, content); }
        selection.instead = std::move(files);
        selection.purpose = "removed-tests";
        // A test of what is gone may wait for ever.
        selection.at_most =
            std::max(std::chrono::seconds(120), std::chrono::duration_cast<std::chrono::seconds>(5 * green.run.duration));
        return commands_.run_tests(*found, call.tree, selection, stop);
    };
    AF_TRY(auto together, run_files(old_files));
    const bool all_loaded = std::ranges::all_of(old_files, [&](const auto& file) { return has_loaded(together, file.first); });
    if (!support.empty() && !all_loaded) {
        // The former fixtures may use what is gone.
        support.clear();
        AF_TRY(together, run_files(old_files));
    }
    const auto neighbours = neighbours_of_outdated(green, outdated, with_more_cases);
    for (const auto& [file, content] : old_files) {
        // A file that does not build must not hide what another one shows.
        auto run = together;
        if ((!is_built(together) || !together.trusted) && old_files.size() > 1) { AF_TRY(run, run_files({{file, content}})); }
        const bool ended = has_ended(run, file);
        for (const auto& test : run.tests) {
            const bool counts = run.trusted && (ended || !outdated.contains(test.id));
            if (counts && test.file == file && ids.contains(test.id)) {
                (outdated.contains(test.id) ? evidence.outdated : evidence.removed).push_back(test);
            }
        }
        AF_TRY(const auto now, checkout_.file(call.tree, file));
        if ((ended && has_loaded(run, file)) || !now) {
            add_former_failures(neighbours, file, run, evidence);
            continue;
        }
        std::vector<TestOutcome> tests;
        std::ranges::copy_if(green.base_tests, std::back_inserter(tests),
                             [&](const TestOutcome& test) { return test.file == file; });
        std::set<std::string> names;
        for (const auto& id : outdated) { names.insert(without_parameters(id)); }
        const LeavingTests leaving(content, *now, tests, names, found->code);
        if (leaving.empty()) {
            add_former_failures(neighbours, file, run, evidence);
            continue;
        }
        FormerFileRuns parts(leaving, file, neighbours, outdated, found->code, [&](const std::string& text) {
            return run_files({{file, text}});
        });
        if (ended) {
            AF_CHECK(parts.judge(evidence));
            continue;
        }
        AF_TRY(const bool judged, parts.judge_apart(evidence));
        if (!judged) { add_former_failures(neighbours, file, run, evidence); }
    }
    return {};
}

Result<void> AlteredRuns::run_with_other_expectations(const GateCall& call, const GreenEvidence& green, MutationRequest& request,
                                                      TestQualityEvidence& evidence, const Stop& stop) {
    AF_TRY(const auto* found, languages_.of(call.tree));
    TestSelection selection;
    std::map<std::string, std::set<std::string>> equating;  // File → its functions that must fail now.
    bool decisive = false;
    for (const auto& file : green.red_files) {
        AF_TRY(const auto now, checkout_.file(call.tree, file));
        AF_TRY(const auto before, checkout_.file(call.baseline->base_tree, file));
        if (!now || is_link(checkout_, file)) { continue; }
        auto lines = changed_line_numbers(*now, before.value_or(""));
        if (found->may_hold_tests(file)) {
            // Keeps only the lines of tests.
            const auto code = split_inline_tests(*now, found->inline_begins).lines;
            const auto with = changed_line_numbers(*now, code);
            std::erase_if(lines, [&](const auto line) { return !with.contains(line); });
        }
        auto [text, expects] = with_other_expectations(*now, lines, found->code);
        if (text.empty()) { continue; }
        decisive = decisive || expects;
        selection.files.push_back(file);
        equating[file] = asserting_equality(text, changed_line_numbers(text, *now), found->code);
        selection.instead[file] = std::move(text);
    }
    if (selection.files.empty()) { return {}; }
    selection.purpose = "other-values";
    selection.at_most = std::max(std::chrono::seconds(30), std::chrono::duration_cast<std::chrono::seconds>(request.suite_time));
    AF_TRY(const auto run, commands_.run_tests(*found, call.tree, selection, stop));
    if (!run.trusted || !is_built(run)) { return {}; }
    std::size_t passed = 0;
    std::size_t seen = 0;
    std::set<std::string> fresh;
    for (const auto& id : evidence.fresh) { fresh.insert(without_parameters(id)); }
    for (const auto& test : run.tests) {
        if (test.status == TestStatus::failed_assertion) {
            request.asserting.insert(test.id);
            evidence.comparing.insert(test.id);
        }
        if (!fresh.contains(without_parameters(test.id))) { continue; }
        ++seen;
        if (test.status != TestStatus::passed) { continue; }
        ++passed;
        const auto name = without_parameters(test.id);
        if (equating[test.file].contains(name.substr(name.rfind(':') + 1))) {
            evidence.accepting_other_literals.push_back(test.id);
        }
    }
    evidence.any_value_accepted = decisive && seen > 0 && passed == seen;
    if (!asks_to_remove(call.baseline->request) || (!evidence.any_value_accepted && evidence.accepting_other_literals.empty())) {
        return {};
    }
    // A test that something is gone passes with any other name. It compares if it also passes with it before the removal.
    AF_TRY(const auto before, commands_.run_tests(*found, call.baseline->compared_tree(), selection, stop));
    std::set<std::string> comparing;
    for (const auto& test : before.tests) {
        const bool is_new = fresh.contains(without_parameters(test.id));
        if (before.trusted && is_new && test.status == TestStatus::passed) { comparing.insert(test.id); }
    }
    if (!comparing.empty()) { evidence.any_value_accepted = false; }
    std::erase_if(evidence.accepting_other_literals, [&](const std::string& id) { return comparing.contains(id); });
    return {};
}

Result<void> AlteredRuns::vary_calls(const GateCall& call, const GreenEvidence& green, TestQualityEvidence& evidence,
                                     const Stop& stop) {
    AF_TRY(const auto* found, languages_.of(call.tree));
    if (found->varied_calls.empty()) { return {}; }
    AF_CHECK(checkout_.check_out(call.tree));
    std::set<std::string> declared;
    for (const auto& each : declarable_interfaces(call.baseline->specification)) {
        declared.insert(each.name.substr(each.name.find_last_of(".:#") + 1));
    }
    AF_TRY(const auto sources, changed_sources(checkout_, *found, call.baseline->compared_tree(), call.tree));
    std::vector<VariedFunction> functions;
    std::vector<std::vector<double>> numbers;
    TestSelection selection;
    for (const auto& [file, content] : sources.contents) {
        if (is_link(checkout_, file) || !is_valid_utf8(content)) { continue; }
        numbers.push_back(numbers_in(
            found->may_hold_tests(file) ? split_inline_tests(content, found->inline_begins).lines : content, found->code));
        for (const auto& rules : found->varied_calls) {
            if (!rules.files.empty() && !rules.files.matches(file)) { continue; }
            std::string package;
            if (!rules.beside.empty() && !RE2::PartialMatch(content, rules.package, &package)) { break; }
            const auto known = functions.size();
            auto text = with_varied_calls(file, content, found->code, rules, sources.lines.at(file), declared, functions);
            if (functions.size() == known) { break; }
            selection.instead[file] = std::move(text);
            if (!rules.beside.empty()) {
                selection.instead[file.substr(0, file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1) + rules.beside] =
                    package + rules.helper;
            }
            break;
        }
    }
    if (functions.empty()) { return {}; }
    selection.files = green.red_files;
    selection.calls = true;
    selection.purpose = "varied-calls";
    selection.at_most =
        std::max(std::chrono::seconds(30), std::chrono::duration_cast<std::chrono::seconds>(3 * green.run.duration));
    AF_TRY(const auto run, commands_.run_tests(*found, call.tree, selection, stop));
    evidence.varied_calls = static_cast<std::int64_t>(reported_calls(run.calls).size());
    evidence.no_work = does_no_work(functions, reported_calls(run.calls), numbers);
    return {};
}

Result<void> AlteredRuns::run_plainly(const GateCall& call, const std::string& red_tree, const GreenEvidence& green,
                                      TestQualityEvidence& evidence, const Stop& stop) {
    AF_TRY(const auto* found, languages_.of(call.tree));
    LanguageCommands::PlainSelection selection;
    selection.files = green.red_files;
    selection.all_pass = true;
    bool own_pass = true;
    for (const auto& test : green.run.tests) {
        const bool own = std::find(selection.files.begin(), selection.files.end(), test.file) != selection.files.end();
        selection.all_pass = selection.all_pass && !is_failure(test.status);
        own_pass = own_pass && (!own || !is_failure(test.status));
        if (own && test.status == TestStatus::passed) { selection.tests.push_back(test.id); }
    }
    if (!own_pass || selection.tests.empty()) { return {}; }
    AF_TRY(selection.beside, checkout_.files(call.tree));
    std::erase_if(selection.beside, [&](const std::string& file) { return !found->belongs_to_tests(file); });
    AF_TRY(const auto changes, checkout_.changes(red_tree, call.tree));
    for (const auto& change : changes) {
        for (const auto& path : {change.path, change.old_path}) {
            if (!path.empty() && !found->belongs_to_tests(path)) {
                AF_TRY(selection.before[path], checkout_.file(red_tree, path));
            }
        }
    }
    // A plain run builds everything from scratch. A short limit on a slow machine would let a cheating change pass.
    selection.at_most =
        std::max(std::chrono::seconds(300), std::chrono::duration_cast<std::chrono::seconds>(3 * green.run.duration));
    AF_TRY(const auto run, commands_.run_plainly(*found, call.tree, selection, stop));
    if (run.measured) {
        evidence.plain_outcome = run.passed ? "passed" : "failed";
    } else {
        evidence.plain_outcome = run.reason;
    }
    if (run.measured && !run.passed) { evidence.plain = run.words.empty() ? "no reason given" : run.words; }
    return {};
}

Result<void> AlteredRuns::run_in_another_form(const GateCall& call, const GreenEvidence& green, TestQualityEvidence& evidence,
                                              const Stop& stop) {
    AF_TRY(const auto* found, languages_.of(call.tree));
    if (!found->commands.contains("stubs")) { return {}; }
    AF_TRY(const auto sources, changed_sources(checkout_, *found, call.baseline->compared_tree(), call.tree));
    AF_TRY(auto marked, marks_.marked_changes(*found, sources, Mark::idle, stop));
    if (marked.empty()) { return {}; }
    TestSelection selection{.files = green.red_files, .names = {}, .judged = true, .timeout = {}, .purpose = "another-form"};
    selection.instead = std::move(marked);
    AF_TRY(const auto run, commands_.run_tests(*found, call.tree, selection, stop));
    for (const auto& test : run.tests) {
        const bool is_new = std::find(evidence.fresh.begin(), evidence.fresh.end(), test.id) != evidence.fresh.end();
        if (run.trusted && is_new && test.status == TestStatus::failed_assertion) { evidence.form_tests.push_back(test.id); }
    }
    return {};
}

}  // namespace agentforge::kernel
