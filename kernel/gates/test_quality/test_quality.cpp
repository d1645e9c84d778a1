// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/test_quality.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include <re2/re2.h>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "gates/engine/gate_engine.hpp"
#include "gates/language/inline_tests.hpp"
#include "gates/test_quality/mutants.hpp"

namespace agentforge::kernel {
namespace {

using Noticed = TriedMutant::Noticed;

std::string describe(const TriedMutant& mutant) {
    return mutant.file + ":" + std::to_string(mutant.line) + ": `" + ellipsis(mutant.before, 80) + "` made `" +
           ellipsis(mutant.after, 80) + "`";
}

const TestOutcome* outcome_with(const std::vector<TestOutcome>& tests, const std::string& id) {
    const auto found = std::find_if(tests.begin(), tests.end(), [&](const TestOutcome& test) { return test.id == id; });
    return found == tests.end() ? nullptr : &*found;
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) { text += (text.empty() ? "" : ", ") + name; }
    return text;
}

constexpr std::size_t fewest_mutants = 3;  ///< This many must survive to count if time ran out before all were tried.

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

/// Returns the functions added by the change in which no test noticed any of several altered lines: `name of file`.
std::vector<std::string> unnoticed_functions(const std::vector<TriedMutant>& tried) {
    constexpr std::size_t several = 2;
    std::map<std::string, std::pair<std::size_t, bool>> functions;  // How often tried, and whether noticed.
    for (const auto& mutant : tried) {
        if (mutant.added_function.empty()) { continue; }
        auto& [count, noticed] = functions[mutant.added_function + " of " + mutant.file];
        ++count;
        noticed = noticed || mutant.noticed != Noticed::not_noticed;
    }
    std::vector<std::string> names;
    for (const auto& [name, seen] : functions) {
        if (seen.first >= several && !seen.second) { names.push_back(name); }
    }
    return names;
}

/// True if everything was built. Go builds each package separately and reports those that do not build as errors.
bool is_built(const TestRun& run) {
    static const RE2 said("^(?:the package )?does not build: ");
    const auto is_unbuilt = [](const TestOutcome& test) {
        return test.status == TestStatus::error && RE2::PartialMatch(test.message, said);
    };
    return !run.not_built && std::none_of(run.tests.begin(), run.tests.end(), is_unbuilt);
}

/// Returns the functions whose altered results no new test noticed: those that the specification declares or, if none of these
/// was tried, the first of the others.
std::vector<const TriedMutant*> ignored_results(const std::vector<TriedMutant>& tried) {
    std::vector<const TriedMutant*> declared;
    std::vector<const TriedMutant*> others;
    bool any_declared = false;
    bool any_noticed = false;
    for (const auto& mutant : tried) {
        if (mutant.results_of.empty()) { continue; }
        any_declared = any_declared || mutant.declared;
        any_noticed = any_noticed || mutant.noticed != Noticed::not_noticed;
        if (mutant.noticed == Noticed::not_noticed) { (mutant.declared ? declared : others).push_back(&mutant); }
    }
    if (any_declared || any_noticed) { return declared; }
    others.resize(std::min<std::size_t>(1, others.size()));
    return others;
}

}  // namespace

bool is_documentation(const Language& language, std::string_view path) {
    if (language.sources.matches(path)) { return false; }
    const auto slash = path.rfind('/');
    const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
    static const RE2 known(
        R"((?:LICENSE|README|CHANGELOG|AUTHORS)(?:[-_.\w]*\.(?:txt|md|rst|adoc)|(?:-[A-Z0-9]+)*(?:-[0-9.]+)?)|[A-Z][A-Z_-]+\.(?:md|rst|adoc))");
    static const RE2 text(R"(.*\.(?:md|rst|adoc))");
    // In other folders a program may read such a file, for example a letter template.
    static const RE2 folder(
        R"((?i)(?:.*/)?(?:docs?|documentation|guides?|book|manual|site|website|wiki|adr|rfcs?|notes|examples?|handbook|tutorials?|changelogs?|\.github)/.*)");
    if (RE2::FullMatch(re2::StringPiece(name.data(), name.size()), known)) { return true; }
    return RE2::FullMatch(re2::StringPiece(name.data(), name.size()), text) &&
           (slash == std::string_view::npos || RE2::FullMatch(re2::StringPiece(path.data(), path.size()), folder));
}

namespace {

/// True if the request begins with a verb of making.
bool asks_to_build(const re2::StringPiece& words) {
    static const RE2 builds(
        R"((?i)^\W*(?:please\W+)?(?:add|implement|create|write|build|support|make|introduce|let|allow|provide|give|extend|handle|teach|return|fix)\b)");
    return RE2::PartialMatch(words, builds);
}

}  // namespace

bool may_keep_behaviour(std::string_view request) {
    static const RE2 documents(
        R"((?i)^\W*(?:please\W+)?\w+(?:\W+\w+){0,2}?\W+(?:docs?|documentation|docstrings?|readme|comments?|changelog|licen[cs]e|annotations|type hints|typos?|wording|spelling|warnings?|lint|formatting|style)\b)");
    static const RE2 reshapes(
        R"((?i)\b(?:refactor|renam|mov(?:e|ing)\b|extract|inlin|split|clean|simplif|restructur|reorgani|rewrit|tidy|dedup|duplicat|format|remov|delet|drop\b|unused|dead code|)"
        R"(document|comment|translat|annotat|faster|speed|optimi[sz]|performance|lint|style|typo))");
    const re2::StringPiece words(request.data(), request.size());
    return RE2::PartialMatch(words, documents) || (RE2::PartialMatch(words, reshapes) && !asks_to_build(words));
}

