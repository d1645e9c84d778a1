// SPDX-License-Identifier: Apache-2.0
// The suite before the task, the checks after an edit and the criteria at a phase's end, as recorded in the task's journal.
#include "gates/engine/baseline.hpp"
#include "pipeline/agent_run/agentic.hpp"
#include "pipeline/gate_runs.hpp"
#include "unit/pipeline/pipeline_fixture.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BaselineTest : public ::testing::Test {
protected:
    static GateReport suite(const GateCall& call, std::initializer_list<std::pair<const char*, TestStatus>> tests) {
        GateReport report = gate_report(call, true, {{"tests_found", true}, {"believed", true}});
        for (const auto& [id, status] : tests) { report.tests.push_back({id, id, "t.py", 1, status, ""}); }
        return report;
    }
    /// A stage with the exit gate `gate`, whose developer hands in once the gate has passed.
    StartOptions judged_by(const std::string& gate, json::object more = {}) {
        StartOptions options = PipelineFixture::with({"a"});
        options.pipeline.stages[0].agent = "software_developer";
        more["exit_gate"] = gate;
        options.pipeline.stages[0].config = std::move(more);
        return options;
    }
    [[nodiscard]] GateReport baseline_of(const std::string& task) {
        for (const Record& record : fixture.records(task)) {
            if (record.type() != "gate" || record.body.at("gate").as_string() != "baseline") { continue; }
            const auto session = TaskSession::open(fixture.store, task, fixture.clock, "test", nothing_hidden());
            return gate_report_from_json((*session)->kept(*records::as<records::Gate>(record)->report)->as_object()).value();
        }
        ADD_FAILURE() << "no baseline";
        return {};
    }

    PipelineFixture fixture;
};

TEST_F(BaselineTest, the_suite_runs_before_the_first_stage_that_needs_it) {
    std::vector<std::string> at_entry;
    fixture.stage("a", [&](StageContext& context) {
        at_entry = fixture.memory.gates_run;
        EXPECT_TRUE(context.run_gate(GateRequest{"red", {}, {}})->passed);
        return note();
    });
    EXPECT_TRUE(fixture.start(judged_by("red")).success);
    EXPECT_THAT(at_entry, ElementsAre("tests"));
    EXPECT_THAT(fixture.memory.gates_run, ElementsAre("tests", "red"));
}

TEST_F(BaselineTest, no_suite_runs_for_a_stage_that_does_not_need_it) {
    fixture.stage("a", [&](StageContext&) { return note(); });
    EXPECT_TRUE(fixture.start(PipelineFixture::with({"a"})).success);
    EXPECT_TRUE(fixture.memory.gates_run.empty());
}

TEST_F(BaselineTest, a_test_that_flips_between_two_runs_is_journaled_as_flaky) {
    fixture.memory.baseline_runs = 2;
    std::vector<std::string> trusted_neither_way;
    fixture.memory.gate = [&](const GateCall& call, const Files&) -> Result<GateReport> {
        if (call.request.gate == "green") {
            trusted_neither_way = call.baseline->flaky;
            return gate_report(call, true);
        }
        const bool first = call.request.parameters.at("run").to_number<int>() == 1;
        return suite(call, {{"steady", TestStatus::passed}, {"moody", first ? TestStatus::passed : TestStatus::error}});
    };
    fixture.stage("a", [&](StageContext& context) {
        EXPECT_TRUE(context.run_gate(GateRequest{"green", {}, {}})->passed);
        return note();
    });
    const auto result = fixture.start(judged_by("green"));
    EXPECT_TRUE(result.success);
    EXPECT_THAT(trusted_neither_way, ElementsAre("moody"));
    EXPECT_THAT(fact_texts(baseline_of(result.task_id).facts, "flaky"), ElementsAre("moody"));
}

