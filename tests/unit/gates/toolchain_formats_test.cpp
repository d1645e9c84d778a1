// SPDX-License-Identifier: Apache-2.0
// Output of `go test -json` (Go 1.19, and 1.24 where stated) and `cargo test` (Rust 1.63), and its parsed results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/formats/format.hpp"
#include "gates/gate_runner.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Returns `status place name`, one line for each test. The place is the most likely one.
std::vector<std::string> described_with_places(const FormatResult& result) {
    std::vector<std::string> lines;
    for (const auto& test : result.tests) {
        const auto place = test.places.empty() ? test.file : test.places.front().file;
        lines.push_back(std::string(to_string(test.status)) + " " + place + " " + test.name);
    }
    return lines;
}

FormatResult go_result(std::string_view out, std::string_view err = {}) {
    RunOutput output;
    output.out = out;
    output.err = err;
    output.root = "/some/tree";
    return parse_go_test_json(output);
}

FormatResult cargo_result(std::string_view out, std::string_view err) {
    RunOutput output;
    output.out = out;
    output.err = err;
    output.root = "/some/tree";
    return parse_cargo_test(output);
}

constexpr std::string_view go_run = R"({"Action":"output","Package":"example.com/slug","Output":"agentforge: folder /some/tree\n"}
{"Action":"run","Package":"example.com/slug","Test":"TestPass"}
{"Action":"output","Package":"example.com/slug","Test":"TestPass","Output":"=== RUN   TestPass\n"}
{"Action":"output","Package":"example.com/slug","Test":"TestPass","Output":"--- PASS: TestPass (0.00s)\n"}
{"Action":"pass","Package":"example.com/slug","Test":"TestPass","Elapsed":0}
{"Action":"run","Package":"example.com/slug","Test":"TestSub"}
{"Action":"run","Package":"example.com/slug","Test":"TestSub/a"}
{"Action":"output","Package":"example.com/slug","Test":"TestSub/a","Output":"    slug_test.go:15: sub\n"}
{"Action":"fail","Package":"example.com/slug","Test":"TestSub/a","Elapsed":0}
{"Action":"fail","Package":"example.com/slug","Test":"TestSub","Elapsed":0}
{"Action":"run","Package":"example.com/slug","Test":"TestSkip"}
{"Action":"output","Package":"example.com/slug","Test":"TestSkip","Output":"    slug_test.go:12: later\n"}
{"Action":"skip","Package":"example.com/slug","Test":"TestSkip","Elapsed":0}
{"Action":"run","Package":"example.com/slug","Test":"TestPanic"}
{"Action":"output","Package":"example.com/slug","Test":"TestPanic","Output":"--- FAIL: TestPanic (0.00s)\n"}
{"Action":"output","Package":"example.com/slug","Test":"TestPanic","Output":"panic: agentforge: skeleton of Slugify [recovered]\n"}
{"Action":"output","Package":"example.com/slug","Test":"TestPanic","Output":"goroutine 6 [running]:\n"}
{"Action":"output","Package":"example.com/slug","Test":"TestPanic","Output":"\t/some/tree/slug.go:3\n"}
{"Action":"fail","Package":"example.com/slug","Test":"TestPanic","Elapsed":0}
{"Action":"run","Package":"example.com/slug","Test":"TestCut"}
{"Action":"fail","Package":"example.com/slug","Elapsed":0.005}
)";

TEST(GoTestJson, each_test_has_its_outcome_with_the_worst_of_its_parts) {
    const auto result = go_result(go_run);
    EXPECT_EQ(result.problem, "");
    EXPECT_THAT(described_with_places(result), ElementsAre("passed ./ TestPass", "failed_assertion ./ TestSub",
                                                           "skipped ./ TestSkip", "error ./ TestPanic", "error ./ TestCut"));
    EXPECT_EQ(result.tests[1].line, 15U);
    EXPECT_EQ(result.tests[1].message, "slug_test.go:15: sub");
    EXPECT_EQ(result.tests[3].message, "panic: agentforge: skeleton of Slugify [recovered]");
    EXPECT_EQ(result.tests[4].message, "the test began and did not end");
}

