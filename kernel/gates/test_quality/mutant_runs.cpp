// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/mutant_runs.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "gates/language/inline_tests.hpp"
#include "gates/language/source_text.hpp"
#include "gates/test_quality/altered_results.hpp"
#include "gates/test_quality/filled_skeletons.hpp"
#include "gates/test_quality/same_code.hpp"

namespace agentforge::kernel {
namespace {

using Noticed = TriedMutant::Noticed;

/// Returns how these passing tests react to an altered line. Empty if none of them ran.
std::optional<Noticed> noticed_by(const std::vector<std::string>& ids, const std::vector<TestOutcome>& tests) {
    std::optional<Noticed> result;
    for (const auto& id : ids) {
        const auto* now = outcome_with(tests, id);
        if (now == nullptr) { continue; }
        if (now->status == TestStatus::failed_assertion) { return Noticed::by_assertion; }
        if (!result) { result = Noticed::not_noticed; }
        if (now->status == TestStatus::error) { result = Noticed::by_error; }
    }
    return result;
}

/// Returns the file and the last name part of each component in the specification. Some components are functions.
std::set<std::pair<std::string, std::string>> named_components(const json::object& specification) {
    std::set<std::pair<std::string, std::string>> named;
    const auto* components = specification.if_contains("components");
    if (components == nullptr || !components->is_array()) { return named; }
    for (const auto& each : components->get_array()) {
        if (!each.is_object()) { continue; }
        const auto name = text_of(each.get_object(), "name");
        named.emplace(text_of(each.get_object(), "path"), name.substr(name.find_last_of(".:#") + 1));
    }
    return named;
}

/// While no test has noticed a mutant, they may take this many times longer.
constexpr int patience = 9;

std::chrono::milliseconds limit_of(const MutationRequest& request) {
    return std::max<std::chrono::milliseconds>(std::chrono::seconds(30), request.suite_time);
}

bool has_noticed_one(const TestQualityEvidence& evidence) {
    return std::ranges::any_of(evidence.tried, [](const TriedMutant& mutant) { return mutant.noticed == Noticed::by_assertion; });
}

}  // namespace

Result<std::vector<std::vector<Mutant>>> MutantRuns::mutants(const Language& language, const std::string& before_tree,
                                                             const std::string& tree, bool whole_files,
                                                             const std::string& request) {
    std::vector<std::vector<Mutant>> sources;
    std::vector<std::vector<Mutant>> data;
    AF_TRY(const auto changes, checkout_.changes(before_tree, tree));
    bool source_changed = false;
    for (const auto& change : changes) {
        const bool source = language.sources.matches(change.path);
        if (language.belongs_to_tests(change.path) || is_documentation(language, change.path)) { continue; }
        source_changed = source_changed || source;
        if (change.status == 'D' || language.runner_files.matches(change.path)) { continue; }
        AF_TRY(const auto now, checkout_.file(tree, change.path));
        AF_TRY(const auto before, checkout_.file(before_tree, change.old_path.empty() ? change.path : change.old_path));
        constexpr std::size_t largest = 1UL << 20U;
        if (!now || now->size() > largest || !is_valid_utf8(*now)) { continue; }
        const auto code = language.may_hold_tests(change.path) ? split_inline_tests(*now, language.inline_begins).lines : *now;
        // Skips lines that only use a new name: no test can notice them.
        const auto old = whole_files ? std::string() : with_new_names(before.value_or(""), *now, request);
        auto lines = changed_line_numbers(*now, old);
        lines.merge(lines_of_filled_skeletons(before.value_or(""), *now, language.code, language.skeleton_marker));
        auto found =
            mutants_of(change.path, *now, code, lines, language.code, source ? language.mutations : std::vector<MutationRule>{});
        (source ? sources : data).push_back(std::move(found));
    }
    // Mutants of data count only if nothing but data changed. Otherwise a file that only tests read could stand in for the code.
    return source_changed ? sources : data;
}

Result<std::vector<MutantRuns::ResultMutant>> MutantRuns::result_mutants(const GateCall& call, const Language& language,
                                                                         const std::string& before_tree) {
    constexpr std::size_t most_declared = 6;
    constexpr std::size_t most_others = 3;
    std::vector<ResultMutant> declared;
    std::vector<ResultMutant> others;
    auto named = named_components(call.baseline->specification);
    for (const auto& [file, names] : current_.to_be_changed()) {
        for (const auto& name : names) { named.emplace(file, name); }
    }
    AF_TRY(const auto changes, checkout_.changes(before_tree, call.tree));
    for (const auto& change : changes) {
        if (change.status == 'D' || !language.sources.matches(change.path) || language.belongs_to_tests(change.path)) {
            continue;
        }
        AF_TRY(const auto now, checkout_.file(call.tree, change.path));
        AF_TRY(const auto before, checkout_.file(before_tree, change.old_path.empty() ? change.path : change.old_path));
        if (!now || !is_valid_utf8(*now)) { continue; }
        const auto code = language.may_hold_tests(change.path) ? split_inline_tests(*now, language.inline_begins).lines : *now;
        const auto old = with_new_names(before.value_or(""), *now, call.baseline->request);
        auto lines = changed_line_numbers(*now, old);
        lines.merge(lines_of_filled_skeletons(before.value_or(""), *now, language.code, language.skeleton_marker));
        for (auto& each : altered_results(change.path, *now, code, lines, language.code, language.mutations)) {
            const bool is_declared = named.contains({change.path, each.function});
            // The result of main is the exit code, which few tests check.
            if (!is_declared && each.function == "main") { continue; }
            (is_declared ? declared : others).push_back({change.path, is_declared, std::move(each)});
        }
    }
    declared.resize(std::min(declared.size(), most_declared));
    others.resize(std::min(others.size(), most_others));
    std::move(others.begin(), others.end(), std::back_inserter(declared));
    return declared;
}

Result<std::optional<TestRun>> MutantRuns::run_mutant(const Language& language, const std::string& tree,
                                                      const std::vector<std::string>& files, const Mutant& mutant,
                                                      MutationRequest& request, TestQualityEvidence& evidence, const Stop& stop) {
    return run_instead(language, tree, files, {{mutant.file, mutant.content}}, request, evidence, stop);
}

Result<std::optional<TestRun>> MutantRuns::run_instead(const Language& language, const std::string& tree,
                                                       const std::vector<std::string>& files,
                                                       std::map<std::string, std::string> instead, MutationRequest& request,
                                                       TestQualityEvidence& evidence, const Stop& stop) {
    // On a busy machine as many are tried as on an idle one, unless a test has already noticed one.
    const bool enough = evidence.tried.size() >= commands_.settings().mutants || has_noticed_one(evidence);
    const auto until = enough ? request.mutants_until : request.mutants_until + patience * limit_of(request);
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(until - std::chrono::steady_clock::now());
    if (until <= std::chrono::steady_clock::now()) { evidence.cut_short = true; }
    const bool linked = std::ranges::any_of(instead, [&](const auto& file) { return is_link(checkout_, file.first); });
    if (evidence.cut_short || linked) { return std::optional<TestRun>(); }
    TestSelection selection;
    selection.files = files;
    selection.instead = std::move(instead);
    selection.purpose = gate_command::for_mutants;
    selection.at_most = std::max(std::chrono::seconds(5), left);
    AF_TRY(auto run, commands_.run_tests(language, tree, selection, stop));
    if (!run.trusted || !is_built(run)) { return std::optional<TestRun>(); }
    for (const auto& test : run.tests) {
        if (test.status != TestStatus::failed_assertion) { continue; }
        request.asserting.insert(test.id);
        evidence.comparing.insert(test.id);
    }
    return std::optional<TestRun>(std::move(run));
}

Result<void> MutantRuns::try_results(const GateCall& call, const Language& language, MutationRequest& request,
                                     TestQualityEvidence& evidence, const Stop& stop) {
    AF_TRY(auto possible, result_mutants(call, language, request.red_tree));
    // Held-out tests may be the only ones that check one of these functions.
    const auto& held = call.baseline->held_out;
    const auto& tree = held.files.empty() ? call.tree : held.tree;
    auto files = request.files;
    files.insert(files.end(), held.files.begin(), held.files.end());
    bool enough = false;
    for (auto& each : possible) {
        if (enough && !each.declared) { break; }
        for (auto& content : each.altered.contents) {
            const Mutant mutant{each.file,           each.altered.line,  "another result",
                                each.altered.before, each.altered.after, std::move(content)};
            AF_TRY(const auto run, run_mutant(language, tree, files, mutant, request, evidence, stop));
            if (!run) { continue; }
            auto asked = evidence.fresh;
            for (const auto& test : run->tests) {
                if (std::find(held.files.begin(), held.files.end(), test.file) != held.files.end()) { asked.push_back(test.id); }
            }
            const auto noticed =
                noticed_by(asked, run->tests).value_or(Noticed::by_error);  // None ran: their file no longer loads.
            evidence.tried.push_back({mutant.file, mutant.line, mutant.before, mutant.after, noticed, false, "",
                                      each.altered.function, each.declared});
            enough = enough || each.declared || noticed != Noticed::not_noticed;
            break;
        }
    }
    return {};
}

Result<void> MutantRuns::put_lines_back(const GateCall& call, const Language& language, MutationRequest& request,
                                        TestQualityEvidence& evidence, const Stop& stop) {
    constexpr std::size_t most = 6;
    constexpr std::size_t largest = 1UL << 20U;
    std::map<std::string, std::string> whole;
    std::vector<std::map<std::string, std::string>> possible;
    AF_TRY(const auto changes, checkout_.changes(request.red_tree, call.tree));
    for (const auto& change : changes) {
        if (!language.sources.matches(change.path) || language.belongs_to_tests(change.path)) { continue; }
        AF_TRY(const auto before, checkout_.file(request.red_tree, change.old_path.empty() ? change.path : change.old_path));
        AF_TRY(const auto now, checkout_.file(call.tree, change.path));
        if (!before || before->size() > largest || now.value_or("").size() > largest) { continue; }
        auto contents = now ? with_removed_lines(*before, *now) : std::vector<std::string>{*before};
        if (contents.empty()) { continue; }
        whole[change.path] = contents.front();
        for (auto& content : contents) { possible.push_back({{change.path, std::move(content)}}); }
    }
    if (possible.empty()) { return {}; }
    possible.insert(possible.begin(), std::move(whole));
    possible.resize(std::min(possible.size(), most));
    for (const auto& files : possible) {
        if (evidence.cut_short || unproven_requirements(evidence).empty()) { break; }
        AF_TRY(const auto run, run_instead(language, call.tree, request.files, files, request, evidence, stop));
        if (run) { ++evidence.put_back; }
    }
    return {};
}

Result<void> MutantRuns::try_mutants(const GateCall& call, MutationRequest& request, TestQualityEvidence& evidence,
                                     const Stop& stop) {
    AF_TRY(const auto* found, languages_.of(call.tree));
    const std::size_t most = commands_.settings().mutants;
    if (most == 0) { return {}; }
    const bool guards_only = evidence.fresh.empty();
    const auto before = guards_only ? call.baseline->base_tree : request.red_tree;
    AF_TRY(auto possible, mutants(*found, before, call.tree, false, call.baseline->request));
    evidence.nothing_to_alter = evidence.removal.only_removes;
    // If the change only removes code, mutates the whole changed files.
    if (guards_only && (evidence.removal.only_removes ||
                        std::all_of(possible.begin(), possible.end(), [](const auto& each) { return each.empty(); }))) {
        AF_TRY(possible, mutants(*found, before, call.tree, true, call.baseline->request));
    }
    evidence.nothing_to_alter =
        evidence.nothing_to_alter && std::ranges::all_of(possible, [](const auto& each) { return each.empty(); });
    // Chooses more than needed: some do not build, and more are tried while a requirement's tests have noticed none.
    const auto chosen = choose_mutants(std::move(possible), 3 * most);
    request.mutants_until = std::chrono::steady_clock::now() + limit_of(request);
    AF_CHECK(checkout_.check_out(call.tree));
    if (!guards_only) { AF_CHECK(try_results(call, *found, request, evidence, stop)); }
    for (const auto& mutant : chosen) {
        if (evidence.cut_short || (evidence.tried.size() >= most && unproven_requirements(evidence).empty())) { break; }
        AF_TRY(const auto run, run_mutant(*found, call.tree, request.files, mutant, request, evidence, stop));
        if (!run) { continue; }
        const auto& asked = guards_only ? request.passing : evidence.fresh;
        const auto noticed = noticed_by(asked, run->tests);
        if (!noticed) { continue; }
        TriedMutant tried{mutant.file, mutant.line, mutant.before, mutant.after, *noticed};
        if (guards_only) {
            AF_TRY(const auto old, checkout_.file(before, mutant.file));
            tried.added_function = added_function(old.value_or(""), mutant.content, mutant.line, found->code);
        }
        tried.by_guard = guards_only && noticed_by(evidence.guards, run->tests) == Noticed::by_assertion;
        evidence.tried.push_back(std::move(tried));
    }
    const bool removes = !guards_only && also_removes(call.baseline->request) && !evidence.removal.only_removes;
    if (removes && !unproven_requirements(evidence).empty()) { AF_CHECK(put_lines_back(call, *found, request, evidence, stop)); }
    evidence.mutated = true;
    return {};
}

}  // namespace agentforge::kernel