TEST_F(BaselineTest, is_measured_once_per_task_despite_crashes) {
    bool died = false;
    fixture.stage("a", [&](StageContext& context) {
        if (!std::exchange(died, true)) { fixture.cancel.request(); }
        if (context.cancelled()) { return StageResult::failed(Error{"X", "stopped", "", "", ErrorKind::cancelled}); }
        EXPECT_TRUE(context.run_gate(GateRequest{"red", {}, {}})->passed);
        return note();
    });
    const auto interrupted = fixture.start(judged_by("red"));
    EXPECT_EQ(interrupted.status, TaskStatus::paused);
    EXPECT_TRUE(fixture.resume(interrupted.task_id).success);
    EXPECT_THAT(fixture.memory.gates_run, ElementsAre("tests", "red"));
}

TEST_F(BaselineTest, a_runner_that_is_not_installed_pauses_the_task_before_a_model_is_asked) {
    fixture.memory.gate = [](const GateCall&, const Files&) -> Result<GateReport> {
        return Error{"AF-GATE-003", "The program `python3` is not installed.", "", "Install it.", ErrorKind::unavailable};
    };
    bool entered = false;
    fixture.stage("a", [&](StageContext&) {
        entered = true;
        return note();
    });
    const auto result = fixture.start(judged_by("red"));
    EXPECT_EQ(result.status, TaskStatus::paused);
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->code, "AF-GATE-003");
    EXPECT_FALSE(entered);
}

TEST_F(BaselineTest, a_suite_that_cannot_be_measured_pauses_the_task_and_is_retried_on_resume) {
    bool mended = false;
    fixture.memory.gate = [&](const GateCall& call, const Files&) -> Result<GateReport> {
        if (mended) { return suite(call, {{"old", TestStatus::passed}}); }
        GateReport report =
            gate_report(call, false, {{"tests_found", true}, {"believed", false}, {"unmeasurable", json::array{"no plan"}}});
        report.tests.push_back({"old", "old", "t.py", 1, TestStatus::error, "not trusted"});
        return report;
    };
    std::vector<std::string> entered;
    for (const char* name : {"a", "b"}) {
        fixture.stage(name, [&entered, name](StageContext& context) {
            entered.emplace_back(name);
            EXPECT_TRUE(context.run_gate(GateRequest{"red", {}, {}})->passed);
            return note();
        });
    }
    StartOptions options = PipelineFixture::with({"a", "b"});
    options.pipeline.stages[1].config = {{"exit_gate", "red"}};
    const auto paused = fixture.start(options);
    EXPECT_EQ(paused.status, TaskStatus::paused);
    ASSERT_TRUE(paused.error.has_value());
    EXPECT_EQ(paused.error->code, "AF-GATE-107");
    EXPECT_TRUE(entered.empty());
    mended = true;
    EXPECT_TRUE(fixture.resume(paused.task_id).success);
    EXPECT_EQ(entered.front(), "a");
}

/// A stage whose agent hands in at once, and a gate that cannot measure until the user has fixed something.
class BaselineUnmeasurableTest : public BaselineTest {
protected:
    BaselineUnmeasurableTest() {
        fixture.stage("a", [](StageContext& context) {
            AgentRun run;
            run.role = "software_developer";
            run.objective = "hand it in";
            run.output_contract = "note";
            const auto outcome = context.run_agent(run);
            return outcome.ok() ? StageResult::completed(outcome->artifact) : StageResult::failed(outcome.error());
        });
        fixture.answers([this](const CompletionRequest&) -> Result<Completion> {
            ++asked;
            return call_tool("complete", {{"text", "done"}});
        });
        fixture.memory.gate = [this](const GateCall& call, const Files&) -> Result<GateReport> {
            if (hindrance) { return *hindrance; }
            return gate_report(call, true);
        };
    }
    unsigned asked = 0;
    std::optional<Error> hindrance = Error{"AF-GATE-100", "What requirements.txt names is not there.", "requirements.txt",
                                           "agentforge setup", ErrorKind::unavailable};
};