bool asks_to_remove(std::string_view request) {
    static const RE2 removes(R"((?i)^\W*(?:please\W+)?(?:remove|delete|drop)\b)");
    return RE2::PartialMatch(re2::StringPiece(request.data(), request.size()), removes);
}

bool asks_for_documentation(std::string_view request) {
    static const RE2 writes(
        R"((?i)^\W*(?:please\W+)?(?:(?:document|comment|describe|explain|proofread)\b|\w+(?:\W+\w+){0,2}?\W+(?:docs?|documentation|docstrings?|readme|comments?|changelog|licen[cs]e|typos?|wording|spelling)\b))");
    static const RE2 reshapes(
        R"((?i)\b(?:refactor|renam|mov(?:e|ing)\b|extract|inlin|split|clean|simplif|restructur|reorgani|rewrit|tidy|dedup|duplicat|remov|delet|drop\b|unused|dead code|annotat|hints?|optimi[sz]|performance|implement|fix(?:es)?\s+(?:the\s+)?(?:bug|error)))");
    const re2::StringPiece words(request.data(), request.size());
    return RE2::PartialMatch(words, writes) && !RE2::PartialMatch(words, reshapes) && !asks_for_code(request);
}

bool asks_for_code(std::string_view request) {
    static const RE2 code(
        R"((?i)\w\(|\w\.(?:c|cc|cpp|cxx|h|hpp|py|js|mjs|cjs|ts|go|rs|java)\b|\b(?:function|method|class|endpoint)\b)");
    static const RE2 writing(
        R"((?i)\b(?:docs?|document\w*|docstrings?|readme|comments?|changelog|contributing|licen[cs]e|guide|manual|tutorial|handbook|instructions?|examples?|notes?|typos?|wording|spelling)\b|\.(?:md|rst|adoc|txt)\b)");
    const re2::StringPiece words(request.data(), request.size());
    return asks_to_build(words) && RE2::PartialMatch(words, code) && !RE2::PartialMatch(words, writing);
}

std::string without_parameters(std::string_view id) { return std::string(id.substr(0, id.find('['))); }

std::vector<std::string> unproven_requirements(const TestQualityEvidence& evidence) {
    std::vector<std::string> result;
    std::set<std::string> comparing;
    for (const auto& id : evidence.comparing) { comparing.insert(without_parameters(id)); }
    for (const auto& [requirement, tests] : evidence.of_requirements) {
        const bool proven = std::any_of(tests.begin(), tests.end(),
                                        [&](const std::string& id) { return comparing.contains(without_parameters(id)); });
        if (!proven && !tests.empty()) { result.push_back(requirement); }
    }
    return result;
}

namespace {

/// One judgment. Its parts add to the verdict, in the order of `judge`.
class TestQualityJudgment {
public:
    explicit TestQualityJudgment(const TestQualityEvidence& evidence)
        : evidence_(evidence), new_tests_(!evidence.fresh.empty()) {}

    Verdict judge();

private:
    void refuse(std::string why) { verdict_.blocking.push_back(std::move(why)); }
    void blame(const std::vector<std::string>& tests);
    void count_mutants();
    void judge_single_tests();
    void judge_expected_values();
    void judge_other_runs();
    void judge_skeletons();
    void judge_removed_tests();
    void judge_tests_naming_new_data();
    void judge_outdated_tests();
    void judge_request();
    void judge_removal();
    void judge_mutants();
    void judge_requirements();
    void judge_untested_change();
    void report_facts();
    void report_lost_tests();
    void report_mutants();

