// SPDX-License-Identifier: Apache-2.0
#include <agentforge/testing/fake_host.hpp>

#include <gmock/gmock.h>

#include <stdexcept>
#include <thread>

namespace agentforge::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OneRun : public Stage {
public:
    StageInfo info() const override {
        StageInfo info;
        info.name = "one_run";
        info.output_fields = {"title"};
        return info;
    }
    StageResult execute(StageContext& context) override {
        context.log(LogLevel::info, "starting", {});
        context.progress("asking");
        AgentRun run;
        run.objective = "find a title";
        auto outcome = context.run_agent(run);
        if (!outcome.ok()) { return StageResult::failed(outcome.error()); }
        if (outcome->escalation && !context.input().resolution) { return StageResult::escalate(*outcome->escalation); }
        return StageResult::completed(outcome->artifact);
    }
};

class Writer : public Tool {
public:
    explicit Writer(ToolEffect effects = ToolEffect::writes) : effects_(effects) {}
    ToolSpec spec() const override {
        ToolSpec spec;
        spec.name = "writer";
        spec.effects = effects_;
        spec.path_parameters = {"path"};
        return spec;
    }
    ToolResult call(const json::object& arguments, ToolContext& context) override {
        auto change = context.workspace().create(arguments.at("path").as_string(), "text\n");
        if (!change.ok()) { return ToolResult::failed(change.error()); }
        return ToolResult::done("written", "wrote " + change->path);
    }

private:
    ToolEffect effects_;
};

class Picky : public Tool {
public:
    explicit Picky(const json::object& settings) {
        if (!settings.contains("key")) { throw std::invalid_argument("`key` is missing"); }
    }
    ToolSpec spec() const override { return {}; }
    ToolResult call(const json::object&, ToolContext&) override { return {}; }
};

/// Runs the test's function in `execute`.
class Doing : public Stage {
public:
    explicit Doing(std::function<void(StageContext&)> what) : what_(std::move(what)) {}
    StageInfo info() const override { return {}; }
    StageResult execute(StageContext& context) override {
        what_(context);
        return StageResult::completed({});
    }

private:
    std::function<void(StageContext&)> what_;
};

TEST(FakeHost, runs_the_whole_lifecycle_of_a_stage) {
    FakeStageContext host;
    host.agent.then(completes_with({{"title", "Slug"}}));
    OneRun stage;
    const auto result = host.run(stage);
    ASSERT_TRUE(result.success());
    EXPECT_EQ(result.artifact->at("title").as_string(), "Slug");
}

TEST(FakeHost, records_calls_in_order) {
    FakeStageContext host;
    host.agent.then(completes_with({{"title", "Slug"}}));
    Doing stage([](StageContext& context) {
        static_cast<void>(context.workspace().exists("a.py"));
        static_cast<void>(context.run_agent({}));
        static_cast<void>(context.run_gate({"tests", {}, {}}));
    });
    static_cast<void>(host.run(stage));
    EXPECT_THAT(host.functions(), ElementsAre("workspace.exists", "run_agent", "run_gate"));
}

TEST(FakeHost, records_agent_requests) {
    FakeStageContext host;
    host.agent.then(completes_with({{"title", "Slug"}}));
    OneRun stage;
    static_cast<void>(host.run(stage));
    ASSERT_EQ(host.agent.requests().size(), 1U);
    EXPECT_EQ(host.agent.requests()[0].objective, "find a title");
}

TEST(FakeHost, keeps_log_and_progress) {
    FakeStageContext host;
    host.agent.then(completes_with({{"title", "Slug"}}));
    OneRun stage;
    static_cast<void>(host.run(stage));
    ASSERT_EQ(host.logs().size(), 1U);
    EXPECT_EQ(host.logs()[0].message, "starting");
    EXPECT_THAT(host.progress_lines(), ElementsAre("asking"));
}

TEST(FakeHost, fails_an_unscripted_request) {
    FakeStageContext host;
    OneRun stage;
    const auto result = host.run(stage);
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->code, "AF-FAKE-001");
    EXPECT_EQ(result.error->message, "Call 1 of run_agent has no scripted answer: find a title");
    EXPECT_THAT(result.error->remedy, HasSubstr("`.agent.then(…)`"));
}

