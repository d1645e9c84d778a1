// SPDX-License-Identifier: Apache-2.0
// Existing tests that a task changes because the request contradicts them. Pure functions over the text of test files.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>

#include <agentforge/host.hpp>

#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

struct UsesElsewhere;

/// An existing test with lines that a task changed or removed.
struct ChangedTest {
    std::string id;                        ///< Empty: the lines belong to no known test.
    std::uint64_t line = 0;                ///< The first such line, in the file before the task.
    std::vector<std::string> before = {};  ///< These lines, trimmed.
    std::vector<std::string> after = {};   ///< The lines that replace them.
    std::string file = {};
    bool lost_cases = false;    ///< All that it lost are cases of what the request removes, so it passes before and after.
    bool gained_cases = false;  ///< It only has more cases, so its former version must pass on the changed code.
    /// It only passes more arguments to functions with a new declared signature, with which its former version fails.
    bool follows_signature = false;

    /// Returns `file:line`.
    [[nodiscard]] std::string place() const { return file + ":" + std::to_string(line); }
};

/// Returns the tests of one file with changed or removed lines, in file order. Lines before the first test come first, without an
/// id. `tests`: those of the file before the task. A line belongs to the last test that begins above it. A test begins with the
/// first line that has its name, or with the annotations and comments directly above. Added and moved lines change no test.
/// What leaves with `outdated` tests (ids without parameters; LeavingTests) counts as lines of the first of them. `elsewhere`:
/// for a file without such tests; may be null.
[[nodiscard]] std::vector<ChangedTest> changed_tests(std::string_view before, std::string_view now,
                                                     const std::vector<TestOutcome>& tests,
                                                     const std::set<std::string>& outdated = {}, const CodeRules& rules = {},
                                                     const UsesElsewhere* elsewhere = nullptr);

/// Returns `now`, but as in `before` the lines of a CMakeLists.txt that differ only by more source files in a list: a test file
/// is added to its program. A source file is a word such as `port_test.cpp`, without `..`.
[[nodiscard]] std::string without_added_sources(std::string_view before, std::string_view now);

/// Returns the ids of the tests that `names` refer to: a whole id, or enough of its end (`test_a`, `TestX::test_a`). With
/// parameters, all of them. A name with a file may also be spelled as in a test_suite (`file::Class.test`).
[[nodiscard]] std::vector<std::string> tests_named(const std::vector<std::string>& names, const std::vector<TestOutcome>& tests);

/// A name that refers to no test of a run.
struct UnknownTest {
    std::string name;
    std::string file;                       ///< Its file, if the run has tests of it.
    std::vector<std::string> nearest = {};  ///< Up to three ids that are similar, or from the same file.
};

/// Returns the names that refer to no test of the run. Leaves out names in a file whose tests the run could not list.
[[nodiscard]] std::vector<UnknownTest> unknown_tests(const std::vector<std::string>& names,
                                                     const std::vector<TestOutcome>& tests);

/// Returns one line that describes a changed test for people: its id, old and new lines, `why` the specification calls it
/// outdated, and a hash of the lines.
[[nodiscard]] std::string changed_test_line(const ChangedTest& test, std::string_view why);

/// What the report of the gate `red` says about a changed test, in its fact `changed_tests`.
struct ChangedTestNote {
    std::string test;         ///< Its id.
    std::string description;  ///< `changed_test_line`.
};

[[nodiscard]] json::array changed_tests_fact(const std::vector<ChangedTestNote>& notes);

/// Returns the notes in a report's facts; the inverse of `changed_tests_fact`.
[[nodiscard]] std::vector<ChangedTestNote> changed_tests_in(const json::object& facts);

}  // namespace agentforge::kernel
