// SPDX-License-Identifier: Apache-2.0
// The multi-stage loop over fakes: the order of stages, life cycle, transitions, cycles, limits, what each stage sees.
// docs/loop.md names these tests.
#include "config/orchestration.hpp"
#include "pipeline/machine.hpp"
#include "pipeline/task_history.hpp"
#include "unit/pipeline/pipeline_fixture.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// The four stages of the loop, each a function.
class LoopTest : public ::testing::Test {
protected:
    LoopTest() {
        for (const char* name : {"plan", "execute", "verify", "review"}) { passes(name); }
    }
    void passes(const std::string& name) {
        fixture.stage(name, [this, name](StageContext& context) {
            ran.push_back(name);
            cycles.push_back(context.input().cycle);
            return note(name);
        });
    }
    /// Sends the work back this often, then passes.
    void sends_back(const std::string& name, const std::string& to, unsigned times) {
        fixture.stage(name, [this, name, to, left = times](StageContext&) mutable {
            ran.push_back(name);
            if (left == 0) { return note(name); }
            --left;
            return StageResult::cycle(to, name + " found something");
        });
    }
    [[nodiscard]] PipelineResult run() { return fixture.start(options); }
    [[nodiscard]] StageState stage(const PipelineResult& result, std::string_view name) {
        const TaskState state = fixture.state(result.task_id);
        return state.stages.at(state.pipeline.index_of(name).value());
    }
    [[nodiscard]] std::vector<std::string> types(const PipelineResult& result) {
        std::vector<std::string> all;
        for (const Record& record : fixture.records(result.task_id)) { all.emplace_back(record.type()); }
        return all;
    }

    PipelineFixture fixture;
    StartOptions options = PipelineFixture::with({"plan", "execute", "verify", "review"});
    std::vector<std::string> ran;
    std::vector<unsigned> cycles;
};

using OrchestratorTests = LoopTest;
using StageLifecycleTests = LoopTest;
using TransitionTests = LoopTest;
using CycleTests = LoopTest;

// ------------------------------------------------------------------------------------------------------- orchestrator --

TEST_F(OrchestratorTests, Should_Execute_Stages_In_Order) {
    EXPECT_TRUE(run().success);
    EXPECT_THAT(ran, ElementsAre("plan", "execute", "verify", "review"));
}

TEST_F(OrchestratorTests, Should_Handle_Stage_Failure) {
    fixture.stage("execute", [&](StageContext&) {
        ran.emplace_back("execute");
        return StageResult::failed(Error{"AF-STAGE-050", "step 1 could not be done", "", "", ErrorKind::invalid});
    });
    const auto waiting = run();
    EXPECT_EQ(waiting.exit_code, ExitCode::person_needed) << "a person is asked, nothing is given up";
    EXPECT_THAT(ran, ElementsAre("plan", "execute", "execute", "execute")) << "FR-036: two retries of a stage";
}

TEST_F(OrchestratorTests, Should_Track_Current_Stage) {
    std::vector<std::string> current;
    for (const char* name : {"plan", "execute", "verify", "review"}) {
        fixture.stage(name, [this, &current](StageContext& context) {
            const auto state = read_task_state(fixture.store, context.input().task_id);
            current.push_back(state.value().stage().name);
            return note();
        });
    }
    EXPECT_TRUE(run().success);
    EXPECT_THAT(current, ElementsAre("plan", "execute", "verify", "review"));
}

TEST_F(OrchestratorTests, Should_Generate_Events) {
    EXPECT_TRUE(run().success);
    EXPECT_EQ(fixture.events.texts("stage_started", "stage"), (std::vector<std::string>{"plan", "execute", "verify", "review"}));
    EXPECT_EQ(fixture.events.texts("stage_completed", "stage"),
              (std::vector<std::string>{"plan", "execute", "verify", "review"}));
}

// --------------------------------------------------------------------------------------------------------- life cycle --

/// Records which of its handlers were called.
class NotedStage final : public Stage {
public:
    NotedStage(std::vector<std::string>& called, std::string throws_in) : called_(called), throws_in_(std::move(throws_in)) {}
    [[nodiscard]] StageInfo info() const override {
        StageInfo info;
        info.name = "execute";
        return info;
    }
    [[nodiscard]] Result<void> initialize(StageContext&) override {
        call("on_enter");
        return {};
    }
    [[nodiscard]] StageResult execute(StageContext&) override {
        call("execute");
        return note();
    }
    void finalize(StageContext&, const StageResult&) override { call("on_exit"); }

private:
    void call(const std::string& name) {
        called_.push_back(name);
        if (name == throws_in_) { throw std::runtime_error("broken in " + name); }
    }

