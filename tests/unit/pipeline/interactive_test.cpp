// SPDX-License-Identifier: Apache-2.0
// An interactive task: no action of a model runs before a person has decided on it, by whatever way, and the first answer wins.
#include "unit/pipeline/pipeline_fixture.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A person at a console who types only when told to. Until then the call waits as at a terminal.
class SlowConsole final : public EscalationHandler {
public:
    [[nodiscard]] std::string name() const override { return "slow"; }
    [[nodiscard]] Result<void> notify(const Escalation&, CallContext&) override { return {}; }
    [[nodiscard]] Result<std::optional<Resolution>> wait_for_resolution(const Escalation& escalation,
                                                                        CallContext& context) override {
        if (meanwhile) { meanwhile(escalation.id); }
        if (typed_late) { return std::optional(Resolution{false, {{"answer", "from the console"}}, "console"}); }
        return waited<Resolution>(context);
    }
    [[nodiscard]] Result<void> notify_approval(const ApprovalRequest& request, CallContext&) override {
        shown.push_back(request);
        return {};
    }
    [[nodiscard]] Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest& request,
                                                                    CallContext& context) override {
        if (meanwhile) { meanwhile(request.id); }
        if (typed_late) {
            Approval approval;
            approval.approved = true;
            approval.feedback = edit;
            approval.artifact_hash = request.artifact_hash;
            approval.decided_by = "console";
            return std::optional(approval);
        }
        return waited<Approval>(context);
    }
    std::function<void(const std::string& id)> meanwhile;  ///< What happens while the question is on the screen.
    bool typed_late = false;                               ///< The person types in the end, whatever happened meanwhile.
    std::optional<std::string> edit;
    std::atomic<bool> was_cancelled{false};
    std::vector<ApprovalRequest> shown;

private:
    template <class T>
    Result<std::optional<T>> waited(CallContext& context) {
        while (!context.cancelled()) { std::this_thread::yield(); }
        was_cancelled = true;
        return std::optional<T>();
    }
};

class InteractiveTest : public ::testing::Test {
protected:
    InteractiveTest() {
        fixture.stage("a", [this](StageContext& context) {
            ++entered;
            AgentRun run;
            run.role = "software_developer";
            run.objective = "write it";
            run.output_contract = "note";
            const auto outcome = context.run_agent(run);
            if (!outcome.ok()) { return StageResult::failed(outcome.error()); }
            return StageResult::completed(outcome->artifact);
        });
        fixture.answers([this](const CompletionRequest& request) -> Result<Completion> {
            contexts.push_back(request.user);
            if (contexts.size() == 1) { return call_tool("create_file", {{"path", "src/x.py"}, {"content", "one\n"}}); }
            return call_tool("complete", {{"text", "done"}});
        });
    }
    [[nodiscard]] static StartOptions options() {
        StartOptions options = PipelineFixture::with({"a"});
        options.pipeline.stages[0].agent = "software_developer";
        options.interactive = true;
        return options;
    }
    Result<std::string> decide(const PipelineResult& waiting, PersonDecision decision) {
        if (decision.id.empty() && !decision.hash) { decision.id = waiting.waiting_id; }
        return fixture.controller().decide(waiting.task_id, decision);
    }
    PipelineResult go_on(const PipelineResult& waiting, PersonDecision decision) {
        const auto decided = decide(waiting, std::move(decision));
        EXPECT_TRUE(decided.ok()) << decided.error().to_string();
        return fixture.resume(waiting.task_id);
    }
    void write_answer(const std::string& id, std::string_view text) const {
        std::ofstream(fixture.escalations.directory() / (id + ".resolution.yaml")) << text;
    }
    [[nodiscard]] std::string file(const std::string& task, const std::string& path) {
        const Files& files = fixture.memory.trees.at(fixture.state(task).tree);
        const auto found = files.find(path);
        return found == files.end() ? "-" : found->second;
    }
    [[nodiscard]] bool said(std::string_view text) const {
        const auto messages = fixture.events.texts("log", "message");
        return std::any_of(messages.begin(), messages.end(),
                           [text](const std::string& one) { return one.find(text) != std::string::npos; });
    }
    [[nodiscard]] std::vector<std::string> decisions(const std::string& task) {
        std::vector<std::string> found;
        for (const Record& record : fixture.records(task)) {
            if (record.type() == "action_decided") { found.emplace_back(record.body.at("decision").as_string()); }
        }
        return found;
    }

