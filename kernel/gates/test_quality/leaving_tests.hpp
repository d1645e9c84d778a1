// SPDX-License-Identifier: Apache-2.0
// What leaves a test file together with outdated tests: imports, helpers and suites that nothing needs any more. Plain functions
// over texts; runs nothing.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/host.hpp>

#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

/// A part of a test file that leaves with its outdated tests. A test that was changed also leaves: its new lines are added.
struct LeavingPart {
    enum class Kind : unsigned char { test = 1, suite, definition, import };
    Kind kind = Kind::test;
    std::string id;           ///< Of a test, without parameters. Empty for other parts.
    std::uint64_t first = 0;  ///< The first and last line, from 1, in the file before the task.
    std::uint64_t last = 0;
    std::string replacement{};         ///< Of an import: the lines that stand there now. Empty: none.
    std::vector<std::string> names{};  ///< Of an import: the names that nothing imports any more.
};

/// For a file that has no outdated tests: what leaves and what stays in the others.
struct UsesElsewhere {
    std::string test;                  ///< The first outdated test that leaves.
    std::string leaving;               ///< The lines that leave with outdated tests.
    std::vector<std::string> staying;  ///< The present texts of the other test files.
};

/// A test file of which outdated tests leave.
class LeavingTests {
public:
    /// `tests`: those of the file before the task. `outdated`: ids without parameters. Finds nothing if `rules` are empty.
    ///
    /// Besides the tests, these parts may leave, if nothing that stays needs them:
    ///   - a suite (`describe`, a class of tests) all of whose tests leave;
    ///   - a function, type or constant that nothing in the file means any more (name_uses.hpp). Hooks, automatic fixtures,
    ///   members of other
    ///     types and whatever else acts without being named stay;
    ///   - an import of which no name is used any more, or single names of an import; names may be added in the same import if
    ///     no line had them before. The module stays the same.
    /// Without outdated tests, names may only be added to an import; with `elsewhere`, definitions may leave that outdated tests
    /// of other files used, if no file of tests has their name any more, and then also imports. Imports that give the same names
    /// from the same modules are the same, however they are sorted, wrapped, divided or joined.
    LeavingTests(std::string_view before, std::string_view now, const std::vector<TestOutcome>& tests,
                 const std::set<std::string>& outdated, const CodeRules& rules, const UsesElsewhere* elsewhere = nullptr);

    [[nodiscard]] const std::vector<LeavingPart>& parts() const { return parts_; }
    [[nodiscard]] bool empty() const { return parts_.empty(); }
    /// True if the line (from 1) leaves, or is a blank line or a comment beside lines that leave.
    [[nodiscard]] bool leaves(std::uint64_t line) const { return leaving_[line - 1]; }
    /// Returns the lines that leave.
    [[nodiscard]] std::string left() const;
    /// True if the line is within a test that stays.
    [[nodiscard]] bool is_in_staying_test(std::uint64_t line) const;
    /// The file before the task without what leaves. `back`: indexes of parts to keep, without the other parts within them.
    [[nodiscard]] std::string rest(const std::set<std::size_t>& back = {}) const;
    /// Like `rest`, for a language that refuses imports without a use (Go) and names without an import: with the imports that
    /// what is put back uses, and without those of Go that the text does not use. `rules`: as given to the constructor.
    [[nodiscard]] std::string rest_that_builds(std::set<std::size_t> back, const CodeRules& rules) const;
    /// Like `rest_that_builds`, but the imports of JavaScript, TypeScript and Python give only the names that the rest with the
    /// parts `used_by` uses: a name that is gone would keep the file from loading.
    [[nodiscard]] std::string rest_with_used_names(const std::set<std::size_t>& back, const std::set<std::size_t>& used_by,
                                                   const CodeRules& rules) const;
    /// For each line of `rest()`, its number in the file before the task. 0: it is part of a replaced import.
    [[nodiscard]] std::vector<std::uint64_t> numbers_of_rest() const;

private:
    struct TestPlace {
        std::string id;
        std::size_t line = 0;   ///< Index of the line with its name.
        std::size_t first = 0;  ///< With its annotations and the comments above.
        std::size_t last = 0;
    };
    struct Reader;
    void find_places(const Reader& before, const std::vector<TestOutcome>& tests);
    void find_tests(const Reader& before, const Reader& now, const std::set<std::string>& outdated);
    void find_suites(const Reader& before, const Reader& now, const std::set<std::string>& outdated);
    void find_definitions(const Reader& before, const Reader& now, const UsesElsewhere* elsewhere);
    /// `only_added`: only imports that lost no name.
    void find_imports(const Reader& before, const Reader& now, bool only_added);
    void take_blanks(const Reader& before);
    [[nodiscard]] std::vector<bool> lines_of_staying_tests() const;
    [[nodiscard]] static std::string without_unused_go_imports(const Reader& reader);
    void add(LeavingPart::Kind kind, std::size_t first, std::size_t last, std::string id = {});

    std::vector<std::string> lines_;
    std::vector<TestPlace> places_;
    std::set<std::string> unplaced_;  ///< Ids of tests whose lines were not found.
    std::set<std::string> staying_;   ///< Ids of tests that stay.
    std::vector<LeavingPart> parts_;
    std::vector<bool> leaving_;
};

}  // namespace agentforge::kernel