    std::vector<std::string>& called_;
    std::string throws_in_;
};

TEST_F(StageLifecycleTests, Should_Call_OnEnter) {
    fixture.plugins.add_stage("execute", std::make_shared<NotedStage>(ran, ""));
    EXPECT_TRUE(run().success);
    EXPECT_EQ(ran.at(1), "on_enter");
}

TEST_F(StageLifecycleTests, Should_Call_Execute) {
    fixture.plugins.add_stage("execute", std::make_shared<NotedStage>(ran, ""));
    EXPECT_TRUE(run().success);
    EXPECT_EQ(ran.at(2), "execute");
}

TEST_F(StageLifecycleTests, Should_Call_OnExit) {
    fixture.plugins.add_stage("execute", std::make_shared<NotedStage>(ran, ""));
    EXPECT_TRUE(run().success);
    EXPECT_EQ(ran.at(3), "on_exit");
}

TEST_F(StageLifecycleTests, Should_Handle_Lifecycle_Error) {
    fixture.plugins.add_stage("execute", std::make_shared<NotedStage>(ran, "execute"));
    options.pipeline.stages[1].max_retries = 0;
    const auto result = run();
    EXPECT_EQ(result.status, TaskStatus::failed);
    EXPECT_EQ(result.error->code, "AF-STAGE-001");
    EXPECT_THAT(ran, ElementsAre("plan", "on_enter", "execute", "on_exit")) << "what it opened is closed";
}

// -------------------------------------------------------------------------------------------------------- transitions --

TEST_F(TransitionTests, Should_Be_Atomic) {
    const auto result = run();
    TaskState state;
    for (const Record& record : fixture.records(result.task_id)) {
        ASSERT_TRUE(fold(state, record.body).ok());
        const auto running = std::ranges::count(state.stages, StageStatus::running, &StageState::status);
        EXPECT_LE(running, 1) << "after record " << record.seq;
    }
}

TEST_F(TransitionTests, Should_Create_Checkpoint) {
    const auto result = run();
    const auto all = types(result);
    for (const char* name : {"stage_started", "artifact_accepted", "stage_completed"}) {
        EXPECT_EQ(std::ranges::count(all, name), 4) << name;
    }
    EXPECT_EQ(fold_journal(fixture.store.paths(result.task_id).journal()).value(), fixture.state(result.task_id))
        << "the journal alone leads to the state";
}

TEST_F(TransitionTests, Should_Revert_On_Failure) {
    TaskState state = fixture.state(run().task_id);
    const TaskState before = state;
    json::object broken = records::to_fields(records::CycleStarted{"review", "plan", "out of turn"});
    broken["type"] = records::CycleStarted::type;
    EXPECT_FALSE(fold(state, broken).ok());
    EXPECT_EQ(state, before) << "a transition that is refused changes nothing";
}

// ------------------------------------------------------------------------------------------------------------- cycles --

TEST_F(CycleTests, Should_Cycle_On_Verify_Fail) {
    sends_back("verify", "execute", 1);
    const auto result = run();
    EXPECT_TRUE(result.success);
    EXPECT_THAT(ran, ElementsAre("plan", "execute", "verify", "execute", "verify", "review"));
    EXPECT_EQ(stage(result, "execute").cycles, 1U);
}

TEST_F(CycleTests, Should_Cycle_On_Review_Reject) {
    sends_back("review", "plan", 1);
    const auto result = run();
    EXPECT_TRUE(result.success);
    EXPECT_THAT(ran, ElementsAre("plan", "execute", "verify", "review", "plan", "execute", "verify", "review"));
    const auto& recorded = fixture.state(result.task_id).resumption.cycles;
    ASSERT_EQ(recorded.size(), 1U);
    EXPECT_EQ(recorded[0].reason, "review found something");
}

TEST_F(CycleTests, Should_Enforce_Limit) {
    sends_back("verify", "execute", 100);
    const auto waiting = run();
    EXPECT_EQ(fixture.count(waiting.task_id, "cycle_started"), 3U) << "FR-032: three by default";
}

TEST_F(CycleTests, Should_Escalate_At_Limit) {
    sends_back("verify", "execute", 100);
    const auto waiting = run();
    EXPECT_EQ(waiting.exit_code, ExitCode::cycle_limit);
    EXPECT_EQ(waiting.waiting_for, "escalation");
}