    PipelineFixture fixture;
    unsigned entered = 0;
    std::vector<std::string> contexts;
};

TEST_F(InteractiveTest, no_action_runs_before_a_person_decides) {
    const auto waiting = fixture.start(options());
    EXPECT_EQ(waiting.waiting_for, "action");
    EXPECT_EQ(waiting.exit_code, ExitCode::person_needed);
    EXPECT_EQ(file(waiting.task_id, "src/x.py"), "-");
    EXPECT_EQ(fixture.state(waiting.task_id).steps, 0U);
    EXPECT_EQ(fixture.state(waiting.task_id).status, TaskStatus::awaiting_approval);
    const auto asked = fixture.escalations.approval(waiting.waiting_id);
    ASSERT_TRUE(asked.ok()) << asked.error().to_string();
    EXPECT_EQ(asked->artifact.at("tool"), "create_file");
    EXPECT_EQ(asked->artifact.at("arguments").at("content"), "one\n");
    EXPECT_EQ(hash_of(asked->artifact), asked->artifact_hash);
}

TEST_F(InteractiveTest, asks_about_every_action_and_pays_for_each_answer_once) {
    auto result = fixture.start(options());
    unsigned asked = 0;
    for (; asked < 10 && result.waiting_for == "action"; ++asked) { result = go_on(result, {.approved = true}); }
    EXPECT_TRUE(result.success) << (result.error ? result.error->to_string() : "");
    EXPECT_EQ(asked, 2U);
    EXPECT_EQ(contexts.size(), 2U);
    EXPECT_EQ(fixture.state(result.task_id).ledger.total().calls, 2U);
    EXPECT_EQ(file(result.task_id, "src/x.py"), "one\n");
    EXPECT_THAT(decisions(result.task_id), ElementsAre("approved", "approved"));
}

TEST_F(InteractiveTest, runs_the_action_as_changed_by_a_person) {
    auto result = fixture.start(options());
    result =
        go_on(result, {.approved = true, .edited = json::object{{"arguments", {{"path", "src/x.py"}, {"content", "two\n"}}}}});
    EXPECT_EQ(file(result.task_id, "src/x.py"), "two\n");
    EXPECT_THAT(decisions(result.task_id), ElementsAre("edited"));
    ASSERT_EQ(contexts.size(), 2U);
    EXPECT_THAT(contexts[1], HasSubstr("a person changed this action"));
}

TEST_F(InteractiveTest, a_rejected_action_does_not_run_and_the_model_is_told_why) {
    auto result = fixture.start(options());
    result = go_on(result, {.feedback = "put it into lib/"});
    EXPECT_EQ(result.waiting_for, "action");
    EXPECT_EQ(file(result.task_id, "src/x.py"), "-");
    ASSERT_EQ(contexts.size(), 2U);
    EXPECT_THAT(contexts[1], HasSubstr("put it into lib/"));
    EXPECT_EQ(fixture.state(result.task_id).steps, 1U);
}