TEST_F(BaselineUnmeasurableTest, a_fault_only_the_user_can_fix_pauses_and_resume_repeats_the_action) {
    const auto paused = fixture.start(judged_by("tests"));
    EXPECT_EQ(paused.status, TaskStatus::paused);
    ASSERT_TRUE(paused.error.has_value());
    EXPECT_EQ(paused.error->code, "AF-GATE-100");
    EXPECT_EQ(fixture.count(paused.task_id, "step"), 0U);
    hindrance.reset();
    EXPECT_TRUE(fixture.resume(paused.task_id).success);
    EXPECT_EQ(asked, 1U);
}

TEST_F(BaselineUnmeasurableTest, the_model_must_fix_a_tree_without_a_language) {
    hindrance = Error{"AF-GATE-002", "No language.", "", "", ErrorKind::unavailable};
    fixture.answers([this](const CompletionRequest&) -> Result<Completion> {
        if (++asked == 2) { hindrance.reset(); }
        return call_tool("complete", {{"text", "done"}});
    });
    EXPECT_TRUE(fixture.start(judged_by("tests")).success);
    EXPECT_EQ(asked, 2U);
}

/// An agentic model: its command writes a lockfile, then it hands in.
class CommandingModel final : public ModelClient {
public:
    [[nodiscard]] Result<Completion> complete(ModelRequest, CallContext& context) override {
        AgenticCommand command;
        command.argv = {"/bin/agent"};
        AF_CHECK(agentic_context(context)->run_command(command));
        return call_tool("complete", {{"text", "done"}});
    }
    [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }

private:
    BackendInfo info_;
};

TEST_F(BaselineUnmeasurableTest, files_written_by_a_command_before_the_pause_are_recorded) {
    CommandingModel commanding;
    fixture.services.model = [&commanding](const AgentDefinition&) -> Result<ModelClient*> { return &commanding; };
    fixture.services.agentic = [](const AgentDefinition&) { return true; };
    fixture.memory.program = [](const std::string& root) { std::ofstream(root + "/requirements.txt") << "six\n"; };
    const auto paused = fixture.start(judged_by("tests"));
    ASSERT_TRUE(paused.error.has_value());
    EXPECT_EQ(paused.error->code, "AF-GATE-100");
    EXPECT_TRUE(fixture.memory.trees.at(fixture.state(paused.task_id).tree).contains("requirements.txt"));
    hindrance.reset();
    EXPECT_TRUE(fixture.resume(paused.task_id).success);
}

TEST_F(BaselineTest, a_repository_without_a_language_has_no_suite_and_the_task_continues) {
    fixture.memory.gate = [](const GateCall& call, const Files&) -> Result<GateReport> {
        if (call.request.gate == "tests") { return Error{"AF-GATE-002", "No language.", "", "", ErrorKind::unavailable}; }
        return gate_report(call, true);
    };
    fixture.stage("a", [&](StageContext& context) {
        EXPECT_TRUE(context.run_gate(GateRequest{"red", {}, {}})->passed);
        return note();
    });
    const auto result = fixture.start(judged_by("red"));
    EXPECT_TRUE(result.success);
    EXPECT_THAT(baseline_of(result.task_id).summary, HasSubstr("no tests before the task"));
}

TEST_F(BaselineTest, is_measured_again_if_settings_or_rules_changed) {
    bool died = false;
    fixture.memory.inputs = "one";
    fixture.stage("a", [&](StageContext& context) {
        if (!std::exchange(died, true)) { fixture.cancel.request(); }
        if (context.cancelled()) { return StageResult::failed(Error{"X", "stopped", "", "", ErrorKind::cancelled}); }
        EXPECT_TRUE(context.run_gate(GateRequest{"red", {}, {}})->passed);
        return note();
    });
    const auto interrupted = fixture.start(judged_by("red"));
    fixture.memory.inputs = "other";
    EXPECT_TRUE(fixture.resume(interrupted.task_id).success);
    EXPECT_THAT(fixture.memory.gates_run, ElementsAre("tests", "tests", "red"));
}

