// SPDX-License-Identifier: Apache-2.0
// What tests prove of a change: whether they notice when it is altered, and whether a change without a new test leaves behaviour
// as it was. Plain functions over what was measured.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gates/engine/rules.hpp"
#include "gates/language/language.hpp"

namespace agentforge::kernel {

/// One altered line, and what the tests said of it.
struct TriedMutant {
    enum class Noticed : unsigned char { by_assertion = 1, by_error, not_noticed };
    std::string file;
    std::uint64_t line = 0;
    std::string before;
    std::string after;
    Noticed noticed = Noticed::not_noticed;
    bool by_guard = false;            ///< One that RED named is among the tests that failed at an assertion.
    std::string added_function = {};  ///< The new function that contains the line; empty: none. Set only if there is no new test.
    std::string results_of = {};      ///< The function whose results were all altered; empty if only this line was.
    bool declared = false;            ///< The specification declares that function.
};

struct TestQualityEvidence {
    std::vector<std::string> fresh;  ///< Ids of new tests, each seen to fail without the change.
    std::vector<std::string> guards;
    bool asked_without = true;             ///< The request asks for work without a new test.
    bool asked_for_documentation = false;  ///< The request asks for documentation alone.
    bool asked_for_code = false;           ///< The request names code that is to be written.
    bool code_changed = true;              ///< Anything besides tests, documentation and comments differs from the user's commit.
    bool mutated = false;                  ///< Mutants were asked for; false: nothing below says anything.
    std::vector<TriedMutant> tried;        ///< Those that could be built and run.
    bool cut_short = false;                ///< Time ran out before all of them were tried.
    std::vector<std::string> text_tests;   ///< New tests that pass where the change stands in comments only.
    std::vector<std::string> form_tests;   ///< New tests that fail when a statement without effect is added to the change.
    std::vector<std::string> without_assertions;  ///< Tests of RED's in which none ran, and which were never seen to fail at one.
    std::vector<std::string> skeletons;           ///< Places of bodies that are still the kernel's: `file:line`.
    std::map<std::string, std::vector<std::string>> of_requirements;  ///< Requirement → its new tests.
    std::set<std::string> comparing;  ///< Tests that failed at an assertion on a mutant, or when they expected another value.
    bool expects_anything = false;    ///< All new tests pass, too, when what they expect is another value.
    std::vector<std::string>
        equal_to_others;  ///< New tests that pass, too, when the literal that they say a result equals is another.
    std::string no_work;  ///< A function that does no work for other lists of numbers than the tests'; empty: none was found.
    std::int64_t varied_calls = 0;  ///< So many calls of such functions were made.
    std::string plain;              ///< How the plain run of passing tests failed; empty: it did not.
    std::string plain_told;         ///< `passed`, `failed`, or why it was not run.
    std::vector<std::string>
        removed_functions;  ///< `file: name`, of the user's commit, which neither the request nor the specification names.
    std::vector<TestOutcome> removed;  ///< Tests that passed before and are gone: how they end on this tree.
    std::vector<std::string>
        read_answers;  ///< `test file names data file`, which the implementation brings and the request does not name.
    std::vector<TestOutcome>
        outdated;  ///< Tests that were changed or removed as outdated: how they end on this tree as they were before.
    std::vector<TestOutcome>
        covered_up;  ///< Other tests of these files that passed before the task: how they fail on this tree as they were before.
};

/// The id without its case: what precedes `[`. Cases of one test differ in the values after it.
[[nodiscard]] std::string without_parameters(std::string_view id);

/// Requirements none of whose new tests was seen to compare anything.
[[nodiscard]] std::vector<std::string> unproven_requirements(const TestQualityEvidence& evidence);

/// Blocks if new tests notice no mutant at all, or those of one requirement compare nothing; if code has changed without a new
/// test, unless guards notice some mutants and each changed file and each new function has a noticed one; if a new test reads the
/// source or the byte code; if one of RED's tests asserts nothing; if they pass whatever they expect, or one of them does that
/// says plainly what a result equals; if the request asks for code and there is none; if they do not notice altered results of a
/// function that the specification declares, or of any function; if the tests fail without the kernel's recorder; if a function
/// does no work for other lists than the tests'; if a declared body was not written; if a removed test would fail at an
/// assertion. facts: behaviour (`tested`, `unchanged` or `documentation`), lost_tests (removed, and they do not load beside the
/// change), removed_functions, mutants_tried, mutants_noticed, mutants_survived, tests_at_fault (those that must be written
/// again, without the parameters of cases).
[[nodiscard]] Verdict judge_test_quality(const TestQualityEvidence& evidence);

/// Whether the request asks for work that may leave behaviour unchanged: refactoring, moving, deleting, documenting, formatting.
/// Understands English only; any other request counts as asking for a change of behaviour.
[[nodiscard]] bool asks_for_no_behaviour(std::string_view request);

/// Whether the request asks for documentation, comments or wording, and for nothing else that this understands (English).
[[nodiscard]] bool asks_for_documentation(std::string_view request);

/// Whether the request begins by asking for something to be made, names code (a call, a source file, a function) and mentions no
/// documentation. Understands English only; of any other request nothing is said.
[[nodiscard]] bool asks_for_code(std::string_view request);

/// Whether a file is documentation: no test and nothing that runs can depend on it. A file that the language runs is not,
/// whatever its name.
[[nodiscard]] bool is_documentation(const Language& language, std::string_view path);

}  // namespace agentforge::kernel
