// SPDX-License-Identifier: Apache-2.0
// Whole pipelines over a fake workspace and a scripted model: how stages run, how tasks end and resume, and every crash a task
// can meet.
#include <agentforge/stage_helpers.hpp>

#include "base/text.hpp"
#include "pipeline/agent_run/run_spec.hpp"
#include "unit/backends/fakes.hpp"
#include "unit/pipeline/pipeline_fixture.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;

StageTemplate stage_with_agent(const std::string& stage, const std::string& role) {
    StageTemplate result = PipelineFixture::simple(stage);
    result.agent = role;
    return result;
}

class AnsweringStage final : public LLMStage {
public:
    [[nodiscard]] StageInfo info() const override {
        StageInfo info;
        info.name = "answering";
        return info;
    }
    [[nodiscard]] std::string system_prompt(StageContext&) override { return "You answer in YAML."; }
    [[nodiscard]] std::string user_message(StageContext&) override { return "Write a note."; }
    [[nodiscard]] std::optional<json::object> parse_response(const AgentOutcome& outcome, StageContext& context) override {
        return extract_yaml(outcome.text, context);
    }
};

// ------------------------------------------------------------------------------- stages --

TEST(TestStageExecution, llm_stage_produces_artifact) {
    PipelineFixture fixture;
    fixture.plugins.add_stage("a", std::make_shared<AnsweringStage>());
    fixture.answers(
        [](const CompletionRequest&) -> Result<Completion> { return say("Here it is:\n```yaml\ntext: from the model\n```\n"); });
    const auto result = fixture.start(PipelineFixture::with({stage_with_agent("a", "requirements_analyst")}));
    ASSERT_TRUE(result.success);
    EXPECT_EQ(result.deliverable->at("text").as_string(), "from the model");
}

TEST(TestStageExecution, contract_stage_executes_contract) {
    PipelineFixture fixture;
    ContractStage::Mapping mapping;
    mapping.stage_name = "a";
    mapping.contract = "note";
    mapping.input = {{"wish", "user_request"}};
    fixture.plugins.add_stage("a", std::make_shared<ContractStage>(mapping));
    fixture.answers([](const CompletionRequest&) -> Result<Completion> { return call_tool("complete", {{"text", "kept"}}); });
    const auto result = fixture.start(PipelineFixture::with({stage_with_agent("a", "requirements_analyst")}));
    ASSERT_TRUE(result.success);
    EXPECT_EQ(result.deliverable->at("text").as_string(), "kept");
}

// ------------------------------------------------------------------------------------- the context --

/// Stages `a` and `b`, whose agents hand in their notes at once.
void add_agent_stages(PipelineFixture& fixture) {
    ContractStage::Mapping mapping;
    mapping.stage_name = "a";
    mapping.contract = "note";
    mapping.input = {{"wish", "user_request"}};
    fixture.plugins.add_stage("a", std::make_shared<ContractStage>(mapping));
    mapping.stage_name = "b";
    fixture.plugins.add_stage("b", std::make_shared<ContractStage>(mapping));
}

TEST(TestContext, agents_read_agents_md_of_the_start_commit) {
    PipelineFixture fixture({{"README.md", "hello\n"}, {"AGENTS.md", "Run the tests with make check.\n"}});
    add_agent_stages(fixture);
    fixture.answers([](const CompletionRequest&) -> Result<Completion> { return call_tool("complete", {{"text", "kept"}}); });
    ASSERT_TRUE(fixture.start(PipelineFixture::with({stage_with_agent("a", "requirements_analyst")})).success);
    EXPECT_NE(fixture.model->requests.at(0).user.find("  agents_md: |\n    Run the tests with make check.\n"), std::string::npos)
        << fixture.model->requests.at(0).user;
}