    const TestQualityEvidence& evidence_;
    const bool new_tests_;
    Verdict verdict_;
    std::vector<const TriedMutant*> survived_;
    std::size_t noticed_ = 0;            ///< Mutants that a test noticed at an assertion.
    std::map<std::string, bool> files_;  ///< Whether one of its mutants was noticed.
    bool guarded_ = false;               ///< A guard noticed one.
    std::set<std::string> at_fault_;     ///< Tests that a stage which may not change them can hand back.
};

Verdict TestQualityJudgment::judge() {
    count_mutants();
    judge_single_tests();
    judge_expected_values();
    judge_other_runs();
    judge_skeletons();
    judge_removed_tests();
    judge_tests_naming_new_data();
    judge_outdated_tests();
    judge_request();
    judge_removal();
    judge_mutants();
    judge_requirements();
    judge_untested_change();
    report_facts();
    return std::move(verdict_);
}

void TestQualityJudgment::blame(const std::vector<std::string>& tests) {
    for (const auto& id : tests) { at_fault_.insert(without_parameters(id)); }
}

void TestQualityJudgment::count_mutants() {
    for (const auto& mutant : evidence_.tried) {
        auto& file = files_[mutant.file];
        file = file || mutant.noticed != Noticed::not_noticed;
        if (mutant.noticed == Noticed::by_assertion) { ++noticed_; }
        if (mutant.noticed == Noticed::not_noticed) { survived_.push_back(&mutant); }
        guarded_ = guarded_ || mutant.by_guard;
    }
}

void TestQualityJudgment::judge_single_tests() {
    for (const auto& id : evidence_.text_tests) {
        refuse(id +
               " passes when the change is only comments, so it tests the source text, not the behaviour; "
               "the tests must be rewritten.");
    }
    for (const auto& id : evidence_.form_tests) {
        refuse(
            id +
            " fails when a statement without effect is added to the change's functions, so it tests how they are written, not what they do; "
            "the tests must be rewritten.");
    }
    for (const auto& id : evidence_.without_assertions) {
        refuse(id + " passes without a single assertion, so it tests nothing; the tests must be rewritten.");
    }
    for (const auto* tests : {&evidence_.text_tests, &evidence_.form_tests, &evidence_.without_assertions}) { blame(*tests); }
}

void TestQualityJudgment::judge_expected_values() {
    if (evidence_.any_value_accepted) {
        return refuse(
            "Every new test also passes when its expected values are altered, so the code's result equals every value, or the tests compare nothing; "
            "return what the specification says.");
    }
    for (const auto& id : evidence_.accepting_other_literals) {
        refuse(id +
               " also passes when the literals that it compares with are altered, so that result equals every value; "
               "return what the specification says.");
    }
}

void TestQualityJudgment::judge_other_runs() {
    if (!evidence_.plain.empty()) {
        refuse(
            "The new tests pass here and fail in a plain run: " + evidence_.plain +
            ". A plain run uses another folder, other file names, another order and no recorder. Neither tests nor code may depend "
            "on these.");
    }
    if (evidence_.varied_calls > 0) { verdict_.facts["varied_calls"] = evidence_.varied_calls; }
    if (!evidence_.no_work.empty()) { refuse(evidence_.no_work + "."); }
    if (!evidence_.plain_outcome.empty()) { verdict_.facts["plain_run"] = evidence_.plain_outcome; }
}

void TestQualityJudgment::judge_skeletons() {
    for (const auto& place : evidence_.skeletons) {
        refuse(place + " is still the stub from before the change; implement what the specification declares.");
    }
}

void TestQualityJudgment::judge_removed_tests() {
    for (const auto& test : evidence_.removed) {
        if (test.status != TestStatus::failed_assertion) { continue; }
        refuse(
            test.id + " was removed. It passed before the task and fails on this tree (" + first_line(test.message) +
            "), so the behaviour that it tested has changed. Keep that behaviour, or change the test in the stage that writes tests.");
    }
}

void TestQualityJudgment::judge_tests_naming_new_data() {
    for (const auto& each : evidence_.tests_naming_new_data) {
        refuse(
            each +
            ", which only the implementation adds, so the tests read their expected values from it; write expected values into the tests.");
    }
}

void TestQualityJudgment::judge_outdated_tests() {
    for (const auto& test : evidence_.former_failures) {
        refuse(
            test.id + " is not outdated and passed before the task. With the former version of its file it fails on this tree (" +
            first_line(test.message) + "), so a change elsewhere in the file hides the failure. Change only the outdated test.");
    }
    std::map<std::string, bool> contradicted;  // Outdated test → whether one of its cases fails in its former version.
    for (const auto& test : evidence_.outdated) {
        contradicted[without_parameters(test.id)] |= test.status != TestStatus::passed;
    }
    for (const auto& [id, fails] : contradicted) {
        if (fails) { continue; }
        refuse(
            id +
            " was changed as outdated, but its former version passes on this tree, so the change does not contradict it. Restore it.");
    }
}

/// Whether there are the tests and the code that the request asks for.
void TestQualityJudgment::judge_request() {
    if (!new_tests_ && !evidence_.without_new_test) {
        refuse(
            "No new test was seen to fail without the change, and the request does not ask for work that keeps behaviour, such as refactoring, deleting or documenting; "
            "write a new test for the request. A person can allow this with gates.without_new_test.");
    }
    if (!new_tests_ && evidence_.code_changed && evidence_.asked_for_documentation) {
        refuse(
            "The request asks for documentation, and code has changed without a new test; revert the code, or write a test for it first.");
    }
    if (new_tests_ && !evidence_.code_changed && evidence_.asked_for_code) {
        refuse("The request asks for code, but only documentation, comments and tests have changed; do what the request says.");
    }
}

/// Whether a request to remove something removed that, and nothing else.
void TestQualityJudgment::judge_removal() {
    const auto& removal = evidence_.removal;
    if (removal.changes_no_code) {
        refuse(
            "The request asks to remove something, but only documentation, comments and tests have changed; do what the request says.");
    }
    if (!removal.made_nothing.empty()) {
        refuse("The request also says `" + removal.made_nothing + "`, but the change only removes; do the rest of what it says.");
    }
    for (const auto& lines : removal.unnoticed) {
        refuse(
            "The change removes `" + ellipsis(lines.text, 120) + "` (" + lines.file + ":" + std::to_string(lines.line) +
            " before the task), which does not seem to be what the request asks to remove, and all tests pass when it is put back; "
            "put it back. If the request needs its removal, a test must fail while it is there: the tests must be rewritten.");
    }
    if (!removal.unnoticed.empty()) {
        blame(evidence_.fresh);
        blame(evidence_.guards);
    }
    if (!new_tests_ && !removal.shows_what_was_asked && removal.unnoticed.empty()) {
        refuse(
            "No removed line has to do with the request, and no new test was seen to fail before the removal; "
            "remove what the request says, or write a test that fails while it is there.");
    }
}

void TestQualityJudgment::judge_mutants() {
    if (evidence_.removal.only_removes) { return; }
    // If time ran out, a few surviving mutants may be chance.
    const bool enough = !evidence_.cut_short || survived_.size() >= fewest_mutants;
    if (evidence_.mutated && new_tests_ && noticed_ == 0 && !survived_.empty() && enough) {
        refuse("No new test notices a fault in the change: " + describe(*survived_.front()) + ", and " +
               (survived_.size() == 1
                    ? "all of them pass"
                    : "all of them pass, also with " + std::to_string(survived_.size() - 1) + " more such faults") +
               ". They do not test what the change does; the tests must be rewritten.");
        blame(evidence_.fresh);
    }
    for (const auto* mutant : ignored_results(evidence_.tried)) {
        refuse("No new test notices when every result of `" + mutant->results_of + "` is replaced (" + describe(*mutant) +
               "), so no test checks what it returns; the tests must be rewritten.");
        blame(evidence_.fresh);
    }
}

/// Fails a requirement whose new tests noticed no mutant and no altered value, unless time ran out: its tests may cover lines
/// that were not reached. Other tests that notice mutants say nothing about it.
void TestQualityJudgment::judge_requirements() {
    if (!evidence_.mutated || evidence_.removal.only_removes || !verdict_.blocking.empty()) { return; }
    if (evidence_.cut_short || evidence_.tried.size() < fewest_mutants) { return; }
    for (const auto& requirement : unproven_requirements(evidence_)) {
        refuse(requirement + " has no test that compares results: its new tests (" +
               listed(evidence_.of_requirements.at(requirement)) + ") pass on all of " + std::to_string(evidence_.tried.size()) +
               " faults in the change, and also when their expected values are altered; "
               "a test of it must be rewritten.");
        blame(evidence_.of_requirements.at(requirement));
    }
}

/// Code that changed without a new test: guards must notice when it is altered.
void TestQualityJudgment::judge_untested_change() {
    if (new_tests_ || !evidence_.code_changed || !evidence_.mutated) { return; }
    const std::string need = "Code has changed without a new test that fails without the change, ";
    if (!guarded_) {
        return refuse(need + "and no guard fails when the changed code is altered" +
                      (survived_.empty() ? "" : " (" + describe(*survived_.front()) + ")") +
                      "; write a new test for what the change does.");
    }
    for (const auto& name : unnoticed_functions(evidence_.tried)) {
        refuse(need + "and no test notices when the new function " + name + " is altered; write a test for it.");
    }
    for (const auto& [file, covered] : files_) {
        if (covered) { continue; }
        refuse(need + "and no test notices when " + file + " is altered; write a test for it.");
    }
}

void TestQualityJudgment::report_facts() {
    auto& facts = verdict_.facts;
    if (!at_fault_.empty()) { facts["tests_at_fault"] = json::array(at_fault_.begin(), at_fault_.end()); }
    report_lost_tests();
    facts["removed_functions"] = json::array(evidence_.removed_functions.begin(), evidence_.removed_functions.end());
    facts["unnamed_files"] = json::array(evidence_.unnamed_files.begin(), evidence_.unnamed_files.end());
    const char* without_tests = evidence_.code_changed ? "unchanged" : "documentation";
    facts["behaviour"] = new_tests_ ? "tested" : without_tests;
    if (evidence_.removal.tried > 0) { facts["removals_tried"] = evidence_.removal.tried; }
    if (evidence_.mutated) { report_mutants(); }
}

void TestQualityJudgment::report_lost_tests() {
    json::array lost;
    for (const auto& test : evidence_.removed) {
        if (test.status != TestStatus::passed && test.status != TestStatus::failed_assertion) { lost.emplace_back(test.id); }
    }
    verdict_.facts["lost_tests"] = std::move(lost);
}

void TestQualityJudgment::report_mutants() {
    json::array list;
    for (const auto* mutant : survived_) { list.emplace_back(describe(*mutant)); }
    verdict_.facts["mutants_tried"] = static_cast<std::int64_t>(evidence_.tried.size());
    verdict_.facts["mutants_noticed"] = static_cast<std::int64_t>(evidence_.tried.size() - survived_.size());
    verdict_.facts["mutants_survived"] = std::move(list);
}

}  // namespace