TEST(GoTestJson, a_file_without_a_package_clause_does_not_build) {
    const auto result = go_result("", "m.go:1:1: expected 'package', found broken\n");
    EXPECT_EQ(result.problem, "");
    ASSERT_EQ(result.tests.size(), 1U);
    EXPECT_THAT(result.tests.front().message, HasSubstr("m.go:1:1: expected 'package', found broken"));
}

TEST(GoTestJson, a_package_that_does_not_build_names_the_file_and_the_error) {
    const auto old = go_result("FAIL\texample.com/slug/pkg [build failed]\n",
                               "# example.com/slug/pkg [example.com/slug/pkg.test]\npkg/p_test.go:3:28: undefined: missing\n");
    EXPECT_THAT(described_with_places(old), ElementsAre("error pkg/p_test.go pkg/p_test.go"));
    EXPECT_EQ(old.tests[0].line, 3U);
    EXPECT_THAT(old.tests[0].message, HasSubstr("undefined: missing"));
    // Go 1.24.
    const auto fresh = go_result(R"({"ImportPath":"e/p [e/p.test]","Action":"build-output","Output":"# e/p [e/p.test]\n"}
{"ImportPath":"e/p [e/p.test]","Action":"build-output","Output":"p/p_test.go:3:28: undefined: missing\n"}
{"ImportPath":"e/p [e/p.test]","Action":"build-fail"}
{"Action":"output","Package":"e/p","Output":"FAIL\te/p [build failed]\n"}
{"Action":"fail","Package":"e/p","Elapsed":0,"FailedBuild":"e/p [e/p.test]"}
)");
    EXPECT_EQ(fresh.problem, "");
    EXPECT_THAT(described_with_places(fresh), ElementsAre("error p/p_test.go p/p_test.go"));
}

TEST(GoTestJson, truncation_or_failure_without_a_test_is_a_problem) {
    EXPECT_THAT(go_result(go_run.substr(0, go_run.rfind("{\"Action\":\"fail\""))).problem, HasSubstr("has no end"));
    EXPECT_THAT(go_result("{\"Action\":\"fail\",\"Package\":\"e\"}\n").problem, HasSubstr("although none of its tests did"));
    EXPECT_THAT(go_result("{\"Action\":\n").problem, HasSubstr("not an event"));
}

constexpr std::string_view cargo_err =
    "   Compiling slug v0.1.0 (/some/build/tree)\nagentforge: program slug src/lib.rs\nagentforge: program integration tests/integration.rs\n"
    "     Running unittests src/lib.rs (/b/target/debug/deps/slug-043899b7e537ffa6)\nerror: test failed, to rerun pass `--lib`\n"
    "     Running tests/integration.rs (/b/target/debug/deps/integration-f529d76793dcd9bb)\n";
const std::string cargo_out = R"(
running 6 tests
test tests::asserts ... FAILED
test tests::ignored ... ignored, later
test tests::panics - should panic ... ok
test tests::errs ... FAILED
test words::tests::unwraps ... FAILED
test agentforge_canary_1f::fails ... FAILED

failures:

---- tests::asserts stdout ----
thread 'tests::asserts' panicked at 'assertion failed: `(left == right)`
  left: `1`,
 right: `2`: one is 1', src/lib.rs:14:20
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

---- tests::errs stdout ----
thread 'tests::errs' panicked at 'assertion failed: `(left == right)`
 right: `0`: the test returned a termination value with a non-zero status code (1) which indicates a failure', /usr/src/library/test/src/lib.rs:184:5

---- words::tests::unwraps stdout ----
thread 'words::tests::unwraps' panicked at 'called `Option::unwrap()` on a `None` value', src/words.rs:20:49


failures:
    tests::asserts

test result: FAILED. 1 passed; 4 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.02s


running 2 tests
test from_outside ... ok
test agentforge_canary_1f::fails ... FAILED

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
)";