TEST(TestContext, agents_md_can_be_left_out) {
    PipelineFixture fixture({{"README.md", "hello\n"}, {"AGENTS.md", "Run the tests with make check.\n"}});
    fixture.services.agents_md = false;
    add_agent_stages(fixture);
    fixture.answers([](const CompletionRequest&) -> Result<Completion> { return call_tool("complete", {{"text", "kept"}}); });
    ASSERT_TRUE(fixture.start(PipelineFixture::with({stage_with_agent("a", "requirements_analyst")})).success);
    EXPECT_EQ(fixture.model->requests.at(0).user.find("make check"), std::string::npos);
}

TEST(TestContext, a_run_starts_with_the_calibration_of_the_previous_run) {
    PipelineFixture fixture;
    add_agent_stages(fixture);
    fixture.answers([](const CompletionRequest&) -> Result<Completion> {
        Completion answer = call_tool("complete", {{"text", "kept"}});
        answer.usage.input_tokens = 1'000'000;
        return answer;
    });
    const auto result = fixture.start(
        PipelineFixture::with({stage_with_agent("a", "requirements_analyst"), stage_with_agent("b", "business_analyst")}));
    ASSERT_TRUE(result.success);
    std::vector<std::int64_t> permille;
    for (const Record& record : fixture.records(result.task_id)) {
        if (record.type() == "step") {
            permille.push_back(record.body.at("section_tokens").at("calibration_permille").to_number<std::int64_t>());
        }
    }
    EXPECT_EQ(permille, (std::vector<std::int64_t>{1000, 2000}));
}

TEST(TestContext, a_prompt_that_cannot_fit_is_refused_before_a_task_is_created) {
    PipelineFixture fixture;
    const StageTemplate stage = stage_with_agent("a", "requirements_analyst");
    EXPECT_TRUE(check_prompts_fit(fixture.services, stage, "Do it").ok());
    fixture.services.budget.system_prompt = 100;
    const auto checked = check_prompts_fit(fixture.services, stage, "Do it");
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, "AF-AGENT-013");
}

TEST(TestStageExecution, stage_saves_artifact_to_disk) {
    PipelineFixture fixture;
    fixture.stage("a", [](StageContext&) { return note("saved"); });
    const auto result = fixture.start(PipelineFixture::with({"a"}));
    EXPECT_EQ(load_artifact(fixture.task_folder(result.task_id) / "artifacts/phases/a/note.yaml")->at("text").as_string(),
              "saved");
}

// ------------------------------------------------------------------------------- tasks --

/// Three stages: one writes by itself, one by an agent, one delivers.
struct Project {
    explicit Project(PipelineFixture& where) : fixture(where) {
        fixture.stage("a", [](StageContext& context) {
            const auto made = context.workspace().create("src/a.py", "a = 1\n");
            if (!made.ok()) { return StageResult::failed(made.error()); }
            const auto edited = context.workspace().edit("src/a.py", "1", "2");
            return edited.ok() ? note("a") : StageResult::failed(edited.error());
        });
        fixture.stage("b", [](StageContext& context) {
            AgentRun run;
            run.objective = "Write b.py";
            const auto outcome = context.run_agent(run);
            if (!outcome.ok()) { return StageResult::failed(outcome.error()); }
            const auto gate = context.run_gate(GateRequest{"tests", {}, {}});
            return gate.ok() ? StageResult::completed(outcome->artifact) : StageResult::failed(gate.error());
        });
        fixture.stage("deliver", [](StageContext& context) {
            const auto delivery = context.deliver(DeliveryRequest{"Add both", "", {}});
            return delivery.ok() ? note(delivery->commit) : StageResult::failed(delivery.error());
        });
        fixture.answers([](const CompletionRequest& request) -> Result<Completion> {
            if (request.place.step == 1) { return call_tool("create_file", {{"path", "src/b.py"}, {"content", "b = 1\n"}}); }
            return call_tool("complete", {{"text", "b"}});
        });
        options = PipelineFixture::with({stage_with_agent("a", "software_developer"), stage_with_agent("b", "software_developer"),
                                         PipelineFixture::simple("deliver")});
        options.pipeline.stages.back().delivers = true;
        options.pipeline.stages[1].config = {{"exit_gate", "tests"}};
    }
    PipelineFixture& fixture;
    StartOptions options;
};

