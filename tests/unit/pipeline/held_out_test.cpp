// SPDX-License-Identifier: Apache-2.0
// Held-out tests, as seen by the stages between RED and DELIVER.
#include "unit/pipeline/pipeline_fixture.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* seen = "tests/seen.py";
constexpr const char* other = "tests/other.py";

class HeldOutTest : public ::testing::Test {
protected:
    HeldOutTest() {
        fixture.memory.holds_out_tests = true;
        fixture.memory.gate = [&](const GateCall& call, const Files& files) -> Result<GateReport> {
            if (call.request.gate == "green") { green = *call.baseline; }
            GateReport report = gate_report(call, true, {{"tests_found", true}, {"believed", true}});
            if (call.request.gate != "red") { return report; }
            if (files.contains(seen)) {
                report.tests.push_back({std::string(seen) + "::one", "one", seen, 1, TestStatus::failed_assertion, ""});
                report.tests.push_back({std::string(seen) + "::two", "two", seen, 2, TestStatus::failed_assertion, ""});
            }
            if (files.contains(other)) {
                report.tests.push_back({std::string(other) + "::three", "three", other, 1, TestStatus::failed_assertion, ""});
            }
            report.passed = files.contains(seen) && passes_without_the_other;
            return report;
        };
        fixture.stage("red", [&](StageContext& context) { return red(context); });
        fixture.stage("green", [&](StageContext& context) { return implement(context); });
        fixture.stage("deliver", [&](StageContext& context) {
            delivers_with = context.workspace().exists(other);
            EXPECT_TRUE(context.deliver(DeliveryRequest{"Add it", "", {}}).ok());
            return note();
        });
    }
    static StageResult red(StageContext& context, bool both = true) {
        const auto tests = [](std::initializer_list<const char*> names) {
            json::array list;
            for (const char* name : names) { list.push_back(json::object{{"name", name}, {"requirement_ref", "REQ-001"}}); }
            return list;
        };
        json::array files{json::object{{"path", seen}, {"tests", tests({"one", "two"})}}};
        EXPECT_TRUE(context.workspace().create(seen, "one two\n", true).ok());
        if (both) {
            EXPECT_TRUE(context.workspace().create(other, "three\n", true).ok());
            files.push_back(json::object{{"path", other}, {"tests", tests({"three"})}});
        }
        EXPECT_TRUE(context.run_gate(GateRequest{"red", {}, {}}).ok());
        return StageResult::completed({{"text", "tests"}, {"test_files", std::move(files)}});
    }
    StageResult implement(StageContext& context) {
        there.push_back(context.workspace().exists(other));
        shown = json::serialize(context.input().input_artifact);
        for (const auto& [stage, artifact] : context.input().artifacts) { shown += json::serialize(artifact); }
        EXPECT_TRUE(context.run_gate(GateRequest{"green", {}, {}}).ok());
        return note();
    }
    static StartOptions all() {
        StartOptions options = PipelineFixture::with({"red", "green", "deliver"});
        options.pipeline.stages[0].agent = "test_engineer";
        options.pipeline.stages[1].agent = "software_developer";
        options.pipeline.stages[2].agent = "devops_engineer";
        options.pipeline.stages[0].locks_tests = true;
        options.pipeline.stages[2].delivers = true;
        return options;
    }
    [[nodiscard]] bool ends_with_it(const std::string& task) {
        return fixture.memory.trees.at(fixture.state(task).tree).contains(other);
    }

    PipelineFixture fixture;
    GateBaseline green;
    std::vector<bool> there;
    std::string shown;
    bool delivers_with = false;
    bool passes_without_the_other = true;
};

TEST_F(HeldOutTest, green_works_without_the_file_and_its_gate_gets_it) {
    const auto result = fixture.start(all());
    EXPECT_TRUE(result.success);
    EXPECT_THAT(there, ElementsAre(false));
    EXPECT_THAT(shown, HasSubstr(seen));
    EXPECT_THAT(shown, Not(HasSubstr("other")));
    EXPECT_THAT(shown, Not(HasSubstr("three")));
    EXPECT_THAT(green.held_out.files, ElementsAre(other));
    EXPECT_TRUE(fixture.memory.trees.at(green.held_out.tree).contains(other));
    EXPECT_FALSE(fixture.memory.trees.at(green.red_tree).contains(other));
    EXPECT_THAT(json::serialize(green.test_suite), Not(HasSubstr("other")));
    EXPECT_TRUE(delivers_with);
    EXPECT_TRUE(ends_with_it(result.task_id));
    EXPECT_EQ(fixture.memory.scratch_cleared, 1U);
}