TEST_F(InteractiveTest, a_decision_applies_only_to_the_action_shown) {
    const auto waiting = fixture.start(options());
    const std::string task = waiting.task_id;
    EXPECT_EQ(fixture.controller().approve(task).error().code, "AF-ESC-036");
    EXPECT_EQ(fixture.controller().decide(task, {.approved = true, .hash = "0123456789"}).error().code, "AF-ESC-035");
    EXPECT_EQ(fixture.controller().decide(task, {.approved = true, .hash = ""}).error().code, "AF-ESC-035");
    EXPECT_EQ(
        fixture.controller().decide(task, {.approved = true, .hash = fixture.state(task).action->hash.substr(0, 3)}).error().code,
        "AF-ESC-035");
    EXPECT_EQ(fixture.escalations.decide_action(waiting.waiting_id, {true, {}, "", "0123", "x"}).error().code, "AF-ESC-006");
    write_answer(waiting.waiting_id, "approved: true\nartifact_hash: \"0123\"\n");
    EXPECT_EQ(fixture.controller().resume(task).error().code, "AF-ESC-006");
    fs::remove(fixture.escalations.directory() / (waiting.waiting_id + ".resolution.yaml"));
    EXPECT_TRUE(
        fixture.controller().decide(task, {.approved = true, .hash = fixture.state(task).action->hash.substr(0, 12)}).ok());
}

TEST_F(InteractiveTest, an_approval_does_not_cover_the_next_action) {
    const auto first = fixture.start(options());
    const auto second = go_on(first, {.approved = true});
    EXPECT_NE(second.waiting_id, first.waiting_id);
    const auto late = fixture.controller().decide(first.task_id, {.approved = true, .id = first.waiting_id});
    EXPECT_EQ(late.error().code, "AF-ESC-004");
    EXPECT_EQ(fixture.resume(first.task_id).waiting_id, second.waiting_id);
}

TEST_F(InteractiveTest, a_change_that_the_role_may_not_request_is_refused) {
    const auto waiting = fixture.start(options());
    const auto error = [&](json::object edited) {
        return decide(waiting, {.approved = true, .edited = std::move(edited)}).error();
    };
    EXPECT_THAT(error({{"tool", "creat_file"}, {"arguments", json::object()}}).message, HasSubstr("did you mean `create_file`?"));
    EXPECT_THAT(error({{"arguments", {{"pat", "x"}, {"content", "y"}}}}).message, HasSubstr("pat"));
    EXPECT_EQ(error({{"tool", "create_file"}}).code, "AF-ESC-032");
    EXPECT_EQ(error({{"arguments", json::object()}, {"why", 1}}).code, "AF-ESC-032");
    EXPECT_FALSE(fixture.escalations.answer_version(waiting.waiting_id).has_value());
}

TEST_F(InteractiveTest, the_roles_rules_apply_to_a_changed_action) {
    auto result = fixture.start(options());
    result = go_on(
        result, {.approved = true, .edited = json::object{{"arguments", {{"path", "tests/test_x.py"}, {"content", "two\n"}}}}});
    EXPECT_EQ(file(result.task_id, "tests/test_x.py"), "-");
    EXPECT_EQ(result.waiting_for, "action");
}

TEST_F(InteractiveTest, a_file_answers_with_approval_change_or_rejection) {
    const auto first = fixture.start(options());
    write_answer(first.waiting_id, "approved: true\nedited:\n  arguments:\n    path: src/x.py\n    content: \"three\\n\"\n");
    const auto second = fixture.resume(first.task_id);
    EXPECT_EQ(file(first.task_id, "src/x.py"), "three\n");
    write_answer(second.waiting_id, "approved: false\nfeedback: not yet\n");
    const auto third = fixture.resume(first.task_id);
    EXPECT_EQ(third.waiting_for, "action");
    EXPECT_THAT(decisions(first.task_id), ElementsAre("edited", "rejected"));
}

TEST_F(InteractiveTest, an_unreadable_answer_file_leaves_the_question_open) {
    const auto waiting = fixture.start(options());
    for (const char* text : {"approved: yes\n", "approved: true\nfeedback: no\n", "approved: true\nedited: {content: x}\n",
                             "approved: false\nedited: {arguments: {}}\n", "aproved: true\n"}) {
        write_answer(waiting.waiting_id, text);
        EXPECT_FALSE(fixture.controller().resume(waiting.task_id).ok()) << text;
        EXPECT_EQ(fixture.state(waiting.task_id).waiting_for(), "action") << text;
    }
}

