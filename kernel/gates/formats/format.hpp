// SPDX-License-Identifier: Apache-2.0
// Result formats: parse a test runner's output or files into test outcomes. Each format is one function and one row in the table
// of format.cpp. A language file names it (`run: {format: junit-xml}`). A parser sees only values: no files, no processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agentforge/host.hpp>

#include "gates/engine/test_run.hpp"

namespace agentforge::kernel {

/// The output of one runner command. All of it was written by the project's own code or its runner: untrusted input of any size
/// up to the run's limits, with any bytes.
struct RunOutput {
    std::string_view out;  ///< Standard output.
    std::string_view err;
    /// Files that the run wrote below `{results}`, by relative path, sorted.
    std::vector<std::pair<std::string, std::string>> files;
    int exit_code = 0;
    bool out_truncated = false;  ///< True if the middle of `out` is missing.
    std::string_view root;       ///< Absolute path of the checked-out tree, to make paths relative.
    std::string_view scratch;    ///< The folder for everything that a build can write.
    std::string_view secret;     ///< `{secret}` of the run, which the lines of our recorders carry.
};

/// One test as its runner reports it. The kernel makes the id (`file::suite::name`, or `file::name`), finds the file if the
/// format has none, recognises skeletons by the marker, and shortens the message.
struct ReportedTest {
    /// Never empty. Parameters are in brackets: `parses[3]`. If a whole file could not be loaded (`error`), its path.
    std::string name;
    std::string suite;  ///< Class, describe block, package; parts joined by `::`. May be empty.
    std::string file;   ///< As reported. The kernel makes a path below `root` relative. May be empty.
    /// Candidates in order of preference, for formats that leave the place open. The first one whose file is a test file of the
    /// tree gives file and suite. A file that ends in `/` is a folder: its test file that declares the name.
    struct Place {
        std::string file;
        std::string suite;
    };
    std::vector<Place> places;
    /// If there is no file: the sources of its program. The first of them that is a test file is used.
    std::vector<std::string> sources;
    std::uint64_t line = 0;  ///< From 1; 0: unknown.
    /// passed, skipped, failed_assertion (by the runner, the test's own check failed; or the runner cannot tell), error (by the
    /// runner, anything else: an exception, a crash, a timeout, a broken fixture, a file that cannot be loaded).
    TestStatus status = TestStatus::error;
    std::string message;  ///< The whole message. The kernel searches it for patterns before shortening it.
    /// If the format tells. The kernel adds the test files that the program is built from.
    std::optional<TestInvocation> invocation;
    bool whole_file = false;  ///< Reports a whole file, or class, that could not be loaded or set up.
    bool canary = false;      ///< Only for formats whose recorder brings the canary; other canaries are known by name.
};

struct FormatResult {
    std::vector<ReportedTest> tests;  ///< In report order. A test reported twice occurs twice.
    std::vector<std::string> notes;   ///< For people.
    /// Not empty: the report is not complete or valid (truncated, malformed, inconsistent counts). One sentence that continues
    /// "the test run is not trusted:". `tests` still has what was read.
    std::string problem;
    std::vector<std::string> reads{};  ///< TestRun::reads.
    bool no_report = false;            ///< `problem` is that the command printed nothing that is a report.
};

using FormatParser = FormatResult (*)(const RunOutput&);

/// Where a format's input comes from. The kernel checks that it exists.
enum class FormatInput : unsigned char { out = 1, files };

struct Format {
    std::string_view name;  ///< As in language files.
    FormatInput input;      ///< `files`: at least one file must have been written below `{results}`.
    FormatParser parse;
};

/// Returns nullptr for an unknown format.
[[nodiscard]] const Format* find_format(std::string_view name);
/// Returns all names, for messages, separated by commas.
[[nodiscard]] std::string format_names();

// ------------------------------------------------------------------------------------------------ the formats, one file each --

/// `cargo-test` (formats/cargo_test.cpp): the output of `cargo test`, including standard error.
[[nodiscard]] FormatResult parse_cargo_test(const RunOutput& output);
/// `go-test-json` (formats/go_test.cpp): the output of `go test -json`, including standard error.
[[nodiscard]] FormatResult parse_go_test_json(const RunOutput& output);
/// `ctest` (formats/ctest.cpp): tests.json and ctest.xml of config/languages/cpp/run.cmake, and the recorders' files.
[[nodiscard]] FormatResult parse_ctest(const RunOutput& output);
/// `googletest-json` (formats/googletest.cpp): `--gtest_output=json:{results}/`, of any number of programs.
[[nodiscard]] FormatResult parse_googletest_json(const RunOutput& output);
/// Sets suite and name in the form `Suite::test[parameters]`, from GoogleTest's `Instance/Suite` and `test/0`, or `Suite/0` and
/// `test`.
void gtest_names(std::string_view suite, std::string_view name, ReportedTest& test);

/// `junit-xml` (formats/junit.cpp): any number of `*.xml` below `{results}`. `failure` is a failed assertion unless its `type`
/// names another exception; `error` is an error. The counts in the elements must not announce more tests or failures than are
/// reported.
[[nodiscard]] FormatResult parse_junit_xml(const RunOutput& output);

/// `tap` (formats/tap.cpp): TAP 12 to 14 on standard output, between other output. The plan must exist and match, the numbers
/// must be in sequence, and there must be no bail-out. `# SKIP` and `# TODO` count as skipped. A subtest's description is the
/// suite of its tests. A suite is reported as a test only if it fails although none of its tests did.
[[nodiscard]] FormatResult parse_tap(const RunOutput& output);
/// `tap-or-junit-xml`: JUnit XML if the run wrote an `*.xml`, else TAP.
[[nodiscard]] FormatResult parse_tap_or_junit_xml(const RunOutput& output);

// -------------------------------------------------------------------------------------------------- what several formats need --

/// Returns a path in the kernel's form: relative to `root` if below it, without `./` and backslashes. Returns a path elsewhere
/// unchanged.
[[nodiscard]] std::string path_in_tree(std::string_view path, std::string_view root);
/// Returns a test's failure text for a message: valid UTF-8, no colours, at most 64 KiB.
[[nodiscard]] std::string failure_text(std::string_view text);
/// Calls `line` with each line, without its line end.
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