TEST(CargoTest, each_test_has_its_outcome_and_its_likely_file) {
    const auto result = cargo_result(cargo_out, cargo_err);
    EXPECT_EQ(result.problem, "");
    EXPECT_THAT(described_with_places(result),
                ElementsAre("failed_assertion src/tests.rs asserts", "skipped src/tests.rs ignored", "passed src/tests.rs panics",
                            "error src/tests.rs errs", "error src/words/tests.rs unwraps",
                            "failed_assertion src/agentforge_canary_1f.rs fails", "passed tests/integration.rs from_outside",
                            "failed_assertion tests/agentforge_canary_1f.rs fails"));
    EXPECT_EQ(result.tests[0].line, 14U);
    std::vector<std::string> places;
    for (const auto& place : result.tests[4].places) { places.push_back(place.file + " " + place.suite); }
    EXPECT_THAT(places, ElementsAre("src/words/tests.rs ", "src/words/tests/mod.rs ", "src/words.rs tests",
                                    "src/words/mod.rs tests", "src/lib.rs words::tests"));
    EXPECT_TRUE(result.tests[5].canary);
}

std::string how_it_panicked(const std::string& text, const std::string& file) {
    const auto result = cargo_result(
        "running 1 test\ntest tests::it ... FAILED\n\nfailures:\n\n---- tests::it stdout ----\nthread 'tests::it' panicked at '" +
            text + "', " + file +
            ":5:9\n\nfailures:\n    tests::it\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n",
        "     Running tests/outside.rs (/b/deps/outside-0f)\n");
    return std::string(to_string(result.tests.at(0).status));
}

TEST(CargoTest, a_custom_panic_message_is_an_assertion_only_inside_a_test) {
    EXPECT_EQ(how_it_panicked("one is not two", "tests/outside.rs"), "failed_assertion");
    EXPECT_EQ(how_it_panicked("no such user", "src/lib.rs"), "error");
    EXPECT_EQ(how_it_panicked("called `Option::unwrap()` on a `None` value", "tests/outside.rs"), "error");
    EXPECT_EQ(how_it_panicked("attempt to divide by zero", "tests/outside.rs"), "error");
}

TEST(CargoTest, a_member_of_a_workspace_is_found_by_its_target) {
    const auto result = cargo_result(
        "running 1 test\ntest it ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
        "agentforge: program other-part parts/other/src/lib.rs\n     Running unittests src/lib.rs (/b/deps/other_part-0f)\n");
    EXPECT_THAT(described_with_places(result), ElementsAre("passed parts/other/src/lib.rs it"));
}

TEST(CargoTest, an_early_exit_or_a_wrong_count_is_a_problem) {
    EXPECT_THAT(cargo_result(cargo_out.substr(0, cargo_out.rfind("test result")), cargo_err).problem,
                HasSubstr("before it reported all of its results"));
    auto wrong = cargo_out;
    wrong.replace(wrong.find("1 passed"), 8, "2 passed");
    EXPECT_THAT(cargo_result(wrong, cargo_err).problem, HasSubstr("counts"));
    EXPECT_THAT(cargo_result(cargo_out.substr(0, cargo_out.rfind("running 2")), cargo_err).problem,
                HasSubstr("started 2 test programs, and 1 reported"));
}

TEST(CargoTest, a_program_whose_canary_did_not_run_is_a_problem) {
    auto without = cargo_out;
    without.replace(without.rfind("running 2 tests"), 15, "running 1 test");
    without.erase(without.rfind("test agentforge_canary"),
                  std::string_view("test agentforge_canary_1f::fails ... FAILED\n").size());
    without.replace(without.rfind("FAILED. 1 passed; 1 failed"), 26, "ok. 1 passed; 0 failed");
    EXPECT_THAT(cargo_result(without, cargo_err).problem, HasSubstr("tests/integration.rs"));
}

TEST(CargoTest, names_of_doc_tests_do_not_depend_on_lines_above) {
    const auto result = cargo_result(
        "running 2 tests\ntest src/lib.rs - one (line 2) ... ok\ntest src/lib.rs - one (line 9) ... ok\n\n"
        "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
        "   Doc-tests slug\n");
    EXPECT_THAT(described_with_places(result), ElementsAre("passed src/lib.rs one", "passed src/lib.rs one[2]"));
    EXPECT_THAT(result.problem, IsEmpty());
}

}  // namespace
}  // namespace agentforge::kernel::testing
