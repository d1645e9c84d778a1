// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/test_quality.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <re2/re2.h>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

using Noticed = TriedMutant::Noticed;

std::string describe(const TriedMutant& mutant) {
    return mutant.file + ":" + std::to_string(mutant.line) + ": `" + ellipsis(mutant.before, 80) + "` made `" +
           ellipsis(mutant.after, 80) + "`";
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) { text += (text.empty() ? "" : ", ") + name; }
    return text;
}

constexpr std::size_t fewest_mutants = 3;  ///< This many must survive to count if time ran out before all were tried.

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

bool also_removes(std::string_view request) {
    static const RE2 removes(R"((?i)\b(?:remov(?:e|es|ing)|delet(?:e|es|ing)|drop(?:s|ping)?|get rid of)\b)");
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
    for (const auto& lost : evidence_.left_cases) {
        refuse("The case `" + ellipsis(lost.text, 120) + "` left " + lost.file + " with the outdated tests, and fails now (" +
               lost.test + "). Keep the behaviour, or keep the case with the result that the request asks for.");
        blame({lost.test});
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
        refuse("The request also says `" + removal.made_nothing +
               "`, but the change adds nothing of it; do the rest of what it says.");
    }
    if (removal.removed_nothing) {
        refuse(
            "The request asks to remove something and to make something else, and nothing that has to do with the first part is gone; "
            "remove what the request says.");
    }
    if (!removal.left_out.empty()) {
        refuse("The request also names `" + removal.left_out +
               "`, and the change leaves there what it removes from another function; remove it there too.");
    }
    for (const auto& lines : removal.unnoticed) {
        const auto what = lines.now.empty() ? "removes `" + ellipsis(lines.text, 120) + "`"
                                            : "makes `" + ellipsis(lines.text, 120) + "` `" + ellipsis(lines.now, 120) + "`";
        refuse("The change " + what + " (" + lines.file + ":" + std::to_string(lines.line) +
               " before the task), which does not seem to be what the request asks " +
               (removal.asked_to_remove ? "to remove" : "for") +
               ", and all tests pass when it is put back; "
               "put it back. If the request needs its removal, a test must fail while it is there: the tests must be rewritten.");
    }
    for (const auto& left : removal.left_behind) {
        refuse("The request asks to remove `" + left.now + "`, and " + left.file + ":" + std::to_string(left.line) +
               " still uses that name (`" + ellipsis(left.text, 120) +
               "`); all tests pass with another name there. Remove it. If the request needs it, a test must fail with another "
               "name: the tests must be rewritten.");
    }
    for (const auto& branch : removal.dropped_errors) {
        refuse(
            "The change does nothing with an error in " + branch.file + ":" + std::to_string(branch.line) + " (`" +
            ellipsis(branch.text, 120) +
            "`), and no test reaches that. Pass the error on. If it has to be ignored, a test must reach it: the tests must be "
            "rewritten.");
    }
    if (!removal.unnoticed.empty() || !removal.left_behind.empty() || !removal.dropped_errors.empty()) {
        blame(evidence_.fresh);
        blame(evidence_.guards);
    }
    if (!new_tests_ && !removal.shows_what_was_asked && removal.unnoticed.empty() && removal.left_behind.empty()) {
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
    // What the request names is gone, and nothing that is left could be altered.
    if (evidence_.nothing_to_alter && evidence_.removal.removed_by_name) { return; }
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
    facts["unmentioned_names"] = json::array(evidence_.unmentioned_names.begin(), evidence_.unmentioned_names.end());
    const char* without_tests = evidence_.code_changed ? "unchanged" : "documentation";
    facts["behaviour"] = new_tests_ ? "tested" : without_tests;
    const auto put_back = evidence_.removal.tried + evidence_.put_back;
    if (put_back > 0) { facts["removals_tried"] = put_back; }
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

}  // namespace agentforge::kernel
