// SPDX-License-Identifier: Apache-2.0
// How often tests run: a test answers for the project's command.
#include "gates/engine/suite_runs.hpp"

#include <gmock/gmock.h>

#include "gates/engine/affected_tests.hpp"
#include "gates/engine/source_checks.hpp"
#include "gates/test_quality/mutant_runs.hpp"
#include "unit/gates/engine_parts.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SuiteRunsCache : public ::testing::Test {
protected:
    SuiteRunsCache() {
        parts_.tree("now") = {{"t/a.t", ""}, {"t/slow.t", ""}, {"code.pl", ""}};
        parts_.tree("base") = {{"t/a.t", ""}, {"t/slow.t", ""}};
        say("1..1\nok 1 - adds\n");
    }
    /// Sets what the command prints in its runs, the last text for all that follow.
    void say(const std::string& first, const std::string& later = {}) {
        parts_.programs.answer = [=, runs = 0](const ProcessRequest&) mutable {
            ProcessOutcome outcome;
            outcome.out = ++runs == 1 || later.empty() ? first : later;
            outcome.exit_code = outcome.out.find("not ok") == std::string::npos ? 0 : 1;
            return outcome;
        };
    }
    TestRun run(std::int64_t number = 1) {
        auto done = suite_.run_tests("now", {"t/a.t"}, Stop{}, number);
        EXPECT_TRUE(done.ok()) << done.error().to_string();
        return done.ok() ? *done : TestRun{};
    }

    EngineParts parts_{"generic", {{"command", json::array{"prove"}}, {"integration_tests", json::array{"t/slow.t"}}}};
    BuiltTrees built_{parts_.current};
    SuiteRuns suite_{parts_.languages, parts_.commands, parts_.current, built_};
};

TEST_F(SuiteRunsCache, keeps_a_trusted_run_by_its_number) {
    EXPECT_TRUE(run().trusted) << run().distrust;
    run();
    EXPECT_EQ(parts_.programs.runs, 1);
    run(2);
    EXPECT_EQ(parts_.programs.runs, 2);
    EXPECT_TRUE(built_.contains("now"));
}

TEST_F(SuiteRunsCache, repeats_a_run_that_is_not_trusted) {
    say("no report\n");
    EXPECT_FALSE(run().trusted);
    run();
    EXPECT_EQ(parts_.programs.runs, 2);
    EXPECT_FALSE(built_.contains("now"));
}

TEST_F(SuiteRunsCache, leaves_integration_tests_out_unless_the_caller_names_them) {
    EXPECT_TRUE(suite_.is_integration_test("t/slow.t"));
    EXPECT_FALSE(suite_.is_integration_test("t/a.t"));
    const auto none = suite_.run_suite("now", {"t/slow.t"}, false, {}, Stop{});
    ASSERT_TRUE(none.ok());
    EXPECT_TRUE(none->trusted);
    EXPECT_THAT(none->tests, IsEmpty());
    EXPECT_EQ(parts_.programs.runs, 0);
    ASSERT_TRUE(suite_.run_suite("now", {"t/slow.t"}, false, {"t/slow.t"}, Stop{}).ok());
    EXPECT_EQ(parts_.programs.runs, 1);
}

TEST_F(SuiteRunsCache, call_a_test_flaky_that_fails_once_and_then_passes_twice) {
    say("1..1\nnot ok 1 - adds\n", "1..1\nok 1 - adds\n");
    const auto failed = run();
    ASSERT_EQ(failed.tests.size(), 1U);
    parts_.baseline.base_tests = failed.tests;
    parts_.baseline.base_tests.front().status = TestStatus::passed;
    const auto flaky = [&] { return *suite_.flaky_tests(parts_.baseline, "now", {"t/a.t"}, failed, Stop{}); };
    EXPECT_THAT(flaky(), ElementsAre(failed.tests.front().id));
    EXPECT_EQ(parts_.programs.runs, 3);
    parts_.baseline.base_tests.clear();  // A new test.
    EXPECT_THAT(flaky(), IsEmpty());
}

TEST_F(SuiteRunsCache, call_no_test_flaky_that_keeps_failing) {
    say("1..1\nnot ok 1 - adds\n");
    const auto failed = run();
    ASSERT_EQ(failed.tests.size(), 1U);
    parts_.baseline.base_tests = failed.tests;
    parts_.baseline.base_tests.front().status = TestStatus::passed;
    EXPECT_THAT(*suite_.flaky_tests(parts_.baseline, "now", {"t/a.t"}, failed, Stop{}), IsEmpty());
    EXPECT_EQ(parts_.programs.runs, 2);  // Its own file decides, so the rest does not run again.
}

