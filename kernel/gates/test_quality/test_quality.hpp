// SPDX-License-Identifier: Apache-2.0
// Judges what the tests prove about a change: whether they notice altered code, and whether a change without a new test keeps
// behaviour. Pure functions over measurements.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gates/engine/rules.hpp"
#include "gates/language/language.hpp"
#include "gates/removal/removal_evidence.hpp"

namespace agentforge::kernel {

/// One altered line, and how the tests reacted.
struct TriedMutant {
    enum class Noticed : unsigned char { by_assertion = 1, by_error, not_noticed };
    std::string file;
    std::uint64_t line = 0;
    std::string before;
    std::string after;
    Noticed noticed = Noticed::not_noticed;
    bool by_guard = false;            ///< A test that RED named is among those that failed at an assertion.
    std::string added_function = {};  ///< The new function that contains the line. Empty: none. Set only if there is no new test.
    std::string results_of = {};      ///< The function whose results were all altered. Empty if only this line was.
    bool declared = false;            ///< The specification declares that function.
};

/// A case that left the table of an outdated test, and fails now.
struct LostCase {
    std::string file;
    std::string text;
    std::string test;  ///< The one that fails with it.
};

struct TestQualityEvidence {
    std::vector<LostCase> left_cases;
    std::vector<std::string> fresh;  ///< Ids of new tests, each seen to fail without the change.
    std::vector<std::string> guards;
    bool without_new_test = true;          ///< The request asks for work that needs no new test.
    bool asked_for_documentation = false;  ///< The request asks only for documentation.
    bool asked_for_code = false;           ///< The request names code to write.
    /// For a request to remove something. If the change only removes, the code that is left is not new, so only the tests that
    /// passed before can notice a fault in it.
    RemovalEvidence removal;
    /// Something besides tests, documentation and comments differs from the user's commit.
    bool code_changed = true;
    bool mutated = false;            ///< Mutants were requested. False: the fields below mean nothing.
    std::vector<TriedMutant> tried;  ///< Mutants that could be built and run.
    bool cut_short = false;          ///< Time ran out before all of them were tried.
    std::int64_t put_back = 0;       ///< How often removed lines were put back to prove a requirement of a removal.
    bool nothing_to_alter = false;   ///< The change only removes code, and no mutant can be made of the files that it changed.
    std::vector<std::string> text_tests;          ///< New tests that pass if the change is present only as comments.
    std::vector<std::string> form_tests;          ///< New tests that fail if a statement without effect is added to the change.
    std::vector<std::string> without_assertions;  ///< RED's tests in which no assertion ran, and that never failed at one.
    std::vector<std::string> skeletons;           ///< Bodies that are still the kernel's: `file:line`.
    std::map<std::string, std::vector<std::string>> of_requirements;  ///< Requirement → its new tests.
    std::set<std::string> comparing;  ///< Tests that failed at an assertion on a mutant, or with another expected value.
    bool any_value_accepted = false;  ///< All new tests also pass with other expected values.
    /// New tests that also pass when the literal they compare with is altered.
    std::vector<std::string> accepting_other_literals;
    std::string no_work;  ///< A function that does no work for other lists of numbers than the tests'. Empty: none was found.
    std::int64_t varied_calls = 0;  ///< Number of calls made to such functions.
    std::string plain;              ///< How the plain run of passing tests failed. Empty: it did not.
    std::string plain_outcome;      ///< `passed`, `failed`, or why it was not run.
    /// `file: name` of functions in the user's commit that neither the request nor the specification names.
    std::vector<std::string> removed_functions;
    /// Changed files that are neither code, tests, documentation nor locks of dependencies, and that neither the request nor the
    /// specification names.
    std::vector<std::string> unnamed_files;
    std::vector<std::string> unmentioned_names;  ///< ChangeChecks::unmentioned_names.
    std::vector<TestOutcome> removed;            ///< Removed tests that passed before: their outcomes on this tree.
    /// `test file names data file`, added by the implementation and not named in the request.
    std::vector<std::string> tests_naming_new_data;
    std::vector<TestOutcome> outdated;  ///< Tests changed or removed as outdated: outcomes of their former versions on this tree.
    /// Other tests of these files: they passed before the task, and their former versions fail on this tree.
    std::vector<TestOutcome> former_failures;
};

/// Returns the id without its case: the part before `[`. Cases of one test differ in the values after it.
[[nodiscard]] std::string without_parameters(std::string_view id);

/// Returns the requirements without a new test that has failed at an assertion on a mutant or with an altered expected value.
[[nodiscard]] std::vector<std::string> unproven_requirements(const TestQualityEvidence& evidence);

/// Judges the tests of a change. The verdict fails if
///   - the new tests notice no mutant, or the new tests of one requirement compare nothing, unless the change only removes code;
///   - code has changed without a new test, unless guards notice a mutant, and tests notice one in each changed file and in
///     each new function;
///   - a new test reads the source or the byte code;
///   - one of RED's tests asserts nothing;
///   - all new tests, or one that compares a result with a literal, still pass with altered expected values;
///   - the request asks for code and the change contains none;
///   - the tests do not notice altered results of a function that the specification declares, or of any function;
///   - the tests fail without the kernel's recorder;
///   - a function returns no computed result for lists other than the tests';
///   - a declared function still has a stub body;
///   - a removed test would fail at an assertion;
///   - the request asks to remove something, and the change does not, or removes lines that nothing accounts for
///   (RemovalEvidence).
/// facts: behaviour (`tested`, `unchanged` or `documentation`), lost_tests (removed tests that do not load with the change),
/// removed_functions, unnamed_files, unmentioned_names, removals_tried, mutants_tried, mutants_noticed, mutants_survived,
/// tests_at_fault (those that must be rewritten, without the parameters of cases).
[[nodiscard]] Verdict judge_test_quality(const TestQualityEvidence& evidence);

/// True if the request asks for work that may leave behaviour unchanged: refactoring, moving, deleting, documenting, formatting.
/// Understands English only; any other request counts as asking for a change of behaviour.
[[nodiscard]] bool may_keep_behaviour(std::string_view request);

/// True if the request begins by asking to remove something. Understands English only.
[[nodiscard]] bool asks_to_remove(std::string_view request);

/// True if the request asks to remove something, perhaps among other things. Understands English only.
[[nodiscard]] bool also_removes(std::string_view request);

/// True if the request asks for documentation, comments or wording only. Understands English only.
[[nodiscard]] bool asks_for_documentation(std::string_view request);

/// True if the request begins by asking to make something, names code (a call, a source file, a function) and mentions no
/// documentation. Understands English only; returns false for any other request.
[[nodiscard]] bool asks_for_code(std::string_view request);

/// True for documentation: no test and nothing that runs can depend on it. A file that the language runs is not documentation,
/// whatever its name.
[[nodiscard]] bool is_documentation(const Language& language, std::string_view path);

}  // namespace agentforge::kernel