Verdict judge_test_quality(const TestQualityEvidence& evidence) { return TestQualityJudgment(evidence).judge(); }

Result<std::vector<std::vector<Mutant>>> GateEngine::mutants(const Language& language, const std::string& before_tree,
                                                             const std::string& tree, bool whole_files,
                                                             const std::string& request) {
    std::vector<std::vector<Mutant>> sources;
    std::vector<std::vector<Mutant>> data;
    AF_TRY(const auto changes, checkout_->changes(before_tree, tree));
    bool source_changed = false;
    for (const auto& change : changes) {
        const bool source = language.sources.matches(change.path);
        if (language.belongs_to_tests(change.path) || is_documentation(language, change.path)) { continue; }
        source_changed = source_changed || source;
        if (change.status == 'D' || language.runner_files.matches(change.path)) { continue; }
        AF_TRY(const auto now, checkout_->file(tree, change.path));
        AF_TRY(const auto before, checkout_->file(before_tree, change.old_path.empty() ? change.path : change.old_path));
        constexpr std::size_t largest = 1UL << 20U;
        if (!now || now->size() > largest || !is_valid_utf8(*now)) { continue; }
        const auto code = language.may_hold_tests(change.path) ? split_inline_tests(*now, language.inline_begins).lines : *now;
        // Skips lines that only use a new name: no test can notice them.
        const auto old = whole_files ? std::string() : with_new_names(before.value_or(""), *now, request);
        auto found = mutants_of(change.path, *now, code, changed_line_numbers(*now, old), language.code,
                                source ? language.mutations : std::vector<MutationRule>{});
        (source ? sources : data).push_back(std::move(found));
    }
    // Mutants of data count only if nothing but data changed. Otherwise a file that only tests read could stand in for the code.
    return source_changed ? sources : data;
}