TEST_F(BaselineTest, accepted_work_is_measured_again_if_settings_or_rules_changed) {
    fixture.memory.inputs = "one";
    fixture.stage("a", [&](StageContext& context) {
        EXPECT_TRUE(context.run_gate(GateRequest{"tests", {}, {}})->passed);
        return note();
    });
    fixture.stage("b", [&](StageContext&) { return note(); });
    StartOptions options = PipelineFixture::with({"a", "b"});
    options.pipeline.stages[0].config = {{"exit_gate", "tests"}};
    options.pipeline.stages[0].approve = true;
    const auto waiting = fixture.start(options);
    ASSERT_EQ(waiting.waiting_for, "approval");
    fixture.memory.inputs = "other";
    ASSERT_TRUE(fixture.controller().approve(waiting.task_id).ok());
    EXPECT_TRUE(fixture.resume(waiting.task_id).success);
    EXPECT_THAT(fixture.memory.gates_run, ElementsAre("tests", "tests"));
}

TEST_F(BaselineTest, a_missing_suite_is_scaffolded_before_red_and_recorded) {
    fixture.memory.scaffold = {{"tests/begun.txt", "here\n"}};
    fixture.memory.gate = [](const GateCall& call, const Files&) {
        return gate_report(call, true, {{"tests_found", call.request.gate != "tests"}});
    };
    bool there = false;
    fixture.stage("a", [&](StageContext& context) {
        there = context.workspace().exists("tests/begun.txt");
        EXPECT_TRUE(context.run_gate(GateRequest{"red", {}, {}})->passed);
        return note();
    });
    const auto result = fixture.start(judged_by("red"));
    EXPECT_TRUE(result.success);
    EXPECT_TRUE(there);
    EXPECT_EQ(fixture.count(result.task_id, "snapshot"), 1U);
    EXPECT_EQ(fixture.memory.trees.at(fixture.state(result.task_id).tree).at("tests/begun.txt"), "here\n");
}

// ------------------------------------------------------------------------------------- exit criteria --

TEST_F(BaselineTest, an_unmet_exit_criterion_blocks_a_stage_whose_gate_passes) {
    fixture.memory.gate = [&](const GateCall& call, const Files& files) -> Result<GateReport> {
        return gate_report(call, true, {{"coverage_percent", files.contains("more.py") ? 81 : 79}});
    };
    fixture.stage("a", [&](StageContext& context) {
        if (!context.input().previous_errors.empty()) {
            EXPECT_THAT(context.input().previous_errors.front(), HasSubstr("coverage_percent must be >= 80 and is 79"));
            EXPECT_TRUE(context.workspace().create("more.py", "y = 2\n").ok());
        }
        EXPECT_TRUE(context.run_gate(GateRequest{"green", {}, {}}).ok());
        return note();
    });
    const auto result = fixture.start(
        judged_by("green", {{"exit_criteria", {{"required", json::array{json::object{{"coverage_percent", ">= 80"}}}}}}}));
    EXPECT_TRUE(result.success);
    EXPECT_EQ(fixture.count(result.task_id, "artifact_rejected"), 1U);
}

TEST_F(BaselineTest, exit_criteria_use_only_the_stages_gate_on_the_whole_tree) {
    fixture.stage("a", [&](StageContext& context) {
        EXPECT_TRUE(context.run_gate(GateRequest{"tests", {}, {}})->passed);
        EXPECT_TRUE(context.run_gate(GateRequest{"green", {"README.md"}, {}})->passed);
        const auto whole = context.run_gate(GateRequest{"green", {}, {}});
        EXPECT_FALSE(whole->passed);
        EXPECT_EQ(whole->facts.at("exit_criteria").as_array().size(), 1U);
        return StageResult::failed(Error{"X", "enough seen", "", "", ErrorKind::invalid});
    });
    StartOptions options =
        judged_by("green", {{"exit_criteria", {{"required", json::array{json::object{{"all_tests_pass", true}}}}}}});
    options.pipeline.stages[0].max_retries = 0;
    EXPECT_EQ(fixture.start(options).status, TaskStatus::failed);
}