// --------------------------------------------------------------------------------------------- races --

TEST_F(InteractiveTest, a_command_from_another_terminal_ends_the_wait_at_the_console) {
    const auto console = std::make_shared<SlowConsole>();
    fixture.other_handler = console;
    fixture.wait = std::chrono::minutes(1);
    fixture.services.hang_grace = std::chrono::seconds(10);
    console->meanwhile = [this](const std::string& id) {
        EXPECT_TRUE(fixture.escalations
                        .decide_action(id, {true, {}, "", fixture.escalations.approval(id)->artifact_hash, "other terminal"})
                        .ok());
    };
    const auto result = fixture.start(options());
    EXPECT_TRUE(result.success) << (result.error ? result.error->to_string() : result.waiting_for);
    EXPECT_TRUE(console->was_cancelled);
    EXPECT_THAT(fixture.events.texts("action_decided", "decided_by"), ElementsAre("other terminal", "other terminal"));
}

TEST_F(InteractiveTest, a_second_answer_at_the_console_is_told_that_the_first_won) {
    const auto console = std::make_shared<SlowConsole>();
    fixture.other_handler = console;
    console->typed_late = true;
    console->meanwhile = [this](const std::string& id) {
        if (id.starts_with("ACT-")) { write_answer(id, "approved: false\nfeedback: the file was first\ndecided_by: ann\n"); }
    };
    fixture.wait =
        std::chrono::seconds(1);  // Its action is refused repeatedly, and no one answers the question that this ends in.
    const auto result = fixture.start(options());
    static_cast<void>(result);
    EXPECT_TRUE(said("AF-ESC-004"));
    EXPECT_TRUE(said("the file was first"));
    EXPECT_EQ(decisions(result.task_id).front(), "rejected");
}

TEST_F(InteractiveTest, a_second_answer_by_command_is_told_the_first_answer) {
    const auto waiting = fixture.start(options());
    write_answer(waiting.waiting_id, "approved: false\nfeedback: too early\ndecided_by: ann\n");
    const auto second = decide(waiting, {.approved = true});
    EXPECT_EQ(second.error().code, "AF-ESC-004");
    EXPECT_THAT(second.error().message, HasSubstr("rejected: \"too early\" by ann"));
}

TEST_F(InteractiveTest, accepts_a_change_at_the_console) {
    const auto console = std::make_shared<SlowConsole>();
    fixture.other_handler = console;
    fixture.wait = std::chrono::minutes(1);
    console->typed_late = true;
    console->edit = R"({"arguments": {"path": "src/x.py", "content": "typed\n"}})";
    bool first = true;
    console->meanwhile = [&](const std::string&) {
        if (!std::exchange(first, false)) { console->edit.reset(); }
    };
    const auto result = fixture.start(options());
    EXPECT_TRUE(result.success) << (result.error ? result.error->to_string() : "");
    EXPECT_EQ(file(result.task_id, "src/x.py"), "typed\n");
}

TEST_F(InteractiveTest, asks_at_the_terminal_whatever_the_settings_say) {
    const auto console = std::make_shared<SlowConsole>();
    fixture.present = console;
    console->typed_late = true;
    EXPECT_TRUE(fixture.start(options()).success);
    EXPECT_EQ(fixture.events.texts("asking", "handler"), (std::vector<std::string>{"slow", "slow"}));
    EXPECT_TRUE(fixture.handler->notified.empty()) << "nobody else need know what is decided at once";
    fixture.stage("b", [](StageContext&) { return StageResult::escalate({"r", "q?", {}, {}}); });
    EXPECT_EQ(fixture.start(PipelineFixture::with({"b"})).waiting_for, "escalation")
        << "a task that is not interactive waits for nobody unless it was told to";
}