TEST_F(SuiteRunsCache, leaves_integration_tests_out_after_an_edit) {
    AffectedTests affected(parts_.checkout, parts_.languages, parts_.commands, suite_);
    const auto files = affected.files(parts_.call("tests"), {"t/a.t", "t/slow.t"}, Stop{});
    ASSERT_TRUE(files.ok()) << files.error().to_string();
    EXPECT_THAT(*files, IsEmpty());  // No test names code.pl.
    parts_.tree("now")["t/a.t"] = "changed\n";
    EXPECT_THAT(*affected.files(parts_.call("tests"), {"t/a.t", "t/slow.t"}, Stop{}), ElementsAre("t/a.t"));
}

TEST_F(SuiteRunsCache, a_mutant_runs_until_its_time_is_up) {
    MutantRuns mutants(parts_.checkout, parts_.languages, parts_.commands, parts_.current);
    const Mutant mutant{"code.pl", 1, "the other way round", "1", "0", "0\n"};
    MutationRequest request;
    request.mutants_until = std::chrono::steady_clock::now() + std::chrono::hours(1);
    TestQualityEvidence evidence;
    say("1..1\nnot ok 1 - adds\n");
    const auto tried = [&] {
        auto run = mutants.run_mutant(parts_.language(), "now", {"t/a.t"}, mutant, request, evidence, Stop{});
        EXPECT_TRUE(run.ok()) << run.error().to_string();
        return run.ok() && run->has_value();
    };
    EXPECT_TRUE(tried());
    EXPECT_FALSE(evidence.cut_short);
    EXPECT_THAT(request.asserting, ElementsAre(HasSubstr("adds")));
    EXPECT_EQ(evidence.comparing, request.asserting);
    EXPECT_EQ(parts_.programs.runs, 1);
    request.mutants_until = std::chrono::steady_clock::now();
    EXPECT_TRUE(tried()) << "no test has noticed a mutant";
    evidence.tried.push_back({"code.pl", 1, "1", "0", TriedMutant::Noticed::by_assertion});
    EXPECT_FALSE(tried());
    EXPECT_TRUE(evidence.cut_short);
    EXPECT_EQ(parts_.programs.runs, 2);
}

TEST(SourceChecksGates, tell_that_nothing_checks_syntax_or_types) {
    EngineParts parts("generic");
    parts.tree("now") = {{"a.x", ""}};
    BuiltTrees built(parts.current);
    SourceChecks checks(parts.checkout, parts.languages, parts.commands, parts.current, built);
    const auto syntax = checks.syntax(parts.call("syntax"), Stop{});
    ASSERT_TRUE(syntax.ok());
    EXPECT_TRUE(syntax->passed);
    EXPECT_EQ(syntax->facts.at("syntax_check"), "by the build");
    const auto types = checks.types(parts.call("types"), Stop{});
    ASSERT_TRUE(types.ok());
    EXPECT_TRUE(types->passed);
    EXPECT_EQ(types->facts.at("type_check"), "not configured");
    EXPECT_EQ(parts.programs.runs, 0);
}

TEST(SourceChecksGates, count_only_type_errors_that_the_users_commit_lacks) {
    EngineParts parts("go");
    parts.tree("base") = {{"go.mod", "module a\n"}, {"a.go", "package a\n"}};
    parts.tree("now") = {{"go.mod", "module a\n"}, {"a.go", "package a\nvar x = y\n"}};
    parts.programs.answer = [&](const ProcessRequest&) {
        ProcessOutcome outcome;
        outcome.exit_code = 1;
        std::ifstream file(parts.checkout.path() / "a.go");
        const std::string text(std::istreambuf_iterator<char>(file), {});
        outcome.err = "./a.go:1:1: old\n";
        if (text.find("var x") != std::string::npos) { outcome.err += "./a.go:2:9: undefined: y\n"; }
        return outcome;
    };
    BuiltTrees built(parts.current);
    SourceChecks checks(parts.checkout, parts.languages, parts.commands, parts.current, built);
    const auto types = checks.types(parts.call("types"), Stop{});
    ASSERT_TRUE(types.ok()) << types.error().to_string();
    EXPECT_FALSE(types->passed);
    EXPECT_THAT(types->blocking_issues, ElementsAre("a.go:2: undefined: y"));
    EXPECT_EQ(types->facts.at("type_errors_before"), 1);
}

}  // namespace
}  // namespace agentforge::kernel::testing