// ------------------------------------------------------------------------------------ after an edit --

class EditChecksTest : public BaselineTest {
protected:
    /// A developer who writes one file and hands in. Returns the gates that ran after the edit.
    std::vector<std::string> gates_after_an_edit(json::array checks) {
        fixture.answers([turn = 0](const CompletionRequest&) mutable -> Result<Completion> {
            return turn++ == 0 ? call_tool("create_file", {{"path", "src/new.py"}, {"content", "x = 1\n"}})
                               : call_tool("complete", {{"text", "written"}});
        });
        fixture.stage("a", [&](StageContext& context) {
            AgentRun run;
            run.objective = "Write it.";
            const auto outcome = context.run_agent(run);
            EXPECT_TRUE(outcome.ok()) << outcome.error().to_string();
            return note();
        });
        StartOptions options = PipelineFixture::with({"a"});
        options.pipeline.stages[0].agent = "software_developer";
        options.pipeline.stages[0].config = {{"verify_edits", std::move(checks)}};
        task = fixture.start(options).task_id;
        return fixture.memory.gates_run;
    }
    std::string task;
};

TEST_F(EditChecksTest, all_run_in_order_if_the_required_ones_pass) {
    fixture.memory.gate = [](const GateCall& call, const Files&) { return gate_report(call, call.request.gate == "syntax"); };
    EXPECT_THAT(gates_after_an_edit({"syntax", "types", "conformance", "tests"}),
                ElementsAre("syntax", "types", "conformance", "tests"));
}

TEST_F(EditChecksTest, stop_at_the_first_required_check_that_fails) {
    fixture.memory.gate = [](const GateCall& call, const Files&) { return gate_report(call, call.request.gate == "syntax"); };
    EXPECT_THAT(gates_after_an_edit({"syntax", json::object{{"gate", "types"}, {"must_pass", true}}, "conformance", "tests"}),
                ElementsAre("syntax", "types"));
}

TEST_F(EditChecksTest, compare_with_the_base_tree) {
    std::vector<std::string> bases;
    fixture.memory.gate = [&](const GateCall& call, const Files&) {
        bases.push_back(call.baseline == nullptr ? "" : call.baseline->base_tree);
        return gate_report(call, true);
    };
    static_cast<void>(gates_after_an_edit({"types", "conformance"}));
    const std::string base = fixture.state(task).base_tree;
    EXPECT_THAT(bases, ElementsAre(base, base));
}

TEST_F(EditChecksTest, a_failure_of_the_machine_pauses_the_task_before_a_model_is_asked_again) {
    bool failing = true;
    fixture.memory.gate = [&](const GateCall& call, const Files&) -> Result<GateReport> {
        if (failing) { return Error{"AF-GATE-106", "A gate's command had no room to write", "", "Free space", ErrorKind::io}; }
        return gate_report(call, true);
    };
    unsigned asked = 0;
    fixture.answers([&](const CompletionRequest&) -> Result<Completion> {
        return ++asked == 1 ? call_tool("create_file", {{"path", "src/new.py"}, {"content", "x = 1\n"}})
                            : call_tool("complete", {{"text", "written"}});
    });
    fixture.stage("a", [](StageContext& context) {
        AgentRun run;
        run.objective = "Write it.";
        const auto outcome = context.run_agent(run);
        return outcome.ok() ? note() : StageResult::failed(outcome.error());
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].agent = "software_developer";
    options.pipeline.stages[0].config = {{"verify_edits", json::array{"syntax"}}};
    const auto paused = fixture.start(options);
    EXPECT_EQ(paused.status, TaskStatus::paused);
    EXPECT_EQ(asked, 1U);
    ASSERT_TRUE(paused.error.has_value());
    EXPECT_EQ(paused.error->code, "AF-GATE-106");
    failing = false;
    EXPECT_TRUE(fixture.resume(paused.task_id).success);
}

}  // namespace
}  // namespace agentforge::kernel::testing