TEST_F(HeldOutTest, a_gate_that_compares_with_the_users_commit_gets_no_held_out_tests) {
    StartOptions options = all();
    options.pipeline.stages[1].config = {{"exit_gate", "green"}};
    options.pipeline.stages[1].compares_with = ComparedTree::base;
    EXPECT_TRUE(fixture.start(options).success);
    EXPECT_THAT(green.red_tree, IsEmpty());
    EXPECT_EQ(green.compared_tree(), green.base_tree);
    EXPECT_THAT(green.held_out.files, ElementsAre(other)) << "they are held out from those who implement all the same";
}

TEST_F(HeldOutTest, a_task_that_ends_before_the_delivery_has_them) {
    StartOptions options = all();
    options.exit_after = "green";
    const auto result = fixture.start(options);
    EXPECT_TRUE(result.success);
    EXPECT_TRUE(ends_with_it(result.task_id));
}

TEST_F(HeldOutTest, green_continues_without_them_after_a_crash) {
    bool first = true;
    fixture.stage("green", [&](StageContext& context) {
        there.push_back(context.workspace().exists(other));
        if (std::exchange(first, false)) {
            fixture.cancel.request();
            return StageResult::failed(Error{"X-1", "stopped", "", "", ErrorKind::cancelled});
        }
        return implement(context);
    });
    const auto stopped = fixture.start(all());
    const auto result = fixture.resume(stopped.task_id);
    EXPECT_TRUE(result.success);
    EXPECT_THAT(there, ElementsAre(false, false, false));
    EXPECT_EQ(fixture.count(result.task_id, "held_out"), 2U) << "taken out once, put back once";
}

TEST_F(HeldOutTest, a_visit_started_with_all_tests_keeps_them) {
    bool first = true;
    fixture.memory.holds_out_tests = false;  // An older version started the task.
    fixture.stage("green", [&](StageContext& context) {
        const StageResult done = implement(context);
        if (!std::exchange(first, false)) { return done; }
        fixture.cancel.request();
        return StageResult::failed(Error{"X-1", "stopped", "", "", ErrorKind::cancelled});
    });
    const auto stopped = fixture.start(all());
    fixture.memory.holds_out_tests = true;
    const auto result = fixture.resume(stopped.task_id);
    EXPECT_TRUE(result.success);
    EXPECT_THAT(there, ElementsAre(true, true));
}

TEST_F(HeldOutTest, a_new_suite_from_red_is_chosen_from_again) {
    bool again = false;
    fixture.stage("red", [&](StageContext& context) { return red(context, !again); });
    fixture.stage("green", [&](StageContext& context) {
        const StageResult done = implement(context);
        return std::exchange(again, true) ? done : StageResult::cycle("red", "the tests are wrong");
    });
    const auto result = fixture.start(all());
    EXPECT_TRUE(result.success);
    EXPECT_THAT(fixture.state(result.task_id).held_out.files, IsEmpty());
    EXPECT_THAT(fixture.state(result.task_id).held_out.reason, HasSubstr("are in one file"));
    EXPECT_FALSE(ends_with_it(result.task_id));
}

TEST_F(HeldOutTest, a_file_that_other_tests_need_is_not_held_out) {
    passes_without_the_other = true;
    fixture.memory.gate = [&, real = fixture.memory.gate](const GateCall& call, const Files& files) -> Result<GateReport> {
        AF_TRY(auto report, real(call, files));
        if (call.request.gate == "red" && !files.contains(other)) { report.passed = false; }
        return report;
    };
    const auto result = fixture.start(all());
    EXPECT_TRUE(result.success);
    EXPECT_THAT(there, ElementsAre(true));
    EXPECT_THAT(fixture.state(result.task_id).held_out.reason, HasSubstr("do not pass their gate without tests/other.py"));
}

TEST_F(HeldOutTest, a_setting_turns_it_off) {
    fixture.memory.holds_out_tests = false;
    const auto result = fixture.start(all());
    EXPECT_TRUE(result.success);
    EXPECT_THAT(there, ElementsAre(true));
    EXPECT_EQ(fixture.count(result.task_id, "held_out"), 0U);
}

TEST_F(HeldOutTest, green_cannot_write_the_file_that_it_does_not_see) {
    fixture.stage("green", [&](StageContext& context) {
        EXPECT_EQ(context.workspace().create(other, "pass\n", true).error().kind, ErrorKind::denied);
        return implement(context);
    });
    EXPECT_TRUE(fixture.start(all()).success);
}

}  // namespace
}  // namespace agentforge::kernel::testing
