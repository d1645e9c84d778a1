// SPDX-License-Identifier: Apache-2.0
// Result formats: what a test runner printed or wrote, read into test outcomes. One function a format, one row in the table
// of format.cpp; a language file names it (`run: {format: junit-xml}`). A parser sees only values: no files, no processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agentforge/host.hpp>

#include "gates/engine/results.hpp"

namespace agentforge::kernel {

/// What one command of a runner left behind. Everything in it was written by the project's own code or by its runner: input
/// to doubt, of any size up to the limits of the run, in any bytes.
struct RunOutput {
    std::string_view out;  ///< Standard output.
    std::string_view err;
    /// Files that the run wrote below `{results}`, by path relative to it, sorted.
    std::vector<std::pair<std::string, std::string>> files;
    int exit_code = 0;
    bool out_truncated = false;  ///< A part in the middle of `out` is missing.
    std::string_view root;       ///< Absolute path of the checked-out tree, to make paths relative.
    std::string_view scratch;    ///< The folder of all that a build can write.
    std::string_view secret;     ///< `{secret}` of the run: what the lines of a recorder of ours carry.
};

/// One test as its runner tells it. The kernel makes the id (`file::suite::name`, or `file::name`), finds the file where the
/// format has none, tells skeletons from other failures by the marker, and cuts the message.
struct ReportedTest {
    /// Never empty. Parameters in brackets: `parses[3]`. The file itself where a file as a whole could not be loaded (`error`).
    std::string name;
    std::string suite;  ///< Class, describe block, package; parts joined by `::`. May be empty.
    std::string file;   ///< As reported; a path below `root` is made relative by the kernel. May be empty.
    /// Where a format only knows what the language's rules leave open, in order of preference: the first whose file is a test
    /// file of the tree gives file and suite. A file that ends in `/` is a folder: the test file in it that declares the name.
    struct Place {
        std::string file;
        std::string suite;
    };
    std::vector<Place> places;
    std::vector<std::string>
        sources;             ///< Without a file: what its program was built from; the first of them that is a test file is taken.
    std::uint64_t line = 0;  ///< From 1; 0: not known.
    /// passed, skipped, failed_assertion (the runner says the test's own check failed, or cannot tell), error (it says otherwise:
    /// an exception, a crash, a timeout, a broken fixture, a file that cannot be loaded).
    TestStatus status = TestStatus::error;
    std::string message;  ///< Whole; the kernel looks for patterns in it before it cuts it.
    std::optional<TestInvocation>
        invocation;           ///< Where the format tells; the kernel adds which test files the program is built from.
    bool whole_file = false;  ///< Reports the whole file, or its class, which could not be loaded or set up.
    bool canary = false;      ///< Only for formats whose recorder brings the canary; others are known by their names.
};

struct FormatResult {
    std::vector<ReportedTest> tests;  ///< In the order of the report; a test that is told twice is there twice.
    std::vector<std::string> notes;   ///< For a person.
    /// Not empty: this is no complete report of the format (cut off, malformed, counts that do not agree), in one sentence that
    /// goes on after "the test run is not believed:". What was read is in `tests` all the same.
    std::string problem;
    std::vector<std::string> reads{};  ///< TestRun::reads.
};

using FormatParser = FormatResult (*)(const RunOutput&);

/// How a format's input reaches it; the kernel checks that it is there.
enum class FormatInput : unsigned char { out = 1, files };

struct Format {
    std::string_view name;  ///< As in language files.
    FormatInput input;      ///< `files`: at least one file below `{results}` must have been written.
    FormatParser parse;
};

/// Nullptr: there is no such format.
[[nodiscard]] const Format* find_format(std::string_view name);
/// All of them, for messages, separated by commas.
[[nodiscard]] std::string format_names();

// ------------------------------------------------------------------------------------------------ the formats, one file each --

/// `cargo-test` (formats/cargo_test.cpp): what `cargo test` prints, with its standard error.
[[nodiscard]] FormatResult parse_cargo_test(const RunOutput& output);
/// `go-test-json` (formats/go_test.cpp): `go test -json`, with its standard error.
[[nodiscard]] FormatResult parse_go_test_json(const RunOutput& output);
/// `ctest` (formats/ctest.cpp): config/languages/cpp/run.cmake's tests.json and ctest.xml, and the recorders' files.
[[nodiscard]] FormatResult parse_ctest(const RunOutput& output);
/// `googletest-json` (formats/googletest.cpp): `--gtest_output=json:{results}/`, of any number of programs.
[[nodiscard]] FormatResult parse_googletest_json(const RunOutput& output);
/// Suite and name as `Suite::test[parameters]` has them, from GoogleTest's `Instance/Suite` and `test/0`, or `Suite/0` and
/// `test`.
void gtest_names(std::string_view suite, std::string_view name, ReportedTest& test);

/// `junit-xml` (formats/junit.cpp): any number of `*.xml` below `{results}`. `failure` is a failed assertion unless its `type`
/// names another exception, `error` an error. Counts in the elements must not announce more tests or failures than are told.
[[nodiscard]] FormatResult parse_junit_xml(const RunOutput& output);

/// `tap` (formats/tap.cpp): TAP 12 to 14 on standard output, between whatever else was printed there. The plan must be there and
/// hold, the numbers must count, nobody may have bailed out. `# SKIP` and `# TODO` are skipped. The description of a subtest is
/// the suite of the tests in it. A suite is told as a test only when it fails though none of its tests did.
[[nodiscard]] FormatResult parse_tap(const RunOutput& output);
/// `tap-or-junit-xml`: JUnit XML where the run wrote an `*.xml`, else TAP.
[[nodiscard]] FormatResult parse_tap_or_junit_xml(const RunOutput& output);

// -------------------------------------------------------------------------------------------------- what several formats need --

/// A path as the kernel writes it: below `root` relative to it, `./` and backslashes gone; one that leads elsewhere as it is.
[[nodiscard]] std::string path_in_tree(std::string_view path, std::string_view root);
/// Text of a test's failure for a message: valid UTF-8, no colours, at most 64 KiB.
[[nodiscard]] std::string failure_text(std::string_view text);
/// Calls `line` with each line, without its end.
template <typename Function>
void for_each_line(std::string_view text, Function&& line) {
    while (!text.empty()) {
        const auto end = text.find('\n');
        auto one = text.substr(0, end);
        if (one.ends_with('\r')) { one.remove_suffix(1); }
        line(one);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
}

}  // namespace agentforge::kernel