TEST_F(InteractiveTest, notifies_other_handlers_if_nobody_decides_at_the_terminal) {
    fixture.present = std::make_shared<SilentHandler>();  // The person there says: later.
    const auto waiting = fixture.start(options());
    EXPECT_EQ(waiting.waiting_for, "action");
    EXPECT_THAT(fixture.handler->notified, ElementsAre(waiting.waiting_id));
}

TEST_F(InteractiveTest, names_an_invalid_answer_file_while_waiting_and_accepts_its_correction) {
    const auto console = std::make_shared<SlowConsole>();
    fixture.other_handler = console;
    fixture.wait = std::chrono::minutes(1);
    fixture.services.hang_grace = std::chrono::seconds(10);
    console->meanwhile = [this, first = true](const std::string& id) mutable {
        if (std::exchange(first, false)) {
            write_answer(id, "aproved: true\n");
            while (!said("AF-ESC-005")) { std::this_thread::yield(); }
        }
        write_answer(id, "approved: true\ndecided_by: editor\n");
    };
    const auto result = fixture.start(options());
    EXPECT_TRUE(result.success) << (result.error ? result.error->to_string() : "");
    EXPECT_TRUE(said("AF-ESC-005"));
}

/// Cuts the journal after its first record of a type, as if the process had died there.
void cut_after(PipelineFixture& fixture, const std::string& task, std::string_view type) {
    const fs::path file = fixture.store.paths(task).journal();
    std::string kept;
    const std::string all = read_file(file).value();
    for (std::size_t begin = 0; begin < all.size();) {
        const std::size_t end = all.find('\n', begin) + 1;
        const std::string line = all.substr(begin, end - begin);
        kept += line;
        begin = end;
        if (line.find("\"type\": \"" + std::string(type) + "\"") != std::string::npos) { break; }
    }
    ASSERT_LT(kept.size(), all.size()) << "no record " << type;
    std::ofstream(file, std::ios::trunc) << kept;
    fs::remove(fixture.store.paths(task).root / "state.yaml");
}

/// The same races for the artifact of a supervised task and for a question: each has one answer.
class InteractiveOneAnswer : public InteractiveTest, public ::testing::WithParamInterface<const char*> {
protected:
    InteractiveOneAnswer() {
        asks = [this](StageContext& context) {
            ++entered;
            if (std::string_view(GetParam()) == "approval" || context.input().resolution) { return note(); }
            return StageResult::escalate({"two ways", "which?", {"one", "two"}, {}});
        };
        fixture.stage("a", asks);
        fixture.stage("b", [](StageContext&) { return note(); });
    }
    [[nodiscard]] static StartOptions supervised() {
        StartOptions options = PipelineFixture::with({"a", "b"});
        options.supervised = std::string_view(GetParam()) == "approval";
        return options;
    }
    void answer_by_command(const std::string& id) {
        const auto done = id.starts_with("ESC-")
                              ? fixture.escalations.resolve(id, Resolution{false, {{"answer", "from a command"}}, "commander"})
                              : fixture.escalations.decide(
                                    id, Approval{true, {}, fixture.escalations.approval(id)->artifact_hash, "commander"});
        EXPECT_TRUE(done.ok()) << done.error().to_string();
    }
    void answer_by_file(const std::string& id) const {
        write_answer(
            id, id.starts_with("ESC-") ? "answer: from a file\nresolved_by: filer\n" : "approved: true\ndecided_by: filer\n");
    }
    [[nodiscard]] std::vector<std::string> answered_by() const {
        auto names = fixture.events.texts("escalation_resolved", "resolved_by");
        for (std::string& name : fixture.events.texts("approval_decided", "decided_by")) { names.push_back(std::move(name)); }
        return names;
    }
    std::function<StageResult(StageContext&)> asks;
    std::shared_ptr<SlowConsole> console = std::make_shared<SlowConsole>();
};

TEST_P(InteractiveOneAnswer, a_command_ends_the_wait_at_the_console) {
    fixture.other_handler = console;
    fixture.wait = std::chrono::minutes(1);
    fixture.services.hang_grace = std::chrono::seconds(10);
    console->meanwhile = [this](const std::string& id) { answer_by_command(id); };
    EXPECT_TRUE(fixture.start(supervised()).success);
    EXPECT_THAT(answered_by(), ElementsAre("commander"));
    EXPECT_TRUE(console->was_cancelled);
}