TEST_F(CycleTests, an_answer_at_the_limit_allows_the_same_number_of_cycles_again) {
    sends_back("verify", "execute", 5);
    const auto waiting = run();
    ASSERT_EQ(fixture.count(waiting.task_id, "cycle_started"), 3U);
    fixture.resolve(waiting, {{"answer", "try again"}});
    const auto result = fixture.resume(waiting.task_id);
    EXPECT_TRUE(result.success);
    EXPECT_EQ(fixture.count(waiting.task_id, "cycle_started"), 4U) << "the request that became a question was none";
}

TEST_F(CycleTests, ten_cycles_are_handled) {
    options.pipeline.stages[1].max_cycles = 10;
    sends_back("verify", "execute", 10);
    EXPECT_TRUE(run().success) << "NFR-009";
}

TEST_F(LoopTest, a_failed_attempt_passes_its_work_to_the_next) {
    std::optional<json::object> given;
    fixture.stage("execute", [&, attempts = 0](StageContext& context) mutable {
        given = context.input().previous_attempt;
        if (++attempts > 1) { return note(); }
        StageResult result = StageResult::failed(Error{"AF-STAGE-050", "the second half is missing", "", "", ErrorKind::invalid});
        result.artifact = json::object{{"text", "the first half"}};
        return result;
    });
    EXPECT_TRUE(run().success);
    ASSERT_TRUE(given.has_value());
    EXPECT_EQ(given->at("text").as_string(), "the first half");
}

TEST_F(LoopTest, retries_are_counted_over_the_whole_task) {
    fixture.stage("execute", [attempts = 0](StageContext&) mutable {
        return ++attempts > 2 ? note() : StageResult::failed(Error{"MY-001", "not yet", "", "", ErrorKind::invalid});
    });
    EXPECT_EQ(stage(run(), "execute").retries, 2U);
}

// ----------------------------------------------------------------------------------------------- a plan step by step --

json::object plan_of(std::size_t steps) {
    json::array list;
    for (std::size_t number = 1; number <= steps; ++number) {
        list.push_back(json::object{{"number", static_cast<std::int64_t>(number)},
                                    {"title", "Part " + std::to_string(number)},
                                    {"description", "Do it"},
                                    {"estimate", "small"},
                                    {"requirements", json::array{"REQ-001"}}});
    }
    return {
        {"title", "A plan"},
        {"description", "Of many steps"},
        {"requirements", json::array{json::object{
                             {"id", "REQ-001"}, {"description", "It works"}, {"acceptance_criteria", json::array{"It does"}}}}},
        {"components", json::array{json::object{{"name", "one"}, {"type", "module"}}}},
        {"steps", std::move(list)}};
}

/// The shipped stage `execute` between stages that are functions, with a model that is a function too.
class LoopStepTest : public ::testing::Test {
protected:
    void plan(std::size_t steps) {
        fixture.stage("plan", [steps](StageContext&) { return StageResult::completed(plan_of(steps)); });
        fixture.stage("test_suite", [](StageContext&) { return note(); });
        options = PipelineFixture::with({"plan", "test_suite", "execute"});
        options.pipeline.stages[0].contract = options.pipeline.stages[0].artifact = "plan";
        StageTemplate& execute = options.pipeline.stages[2];
        execute.contract = execute.artifact = "execution";
        execute.agent = "software_developer";
    }
    /// The model completes each step at once. In the steps that `fails` selects it repeats the same mistake.
    void model(std::function<bool(std::int64_t step)> fails = [](std::int64_t) { return false; }) {
        fixture.answers([this, fails = std::move(fails)](const CompletionRequest& request) -> Result<Completion> {
            seen.push_back(request.user);
            const std::size_t at = request.user.find("Step ");
            const std::int64_t step = at == std::string::npos ? 0 : std::atoll(request.user.c_str() + at + 5);
            if (fails(step)) { return call_tool("read_file", {{"path", "nowhere.py"}}); }
            return call_tool("complete", {{"summary", "Part " + std::to_string(step) + " is done"}});
        });
    }
    [[nodiscard]] std::vector<std::pair<unsigned, unsigned>> begun(const std::string& task) {
        std::vector<std::pair<unsigned, unsigned>> steps;
        for (const Record& record : fixture.records(task)) {
            const auto started = records::as<records::CallStarted>(record);
            if (started && started->plan_step) { steps.emplace_back(started->plan_step->number, *started->plan_step->attempt); }
        }
        return steps;
    }

    PipelineFixture fixture;
    StartOptions options;
    std::vector<std::string> seen;
};

