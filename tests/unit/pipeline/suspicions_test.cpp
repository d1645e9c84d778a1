// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tests/suspicions.hpp"

#include "unit/pipeline/pipeline_fixture.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

GateReport suspicious() {
    GateReport report;
    report.facts = {{"special_casing", json::array{"a.py:2 compares with 'x' (tests)"}},
                    {"repeated_values", json::array{"a.py:2 repeats x and y, as t.py:1", "a.py:9 repeats p and q, as t.py:2"}},
                    {"removed_functions", json::array{"a.py: median"}},
                    {"unnamed_files", json::array{"Makefile"}},
                    {"unmentioned_names", json::array{"feeds.py"}},
                    {"mutants_survived", json::array{"a.py:4: `b` made `c`"}},
                    {"flaky_since", json::array{"t.py::t"}}};
    report.violations.push_back({"opaque-table", "pattern", "minor", "a.py", 7, "The table has unreadable keys.", ""});
    return report;
}

TEST(Suspicions, each_is_one_line_and_names_a_line_of_code_once) {
    HeldOutTests held_out;
    held_out.shown = {"t_more.py"};
    EXPECT_THAT(
        suspicions(suspicious(), held_out),
        ElementsAre(HasSubstr("t_more.py was held out"), "a.py:2 compares with 'x' (tests)", "a.py:9 repeats p and q, as t.py:2",
                    "a.py:7 has a table whose keys are hashes or long hexadecimal numbers",
                    "a.py: median was removed, although neither the request nor the specification names it",
                    "Makefile was changed, although neither the request nor the specification names it",
                    "the request names `feeds.py`, and neither the specification's requirements nor the tests do",
                    "no new test notices a.py:4: `b` made `c`", "t.py::t failed here once and passed twice"));
}

TEST(Suspicions, the_mutants_of_one_line_are_one_suspicion) {
    GateReport report;
    report.facts = {{"mutants_survived", json::array{"a.py:4: `b` made `c`", "a.py:41: `x` made `y`", "a.py:4: `b` made `d`",
                                                     "a.py:4: `b` made `e`"}}};
    EXPECT_THAT(suspicions(report, HeldOutTests{}),
                ElementsAre("no new test notices a.py:4: `b` made `c`, nor 2 other changes of this line",
                            "no new test notices a.py:41: `x` made `y`"));
}

TEST(Suspicions, a_clean_report_has_none) { EXPECT_THAT(suspicions(GateReport{}, HeldOutTests{}), IsEmpty()); }

class SuspicionsStrictTest : public ::testing::Test {
protected:
    PipelineResult run(bool strict, GateReport found) {
        fixture.services.ask_about_suspicions = strict;
        fixture.memory.gate = [found](const GateCall& call, const Files&) -> Result<GateReport> {
            GateReport report = gate_report(call, true, found.facts);
            report.violations = found.violations;
            return report;
        };
        fixture.stage("green", [](StageContext& context) {
            EXPECT_TRUE(context.run_gate(GateRequest{"green", {}, {}}).ok());
            return note();
        });
        StartOptions options = PipelineFixture::with({"green"});
        options.pipeline.stages[0].agent = "software_developer";
        options.pipeline.stages[0].config["exit_gate"] = "green";
        return fixture.start(options);
    }
    PipelineFixture fixture;
};

TEST_F(SuspicionsStrictTest, a_suspicion_does_not_stop_the_task_by_default) { EXPECT_TRUE(run(false, suspicious()).success); }

TEST_F(SuspicionsStrictTest, a_suspicion_waits_for_approval_if_strict) {
    const auto waiting = run(true, suspicious());
    EXPECT_EQ(waiting.waiting_for, "approval");
    ASSERT_TRUE(fixture.controller().approve(waiting.task_id).ok());
    EXPECT_TRUE(fixture.resume(waiting.task_id).success);
}

TEST_F(SuspicionsStrictTest, work_without_suspicion_needs_no_approval) { EXPECT_TRUE(run(true, GateReport{}).success); }

}  // namespace
}  // namespace agentforge::kernel::testing