namespace {

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

}  // namespace

Result<std::vector<GateEngine::ResultMutant>> GateEngine::result_mutants(const GateCall& call, const Language& language,
                                                                         const std::string& before_tree) {
    constexpr std::size_t most_declared = 6;
    constexpr std::size_t most_others = 3;
    std::vector<ResultMutant> declared;
    std::vector<ResultMutant> others;
    auto named = named_components(call.baseline->specification);
    for (const auto& [file, names] : to_be_changed_) {
        for (const auto& name : names) { named.emplace(file, name); }
    }
    AF_TRY(const auto changes, checkout_->changes(before_tree, call.tree));
    for (const auto& change : changes) {
        if (change.status == 'D' || !language.sources.matches(change.path) || language.belongs_to_tests(change.path)) {
            continue;
        }
        AF_TRY(const auto now, checkout_->file(call.tree, change.path));
        AF_TRY(const auto before, checkout_->file(before_tree, change.old_path.empty() ? change.path : change.old_path));
        if (!now || !is_valid_utf8(*now)) { continue; }
        const auto code = language.may_hold_tests(change.path) ? split_inline_tests(*now, language.inline_begins).lines : *now;
        const auto old = with_new_names(before.value_or(""), *now, call.baseline->request);
        for (auto& each :
             altered_results(change.path, *now, code, changed_line_numbers(*now, old), language.code, language.mutations)) {
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

Result<std::optional<TestRun>> GateEngine::run_mutant(const Language& language, const std::string& tree,
                                                      const std::vector<std::string>& files, const Mutant& mutant,
                                                      MutationRequest& request, TestQualityEvidence& evidence, const Stop& stop) {
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(request.mutants_until - std::chrono::steady_clock::now());
    if (request.mutants_until <= std::chrono::steady_clock::now()) { evidence.cut_short = true; }
    if (evidence.cut_short || is_link(mutant.file)) { return std::optional<TestRun>(); }
    TestSelection selection;
    selection.files = files;
    selection.instead = {{mutant.file, mutant.content}};
    selection.purpose = gate_command::for_mutants;
    selection.at_most = std::max(std::chrono::seconds(5), left);
    AF_TRY(auto run, commands_->run_tests(language, tree, selection, stop));
    if (!run.trusted || !is_built(run)) { return std::optional<TestRun>(); }
    for (const auto& test : run.tests) {
        if (test.status != TestStatus::failed_assertion) { continue; }
        request.asserting.insert(test.id);
        evidence.comparing.insert(test.id);
    }
    return std::optional<TestRun>(std::move(run));
}

Result<void> GateEngine::try_results(const GateCall& call, const Language& language, MutationRequest& request,
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

Result<void> GateEngine::try_mutants(const GateCall& call, MutationRequest& request, TestQualityEvidence& evidence,
                                     const Stop& stop) {
    AF_TRY(const auto* found, language(call.tree));
    const std::size_t most = commands_->settings().mutants;
    if (most == 0) { return {}; }
    const bool guards_only = evidence.fresh.empty();
    const auto before = guards_only ? call.baseline->base_tree : request.red_tree;
    AF_TRY(auto possible, mutants(*found, before, call.tree, false, call.baseline->request));
    // If the change only removes code, mutates the whole changed files.
    if (guards_only && (evidence.removal.only_removes ||
                        std::all_of(possible.begin(), possible.end(), [](const auto& each) { return each.empty(); }))) {
        AF_TRY(possible, mutants(*found, before, call.tree, true, call.baseline->request));
    }
    // Chooses more than needed: some do not build, and more are tried while a requirement's tests have noticed none.
    const auto chosen = choose_mutants(std::move(possible), 3 * most);
    request.mutants_until =
        std::chrono::steady_clock::now() + std::max<std::chrono::milliseconds>(std::chrono::seconds(30), request.suite_time);
    AF_CHECK(checkout_->check_out(call.tree));
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
            AF_TRY(const auto old, checkout_->file(before, mutant.file));
            tried.added_function = added_function(old.value_or(""), mutant.content, mutant.line, found->code);
        }
        tried.by_guard = guards_only && noticed_by(evidence.guards, run->tests) == Noticed::by_assertion;
        evidence.tried.push_back(std::move(tried));
    }
    evidence.mutated = true;
    return {};
}

namespace {

/// Returns the text of each function with one of these names, and its first line.
std::map<std::string, std::pair<std::uint64_t, std::string>> texts_of_functions(std::string_view text,
                                                                                const std::set<std::string>& names,
                                                                                const CodeRules& rules) {
    std::map<std::string, std::pair<std::uint64_t, std::string>> result;
    const auto lines = lines_of(text);
    for (const auto& function : function_lines(text, rules)) {
        if (!names.contains(function.name) || function.last > lines.size()) { continue; }
        std::string written;
        for (auto line = function.first; line <= function.last; ++line) { written += std::string(lines[line - 1]) + "\n"; }
        result.insert_or_assign(function.name, std::pair{function.first, std::move(written)});
    }
    return result;
}

}  // namespace

Result<void> GateEngine::add_unwritten_stubs(const GateCall& call, const Language& language, std::vector<std::string>& places,
                                             const Stop& stop) {
    // Counts only bodies with an explicit mark: an empty body or a constant may be intended.
    static const RE2 unwritten(R"(\.\.\.|\b(?:pass|raise|throw|panic|todo|unimplemented|abort)\b)");
    for (const auto& [file, names] : to_be_changed_) {
        AF_TRY(const auto now, checkout_->file(call.tree, file));
        AF_TRY(const auto before, checkout_->file(call.baseline->base_tree, file));
        if (!now || !before || !is_valid_utf8(*now)) { continue; }
        const auto functions = texts_of_functions(*now, names, language.code);
        const auto old = texts_of_functions(*before, names, language.code);
        AF_TRY(const auto marked, marked_in(language, {{file, *now}}, {}, stop));
        for (const auto& [name, written] : functions) {
            const auto known = old.find(name);
            const bool same =
                known != old.end() && known->second.second == written.second && RE2::PartialMatch(written.second, unwritten);
            const bool is_stub =
                marked.contains(file) &&
                RE2::PartialMatch(marked.at(file), RE2::QuoteMeta(language.skeleton_marker + " " + name) + R"(\b)");
            if (same && is_stub) { places.push_back(file + ":" + std::to_string(written.first)); }
        }
    }
    return {};
}

Result<std::vector<std::string>> GateEngine::skeletons_left(const GateCall& call, const Stop& stop) {
    std::vector<std::string> places;
    AF_TRY(const auto* found, language(call.tree));
    if (found->skeleton_marker.empty()) { return places; }
    AF_TRY(const auto changes, checkout_->changes(call.baseline->base_tree, call.tree));
    for (const auto& change : changes) {
        if (change.status == 'D' || !found->sources.matches(change.path) || found->belongs_to_tests(change.path)) { continue; }
        AF_TRY(const auto now, checkout_->file(call.tree, change.path));
        AF_TRY(const auto before,
               checkout_->file(call.baseline->base_tree, change.old_path.empty() ? change.path : change.old_path));
        const auto at = now ? now->find(found->skeleton_marker) : std::string::npos;
        if (at == std::string::npos || (before && before->find(found->skeleton_marker) != std::string::npos)) { continue; }
        places.push_back(change.path + ":" +
                         std::to_string(1 + std::count(now->begin(), now->begin() + static_cast<std::ptrdiff_t>(at), '\n')));
    }
    AF_CHECK(add_unwritten_stubs(call, *found, places, stop));
    return places;
}

Result<std::vector<std::string>> GateEngine::removed_functions(const GateCall& call) {
    AF_TRY(const auto* found, language(call.tree));
    AF_TRY(const auto changes, checkout_->changes(call.baseline->base_tree, call.tree));
    std::vector<std::pair<std::string, std::string>> before_names;  // File and function.
    std::set<std::string> now_names;
    for (const auto& change : changes) {
        const std::string& path = change.old_path.empty() ? change.path : change.old_path;
        if (!found->sources.matches(path) || found->belongs_to_tests(path)) { continue; }
        AF_TRY(const auto now, checkout_->file(call.tree, change.path));
        AF_TRY(const auto before, checkout_->file(call.baseline->base_tree, path));
        for (const auto& function : function_lines(before.value_or(""), found->code)) {
            before_names.emplace_back(path, function.name);
        }
        for (const auto& function : function_lines(now.value_or(""), found->code)) { now_names.insert(function.name); }
    }
    const std::string asked = call.baseline->request + "\n" + json::serialize(call.baseline->specification);
    std::vector<std::string> removed;
    for (const auto& [file, name] : before_names) {
        if (name.starts_with('_') || now_names.contains(name) ||
            RE2::PartialMatch(asked, "(?:^|\\W)" + RE2::QuoteMeta(name) + "(?:\\W|$)")) {
            continue;
        }
        removed.push_back(file + ": " + name);
    }
    return removed;
}

Result<std::vector<std::string>> GateEngine::unnamed_files(const GateCall& call) {
    static const RE2 lock_of_dependencies(R"((?:^|/)(?:[^/]*[.-]lock(?:\.\w+)?|go\.sum|npm-shrinkwrap\.json)$)");
    AF_TRY(const auto* found, language(call.tree));
    AF_TRY(const auto changes, checkout_->changes(call.baseline->base_tree, call.tree));
    const std::string asked = call.baseline->request + "\n" + json::serialize(call.baseline->specification);
    std::vector<std::string> unnamed;
    for (const auto& change : changes) {
        const bool is_known = found->sources.matches(change.path) || found->belongs_to_tests(change.path) ||
                              is_documentation(*found, change.path) || RE2::PartialMatch(change.path, lock_of_dependencies);
        const std::string name = change.path.substr(change.path.rfind('/') + 1);
        if (!is_known && asked.find(name) == std::string::npos) { unnamed.push_back(change.path); }
    }
    return unnamed;
}

Result<std::optional<std::string>> GateEngine::changed_code(const GateCall& call) {
    AF_TRY(const auto* found, language(call.tree));
    AF_TRY(const auto changes, checkout_->changes(call.baseline->base_tree, call.tree));
    for (const auto& change : changes) {
        if (found->belongs_to_tests(change.path) || is_documentation(*found, change.path)) { continue; }
        if (change.status != 'M' || !found->sources.matches(change.path)) { return change.path; }
        AF_TRY(const auto now, checkout_->file(call.tree, change.path));
        AF_TRY(const auto before,
               checkout_->file(call.baseline->base_tree, change.old_path.empty() ? change.path : change.old_path));
        if (!same_code(before.value_or(""), now.value_or(""), found->code)) { return change.path; }
    }
    return std::nullopt;
}

Result<std::vector<std::string>> GateEngine::tests_naming_new_data(const GateCall& call, const std::string& red_tree,
                                                                   const std::vector<std::string>& tests) {
    std::vector<std::string> found;
    AF_TRY(const auto* known, language(call.tree));
    AF_TRY(const auto changes, checkout_->changes(red_tree, call.tree));
    for (const auto& change : changes) {
        if (change.status != 'A' || known->sources.matches(change.path) || known->belongs_to_tests(change.path) ||
            is_documentation(*known, change.path)) {
            continue;
        }
        const std::string name = change.path.substr(change.path.rfind('/') + 1);
        if (call.baseline->request.find(name) != std::string::npos) { continue; }
        for (const auto& test : tests) {
            AF_TRY(const auto content, checkout_->file(call.tree, test));
            if (content && content->find(name) != std::string::npos) { found.push_back(test + " names " + change.path); }
        }
    }
    return found;
}

Result<std::set<std::string>> GateEngine::changed_as_outdated(const GateCall& call) {
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
        AF_TRY(const auto before, checkout_->file(baseline.base_tree, file));
        AF_TRY(const auto now, checkout_->file(call.tree, file));
        const auto changed = changed_tests(before.value_or(""), now.value_or(""), tests);
        for (const auto& test : outdated) {
            if (std::ranges::any_of(changed, [&](const ChangedTest& each) { return each.id == without_parameters(test.id); })) {
                ids.insert(test.id);
            }
        }
    }
    return ids;
}

namespace {

/// Adds tests that are not outdated but share a file with outdated ones, if they fail in its former version: a change to shared
/// lines may hide the failure.
void add_former_failures(const GreenEvidence& green, const std::set<std::string>& outdated, const TestRun& run,
                         TestQualityEvidence& evidence) {
    std::set<std::string> files;
    for (const std::string& id : outdated) { files.insert(id.substr(0, id.find("::"))); }
    for (const auto& before : green.base_tests) {
        const bool flaky = std::ranges::find(green.flaky, before.id) != green.flaky.end();
        if (before.status != TestStatus::passed || flaky || before.id == before.file || outdated.contains(before.id) ||
            !files.contains(before.file)) {
            continue;
        }
        const auto* now = outcome_with(run.tests, before.id);
        if (run.trusted && now != nullptr && now->status == TestStatus::passed) { continue; }
        TestOutcome failed = now != nullptr ? *now : before;
        if (now == nullptr || !run.trusted) {
            failed.message = run.trusted ? "its file does not load" : "the run is not trusted: " + run.distrust;
        }
        evidence.former_failures.push_back(std::move(failed));
    }
}

}  // namespace

Result<void> GateEngine::run_former_tests(const GateCall& call, const GreenEvidence& green, TestQualityEvidence& evidence,
                                          const Stop& stop) {
    AF_TRY(const auto* found, language(call.tree));
    AF_TRY(const std::set<std::string> outdated, changed_as_outdated(call));
    std::set<std::string> ids;
    std::map<std::string, std::string> old_files;
    for (const auto& before : green.base_tests) {
        const bool flaky = std::find(green.flaky.begin(), green.flaky.end(), before.id) != green.flaky.end();
        const bool former = outdated.contains(before.id) || outcome_with(green.run.tests, before.id) == nullptr;
        if (before.status != TestStatus::passed || flaky || !former || found->may_hold_tests(before.file)) { continue; }
        AF_TRY(auto content, checkout_->file(call.baseline->base_tree, before.file));
        if (!content) { continue; }
        ids.insert(before.id);
        old_files.emplace(before.file, std::move(*content));
    }
    if (ids.empty()) { return {}; }
    TestSelection selection;
    for (const auto& [file, content] : old_files) { selection.files.push_back(file); }
    selection.instead = std::move(old_files);
    selection.purpose = "removed-tests";
    AF_TRY(const auto run, commands_->run_tests(*found, call.tree, selection, stop));
    for (const auto& test : run.tests) {
        if (run.trusted && ids.contains(test.id)) {
            (outdated.contains(test.id) ? evidence.outdated : evidence.removed).push_back(test);
        }
    }
    add_former_failures(green, outdated, run, evidence);
    return {};
}

Result<void> GateEngine::run_with_other_expectations(const GateCall& call, const GreenEvidence& green, MutationRequest& request,
                                                     TestQualityEvidence& evidence, const Stop& stop) {
    AF_TRY(const auto* found, language(call.tree));
    TestSelection selection;
    std::map<std::string, std::set<std::string>> equating;  // File → its functions that must fail now.
    bool decisive = false;
    for (const auto& file : green.red_files) {
        AF_TRY(const auto now, checkout_->file(call.tree, file));
        AF_TRY(const auto before, checkout_->file(call.baseline->base_tree, file));
        if (!now || is_link(file)) { continue; }
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
    AF_TRY(const auto run, commands_->run_tests(*found, call.tree, selection, stop));
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
    return {};
}

Result<void> GateEngine::vary_calls(const GateCall& call, const GreenEvidence& green, TestQualityEvidence& evidence,
                                    const Stop& stop) {
    AF_TRY(const auto* found, language(call.tree));
    if (found->varied_calls.empty()) { return {}; }
    AF_CHECK(checkout_->check_out(call.tree));
    std::set<std::string> declared;
    for (const auto& each : declarable_interfaces(call.baseline->specification)) {
        declared.insert(each.name.substr(each.name.find_last_of(".:#") + 1));
    }
    AF_TRY(const auto sources, changed_sources(*found, call.baseline->compared_tree(), call.tree));
    std::vector<VariedFunction> functions;
    std::vector<std::vector<double>> numbers;
    TestSelection selection;
    for (const auto& [file, content] : sources.contents) {
        if (is_link(file) || !is_valid_utf8(content)) { continue; }
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
    AF_TRY(const auto run, commands_->run_tests(*found, call.tree, selection, stop));
    evidence.varied_calls = static_cast<std::int64_t>(reported_calls(run.calls).size());
    evidence.no_work = does_no_work(functions, reported_calls(run.calls), numbers);
    return {};
}

Result<void> GateEngine::run_plainly(const GateCall& call, const std::string& red_tree, const GreenEvidence& green,
                                     TestQualityEvidence& evidence, const Stop& stop) {
    AF_TRY(const auto* found, language(call.tree));
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
    AF_TRY(selection.beside, checkout_->files(call.tree));
    std::erase_if(selection.beside, [&](const std::string& file) { return !found->belongs_to_tests(file); });
    AF_TRY(const auto changes, checkout_->changes(red_tree, call.tree));
    for (const auto& change : changes) {
        for (const auto& path : {change.path, change.old_path}) {
            if (!path.empty() && !found->belongs_to_tests(path)) {
                AF_TRY(selection.before[path], checkout_->file(red_tree, path));
            }
        }
    }
    // A plain run builds everything from scratch. A short limit on a slow machine would let a cheating change pass.
    selection.at_most =
        std::max(std::chrono::seconds(300), std::chrono::duration_cast<std::chrono::seconds>(3 * green.run.duration));
    AF_TRY(const auto run, commands_->run_plainly(*found, call.tree, selection, stop));
    if (run.measured) {
        evidence.plain_outcome = run.passed ? "passed" : "failed";
    } else {
        evidence.plain_outcome = run.reason;
    }
    if (run.measured && !run.passed) { evidence.plain = run.words.empty() ? "no reason given" : run.words; }
    return {};
}

Result<std::map<std::string, std::string>> GateEngine::change_as_comments(const Language& language, const std::string& red_tree,
                                                                          const std::string& tree) {
    std::map<std::string, std::string> files;
    if (language.code.line_comments.empty()) { return files; }
    AF_TRY(const auto* runner, commands_->runner(language, tree));
    const bool interpreted =
        runner != nullptr && runner->format == "agentforge-lines";  // These accept a file that contains only comments.
    AF_TRY(const auto changes, checkout_->changes(red_tree, tree));
    for (const auto& change : changes) {
        if (change.status == 'D' || !language.sources.matches(change.path) || language.belongs_to_tests(change.path)) {
            continue;
        }
        AF_TRY(const auto now, checkout_->file(tree, change.path));
        AF_TRY(const auto before, checkout_->file(red_tree, change.path));
        if (!now || (!before && !interpreted)) { continue; }
        if (auto text = with_text_as_comment(before.value_or(""), *now, language.code, language.skeleton_marker); !text.empty()) {
            files[change.path] = std::move(text);
        }
    }
    return files;
}

}  // namespace agentforge::kernel
