// SPDX-License-Identifier: Apache-2.0
// Detects a model that makes no progress over the whole stage, in any kind of loop. Does not stop one that makes progress.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/pipeline/pipeline_fixture.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A stage whose agent writes slug.py, step by step, and whose gates return `judged` for that file.
class ProgressCheck : public ::testing::Test {
protected:
    ProgressCheck() {
        fixture.memory.gate = [this](const GateCall& call, const Files& files) -> Result<GateReport> {
            const auto slug = files.find("slug.py");
            return judged(call, slug == files.end() ? std::string() : slug->second);
        };
        fixture.stage("green", [](StageContext& context) {
            AgentRun run;
            run.objective = "Go";
            const auto outcome = context.run_agent(run);
            return outcome.ok() ? StageResult::completed(outcome->artifact) : StageResult::failed(outcome.error());
        });
        fixture.answers([this](const CompletionRequest&) -> Result<Completion> { return act(++calls); });
    }
    static GateReport failing(const GateCall& call, const std::vector<std::string>& tests, std::vector<std::string> issues = {}) {
        GateReport report = gate_report(call, tests.empty() && issues.empty());
        for (const std::string& test : tests) {
            TestOutcome outcome;
            outcome.id = test;
            outcome.status = TestStatus::failed_assertion;
            report.tests.push_back(std::move(outcome));
        }
        if (!issues.empty()) { report.blocking_issues = std::move(issues); }
        return report;
    }
    static Completion edit(const std::string& text, const std::string& path = "slug.py") {
        return call_tool("create_file", {{"path", path}, {"content", text}});
    }
    static Completion hand_in() { return call_tool("complete", {{"text", "done"}}); }
    [[nodiscard]] PipelineResult start() {
        StartOptions options = PipelineFixture::with({"green"});
        StageTemplate& stage = options.pipeline.stages[0];
        stage.agent = "software_developer";
        stage.timeout = std::chrono::hours(1);
        stage.config["exit_gate"] = gate;
        stage.config["verify_edits"] = json::array{"syntax", "tests"};
        return fixture.start(options);
    }
    [[nodiscard]] std::string why(const PipelineResult& result) {
        const auto question = fixture.state(result.task_id).escalation;
        return question ? question->reason : "(no question)";
    }

    PipelineFixture fixture;
    std::string gate = "green";
    unsigned calls = 0;
    std::function<Completion(unsigned)> act = [](unsigned call) { return edit(std::to_string(call)); };
    std::function<GateReport(const GateCall&, const std::string&)> judged = [](const GateCall& call, const std::string&) {
        return failing(call, {});
    };
};

TEST_F(ProgressCheck, alternating_between_two_wrong_diffs_is_not_progress) {
    act = [](unsigned call) { return edit(call % 2 == 0 ? "one" : "other"); };
    judged = [](const GateCall& call, const std::string& slug) {
        if (call.request.gate == "syntax") { return failing(call, {}); }
        return failing(call, {slug == "one" ? "test_a" : "test_b"});
    };
    const auto result = start();
    EXPECT_EQ(result.exit_code, ExitCode::person_needed);
    EXPECT_THAT(why(result), HasSubstr("makes no progress"));
    EXPECT_LE(calls, 26U);
}

TEST_F(ProgressCheck, edits_of_other_files_are_not_progress) {
    act = [](unsigned call) { return edit("x", "other" + std::to_string(call) + ".py"); };
    judged = [](const GateCall& call, const std::string&) {
        return failing(call, call.request.gate == "syntax" ? std::vector<std::string>() : std::vector<std::string>{"test_a"});
    };
    EXPECT_THAT(why(start()), HasSubstr("makes no progress"));
    EXPECT_LE(calls, 26U);
}

TEST_F(ProgressCheck, code_that_fails_with_a_different_message_each_time_is_not_progress) {
    judged = [](const GateCall& call, const std::string& slug) {
        std::string word = "name";
        for (const char digit : slug) { word += static_cast<char>('a' + (digit - '0')); }
        return failing(call, {}, {"`" + word + "` is not declared"});
    };
    EXPECT_THAT(why(start()), HasSubstr("makes no progress"));
    EXPECT_LE(calls, 26U);
}

TEST_F(ProgressCheck, artifacts_refused_for_a_different_reason_each_time_are_not_progress) {
    act = [](unsigned call) { return call % 2 == 1 ? edit(std::to_string(call)) : hand_in(); };
    judged = [](const GateCall& call, const std::string& slug) {
        if (call.request.gate != "green") { return failing(call, {}); }
        return failing(
            call, {},
            {"line " + std::string(slug.size() + 1, static_cast<char>('a' + slug.back() - '0')) + " is noticed by no test"});
    };
    EXPECT_THAT(why(start()), HasSubstr("makes no progress"));
    EXPECT_LE(calls, 20U);
}

TEST_F(ProgressCheck, endless_reading_is_not_progress) {
    act = [](unsigned call) { return call_tool("list_files", {{"directory", "."}, {"glob", "*" + std::to_string(call)}}); };
    EXPECT_THAT(why(start()), HasSubstr("makes no progress"));
    EXPECT_LE(calls, 61U);
}

TEST_F(ProgressCheck, more_passing_tests_are_progress_although_a_violation_stays) {
    act = [](unsigned call) {
        if (call > 38) { return hand_in(); }
        return edit(call == 38 ? "done" : std::string(call, 'x'));
    };
    judged = [](const GateCall& call, const std::string& slug) {
        if (slug == "done") { return failing(call, {}); }
        if (call.request.gate == "conformance") { return failing(call, {}, {"a finding"}); }
        std::vector<std::string> tests;
        for (std::size_t at = slug.size(); at < 40; ++at) { tests.push_back("test_" + std::to_string(at)); }
        return failing(call, tests);
    };
    const auto result = start();
    EXPECT_THAT(why(result), Not(HasSubstr("makes no progress")));
}

TEST_F(ProgressCheck, red_fixing_one_fault_after_another_is_progress) {
    act = [](unsigned call) { return call % 2 == 1 ? edit(std::string(call / 2, 'x')) : hand_in(); };
    judged = [](const GateCall& call, const std::string& slug) {
        if (call.request.gate != "red") { return failing(call, {}); }
        std::vector<std::string> issues;
        for (std::size_t at = slug.size(); at < 6; ++at) {
            issues.push_back(std::string("fault ") + static_cast<char>('a' + at));
        }
        GateReport report = failing(call, {"test_a", "test_b"}, issues);
        report.passed = issues.empty();  // Its tests fail, as they should.
        return report;
    };
    gate = "red";
    const auto result = start();
    EXPECT_THAT(why(result), Not(HasSubstr("makes no progress")));
}

}  // namespace
}  // namespace agentforge::kernel::testing