TEST_P(InteractiveOneAnswer, a_file_ends_the_wait_at_the_console) {
    fixture.other_handler = console;
    fixture.wait = std::chrono::minutes(1);
    fixture.services.hang_grace = std::chrono::seconds(10);
    console->meanwhile = [this](const std::string& id) { answer_by_file(id); };
    EXPECT_TRUE(fixture.start(supervised()).success);
    EXPECT_THAT(answered_by(), ElementsAre("filer"));
}

TEST_P(InteractiveOneAnswer, an_unreadable_answer_is_named_and_the_task_keeps_waiting) {
    const auto asked = fixture.start(supervised());
    write_answer(asked.waiting_id, "approved: maybe\n");
    fixture.wait = std::chrono::minutes(1);
    const auto waiting = fixture.resume(asked.task_id);  // The handler says: not now.
    EXPECT_EQ(waiting.waiting_id, asked.waiting_id);
    EXPECT_EQ(waiting.exit_code, ExitCode::person_needed);
    EXPECT_TRUE(said("AF-ESC-005"));
    fixture.other_handler = console;
    fixture.services.hang_grace = std::chrono::seconds(10);
    console->meanwhile = [this](const std::string& id) { answer_by_file(id); };
    EXPECT_TRUE(fixture.resume(asked.task_id).success);
    EXPECT_THAT(answered_by(), ElementsAre("filer"));
}

TEST_P(InteractiveOneAnswer, the_console_is_told_that_a_command_was_first) {
    fixture.other_handler = console;
    fixture.wait = std::chrono::minutes(1);
    console->typed_late = true;
    console->meanwhile = [this](const std::string& id) { answer_by_command(id); };
    EXPECT_TRUE(fixture.start(supervised()).success);
    EXPECT_THAT(answered_by(), ElementsAre("commander"));
    EXPECT_TRUE(said("AF-ESC-004"));
    EXPECT_TRUE(said("by commander"));
}

TEST_P(InteractiveOneAnswer, a_command_is_told_that_a_file_was_first) {
    const auto waiting = fixture.start(supervised());
    answer_by_file(waiting.waiting_id);
    const Error second = std::string_view(GetParam()) == "approval"
                             ? fixture.controller().decide(waiting.task_id, {.approved = false}).error()
                             : fixture.escalations.resolve(waiting.waiting_id, Resolution{true, {}, "late"}).error();
    EXPECT_EQ(second.code, "AF-ESC-004");
    EXPECT_THAT(second.message, HasSubstr("by filer"));
    EXPECT_TRUE(fixture.resume(waiting.task_id).success);
    EXPECT_THAT(answered_by(), ElementsAre("filer"));
}

TEST_P(InteractiveOneAnswer, a_command_is_told_that_the_console_was_first) {
    fixture.other_handler = console;
    fixture.wait = std::chrono::minutes(1);
    console->typed_late = true;
    const auto result = fixture.start(supervised());
    EXPECT_TRUE(result.success);
    const auto list = fixture.records(result.task_id);
    const auto asked = std::find_if(list.begin(), list.end(), [](const Record& record) {
        return record.type() == "approval_requested" || record.type() == "escalation_raised";
    });
    const bool approval = asked->type() == "approval_requested";
    const std::string id(asked->body.at(approval ? "approval_id" : "escalation_id").as_string());
    const Error late = approval ? fixture.controller().decide(result.task_id, {.approved = true, .id = id}).error()
                                : fixture.escalations.resolve(id, Resolution{true, {}, "late"}).error();
    EXPECT_EQ(late.code, "AF-ESC-004");
    EXPECT_THAT(late.message, HasSubstr("by console"));
}