TEST_F(LoopStepTest, works_through_the_plan_in_order) {
    plan(3);
    model();
    const auto result = fixture.start(options);
    EXPECT_TRUE(result.success) << result.error->to_string();
    EXPECT_THAT(begun(result.task_id), ElementsAre(std::pair(1U, 1U), std::pair(2U, 1U), std::pair(3U, 1U)));
    EXPECT_EQ(result.deliverable->at("summary").as_string(), "Part 1 is done\nPart 2 is done\nPart 3 is done");
}

TEST_F(LoopStepTest, Step_retry_limit_is_3) {
    plan(1);
    options.pipeline.stages[2].max_retries = 0;
    model([](std::int64_t) { return true; });
    const auto waiting = fixture.start(options);
    EXPECT_THAT(begun(waiting.task_id), ElementsAre(std::pair(1U, 1U), std::pair(1U, 2U), std::pair(1U, 3U), std::pair(1U, 4U)));
    EXPECT_EQ(waiting.exit_code, ExitCode::person_needed);
}

TEST_F(LoopStepTest, the_next_attempt_starts_at_the_failed_step) {
    plan(2);
    options.pipeline.stages[2].config["step_retry_limit"] = 0;
    model([failed = 0](std::int64_t step) mutable { return step == 2 && ++failed <= 3; });
    const auto result = fixture.start(options);
    EXPECT_TRUE(result.success);
    EXPECT_THAT(begun(result.task_id), ElementsAre(std::pair(1U, 1U), std::pair(2U, 1U), std::pair(2U, 1U)));
}

TEST_F(LoopStepTest, handles_a_hundred_steps) {
    plan(100);
    model();
    const auto result = fixture.start(options);
    EXPECT_TRUE(result.success) << "NFR-008";
    EXPECT_EQ(begun(result.task_id).size(), 100U);
}

TEST_F(LoopStepTest, reports_its_position_in_the_plan) {
    plan(7);
    model([this](std::int64_t step) {
        if (step == 3) { fixture.cancel.request(); }
        return false;
    });
    const TaskState state = fixture.state(fixture.start(options).task_id);
    ASSERT_TRUE(state.stage().plan_step.has_value());
    EXPECT_EQ(plan_step_text(*state.stage().plan_step), "step 3 of 7: Part 3");
}

// ------------------------------------------------------------------------------------------------------------ context --

using ContextTests = LoopStepTest;

TEST_F(ContextTests, Should_Provide_Full_To_Planner) {
    options = PipelineFixture::with({"plan"});
    StageTemplate& planner = options.pipeline.stages[0];
    planner.contract = planner.artifact = "plan";
    planner.agent = "software_architect";
    planner.context_strategy = "full";
    fixture.answers([this](const CompletionRequest& request) -> Result<Completion> {
        seen.push_back(request.user);
        return call_tool("complete", plan_of(1));
    });
    EXPECT_TRUE(fixture.start(options, "Add a cache").success);
    EXPECT_THAT(seen.at(0), HasSubstr("conversation:\n      - kind: \"request\"\n        text: \"Add a cache\""));
    EXPECT_THAT(seen.at(0), HasSubstr("task_history:"));
}

TEST_F(ContextTests, Should_Provide_Focused_To_Executor) {
    plan(3);
    model();
    EXPECT_TRUE(fixture.start(options).success);
    EXPECT_THAT(seen.at(1), HasSubstr("Part 1 is done")) << "what was done before, in a line each";
    EXPECT_THAT(seen.at(1), Not(HasSubstr("Part 3"))) << "the step at hand, not the rest of the plan";
}

TEST_F(ContextTests, Should_Respect_Token_Budget) {
    plan(100);
    model();
    EXPECT_TRUE(fixture.start(options).success);
    const auto longest = std::ranges::max(seen, {}, &std::string::size);
    EXPECT_LT(longest.size(), 8000U * 4U) << "the hundredth step is asked with no more than the first may have";
}

TEST_F(ContextTests, the_reviewer_is_given_the_history_and_the_change) {
    TaskState state;
    state.stages.resize(1);
    state.stages[0].name = "execute";
    state.stages[0].visits = 2;
    state.stages[0].cycles = 1;
    state.resumption.cycles.push_back({"verify", "execute", "a test fails", "2026-01-02T00:00:00Z"});
    const json::object history = task_history(state);
    EXPECT_EQ(history.at("stages").at(0).at("sent_back_to").to_number<int>(), 1);
    EXPECT_EQ(history.at("sent_back").at(0).at("reason").as_string(), "a test fails");
}

}  // namespace
}  // namespace agentforge::kernel::testing