TEST(FakeHost, counts_unused_answers) {
    FakeStageContext host;
    host.agent.then(completes_with({{"title", "Slug"}})).then(answers_text("more"));
    OneRun stage;
    static_cast<void>(host.run(stage));
    EXPECT_EQ(host.agent.left(), 1U);
}

TEST(FakeHost, answers_further_calls_with_otherwise) {
    FakeToolContext host;
    host.processes.then(prints("first")).otherwise(prints("rest", 3));
    EXPECT_EQ(host.run_process({})->out, "first");
    EXPECT_EQ(host.run_process({})->exit_code, 3);
    EXPECT_EQ(host.run_process({})->exit_code, 3);
}

TEST(FakeHost, fails_a_call_on_request) {
    FakeStageContext host;
    host.gates.then_fails({"AF-GATE-001", "no such gate", "", "", ErrorKind::not_found});
    EXPECT_EQ(host.run_gate({"tests", {}, {}}).error().code, "AF-GATE-001");
}

TEST(FakeHost, passes_the_persons_answer_to_the_next_attempt) {
    FakeStageContext host;
    host.agent.then(asks_a_person("Which one?")).then(completes_with({{"title", "B"}}));
    host.people.then({{"answer", "B"}});
    OneRun stage;
    const auto result = host.run_to_end(stage);
    EXPECT_TRUE(result.success());
    EXPECT_EQ(host.stage_input.resolution->at("answer").as_string(), "B");
    EXPECT_EQ(host.stage_input.attempt, 2U);
}

TEST(FakeHost, reads_json_as_yaml_and_anything_else_from_the_script) {
    FakeStageContext host;
    EXPECT_EQ(host.parse_yaml(R"({"a": 1})")->at("a").as_int64(), 1);
    EXPECT_EQ(host.parse_yaml("a: 1").error().code, "AF-FAKE-001");
    host.yaml.then({{"a", 2}});
    EXPECT_EQ(host.parse_yaml("a: 2")->at("a").as_int64(), 2);
}

TEST(FakeHost, moves_its_clock_only_when_told) {
    FakeCallContext host;
    const auto begin = host.now();
    EXPECT_EQ(host.now(), begin);
    host.advance(std::chrono::milliseconds(1500));
    EXPECT_EQ(host.now() - begin, std::chrono::milliseconds(1500));
}

TEST(FakeHost, is_cancelled_after_the_given_number_of_checks) {
    FakeCallContext host;
    EXPECT_FALSE(host.cancelled());
    host.cancel_after(2);
    EXPECT_FALSE(host.cancelled());
    EXPECT_FALSE(host.cancelled());
    EXPECT_TRUE(host.cancelled());
    EXPECT_TRUE(host.cancelled());
}

TEST(FakeHost, has_the_deadline_of_the_test) {
    FakeCallContext host;
    EXPECT_FALSE(host.deadline());
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    host.set_deadline(until);
    EXPECT_EQ(host.deadline(), until);
}

TEST(FakeTool, may_write_if_its_spec_says_so) {
    FakeToolContext host;
    Writer tool;
    EXPECT_TRUE(host.call(tool, {{"path", "./src//a.py"}}).success);
    EXPECT_EQ(host.files.content("src/a.py"), "text\n");
}

TEST(FakeTool, is_refused_undeclared_effects) {
    FakeToolContext host;
    Writer tool(ToolEffect::reads);
    const auto result = host.call(tool, {{"path", "a.py"}});
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->code, "AF-TOOL-005");
    EXPECT_THAT(host.files.files(), IsEmpty());
}

TEST(FakeTool, is_not_called_with_a_path_that_leaves_the_workspace) {
    FakeToolContext host;
    Writer tool;
    EXPECT_EQ(host.call(tool, {{"path", "../a.py"}}).error->code, "AF-TOOL-010");
    EXPECT_THAT(host.functions(), IsEmpty());
}