TEST_P(InteractiveOneAnswer, a_crash_around_the_answer_neither_loses_nor_repeats_a_question) {
    const auto waiting = fixture.start(supervised());
    answer_by_file(waiting.waiting_id);
    static_cast<void>(fixture.resume(waiting.task_id));
    const bool approval = std::string_view(GetParam()) == "approval";
    for (const char* record :
         {approval ? "approval_decided" : "escalation_resolved", "task_resumed",
          approval ? "approval_requested" : "escalation_raised", approval ? "artifact_accepted" : "stage_escalated"}) {
        cut_after(fixture, waiting.task_id, record);
        const auto result = fixture.resume(waiting.task_id);
        EXPECT_TRUE(result.success) << record << ": " << result.waiting_for << (result.error ? result.error->to_string() : "");
        EXPECT_EQ(fixture.count(waiting.task_id, approval ? "approval_decided" : "escalation_resolved"), 1U) << record;
    }
}
INSTANTIATE_TEST_SUITE_P(Kinds, InteractiveOneAnswer, ::testing::Values("approval", "question"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_F(InteractiveTest, a_question_includes_the_facts_the_kernel_knows) {
    fixture.stage("a", [](StageContext& context) {
        AgentRun run;
        run.role = "software_developer";
        run.output_contract = "note";
        static_cast<void>(context.run_agent(run));
        static_cast<void>(context.run_gate(GateRequest{.gate = "tests", .paths = {}, .parameters = {}}));
        return StageResult::escalate({"stuck", "what now?", {}, {{"mine", 1}}});
    });
    StartOptions autonomous = options();
    autonomous.interactive = false;
    const auto waiting = fixture.start(autonomous);
    const auto asked = fixture.escalations.escalation(waiting.waiting_id);
    ASSERT_TRUE(asked.ok());
    EXPECT_EQ(asked->context.at("mine"), 1);
    const json::object& evidence = asked->context.at("evidence").as_object();
    EXPECT_EQ(evidence.at("gates").at(0).at("gate"), "tests");
    EXPECT_EQ(evidence.at("gates").at(0).at("of_this_tree"), true);
    EXPECT_EQ(evidence.at("last_steps").at(0).at("tool"), "complete");
    EXPECT_EQ(evidence.at("last_steps").at(1).at("tool"), "create_file");
}

// ------------------------------------------------------------------------------------ crash and pause --

TEST_F(InteractiveTest, resume_uses_an_answer_given_before_a_crash) {
    const auto waiting = fixture.start(options());
    ASSERT_TRUE(decide(waiting, {.approved = true}).ok());
    // The process that answered died without doing more. After any number of resumes the action has run once.
    const auto next = fixture.resume(waiting.task_id);
    EXPECT_EQ(fixture.resume(waiting.task_id).waiting_id, next.waiting_id);
    EXPECT_THAT(decisions(waiting.task_id), ElementsAre("approved"));
    EXPECT_EQ(fixture.count(waiting.task_id, "step"), 1U);
}

class InteractiveCrashAfter : public InteractiveTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(InteractiveCrashAfter, this_record_neither_loses_an_answer_nor_repeats_a_question) {
    auto result = fixture.start(options());
    const std::string task = result.task_id;
    const std::string first = result.waiting_id;
    result = go_on(result, {.approved = true});
    cut_after(fixture, task, GetParam());
    result = fixture.resume(task);
    EXPECT_EQ(result.waiting_for, "action");
    EXPECT_EQ(file(task, "src/x.py"), "one\n") << "the first answer stands";
    EXPECT_THAT(decisions(task), ElementsAre("approved"));
    EXPECT_NE(result.waiting_id, first);
    EXPECT_TRUE(go_on(result, {.approved = true}).success);
}
INSTANTIATE_TEST_SUITE_P(Records, InteractiveCrashAfter,
                         ::testing::Values("answer", "action_proposed", "action_asked", "action_decided"),
                         [](const auto& one) { return std::string(one.param); });

TEST_F(InteractiveTest, a_waiting_task_can_be_aborted) {
    const auto waiting = fixture.start(options());
    ASSERT_TRUE(fixture.controller().abort(waiting.task_id, "enough").ok());
    EXPECT_EQ(fixture.state(waiting.task_id).status, TaskStatus::aborted);
    EXPECT_FALSE(fixture.state(waiting.task_id).action.has_value());
}

TEST_F(InteractiveTest, a_resume_without_an_answer_does_and_costs_nothing) {
    const auto waiting = fixture.start(options());
    const std::size_t before = fixture.records(waiting.task_id).size();
    EXPECT_EQ(fixture.resume(waiting.task_id).waiting_id, waiting.waiting_id);
    EXPECT_EQ(fixture.records(waiting.task_id).size(), before);
    EXPECT_EQ(entered, 1U);
}

TEST_F(InteractiveTest, a_model_command_that_acts_by_itself_is_refused) {
    fixture.services.agentic = [](const AgentDefinition&) { return true; };
    const auto result = fixture.start(options());
    ASSERT_TRUE(result.error.has_value());
    EXPECT_THAT(result.error->message + result.error->code, HasSubstr("agentically"));
    EXPECT_EQ(result.status, TaskStatus::paused);
}

TEST_F(InteractiveTest, asks_about_a_reviewers_actions_too) {
    StartOptions with_review = options();
    with_review.pipeline.stages[0].reviewers = {"security_architect"};
    fixture.answers([this](const CompletionRequest& request) -> Result<Completion> {
        contexts.push_back(request.user);
        if (contexts.size() == 1) { return call_tool("complete", {{"text", "done"}}); }
        return call_tool("complete",
                         {{"summary", "fine"}, {"blocking_issues", json::array()}, {"advisory_issues", json::array()}});
    });
    auto result = go_on(fixture.start(with_review), {.approved = true});
    ASSERT_EQ(result.waiting_for, "action");
    EXPECT_EQ(fixture.escalations.approval(result.waiting_id)->artifact.at("mode"), "review");
    EXPECT_TRUE(go_on(result, {.approved = true}).success);
    EXPECT_EQ(contexts.size(), 2U);
}

TEST_F(InteractiveTest, a_stage_that_swallows_the_interruption_is_entered_again) {
    fixture.stage("a", [](StageContext& context) {
        AgentRun run;
        run.role = "software_developer";
        run.output_contract = "note";
        const auto outcome = context.run_agent(run);
        return outcome.ok() ? StageResult::completed(outcome->artifact) : note("invented");
    });
    auto result = fixture.start(options());
    EXPECT_EQ(result.waiting_for, "action");
    result = go_on(go_on(result, {.approved = true}), {.approved = true});
    EXPECT_TRUE(result.success);
    EXPECT_EQ(result.deliverable->at("text"), "done");
}

TEST_F(InteractiveTest, waiting_for_a_decision_counts_no_call_as_lost) {
    auto result = fixture.start(options());
    while (result.waiting_for == "action") { result = go_on(result, {.approved = true}); }
    EXPECT_EQ(fixture.count(result.task_id, "call_lost"), 0U);
    fixture.stage("b", [](StageContext& context) {
        AgentRun run;
        run.role = "software_developer";
        run.output_contract = "note";
        const auto outcome = context.run_agent(run);
        return outcome.ok() ? StageResult::completed(outcome->artifact) : StageResult::failed(outcome.error());
    });
    StartOptions supervised = PipelineFixture::with({"a", "b"});
    supervised.pipeline.stages[0].agent = supervised.pipeline.stages[1].agent = "software_developer";
    supervised.supervised = true;
    const auto shown = fixture.start(supervised);
    ASSERT_TRUE(fixture.controller().approve(shown.task_id).ok());
    EXPECT_TRUE(fixture.resume(shown.task_id).success);
    EXPECT_EQ(fixture.count(shown.task_id, "call_lost"), 0U);
}

}  // namespace
}  // namespace agentforge::kernel::testing