TEST(TestPipelineExecution, simple_pipeline_completes) {
    PipelineFixture fixture;
    const Project project(fixture);
    const auto result = fixture.start(project.options);
    ASSERT_TRUE(result.success) << result.error.value_or(Error{}).to_string();
    const auto& [commit, tree] = fixture.memory.branches.at("agentforge/" + result.task_id);
    EXPECT_EQ(commit, "commit-1");
    EXPECT_EQ(fixture.memory.trees.at(tree), (Files{{"README.md", "hello\n"}, {"src/a.py", "a = 2\n"}, {"src/b.py", "b = 1\n"}}));
}

TEST(TestPipelineExecution, pipeline_persists_across_restart) {
    PipelineFixture fixture;
    Project project(fixture);
    project.options.approve_stages = {"a"};
    const auto waiting = fixture.start(project.options);
    EXPECT_EQ(waiting.waiting_for, "approval");
    ASSERT_TRUE(fixture.controller().approve(waiting.task_id).ok());
    EXPECT_TRUE(fixture.resume(waiting.task_id).success) << "by another controller, from the disk alone";
}

TEST(TestPipelineExecution, escalation_workflow) {
    PipelineFixture fixture;
    const Project project(fixture);
    fixture.stage("a", [](StageContext& context) {
        if (!context.input().resolution) { return StageResult::escalate({"two ways", "Which?", {"left", "right"}, {}}); }
        static_cast<void>(
            context.workspace().create("way.txt", std::string(context.input().resolution->at("answer").as_string()) + "\n"));
        return note("a");
    });
    const auto waiting = fixture.start(project.options);
    EXPECT_EQ(waiting.exit_code, ExitCode::person_needed);
    fixture.resolve(waiting, {{"answer", "left"}});
    const auto result = fixture.resume(waiting.task_id);
    ASSERT_TRUE(result.success);
    EXPECT_EQ(fixture.memory.trees.at(fixture.state(result.task_id).tree).at("way.txt"), "left\n");
}

// --------------------------------------------------------------------------------------- crashes --