TEST(FakeTool, runs_concurrently_with_separate_hosts) {
    Writer tool;
    const auto results = call_together(tool, std::vector<json::object>(4, {{"path", "a.py"}}));
    ASSERT_EQ(results.size(), 4U);
    for (const auto& result : results) { EXPECT_TRUE(result.success); }
}

TEST(FakeHostMisuse, is_a_call_from_another_thread) {
    FakeStageContext host;
    Doing stage([](StageContext& context) { std::thread([&] { static_cast<void>(context.now()); }).join(); });
    static_cast<void>(host.run(stage));
    EXPECT_THAT(host.misuses(), ElementsAre(HasSubstr("now was called from a thread that does not run the plugin's call")));
}

TEST(FakeHostMisuse, is_a_call_after_the_end) {
    FakeStageContext host;
    StageContext* kept = nullptr;
    Doing stage([&](StageContext& context) { kept = &context; });
    static_cast<void>(host.run(stage));
    static_cast<void>(kept->workspace().exists("a.py"));
    EXPECT_THAT(host.misuses(), ElementsAre(HasSubstr("workspace.exists was called after the plugin's call had returned")));
}

TEST(FakeHostMisuse, is_a_call_while_another_has_not_returned) {
    FakeStageContext host;
    host.agent.then_do([&](const AgentRun&) -> Result<AgentOutcome> {
        std::thread([&] { static_cast<void>(host.cancelled()); }).join();
        return answers_text("");
    });
    Doing stage([](StageContext& context) { static_cast<void>(context.run_agent({})); });
    static_cast<void>(host.run(stage));
    EXPECT_THAT(host.misuses(),
                ::testing::Contains(HasSubstr("cancelled was called while another call into the same context had not returned")));
}

TEST(FakeHostMisuse, is_not_reported_for_a_script_on_the_same_thread) {
    FakeStageContext host;
    host.agent.then_do([&](const AgentRun&) -> Result<AgentOutcome> {
        static_cast<void>(host.files.create("a.py", "x"));
        return answers_text("");
    });
    Doing stage([](StageContext& context) { static_cast<void>(context.run_agent({})); });
    static_cast<void>(host.run(stage));
    EXPECT_THAT(host.misuses(), IsEmpty());
}

TEST(FakeHostMisuseDeathTest, unread_misuse_aborts_the_test) {
    EXPECT_DEATH(
        {
            FakeCallContext host;
            std::thread([&] { static_cast<void>(host.now()); }).join();
        },
        "the test did not read misuses.*\n.*now was called from a thread");
}

TEST(FakeHostMisuse, of_a_sink_is_a_call_from_another_thread) {
    FakeSink sink;
    sink.text("a");
    std::thread([&] { sink.text("b"); }).join();
    EXPECT_EQ(sink.whole(), "ab");
    EXPECT_THAT(sink.misuses(), ElementsAre(HasSubstr("text was called from a thread")));
}

TEST(FakeHostMake, passes_settings_to_the_constructor) { EXPECT_TRUE(make<Picky>({{"key", 1}}).ok()); }

TEST(FakeHostMake, says_why_the_constructor_refused) {
    const auto made = make<Picky>();
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().message, "Cannot create the object: `key` is missing");
}

TEST(FakeHostMake, refuses_settings_for_a_class_that_takes_none) {
    EXPECT_THAT(make<OneRun>({{"key", 1}}).error().message, HasSubstr("settings were given, but it takes none"));
}

TEST(FakeModel, answers_in_order_and_streams) {
    FakeModel model;
    model.says("hello").calls("complete", {{"a", 1}});
    FakeCallContext host;
    FakeSink sink;
    CompletionRequest request;
    request.user = "Say hello.";
    EXPECT_EQ(model.complete(request, &sink, host)->text, "hello");
    EXPECT_EQ(sink.whole(), "hello");
    EXPECT_EQ(model.complete(request, nullptr, host)->tool_calls.at(0).name, "complete");
    EXPECT_EQ(model.complete(request, nullptr, host).error().code, "AF-FAKE-001");
    EXPECT_EQ(model.answers.requests().size(), 3U);
}

}  // namespace
}  // namespace agentforge::testing
