// SPDX-License-Identifier: Apache-2.0
// What tests prove of a change: whether they notice when it is altered, and whether a change without a new test leaves behaviour as it was.
// Plain functions over what was measured.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gates/language.hpp"
#include "gates/rules.hpp"

namespace agentforge::kernel {

/// One altered line, and what the tests said of it.
struct TriedMutant {
    enum class Noticed : unsigned char { by_assertion = 1, by_error, not_noticed };
    std::string file;
    std::uint64_t line = 0;
    std::string before;
    std::string after;
    Noticed noticed = Noticed::not_noticed;
    bool by_guard = false;                          ///< One that RED named is among the tests that failed at an assertion.
    std::string added_function = {};                   ///< The new function that the line is in; empty: it is in none. Asked where there is no new test.
};

struct MeaningEvidence {
    std::vector<std::string> fresh;                 ///< Ids of new tests, each seen to fail without the change.
    std::vector<std::string> guards;
    bool asked_without = true;                      ///< Work without a new test is what was asked for.
    bool code_changed = true;                       ///< Anything besides tests, documentation and comments differs from the user's commit.
    bool mutated = false;                           ///< Mutants were asked for; false: nothing below says anything.
    std::vector<TriedMutant> tried;                 ///< Those that could be built and run.
    bool cut_short = false;                         ///< Time was over before all of them were tried.
    std::vector<std::string> text_tests;            ///< New tests that pass where the change stands in comments only.
    std::vector<std::string> without_assertions;    ///< Tests of RED's in which none ran, and which were never seen to fail at one.
    std::vector<std::string> skeletons;             ///< Places of bodies that are still the kernel's: `file:line`.
    std::map<std::string, std::vector<std::string>> of_requirements;    ///< Requirement → its new tests.
    std::set<std::string> comparing;                ///< Tests that failed at an assertion on a mutant, or when they expected another value.
    bool expects_anything = false;                  ///< All new tests pass, too, when what they expect is another value.
    std::string plain;                              ///< How the plain run of passing tests failed; empty: it did not.
    std::string plain_told;                         ///< `passed`, `failed`, or why it was not run.
    std::vector<TestOutcome> removed;               ///< Tests that passed before and are gone: how they end on this tree.
};

/// The test of which an id is one case: what stands before `[`. A case with other values has another id.
[[nodiscard]] std::string without_parameters(std::string_view id);

/// Requirements none of whose new tests compares anything, as far as was seen.
[[nodiscard]] std::vector<std::string> unproven_requirements(const MeaningEvidence& evidence);

/// Blocks where new tests notice no mutant at all, or those of one requirement compare nothing; where there is no new test and code has changed, unless guards notice some and each changed
/// file and each new function has one that is noticed; where a new test reads the source; where a test of RED's asserts nothing; where they pass whatever they expect; where the tests fail without the kernel's recorder; where a declared body was not written; where a test was removed that would fail at an assertion.
/// facts: behaviour (`tested`, `unchanged` or `documentation`), mutants_tried, mutants_noticed, mutants_survived.
[[nodiscard]] Ruling judge_meaning(const MeaningEvidence& evidence);

/// Whether the user's words ask for what may leave behaviour as it is: to refactor, move, delete, document, format. English only; what is not
/// understood asks for behaviour.
[[nodiscard]] bool asks_for_no_behaviour(std::string_view request);

/// Documentation: no test can depend on it, and nothing that runs does. What the language runs is none, whatever it is called.
[[nodiscard]] bool is_documentation(const Language& language, std::string_view path);

}  // namespace agentforge::kernel