/// Every prefix of the journal is a moment at which the process may have died. From each one the task comes to the same end,
/// and nothing that was finished is done again.
TEST(CrashTest, a_task_killed_after_any_record_resumes_to_the_same_result) {
    PipelineFixture fixture;
    const Project project(fixture);
    const auto whole = fixture.start(project.options);
    ASSERT_TRUE(whole.success);
    const std::string task = whole.task_id;
    const fs::path folder = fixture.task_folder(task);
    const fs::path kept = fixture.folder.path() / "kept";
    fs::copy(folder, kept, fs::copy_options::recursive);
    const TaskState end = fixture.state(task);
    const auto records = fixture.records(task);
    const std::string journal = read_file(kept / "actions.yaml").value();
    std::vector<std::size_t> line_ends;  // Of each record.
    const std::size_t first = journal.find("\n- {") + 1;
    for (std::size_t at = journal.find('\n', first); at != std::string::npos; at = journal.find('\n', at + 1)) {
        line_ends.push_back(at + 1);
    }
    ASSERT_EQ(line_ends.size(), records.size());

    for (std::size_t cut = 1; cut <= records.size(); ++cut) {
        SCOPED_TRACE("cut after record " + std::to_string(cut) + ", " + std::string(records[cut - 1].type()));
        fs::remove_all(folder);
        fs::copy(kept, folder, fs::copy_options::recursive);
        fs::remove(folder / "state.yaml");
        std::ofstream(folder / "actions.yaml", std::ios::binary | std::ios::trunc) << journal.substr(0, line_ends[cut - 1]);
        const auto prefix = fixture.records(task);
        ASSERT_EQ(prefix.size(), cut);
        std::size_t answers = 0, gates = 0;
        bool delivered = false;
        for (const Record& record : prefix) {
            answers += record.type() == "answer" ? 1U : 0U;
            gates += record.type() == "gate" ? 1U : 0U;
            delivered = delivered || record.type() == "delivered";
        }
        fixture.model->requests.clear();
        fixture.memory.gates_run.clear();
        const auto result = fixture.resume(task);
        ASSERT_TRUE(result.success) << result.error.value_or(Error{}).to_string();
        const TaskState after = fixture.state(task);
        EXPECT_EQ(after.tree, end.tree);
        EXPECT_EQ(after.commit, end.commit) << "one commit, whenever the process died";
        for (std::size_t index = 0; index < end.stages.size(); ++index) {
            EXPECT_EQ(after.stages[index].artifact_hash, end.stages[index].artifact_hash) << end.stages[index].name;
            EXPECT_EQ(after.stages[index].visits, 1U) << end.stages[index].name;
        }
        std::size_t all_answers = 0, all_gates = 0;
        for (const Record& record : fixture.records(task)) {
            all_answers += record.type() == "answer" ? 1U : 0U;
            all_gates += record.type() == "gate" ? 1U : 0U;
        }
        EXPECT_EQ(fixture.model->requests.size(), all_answers - answers) << "a recorded answer was requested again";
        EXPECT_EQ(all_answers, 2U);
        EXPECT_EQ(fixture.memory.gates_run.size(), all_gates - gates);
        if (delivered) { EXPECT_TRUE(fixture.memory.gates_run.empty()); }
    }
    EXPECT_EQ(fixture.memory.commits, 1U);
}

/// The journal has the failed attempts of a model, so the retry budget survives a crash. Resuming a paused task starts a new one.
TEST(CrashTest, the_attempt_budget_survives_a_restart) {
    PipelineFixture fixture;
    const Project project(fixture);
    unsigned asked = 0;
    bool broken = false;
    const auto backend = std::make_shared<FakeBackend>([&](const CompletionRequest& request) -> Result<Completion> {
        if (++asked <= 2 || broken) { return Error{"AF-LLM-407", "overloaded", "", "", ErrorKind::transient}; }
        return call_tool(
            request.place.step == 1 ? "create_file" : "complete",
            request.place.step == 1 ? json::object{{"path", "src/b.py"}, {"content", "b = 1\n"}} : json::object{{"text", "b"}});
    });
    const auto client = make_model_client(backend, {}, [](std::chrono::milliseconds) {});
    fixture.services.model = [&client](const AgentDefinition&) -> Result<ModelClient*> { return client.get(); };
    const auto whole = fixture.start(project.options);
    ASSERT_TRUE(whole.success);
    const std::string task = whole.task_id;
    const fs::path journal = fixture.task_folder(task) / "actions.yaml";
    const std::string text = read_file(journal).value();
    const std::size_t second = text.rfind("attempt_failed");
    ASSERT_NE(text.find("attempt_failed"), second);
    std::ofstream(journal, std::ios::binary | std::ios::trunc) << text.substr(0, text.find('\n', second) + 1);
    fs::remove(fixture.task_folder(task) / "state.yaml");

    broken = true;
    asked = 0;
    const auto resumed = fixture.resume(task);
    ASSERT_TRUE(resumed.error.has_value());
    EXPECT_EQ(asked, 2U);
    EXPECT_NE(resumed.error->message.find("tried 4 times"), std::string::npos) << resumed.error->to_string();

    asked = 0;
    EXPECT_EQ(fixture.resume(task).error->code, "AF-LLM-407");
    EXPECT_EQ(asked, 4U) << "resuming a paused task starts a new budget";
}

}  // namespace
}  // namespace agentforge::kernel::testing
