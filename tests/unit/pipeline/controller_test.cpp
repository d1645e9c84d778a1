// SPDX-License-Identifier: Apache-2.0
// The controller over fakes: what a task does, and what its journal records.
#include <agentforge/testing/fake_host.hpp>
#include "base/ids.hpp"
#include "pipeline/machine.hpp"
#include "task/artifact_files.hpp"

#include "plugins/guard.hpp"
#include "unit/pipeline/pipeline_fixture.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ControllerTest : public ::testing::Test {
protected:
    /// Stages that record that they ran.
    void passing(std::initializer_list<const char*> names) {
        for (const char* name : names) {
            fixture.stage(name, [this, name](StageContext&) {
                ran.emplace_back(name);
                return note(name);
            });
        }
    }
    [[nodiscard]] StageState stage(const PipelineResult& result, std::string_view name) {
        for (const StageState& one : fixture.state(result.task_id).stages) {
            if (one.name == name) { return one; }
        }
        ADD_FAILURE() << "no stage " << name;
        return {};
    }

    PipelineFixture fixture;
    std::vector<std::string> ran;
};

using TestPipelineController = ControllerTest;
using TestStageExecutor = ControllerTest;

// ---------------------------------------------------------------------------------- runs and stages --

TEST_F(TestPipelineController, create_pipeline_generates_unique_id) {
    passing({"a"});
    const auto first = fixture.start(PipelineFixture::with({"a"}));
    const auto second = fixture.start(PipelineFixture::with({"a"}));
    EXPECT_NE(first.task_id, second.task_id);
    EXPECT_TRUE(is_task_id(first.task_id)) << first.task_id;
}

TEST_F(TestPipelineController, execute_runs_all_stages_in_order) {
    passing({"a", "b", "c"});
    const auto result = fixture.start(PipelineFixture::with({"a", "b", "c"}));
    EXPECT_TRUE(result.success);
    EXPECT_EQ(result.exit_code, ExitCode::done);
    EXPECT_THAT(ran, ElementsAre("a", "b", "c"));
    EXPECT_THAT(result.stages_completed, ElementsAre("a", "b", "c"));
    ASSERT_TRUE(result.deliverable.has_value());
    EXPECT_EQ(result.deliverable->at("text").as_string(), "c");
    EXPECT_EQ(fixture.memory.closed, 1U) << "the workspace goes with the task";
}

TEST_F(TestPipelineController, execute_stops_on_stage_failure) {
    passing({"a", "c"});
    unsigned attempts = 0;
    fixture.stage("b", [&](StageContext& context) {
        EXPECT_EQ(context.input().attempt, ++attempts);
        return StageResult::failed(Error{"MY-001", "it cannot be done", "", "", ErrorKind::invalid});
    });
    const auto result = fixture.start(PipelineFixture::with({"a", "b", "c"}));
    EXPECT_FALSE(result.success);
    EXPECT_EQ(result.status, TaskStatus::failed);
    EXPECT_EQ(result.exit_code, ExitCode::failed);
    EXPECT_EQ(attempts, 3U) << "the first attempt and two retries";
    EXPECT_THAT(ran, ElementsAre("a"));
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->code, "MY-001");
    EXPECT_THAT(result.error->message, HasSubstr("it cannot be done"));
}

TEST_F(TestPipelineController, a_plain_resume_takes_the_answer_of_a_handler) {
    fixture.stage("a", [&](StageContext& context) {
        if (!context.input().resolution) { return StageResult::escalate({"unclear", "Which colour?", {}, {}}, std::nullopt); }
        return note(std::string(context.input().resolution->at("answer").as_string()));
    });
    const auto waiting = fixture.start(PipelineFixture::with({"a"}));
    ASSERT_EQ(waiting.waiting_for, "escalation");
    EXPECT_EQ(fixture.resume(waiting.task_id).waiting_for, "escalation") << "nobody has answered";
    fixture.handler->answer = Resolution{false, {{"answer", "blue"}}, "the inbox"};
    const auto result = fixture.resume(waiting.task_id);
    ASSERT_TRUE(result.success);
    EXPECT_EQ(result.deliverable->at("text").as_string(), "blue");
}

TEST_F(TestPipelineController, execute_handles_escalation) {
    std::optional<json::object> resolution;
    std::optional<json::object> partial;
    fixture.stage("a", [&](StageContext& context) {
        resolution = context.input().resolution;
        partial = context.input().previous_attempt;
        if (!resolution) {
            return StageResult::escalate({"unclear", "Which colour?", {"red", "blue"}, {}}, json::object{{"text", "half"}});
        }
        return note();
    });
    const auto waiting = fixture.start(PipelineFixture::with({"a"}));
    EXPECT_EQ(waiting.status, TaskStatus::paused);
    EXPECT_EQ(waiting.waiting_for, "escalation");
    EXPECT_EQ(waiting.exit_code, ExitCode::person_needed);
    EXPECT_THAT(fixture.handler->notified, ElementsAre(waiting.waiting_id));
    EXPECT_EQ(fixture.escalations.escalation(waiting.waiting_id)->question, "Which colour?");
    fixture.resolve(waiting, {{"answer", "blue"}});
    const auto result = fixture.resume(waiting.task_id);
    EXPECT_TRUE(result.success);
    EXPECT_EQ(resolution->at("answer").as_string(), "blue");
    EXPECT_EQ(partial->at("text").as_string(), "half");
}

TEST_F(TestPipelineController, resume_continues_from_current_stage) {
    passing({"a", "c"});
    fixture.stage("b", [&](StageContext&) {
        ran.emplace_back("b");
        fixture.cancel.request();  // Ctrl-C while b runs.
        return note();
    });
    const auto paused = fixture.start(PipelineFixture::with({"a", "b", "c"}));
    EXPECT_EQ(paused.status, TaskStatus::paused);
    EXPECT_EQ(paused.exit_code, ExitCode::cancelled);
    const auto result = fixture.resume(paused.task_id);
    EXPECT_TRUE(result.success);
    EXPECT_THAT(ran, ElementsAre("a", "b", "c"));
}

TEST_F(TestPipelineController, supervised_mode_pauses_between_stages) {
    passing({"a", "b"});
    StartOptions options = PipelineFixture::with({"a", "b"});
    options.supervised = true;
    const auto waiting = fixture.start(options);
    EXPECT_EQ(waiting.status, TaskStatus::awaiting_approval);
    EXPECT_EQ(waiting.waiting_for, "approval");
    EXPECT_THAT(ran, ElementsAre("a"));
    ASSERT_TRUE(fixture.controller().approve(waiting.task_id).ok());
    EXPECT_TRUE(fixture.resume(waiting.task_id).success);
    EXPECT_THAT(ran, ElementsAre("a", "b"));
}

TEST_F(TestPipelineController, early_exit_stops_at_configured_stage) {
    passing({"a", "b", "c"});
    StartOptions options = PipelineFixture::with({"a", "b", "c"});
    options.exit_after = "b";
    const auto result = fixture.start(options);
    ASSERT_TRUE(result.success);
    EXPECT_THAT(ran, ElementsAre("a", "b"));
    EXPECT_EQ(result.deliverable->at("text").as_string(), "b");
    EXPECT_EQ(fixture.records(result.task_id).back().body.at("exit_type").as_string(), "early_exit");
}

TEST_F(TestPipelineController, abort_terminates_running_pipeline) {
    passing({"b"});
    // Holds the task's lock, as another process would: abort leaves a request, and the running task sees it.
    fixture.stage("a", [&](StageContext& context) {
        ran.emplace_back("a");
        EXPECT_TRUE(fixture.controller().abort(context.input().task_id, "no longer wanted").ok());
        return note();
    });
    const auto result = fixture.start(PipelineFixture::with({"a", "b"}));
    EXPECT_EQ(result.status, TaskStatus::aborted);
    EXPECT_EQ(result.exit_code, ExitCode::cancelled);
    EXPECT_THAT(ran, ElementsAre("a"));
    EXPECT_EQ(fixture.controller().abort(result.task_id, "again").value(), AbortOutcome::finished);
}

TEST_F(TestPipelineController, the_second_abort_of_a_running_pipeline_says_one_was_requested) {
    fixture.stage("a", [&](StageContext& context) {
        const std::string task = context.input().task_id;
        EXPECT_EQ(fixture.controller().abort(task, "the first").value(), AbortOutcome::asked_to_stop);
        EXPECT_EQ(fixture.controller().abort(task, "the second").value(), AbortOutcome::already_asked);
        return note();
    });
    EXPECT_EQ(fixture.start(PipelineFixture::with({"a"})).status, TaskStatus::aborted);
}

TEST_F(TestPipelineController, an_abort_during_another_abort_writes_no_request) {
    passing({"a"});
    StartOptions options = PipelineFixture::with({"a", "b"});
    options.approve_stages = {"a"};
    const auto waiting = fixture.start(options);
    const auto lock = TaskLock::acquire(fixture.store.paths(waiting.task_id), "agentforge abort", "");
    ASSERT_TRUE(lock.ok()) << lock.error().to_string();
    EXPECT_EQ(fixture.controller().abort(waiting.task_id, "again").value(), AbortOutcome::already_asked);
    EXPECT_FALSE(std::filesystem::exists(fixture.store.paths(waiting.task_id).root / "abort.request"));
}

TEST_F(TestPipelineController, a_killed_abort_is_finished_by_the_next) {
    fixture.stage("a", [](StageContext&) {
        return StageResult::failed(Error{"MY-001", "it cannot be done", "", "", ErrorKind::invalid});
    });
    const auto result = fixture.start(PipelineFixture::with({"a"}));
    ASSERT_FALSE(result.success);
    {
        auto session = TaskSession::open(fixture.store, result.task_id, fixture.clock, "abort", fixture.services.redactor);
        ASSERT_TRUE(session.ok()) << session.error().to_string();
        ASSERT_TRUE((*session)->record(records::TaskAborted{"killed after this record"}).ok());
    }
    const unsigned closed = fixture.memory.closed;
    const auto again = fixture.controller().abort(result.task_id, "again");
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    EXPECT_EQ(*again, AbortOutcome::finished);
    EXPECT_EQ(fixture.memory.closed, closed + 1);
}

TEST_F(TestStageExecutor, save_artifact_creates_yaml_file) {
    passing({"a"});
    const auto result = fixture.start(PipelineFixture::with({"a"}));
    const auto loaded = load_artifact(fixture.task_folder(result.task_id) / "artifacts/phases/a/note.yaml");
    ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
    EXPECT_EQ(loaded->at("text").as_string(), "a");
}

// ------------------------------------------------------------------------------------ starting, limits --

TEST_F(ControllerTest, an_empty_request_creates_no_task) {
    for (const std::string& request : {std::string(), std::string(" \n\t"), std::string(300 * 1024, 'x'), std::string("\xff")}) {
        EXPECT_EQ(fixture.controller().execute(request, PipelineFixture::with({"a"})).error().code, "AF-ORCH-040");
    }
    StartOptions options = PipelineFixture::with({"a"});
    options.exit_after = "b";
    EXPECT_EQ(fixture.controller().execute("x", options).error().code, "AF-ORCH-041");
    options = PipelineFixture::with({"a"});
    options.approve_stages = {"b"};
    EXPECT_EQ(fixture.controller().execute("x", options).error().code, "AF-ORCH-041");
    EXPECT_TRUE(fixture.controller().list_tasks({}, 0)->tasks.empty());
}

TEST_F(ControllerTest, a_stage_whose_plugin_cannot_be_created_pauses_at_the_first_attempt) {
    passing({"alpha"});
    StartOptions options = PipelineFixture::with({"alpha"});
    options.pipeline.stages[0].executor = "alpah";
    const auto paused = fixture.start(options);
    EXPECT_EQ(paused.status, TaskStatus::paused);
    EXPECT_EQ(paused.exit_code, ExitCode::failed);
    EXPECT_EQ(paused.error->code, "AF-PLUG-010");
    EXPECT_THAT(paused.error->remedy, HasSubstr("alpha"));
    EXPECT_EQ(fixture.count(paused.task_id, "stage_started"), 1U);
    fixture.stage("alpah", [](StageContext&) { return note(); });
    EXPECT_TRUE(fixture.resume(paused.task_id).success);
}

TEST_F(ControllerTest, an_unknown_role_fails_the_stage_and_not_the_program) {
    passing({"a"});
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].agent = "nobody";
    const auto result = fixture.start(options);
    EXPECT_EQ(result.status, TaskStatus::failed);
    EXPECT_EQ(result.error->code, "AF-AGENT-002");
}

TEST_F(ControllerTest, a_plugin_that_throws_fails_its_stage) {
    fixture.stage("a", [](StageContext&) -> StageResult { throw std::runtime_error("oops"); });
    const auto result = fixture.start(PipelineFixture::with({"a"}));
    EXPECT_EQ(result.status, TaskStatus::failed);
    EXPECT_THAT(result.error->message, HasSubstr("oops"));
}

TEST_F(ControllerTest, a_retried_stage_receives_the_previous_error) {
    std::vector<std::string> errors;
    fixture.stage("a", [&](StageContext& context) {
        if (context.input().attempt == 1) { return StageResult::failed(Error{"X-1", "first time", "", "", ErrorKind::invalid}); }
        errors = context.input().previous_errors;
        return note();
    });
    EXPECT_TRUE(fixture.start(PipelineFixture::with({"a"})).success);
    EXPECT_THAT(errors, ElementsAre("first time"));
}

TEST_F(ControllerTest, running_out_of_attempts_after_green_asks_a_person_and_keeps_the_work) {
    for (const auto* code : {"X-1", "AF-AGENT-011"}) {
        bool advised = false;
        fixture.stage("work", [](StageContext& context) {
            EXPECT_TRUE(context.run_gate({"green", {}, {}}).ok());
            return note();
        });
        fixture.stage("polish", [&](StageContext& context) {
            if (!advised) { return StageResult::failed(Error{code, "too complex", "", "", ErrorKind::invalid}); }
            EXPECT_TRUE(context.run_gate({"refactor", {}, {}}).ok());
            return note();
        });
        StartOptions options = PipelineFixture::with({"work", "polish"});
        options.pipeline.stages[0].config = {{"exit_gate", "green"}};
        options.pipeline.stages[1].config = {{"exit_gate", "refactor"}};
        const auto asked = fixture.start(options);
        ASSERT_EQ(asked.waiting_for, "escalation") << code;
        const auto state = fixture.state(asked.task_id);
        EXPECT_EQ(state.escalation->cause, EscalationCause::attempts);
        EXPECT_THAT(state.escalation->question, AllOf(HasSubstr("too complex"), HasSubstr("`work`")));
        EXPECT_EQ(state.stages[0].status, StageStatus::completed);
        advised = true;
        fixture.resolve(asked, {{"answer", "split it"}});
        EXPECT_TRUE(fixture.resume(asked.task_id).success);
    }
}

TEST_F(ControllerTest, a_failed_task_gets_a_new_round_when_it_is_resumed) {
    bool works = false;
    unsigned attempts = 0;
    fixture.stage("a", [&](StageContext&) {
        ++attempts;
        return works ? note() : StageResult::failed(Error{"X-1", "no", "", "", ErrorKind::invalid});
    });
    const auto failed = fixture.start(PipelineFixture::with({"a"}));
    EXPECT_EQ(failed.status, TaskStatus::failed);
    works = true;
    EXPECT_TRUE(fixture.resume(failed.task_id).success);
    EXPECT_EQ(attempts, 4U);
}

TEST_F(ControllerTest, resuming_an_ended_task_changes_nothing) {
    passing({"a"});
    const auto result = fixture.start(PipelineFixture::with({"a"}));
    const std::size_t records = fixture.records(result.task_id).size();
    EXPECT_TRUE(fixture.resume(result.task_id).success);
    EXPECT_EQ(fixture.records(result.task_id).size(), records);
    EXPECT_THAT(ran, ElementsAre("a"));
}

TEST_F(ControllerTest, a_lock_held_by_another_process_is_named) {
    fixture.stage("a", [&](StageContext& context) {
        const auto second = fixture.controller().resume(context.input().task_id);
        EXPECT_FALSE(second.ok());
        EXPECT_EQ(second.error().code, "AF-TASK-003");
        EXPECT_THAT(second.error().message, HasSubstr("agentforge test"));
        return note();
    });
    EXPECT_TRUE(fixture.start(PipelineFixture::with({"a"})).success);
}

TEST_F(ControllerTest, skip_if_skips_if_one_of_its_words_is_true) {
    fixture.stage("intake", [&](StageContext&) {
        return StageResult::completed({{"extracted_intent", {{"action", "fix"}, {"target", "x"}, {"scope", "file"}}},
                                       {"detected_scope", "bug_fix"},
                                       {"initial_complexity", "simple"},
                                       {"identified_ambiguities", json::array{}}});
    });
    passing({"b", "c"});
    std::vector<StageTemplate> stages{PipelineFixture::simple("intake"), PipelineFixture::simple("b"),
                                      PipelineFixture::simple("c")};
    stages[0].contract = "intake_record";
    stages[1].skip_if = "trivial_change OR no_ambiguities";
    const auto result = fixture.start(PipelineFixture::with(std::move(stages)));
    EXPECT_TRUE(result.success) << json::serialize(to_json(fixture.state(result.task_id)));
    EXPECT_THAT(ran, ElementsAre("c"));
    EXPECT_EQ(stage(result, "b").skip_reason, "no_ambiguities");
}

TEST_F(ControllerTest, skip_if_does_not_trust_intake_that_a_change_is_trivial) {
    fixture.stage("intake", [&](StageContext&) {
        return StageResult::completed(
            {{"extracted_intent", {{"action", "fix"}, {"target", "x"}, {"scope", "file"}}},
             {"detected_scope", "bug_fix"},
             {"initial_complexity", "trivial"},
             {"identified_ambiguities", json::array{json::object{{"question", "?"}, {"impact", "minor"}}}}});
    });
    passing({"b", "c", "d"});
    std::vector<StageTemplate> stages{PipelineFixture::simple("intake"), PipelineFixture::simple("b"),
                                      PipelineFixture::simple("c"), PipelineFixture::simple("d")};
    stages[0].contract = "intake_record";
    stages[1].skip_if = "no_ambiguities";
    stages[2].skip_if = "no_ambiguities OR trivial_change";
    const auto result = fixture.start(PipelineFixture::with(std::move(stages)));
    EXPECT_TRUE(result.success) << json::serialize(to_json(fixture.state(result.task_id)));
    // The intake's claim that a change is trivial skips nothing: no change shows it yet.
    EXPECT_THAT(ran, ElementsAre("b", "c", "d"));
}

// ----------------------------------------------------------------------------------- artifact, gates --

TEST_F(ControllerTest, a_refused_artifact_goes_back_with_its_errors_until_a_person_is_asked) {
    std::vector<std::vector<std::string>> errors;
    fixture.stage("a", [&](StageContext& context) {
        errors.push_back(context.input().previous_errors);
        return StageResult::completed({{"text", ""}});
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].max_contract_retries = 2;
    const auto waiting = fixture.start(options);
    EXPECT_EQ(waiting.exit_code, ExitCode::person_needed);
    ASSERT_EQ(errors.size(), 3U);
    EXPECT_TRUE(errors[0].empty());
    ASSERT_FALSE(errors[1].empty());
    EXPECT_THAT(errors[1].front(), HasSubstr("text"));
    EXPECT_EQ(fixture.state(waiting.task_id).escalation->cause, EscalationCause::contract_retries);
    EXPECT_EQ(fixture.count(waiting.task_id, "artifact_rejected"), 3U);
}

TEST_F(ControllerTest, a_corrected_artifact_continues_the_task) {
    fixture.stage("a", [&](StageContext& context) {
        if (context.input().previous_errors.empty()) { return StageResult::completed({{"txt", "x"}}); }
        EXPECT_TRUE(context.input().previous_attempt.has_value());
        return note();
    });
    const auto result = fixture.start(PipelineFixture::with({"a"}));
    EXPECT_TRUE(result.success);
    EXPECT_EQ(stage(result, "a").visits, 2U);
}

TEST_F(ControllerTest, measured_facts_override_the_stages_claims) {
    fixture.stage("a", [&](StageContext& context) {
        EXPECT_TRUE(context.workspace().create("src/new.py", "x = 1\n").ok());
        return StageResult::completed({{"text", "t"}, {"request_id", "REQ-forged"}, {"final_files", json::array{"everything"}}});
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].agent = "software_developer";
    const auto result = fixture.start(options);
    ASSERT_TRUE(result.success);
    EXPECT_EQ(result.deliverable->at("final_files"), (json::array{"src/new.py"}));
    EXPECT_EQ(result.deliverable->at("request_id").as_string(), "REQ-" + result.task_id.substr(5));
}

TEST_F(ControllerTest, completion_without_its_exit_gate_is_sent_back) {
    fixture.stage("a", [&](StageContext& context) {
        if (context.input().previous_errors.empty()) { return note(); }
        EXPECT_THAT(context.input().previous_errors.front(), HasSubstr("green gate was not measured"));
        EXPECT_TRUE(context.run_gate(GateRequest{"green", {}, {}})->passed);
        return note();
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].config = {{"exit_gate", "green"}};
    const auto result = fixture.start(options);
    EXPECT_TRUE(result.success);
    EXPECT_EQ(fixture.count(result.task_id, "artifact_rejected"), 1U);
}

TEST_F(ControllerTest, a_gate_on_some_paths_or_another_tree_does_not_count_as_exit_gate) {
    fixture.stage("a", [&](StageContext& context) {
        std::size_t turn = 0;
        if (!context.input().previous_errors.empty()) { turn = context.workspace().exists("after.py") ? 2 : 1; }
        if (turn == 0) { EXPECT_TRUE(context.run_gate(GateRequest{"tests", {"README.md"}, {}}).ok()); }
        if (turn == 1) {
            EXPECT_TRUE(context.run_gate(GateRequest{"tests", {}, {}}).ok());
            EXPECT_TRUE(context.workspace().create("after.py", "y = 2\n").ok());
        }
        if (turn == 2) { EXPECT_TRUE(context.run_gate(GateRequest{"tests", {}, {}}).ok()); }
        return note();
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].agent = "software_developer";
    options.pipeline.stages[0].config = {{"exit_gate", "tests"}};
    const auto result = fixture.start(options);
    EXPECT_TRUE(result.success);
    EXPECT_EQ(fixture.count(result.task_id, "artifact_rejected"), 2U);
}

// ------------------------------------------------------------------------------------------- reviews --

class ReviewTest : public ControllerTest {
protected:
    void reviewer(std::function<json::array(unsigned)> blocking) {
        fixture.answers([blocking = std::move(blocking), round = 0U](const CompletionRequest&) mutable -> Result<Completion> {
            return call_tool(
                "complete",
                {{"summary", "looked at it"}, {"blocking_issues", blocking(++round)}, {"advisory_issues", json::array()}});
        });
    }
    static json::array issue() {
        return {json::object{{"id", "S-1"}, {"severity", "high"}, {"description", "leaks"}, {"remediation", "do not"}}};
    }
    static StartOptions reviewed() {
        StartOptions options = PipelineFixture::with({"a", "b"});
        options.pipeline.stages[0].reviewers = {"security_architect"};
        return options;
    }
};

TEST_F(ReviewTest, a_blocking_issue_goes_back_and_the_revision_passes) {
    std::vector<std::vector<std::string>> errors;
    fixture.stage("a", [&](StageContext& context) {
        errors.push_back(context.input().previous_errors);
        return note();
    });
    passing({"b"});
    reviewer([](unsigned round) { return round == 1 ? issue() : json::array(); });
    const auto result = fixture.start(reviewed());
    EXPECT_TRUE(result.success);
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_THAT(errors[1].front(), HasSubstr("leaks"));
    EXPECT_TRUE(fs::exists(fixture.task_folder(result.task_id) / "artifacts/phases/a/security_review.yaml"));
}

TEST_F(ReviewTest, a_removed_review_is_restored_from_the_journal) {
    passing({"a"});
    reviewer([](unsigned) { return json::array(); });
    std::string before;
    fixture.stage("b", [&](StageContext&) {
        for (const auto& entry : fs::recursive_directory_iterator(fixture.store.root())) {
            if (entry.path().filename() != "security_review.yaml") { continue; }
            before = read_file(entry.path()).value();
            fs::remove(entry.path());
            break;
        }
        return note();
    });
    const auto result = fixture.start(reviewed());
    ASSERT_TRUE(result.success);
    const fs::path file = fixture.task_folder(result.task_id) / "artifacts/phases/a/security_review.yaml";
    ASSERT_TRUE(fs::exists(file));
    const auto written = parse_yaml(read_file(file).value(), "again").value().value.as_object();
    const auto lost = parse_yaml(before, "before").value().value.as_object();
    EXPECT_EQ(written.at("summary"), lost.at("summary"));
    EXPECT_EQ(written.at("_artifact_meta").at("artifact_type"), lost.at("_artifact_meta").at("artifact_type"));
}

TEST_F(ReviewTest, a_review_that_was_changed_on_disk_is_reported) {
    passing({"a", "b"});
    reviewer([](unsigned) { return json::array(); });
    const auto result = fixture.start(reviewed());
    const TaskPaths paths = fixture.store.paths(result.task_id);
    ASSERT_TRUE(changed_artifact_files(paths, fixture.state(result.task_id)).empty());
    ASSERT_TRUE(
        write_file_atomic(paths.root / "artifacts/phases/a/security_review.yaml", "summary: fine\n", Durability::cached).ok());
    EXPECT_THAT(changed_artifact_files(paths, fixture.state(result.task_id)),
                ElementsAre("artifacts/phases/a/security_review.yaml"));
}

TEST_F(ReviewTest, unresolved_issues_become_a_question_to_a_person) {
    passing({"a", "b"});
    reviewer([](unsigned) { return issue(); });
    StartOptions options = reviewed();
    options.pipeline.stages[0].max_reviews = 2;
    const auto waiting = fixture.start(options);
    EXPECT_EQ(waiting.exit_code, ExitCode::person_needed);
    EXPECT_EQ(fixture.state(waiting.task_id).escalation->cause, EscalationCause::review);
    EXPECT_THAT(ran, ElementsAre("a", "a"));
}

TEST_F(ReviewTest, advice_does_not_block) {
    passing({"a", "b"});
    reviewer([](unsigned) { return issue(); });
    StartOptions options = reviewed();
    options.pipeline.stages[0].review_blocking = false;
    EXPECT_TRUE(fixture.start(options).success);
    EXPECT_THAT(ran, ElementsAre("a", "b"));
}

TEST_F(ReviewTest, a_refused_artifact_is_corrected_although_no_review_round_is_allowed) {
    fixture.stage("a", [&](StageContext& context) {
        return context.input().previous_errors.empty() ? StageResult::completed({}) : note();
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].max_reviews = 0;
    EXPECT_TRUE(fixture.start(options).success);
}

TEST_F(ReviewTest, a_reviewer_cannot_write_whatever_the_role_allows) {
    passing({"a", "b"});
    fixture.answers([round = 0](const CompletionRequest&) mutable -> Result<Completion> {
        if (++round == 1) { return call_tool("create_file", {{"path", "sneaky.py"}, {"content", "x\n"}}); }
        return call_tool("complete",
                         {{"summary", "fine"}, {"blocking_issues", json::array()}, {"advisory_issues", json::array()}});
    });
    StartOptions options = PipelineFixture::with({"a", "b"});
    options.pipeline.stages[0].reviewers = {"software_developer"};
    const auto result = fixture.start(options);
    EXPECT_EQ(fixture.state(result.task_id).tree, fixture.task_workspaces.base()->second);
    bool refused = false;
    for (const Record& record : fixture.records(result.task_id)) {
        if (record.type() == "step") { refused = refused || record.body.at("result").at("status").as_string() == "failure"; }
    }
    EXPECT_TRUE(refused);
}

// ------------------------------------------------------------------------------------------- people --

class ApprovalTest : public ControllerTest {
protected:
    PipelineResult shown(std::function<StageResult(StageContext&)> stage = [](StageContext&) { return note(); }) {
        fixture.stage("a", std::move(stage));
        passing({"b"});
        StartOptions options = PipelineFixture::with({"a", "b"});
        options.approve_stages = {"a"};
        return fixture.start(options);
    }
};

TEST_F(ApprovalTest, feedback_runs_the_stage_again_and_keeps_every_version) {
    std::vector<std::string> feedback;
    const auto waiting = shown([&](StageContext& context) {
        feedback.push_back(context.input().feedback.value_or("-"));
        return note("version " + std::to_string(context.input().iteration + 1));
    });
    ASSERT_TRUE(fixture.controller().provide_feedback(waiting.task_id, "shorter, please").ok());
    const auto again = fixture.resume(waiting.task_id);
    EXPECT_EQ(again.waiting_for, "approval");
    ASSERT_TRUE(fixture.controller().approve(waiting.task_id).ok());
    EXPECT_TRUE(fixture.resume(waiting.task_id).success);
    EXPECT_THAT(feedback, ElementsAre("-", "shorter, please"));
    const fs::path folder = fixture.task_folder(waiting.task_id);
    EXPECT_EQ(load_artifact(folder / "artifacts/phases/a/note_v1.yaml")->at("text").as_string(), "version 1");
    EXPECT_EQ(load_artifact(folder / "artifacts/phases/a/note_final.yaml")->at("text").as_string(), "version 2");
    EXPECT_THAT(read_file(folder / "iteration_history/a/v1_feedback.yaml").value(), HasSubstr("shorter, please"));
}

TEST_F(ApprovalTest, too_much_feedback_asks_a_person_and_overwrites_no_version) {
    const auto waiting = shown();
    const std::string task = waiting.task_id;
    unsigned rounds = 0;
    for (; rounds < 10; ++rounds) {
        ASSERT_TRUE(fixture.controller().provide_feedback(task, "again " + std::to_string(rounds)).ok());
        if (fixture.resume(task).waiting_for == "escalation") { break; }
    }
    EXPECT_EQ(rounds, 3U) << "three rounds of feedback are allowed, the fourth asks";
    EXPECT_EQ(fixture.state(task).escalation->cause, EscalationCause::iteration_limit);
    PipelineResult asked;
    asked.waiting_id = fixture.state(task).escalation->id;
    fixture.resolve(asked, {{"answer", "go on"}});
    EXPECT_EQ(fixture.resume(task).waiting_for, "approval");
    ASSERT_TRUE(fixture.controller().provide_feedback(task, "one more").ok());
    static_cast<void>(fixture.resume(task));
    const fs::path history = fixture.task_folder(task) / "iteration_history/a";
    EXPECT_THAT(read_file(history / "v1_feedback.yaml").value(), HasSubstr("again 0"));
    EXPECT_THAT(read_file(history / "v5_feedback.yaml").value(), HasSubstr("one more"));
}

TEST_F(ApprovalTest, rejection_aborts_the_task) {
    const auto waiting = shown();
    ASSERT_TRUE(fixture.controller().reject(waiting.task_id).ok());
    const auto result = fixture.resume(waiting.task_id);
    EXPECT_EQ(result.status, TaskStatus::aborted);
    EXPECT_EQ(result.exit_code, ExitCode::cancelled);
    EXPECT_TRUE(ran.empty());
}

TEST_F(ApprovalTest, a_decision_on_a_different_artifact_is_refused) {
    const auto waiting = shown();
    Approval approval;
    approval.approved = true;
    approval.artifact_hash = "0123";
    EXPECT_EQ(fixture.escalations.decide(waiting.waiting_id, approval).error().code, "AF-ESC-006");
    std::ofstream(fixture.escalations.directory() / (waiting.waiting_id + ".resolution.yaml"))
        << "approved: true\nartifact_hash: \"0123\"\n";
    EXPECT_EQ(fixture.controller().resume(waiting.task_id).error().code, "AF-ESC-006");
    EXPECT_EQ(fixture.state(waiting.task_id).status, TaskStatus::awaiting_approval);
}

TEST_F(ApprovalTest, an_artifact_changed_since_it_was_shown_is_not_approved) {
    const auto waiting = shown([](StageContext&) { return note("as shown"); });
    const fs::path file = fixture.task_folder(waiting.task_id) / "artifacts/phases/a/note.yaml";
    const std::string before = read_file(file).value();
    std::string changed = before;
    changed.replace(changed.find("as shown"), 8, "otherwise");
    std::ofstream(file) << changed;
    const auto refused = fixture.controller().approve(waiting.task_id);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "AF-ESC-047");
    EXPECT_EQ(refused.error().where, file.string());
    EXPECT_FALSE(fixture.escalations.decision(waiting.waiting_id)->has_value());
    std::ofstream(fixture.escalations.directory() / (waiting.waiting_id + ".resolution.yaml")) << "approved: true\n";
    EXPECT_EQ(fixture.controller().resume(waiting.task_id).error().code, "AF-ESC-047");
    std::ofstream(file) << before;
    EXPECT_TRUE(fixture.resume(waiting.task_id).success) << "the answer that was there counts once the file is what was shown";
}

TEST_F(ApprovalTest, a_question_changed_since_it_was_asked_is_not_approved) {
    const auto waiting = shown([](StageContext&) { return note("as shown"); });
    const fs::path file = fixture.escalations.directory() / (waiting.waiting_id + ".yaml");
    std::string changed = read_file(file).value();
    changed.replace(changed.find("as shown"), 8, "otherwise");
    std::ofstream(file) << changed;
    EXPECT_EQ(fixture.controller().approve(waiting.task_id).error().where, file.string());
    ASSERT_TRUE(fixture.controller().provide_feedback(waiting.task_id, "otherwise").ok())
        << "to have it otherwise is what feedback is for";
}

TEST_F(ApprovalTest, a_lost_question_and_its_artifact_are_rewritten) {
    const auto waiting = shown([](StageContext&) { return note("as shown"); });
    const fs::path question = fixture.escalations.directory() / (waiting.waiting_id + ".yaml");
    const fs::path artifact = fixture.task_folder(waiting.task_id) / "artifacts/phases/a/note.yaml";
    const std::string before = read_file(question).value();
    fs::remove(question);
    fs::remove(artifact);
    const auto lost = fixture.controller().approve(waiting.task_id);
    EXPECT_EQ(lost.error().code, "AF-ESC-001");
    EXPECT_THAT(lost.error().remedy, HasSubstr("agentforge resume " + short_id(waiting.task_id)));
    EXPECT_EQ(fixture.resume(waiting.task_id).waiting_id, waiting.waiting_id);
    EXPECT_EQ(read_file(question).value(), before);
    EXPECT_EQ(load_artifact(artifact)->at("text").as_string(), "as shown");
    ASSERT_TRUE(fixture.controller().approve(waiting.task_id).ok());
    EXPECT_TRUE(fixture.resume(waiting.task_id).success);
}

TEST_F(ControllerTest, a_lost_question_keeps_its_original_deadline) {
    fixture.stage("a", [](StageContext&) { return StageResult::escalate({"unclear", "Which colour?", {"red", "blue"}, {}}); });
    ControllerSetup setup{fixture.store, fixture.task_workspaces, fixture.escalations, fixture.services,
                          fixture.ids,   fixture.handler};
    setup.deadline_policy = {std::chrono::hours(1), "default", ""};
    const auto asked = PipelineController(setup).execute("Ask", PipelineFixture::with({"a"}));
    ASSERT_TRUE(asked.ok()) << asked.error().to_string();
    const fs::path question = fixture.escalations.directory() / (asked->waiting_id + ".yaml");
    const std::string before = read_file(question).value();
    EXPECT_THAT(before, HasSubstr("default_answer"));
    fs::remove(question);
    static_cast<void>(fixture.resume(asked->task_id));  // Its settings have no deadline.
    EXPECT_EQ(read_file(question).value(), before);
}

TEST_F(ApprovalTest, a_decision_without_a_pending_approval_is_refused) {
    passing({"a"});
    const auto result = fixture.start(PipelineFixture::with({"a"}));
    EXPECT_EQ(fixture.controller().approve(result.task_id).error().code, "AF-ORCH-043");
    EXPECT_EQ(fixture.controller().reject(result.task_id).error().code, "AF-ORCH-043");
    EXPECT_EQ(fixture.controller().provide_feedback(result.task_id, " ").error().code, "AF-ORCH-044");
    EXPECT_EQ(fixture.controller().approve("task-20260102-none-00000009").error().code, "AF-TASK-002");
}

TEST_F(ApprovalTest, a_person_at_the_terminal_decides_at_once) {
    fixture.handler->approve = true;
    fixture.wait = std::chrono::minutes(1);
    EXPECT_TRUE(shown().success);
}

TEST_F(ControllerTest, a_handler_that_cannot_ask_leaves_the_question_open) {
    fixture.handler->broken = true;
    fixture.wait = std::chrono::minutes(1);
    fixture.stage("a", [](StageContext&) { return StageResult::escalate({"r", "q?", {}, {}}); });
    EXPECT_EQ(fixture.start(PipelineFixture::with({"a"})).waiting_for, "escalation");
}

TEST_F(ControllerTest, an_answer_can_abort_the_task) {
    fixture.stage("a", [](StageContext&) { return StageResult::escalate({"r", "q?", {}, {}}); });
    const auto waiting = fixture.start(PipelineFixture::with({"a"}));
    fixture.resolve(waiting, {}, true);
    EXPECT_EQ(fixture.resume(waiting.task_id).status, TaskStatus::aborted);
}

TEST_F(ControllerTest, a_contract_whose_agent_asks_a_person_waits_for_the_answer) {
    std::optional<json::object> answered;
    fixture.stage("a", [&](StageContext& context) {
        if (context.input().resolution) {
            answered = context.input().resolution;
            return note();
        }
        const auto ran_contract = context.run_contract("clarification", {{"request", "r"}});
        return ran_contract.ok() ? note() : StageResult::failed(ran_contract.error());
    });
    fixture.answers([](const CompletionRequest&) -> Result<Completion> {
        return call_tool("escalate_question",
                         {{"question", "which database?"}, {"reason", "two are in use"}, {"options", json::array{"one", "two"}}});
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].agent = "business_analyst";
    const auto waiting = fixture.start(options);
    ASSERT_EQ(waiting.waiting_for, "escalation") << (waiting.error ? waiting.error->to_string() : "");
    fixture.resolve(waiting, {{"answer", "one"}});
    EXPECT_TRUE(fixture.resume(waiting.task_id).success);
    ASSERT_TRUE(answered.has_value());
}

TEST_F(ControllerTest, a_question_without_partial_work_has_no_previous_attempt) {
    std::optional<json::object> previous;
    fixture.stage("a", [&](StageContext& context) {
        previous = context.input().previous_attempt;
        return context.input().resolution ? note() : StageResult::escalate({"r", "q?", {}, {}});
    });
    const auto waiting = fixture.start(PipelineFixture::with({"a"}));
    fixture.resolve(waiting, {{"answer", "x"}});
    EXPECT_TRUE(fixture.resume(waiting.task_id).success);
    EXPECT_FALSE(previous.has_value());
}

TEST_F(ControllerTest, a_stage_that_keeps_asking_fails_at_the_limit) {
    fixture.stage("a", [](StageContext&) { return StageResult::escalate({"r", "q?", {}, {}}); });
    auto result = fixture.start(PipelineFixture::with({"a"}));
    unsigned asked = 0;
    for (; result.waiting_for == "escalation" && asked < 20; ++asked) {
        fixture.resolve(result, {{"answer", "x"}});
        result = fixture.resume(result.task_id);
    }
    EXPECT_EQ(asked, max_escalations_per_stage);
    EXPECT_EQ(result.status, TaskStatus::failed);
    EXPECT_EQ(result.error->code, "AF-ORCH-004");
    EXPECT_EQ(fixture.resume(result.task_id).status, TaskStatus::failed) << "resuming it runs it anew, and does not break";
}

// ------------------------------------------------------------------------------------------- cycles --

TEST_F(ControllerTest, a_cycle_undoes_the_stages_after_its_target) {
    bool sent_back = false;
    std::vector<std::string> seen;
    fixture.stage("a", [&](StageContext& context) {
        ran.emplace_back("a");
        seen = context.input().previous_errors;
        EXPECT_EQ(context.input().artifacts.size(), 0U);
        return note();
    });
    passing({"b"});
    fixture.stage("c", [&](StageContext& context) {
        ran.emplace_back("c");
        EXPECT_THAT(context.input().artifacts,
                    ::testing::UnorderedElementsAre(::testing::Key("a"), ::testing::Key("b"), ::testing::Key("note")))
            << "by stage and by contract";
        return std::exchange(sent_back, true) ? note() : StageResult::cycle("a", "the plan is wrong");
    });
    const auto result = fixture.start(PipelineFixture::with({"a", "b", "c"}));
    EXPECT_TRUE(result.success);
    EXPECT_THAT(ran, ElementsAre("a", "b", "c", "a", "b", "c"));
    EXPECT_THAT(seen, ElementsAre("the plan is wrong"));
    EXPECT_EQ(stage(result, "a").cycles, 1U);
}

TEST_F(ControllerTest, a_cycle_asks_for_every_approval_again) {
    bool sent_back = false;
    passing({"a"});
    fixture.stage("b", [&](StageContext&) { return std::exchange(sent_back, true) ? note() : StageResult::cycle("a", "wrong"); });
    StartOptions options = PipelineFixture::with({"a", "b"});
    options.approve_stages = {"a"};
    const auto waiting = fixture.start(options);
    ASSERT_TRUE(fixture.controller().approve(waiting.task_id).ok());
    const auto again = fixture.resume(waiting.task_id);
    EXPECT_EQ(again.waiting_for, "approval");
    EXPECT_NE(again.waiting_id, waiting.waiting_id);
}

TEST_F(ControllerTest, a_cycle_to_before_the_tests_reverts_the_code_too) {
    bool sent_back = false;
    passing({"red"});
    fixture.stage("green", [&](StageContext& context) {
        EXPECT_FALSE(context.workspace().exists("code.py")) << "a file of the first round is still there";
        if (!sent_back) { EXPECT_TRUE(context.workspace().create("code.py", "x\n").ok()); }
        return std::exchange(sent_back, true) ? note() : StageResult::cycle("red", "the tests are wrong");
    });
    StartOptions options = PipelineFixture::with({"red", "green"});
    options.pipeline.stages[0].locks_tests = true;
    options.pipeline.stages[1].agent = "software_developer";
    const auto result = fixture.start(options);
    EXPECT_TRUE(result.success);
    EXPECT_EQ(fixture.state(result.task_id).tree, fixture.task_workspaces.base()->second);
}

TEST_F(ControllerTest, endless_cycles_ask_a_person) {
    passing({"a"});
    fixture.stage("b", [&](StageContext&) { return StageResult::cycle("a", "still wrong"); });
    StartOptions options = PipelineFixture::with({"a", "b"});
    options.pipeline.stages[0].max_cycles = 2;
    const auto waiting = fixture.start(options);
    EXPECT_EQ(waiting.exit_code, ExitCode::cycle_limit);
    EXPECT_EQ(fixture.count(waiting.task_id, "cycle_started"), 2U);
    EXPECT_THAT(ran, ElementsAre("a", "a", "a"));
}

TEST_F(ControllerTest, a_cycle_to_a_stage_that_is_not_earlier_fails_the_attempt) {
    fixture.stage("a", [&](StageContext&) { return StageResult::cycle("b", "forwards"); });
    passing({"b"});
    const auto result = fixture.start(PipelineFixture::with({"a", "b"}));
    EXPECT_EQ(result.status, TaskStatus::failed);
    EXPECT_EQ(result.error->code, "AF-ORCH-006");
}

// --------------------------------------------------------------------------- host calls, time, hanging --

TEST_F(ControllerTest, a_clock_that_jumps_back_and_forth_changes_no_outcome) {
    constexpr std::chrono::hours year(24 * 365);
    fixture.stage("a", [&](StageContext&) {
        fixture.clock.jump(-year);
        return note();
    });
    fixture.stage("b", [&](StageContext& context) {
        fixture.clock.jump(2 * year);
        EXPECT_FALSE(context.cancelled()) << "a deadline is not of the wall's clock";
        fixture.cancel.request();
        return note();
    });
    fixture.stage("c", [](StageContext&) { return note(); });
    const auto paused = fixture.start(PipelineFixture::with({"a", "b", "c"}));
    EXPECT_EQ(paused.status, TaskStatus::paused);
    fixture.clock.jump(-3 * year);
    const auto result = fixture.resume(paused.task_id);
    EXPECT_TRUE(result.success);
    EXPECT_TRUE(Journal::open(fixture.store.paths(paused.task_id).journal()).ok()) << "it verifies";
}

StageResult says_what_its_agent_says(StageContext& context) {
    AgentRun run;
    run.objective = "Say something";
    run.text_answer = true;
    const auto outcome = context.run_agent(run);
    return outcome.ok() ? note(outcome->text) : StageResult::failed(outcome.error());
}

TEST_F(ControllerTest, a_full_disk_pauses_the_task_without_repeating_a_model_call) {
    unsigned asked = 0;
    fixture.stage("a", says_what_its_agent_says);
    fixture.answers([&](const CompletionRequest&) -> Result<Completion> {
        if (++asked == 1) {
            return Error{"AF-BASE-013", "Cannot write the file: No space left on device", "x", "Free some space, then try again.",
                         ErrorKind::io};
        }
        return say("hello");
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].agent = "requirements_analyst";
    const auto paused = fixture.start(options);
    EXPECT_EQ(paused.status, TaskStatus::paused);
    EXPECT_EQ(asked, 1U);
    ASSERT_TRUE(paused.error.has_value());
    EXPECT_EQ(paused.error->code, "AF-BASE-013");
    EXPECT_TRUE(fixture.resume(paused.task_id).success);
}

TEST_F(ControllerTest, unavailable_pauses_and_resumes_inside_the_same_visit) {
    unsigned entered = 0;
    bool there = false;
    fixture.stage("a", [&](StageContext& context) {
        ++entered;
        EXPECT_TRUE(context.run_gate(GateRequest{"types", {}, {}}).ok());
        return says_what_its_agent_says(context);
    });
    fixture.answers([&](const CompletionRequest&) -> Result<Completion> {
        if (!there) { return Error{"AF-LLM-003", "the model is away", "", "", ErrorKind::unavailable}; }
        return say("hello");
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].agent = "requirements_analyst";
    const auto paused = fixture.start(options);
    EXPECT_EQ(paused.status, TaskStatus::paused);
    EXPECT_EQ(paused.exit_code, ExitCode::failed);
    ASSERT_TRUE(paused.error.has_value());
    EXPECT_EQ(paused.error->code, "AF-LLM-003");
    there = true;
    const auto result = fixture.resume(paused.task_id);
    ASSERT_TRUE(result.success);
    EXPECT_EQ(result.deliverable->at("text").as_string(), "hello");
    EXPECT_EQ(entered, 2U);
    EXPECT_EQ(stage(result, "a").visits, 1U);
    EXPECT_THAT(fixture.memory.gates_run, ElementsAre("types")) << "a finished call is not made again";
}

TEST_F(ControllerTest, a_resumed_stage_that_omits_an_earlier_call_is_named_with_the_call) {
    unsigned entered = 0;
    fixture.stage("a", [&](StageContext& context) {
        if (++entered == 2) { return note(); }
        static_cast<void>(context.run_gate(GateRequest{"types", {}, {}}));
        fixture.cancel.request();
        static_cast<void>(context.run_gate(GateRequest{"tests", {}, {}}));
        return note();
    });
    const auto paused = fixture.start(PipelineFixture::with({"a"}));
    EXPECT_EQ(paused.status, TaskStatus::paused);
    const auto result = fixture.resume(paused.task_id);
    EXPECT_EQ(result.status, TaskStatus::paused);
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->code, "AF-ORCH-029");
    EXPECT_THAT(result.error->message, HasSubstr("`run_gate`"));
}

TEST_F(ControllerTest, a_resumed_stage_that_makes_a_different_call_is_named_with_both) {
    unsigned entered = 0;
    fixture.stage("a", [&](StageContext& context) {
        static_cast<void>(context.run_gate(GateRequest{++entered == 1 ? "types" : "syntax", {}, {}}));
        fixture.cancel.request();
        static_cast<void>(context.run_gate(GateRequest{"tests", {}, {}}));
        return note();
    });
    const auto paused = fixture.start(PipelineFixture::with({"a"}));
    EXPECT_EQ(paused.status, TaskStatus::paused);
    const auto result = fixture.resume(paused.task_id);
    EXPECT_EQ(result.status, TaskStatus::paused);
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->code, "AF-ORCH-029");
    EXPECT_THAT(result.error->message, HasSubstr("run_gate"));
}

TEST_F(ControllerTest, a_stage_that_stops_on_request_has_not_failed) {
    fixture.stage("a", [&](StageContext&) {
        if (ran.empty()) {
            ran.emplace_back("a");
            fixture.cancel.request();
            return StageResult::failed(Error{"X-1", "stopped", "", "", ErrorKind::cancelled});
        }
        return note();
    });
    const auto paused = fixture.start(PipelineFixture::with({"a"}));
    EXPECT_EQ(paused.status, TaskStatus::paused);
    EXPECT_EQ(fixture.count(paused.task_id, "stage_failed"), 0U);
    const auto result = fixture.resume(paused.task_id);
    EXPECT_TRUE(result.success);
    EXPECT_EQ(stage(result, "a").visits, 1U);
}

TEST_F(ControllerTest, a_stage_timeout_is_retried_and_then_exits_with_20) {
    unsigned attempts = 0;
    fixture.services.hang_grace = std::chrono::hours(1);
    fixture.stage("a", [&](StageContext& context) {
        ++attempts;
        EXPECT_FALSE(context.cancelled());
        fixture.clock.advance(std::chrono::seconds(11));
        EXPECT_TRUE(context.cancelled()) << "its time is over";
        const auto gate = context.run_gate(GateRequest{"types", {}, {}});
        EXPECT_FALSE(gate.ok());
        return StageResult::failed(Error{"X-1", "whatever it says", "", "", ErrorKind::invalid});
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].timeout = std::chrono::seconds(10);
    const auto result = fixture.start(options);
    EXPECT_EQ(attempts, 3U);
    EXPECT_EQ(result.status, TaskStatus::failed);
    EXPECT_EQ(result.error->code, "AF-ORCH-002");
    EXPECT_EQ(result.exit_code, ExitCode::stage_timeout);
    EXPECT_TRUE(fixture.memory.gates_run.empty());
}

TEST_F(ControllerTest, gate_time_does_not_count_as_stage_time) {
    // hang_grace is 0: while the gate measures, the stage's deadline must not pass for its observer.
    fixture.memory.gate = [&](const GateCall& call, const Files&) {
        fixture.clock.advance(std::chrono::minutes(10));
        return gate_report(call, true);
    };
    fixture.stage("a", [&](StageContext& context) {
        EXPECT_TRUE(context.run_gate(GateRequest{"types", {}, {}}).ok());
        EXPECT_FALSE(context.cancelled());
        return note();
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].timeout = std::chrono::seconds(10);
    const auto result = fixture.start(options);
    EXPECT_TRUE(result.success);
    EXPECT_FALSE(result.abandoned_thread);
}

TEST(StageClockTest, does_not_advance_while_paused) {
    SharedClock time;
    StageClock clock(time, std::chrono::seconds(10));
    const auto deadline = clock.deadline();
    {
        const StageClock::Pause pause(clock);
        time.advance(std::chrono::seconds(60));
        EXPECT_FALSE(clock.expired());
        EXPECT_EQ(clock.deadline(), deadline + std::chrono::seconds(60));
    }
    EXPECT_EQ(clock.deadline(), deadline + std::chrono::seconds(60));
    time.advance(std::chrono::seconds(9));
    EXPECT_FALSE(clock.expired());
    time.advance(std::chrono::seconds(1));
    EXPECT_TRUE(clock.expired());
}

TEST_F(ControllerTest, a_stage_that_never_returns_is_abandoned_and_cannot_act_afterwards) {
    struct Gate {
        std::mutex mutex;
        std::condition_variable changed;
        bool open = false;
        std::string after;
        bool left = false;
    } gate;
    fixture.stage("a", [&](StageContext& context) {
        if (!ran.empty()) { return note(); }
        ran.emplace_back("a");
        fixture.clock.advance(std::chrono::seconds(11));
        std::unique_lock lock(gate.mutex);
        gate.changed.wait(lock, [&] { return gate.open; });
        const auto late = context.run_gate(GateRequest{"types", {}, {}});
        gate.after = late.ok() ? "ok" : late.error().code;
        gate.left = true;
        gate.changed.notify_all();
        return note();
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].timeout = std::chrono::seconds(10);
    const auto hung = fixture.start(options);
    EXPECT_TRUE(hung.abandoned_thread);
    EXPECT_EQ(hung.status, TaskStatus::paused);
    EXPECT_EQ(hung.exit_code, ExitCode::stage_timeout);
    // The thread still has the task, so no one else gets it.
    EXPECT_EQ(fixture.controller().resume(hung.task_id).error().code, "AF-TASK-003");
    const std::size_t records = fixture.records(hung.task_id).size();
    {
        std::unique_lock lock(gate.mutex);
        gate.open = true;
        gate.changed.notify_all();
        gate.changed.wait(lock, [&] { return gate.left; });
    }
    EXPECT_EQ(gate.after, "AF-ORCH-007");
    EXPECT_EQ(fixture.records(hung.task_id).size(), records) << "a thread that was given up writes nothing";
    EXPECT_TRUE(fixture.memory.gates_run.empty());
    // The thread releases the task as it ends.
    while (TaskLock::holder(fixture.store.paths(hung.task_id))) { std::this_thread::yield(); }
    EXPECT_TRUE(fixture.resume(hung.task_id).success);
}

/// A call that hangs until the test releases it; time passes meanwhile.
struct Hanging {
    explicit Hanging(SharedClock& time) : clock(time) {}
    void hang() {
        std::unique_lock lock(mutex);
        while (!open) {
            clock.advance(std::chrono::seconds(2));
            changed.wait_for(lock, std::chrono::milliseconds(20));
        }
    }
    /// The last action of the given-up thread.
    void leave() {
        const std::lock_guard lock(mutex);
        left = true;
        changed.notify_all();
    }
    void let_go_and_wait() {
        std::unique_lock lock(mutex);
        open = true;
        changed.notify_all();
        changed.wait(lock, [&] { return left; });
    }

    SharedClock& clock;
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
    bool left = false;
};

class HangingTool final : public Tool {
public:
    explicit HangingTool(Hanging& hanging) : hanging_(hanging) {}
    ToolSpec spec() const override {
        ToolSpec spec;
        spec.name = "stuck";
        return spec;
    }
    ToolResult call(const json::object&, ToolContext&) override {
        hanging_.hang();
        return {};
    }

private:
    Hanging& hanging_;
};

class HangingBackend final : public LLMBackend {
public:
    explicit HangingBackend(Hanging& hanging) : hanging_(hanging) {}
    BackendInfo info() const override {
        BackendInfo info;
        info.name = "stuck";
        return info;
    }
    Result<Completion> complete(const CompletionRequest&, StreamSink*, CallContext&) override {
        hanging_.hang();
        return Completion{};
    }

private:
    Hanging& hanging_;
};

TEST_F(ControllerTest, a_hanging_tool_is_abandoned_and_its_plugin_named) {
    Hanging hanging(fixture.clock);
    const auto tool =
        guard_tool(std::make_shared<HangingTool>(hanging), Origin{"org.example.hang", "stuck", "/x/stuck.so"}).value();
    fixture.stage("a", [&](StageContext&) {
        agentforge::testing::FakeToolContext context;
        static_cast<void>(tool->call({}, context));
        hanging.leave();
        return note();
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].timeout = std::chrono::seconds(10);
    const auto hung = fixture.start(options);
    hanging.let_go_and_wait();
    ASSERT_TRUE(hung.error);
    EXPECT_EQ(hung.error->code, "AF-ORCH-002");
    EXPECT_EQ(
        hung.error->message,
        "stage `a` did not return by its deadline of 10 s and was abandoned: the tool `stuck` of plugin `org.example.hang` hung in call()");
    EXPECT_EQ(hung.error->where, "tool `stuck` of plugin `org.example.hang`");
    EXPECT_TRUE(hung.abandoned_thread);
    while (TaskLock::holder(fixture.store.paths(hung.task_id))) { std::this_thread::yield(); }
}

TEST_F(ControllerTest, a_hanging_model_call_is_abandoned_before_its_stage) {
    Hanging hanging(fixture.clock);
    const auto backend = guard_backend(std::make_shared<UnmarkedBackend>(std::make_shared<HangingBackend>(hanging)),
                                       Origin{"org.example.hang", "stuck", "/x/stuck.so"})
                             .value();
    fixture.stage("a", [&](StageContext& context) {
        static_cast<void>(backend->complete({}, nullptr, context));
        hanging.leave();
        return note();
    });
    fixture.services.model_limit = std::chrono::seconds(7);
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].timeout = std::chrono::hours(10);
    const auto hung = fixture.start(options);
    hanging.let_go_and_wait();
    ASSERT_TRUE(hung.error);
    EXPECT_EQ(
        hung.error->message,
        "stage `a` did not return within 7 s, the limit for one model call, and was abandoned: the llm `stuck` of plugin `org.example.hang` hung in complete()");
    while (TaskLock::holder(fixture.store.paths(hung.task_id))) { std::this_thread::yield(); }
}

TEST_F(ControllerTest, a_hanging_review_is_abandoned_and_the_task_pauses) {
    Hanging hanging(fixture.clock);
    fixture.stage("a", [](StageContext&) { return note(); });
    fixture.answers([&](const CompletionRequest&) -> Result<Completion> {
        hanging.hang();
        hanging.leave();
        return Completion{};
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].reviewers = {"security_architect"};
    options.pipeline.stages[0].timeout = std::chrono::seconds(10);
    const auto hung = fixture.start(options);
    const std::size_t records = fixture.records(hung.task_id).size();
    hanging.let_go_and_wait();
    ASSERT_TRUE(hung.error);
    EXPECT_EQ(hung.error->message, "the review by `security_architect` did not return by its deadline of 10 s and was abandoned");
    EXPECT_EQ(hung.status, TaskStatus::paused);
    EXPECT_EQ(hung.exit_code, ExitCode::stage_timeout);
    EXPECT_TRUE(hung.abandoned_thread);
    while (TaskLock::holder(fixture.store.paths(hung.task_id))) { std::this_thread::yield(); }
    EXPECT_EQ(fixture.records(hung.task_id).size(), records) << "a thread that was given up writes nothing";
}

class HangingHandler final : public EscalationHandler {
public:
    explicit HangingHandler(Hanging& hanging) : hanging_(hanging) {}
    std::string name() const override { return "stuck"; }
    Result<void> notify(const Escalation&, CallContext& context) override {
        hanging_.hang();
        context.log(LogLevel::warning, "too late", {});
        found_nobody = context.cancelled();
        hanging_.leave();
        return {};
    }
    Result<std::optional<Resolution>> wait_for_resolution(const Escalation&, CallContext&) override {
        ++asked;
        return std::optional<Resolution>();
    }
    Result<void> notify_approval(const ApprovalRequest&, CallContext&) override { return {}; }
    Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest&, CallContext&) override {
        return std::optional<Approval>();
    }

    std::atomic<bool> found_nobody{false};
    std::atomic<unsigned> asked{0};

private:
    Hanging& hanging_;
};

TEST_F(ControllerTest, a_hanging_handler_is_abandoned_and_the_question_stays_open) {
    Hanging hanging(fixture.clock);
    const auto handler = std::make_shared<HangingHandler>(hanging);
    fixture.other_handler = guard_escalation(handler, Origin{"org.example.hang", "stuck", "/x/stuck.so"}).value();
    fixture.wait = std::chrono::minutes(1);
    fixture.stage("a", [](StageContext&) { return StageResult::escalate({"r", "q?", {}, {}}); });
    const auto waiting = fixture.start(PipelineFixture::with({"a"}));
    hanging.let_go_and_wait();
    EXPECT_EQ(waiting.waiting_for, "escalation");
    EXPECT_TRUE(waiting.abandoned_thread);
    EXPECT_EQ(handler->asked, 0U) << "it is not asked again";
    EXPECT_TRUE(handler->found_nobody) << "its context has let go of the task";
    EXPECT_EQ(
        fixture.events.texts("log", "message"),
        std::vector<std::string>{
            "AF-ESC-030: the escalation handler did not return by its deadline of 10 s and was abandoned: the escalation `stuck` of plugin `org.example.hang` hung in "
            "notify() (escalation `stuck` of plugin `org.example.hang`)\n  answer with `agentforge resolve` or `agentforge approve`, and fix the handler: it must watch deadline()"});
}

/// A console that cannot ask: its call never returns.
class HangingConsole final : public EscalationHandler {
public:
    explicit HangingConsole(Hanging& hanging) : hanging_(hanging) {}
    std::string name() const override { return "stuck"; }
    Result<void> notify(const Escalation&, CallContext&) override { return {}; }
    Result<std::optional<Resolution>> wait_for_resolution(const Escalation&, CallContext&) override {
        return std::optional<Resolution>();
    }
    Result<void> notify_approval(const ApprovalRequest&, CallContext&) override { return {}; }
    Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest&, CallContext&) override {
        hanging_.clock.advance(std::chrono::weeks(2));
        hanging_.hang();
        hanging_.leave();
        return std::optional<Approval>();
    }

private:
    Hanging& hanging_;
};

TEST_F(ControllerTest, other_handlers_are_notified_if_the_terminal_hangs) {
    Hanging hanging(fixture.clock);
    fixture.present = std::make_shared<HangingConsole>(hanging);
    fixture.stage("a", [](StageContext& context) {
        AgentRun run;
        run.role = "software_developer";
        run.objective = "write it";
        run.output_contract = "note";
        return StageResult::failed(context.run_agent(run).error());
    });
    fixture.answers([](const CompletionRequest&) -> Result<Completion> {
        return call_tool("create_file", {{"path", "src/x.py"}, {"content", "one\n"}});
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].agent = "software_developer";
    options.interactive = true;
    const auto waiting = fixture.start(options);
    hanging.let_go_and_wait();
    EXPECT_EQ(waiting.waiting_for, "action");
    EXPECT_TRUE(waiting.abandoned_thread);
    EXPECT_THAT(fixture.handler->notified, ElementsAre(waiting.waiting_id));
}

TEST_F(ControllerTest, a_forbidden_write_by_a_program_is_reverted) {
    fixture.memory.program = [](const std::string& root) {
        fs::create_directories(root + "/tests");
        std::ofstream(root + "/tests/test_a.py") << "pass\n";
    };
    fixture.stage("a", [&](StageContext& context) {
        const auto outcome = context.run_process(ProcessSpec{{"true"}, "", {}, "", std::chrono::seconds(1), 1000});
        EXPECT_EQ(outcome.error().code, "AF-ORCH-026");
        EXPECT_FALSE(context.workspace().exists("tests/test_a.py"));
        return note();
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].agent = "software_developer";
    const auto result = fixture.start(options);
    EXPECT_TRUE(result.success);
    EXPECT_EQ(fixture.count(result.task_id, "violation"), 1U);
}

TEST_F(ControllerTest, a_program_of_a_read_only_role_cannot_write) {
    fixture.memory.program = [](const std::string& root) { std::ofstream(root + "/notes.md") << "planted\n"; };
    fixture.stage("a", [&](StageContext& context) {
        const auto outcome = context.run_process(ProcessSpec{{"true"}, "", {}, "", std::chrono::seconds(1), 1000});
        EXPECT_FALSE(outcome.ok());
        if (!outcome.ok()) { EXPECT_EQ(outcome.error().code, "AF-ORCH-026"); }
        EXPECT_FALSE(context.workspace().exists("notes.md"));
        return note();
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].agent = "requirements_analyst";
    const auto result = fixture.start(options);
    EXPECT_EQ(fixture.count(result.task_id, "violation"), 1U);
}

TEST_F(ControllerTest, a_secret_placeholder_written_by_a_program_is_reverted) {
    fixture.memory.program = [](const std::string& root) {
        std::ofstream(root + "/a.env") << "KEY=[REDACTED:SHOP_KEY:01234567]\n";
    };
    fixture.stage("a", [&](StageContext& context) {
        const auto outcome = context.run_process(ProcessSpec{{"true"}, "", {}, "", std::chrono::seconds(1), 1000});
        EXPECT_EQ(outcome.error().code, "AF-SEC-007");
        EXPECT_FALSE(context.workspace().exists("a.env"));
        return note();
    });
    StartOptions options = PipelineFixture::with({"a"});
    options.pipeline.stages[0].agent = "software_developer";
    EXPECT_TRUE(fixture.start(options).success);
}

TEST_F(ControllerTest, a_stage_that_is_not_the_delivery_stage_cannot_deliver) {
    std::string code;
    fixture.stage("deliver", [&](StageContext& context) {
        const auto delivery = context.deliver(DeliveryRequest{"Add it", "body", {}});
        code = delivery.ok() ? "" : delivery.error().code;
        return note("done");
    });
    const auto result = fixture.start(PipelineFixture::with({"deliver"}));
    EXPECT_TRUE(result.success);
    EXPECT_EQ(code, "AF-PIPE-016");
    EXPECT_TRUE(fixture.state(result.task_id).commit.empty());
}

TEST_F(ControllerTest, a_delivery_stage_that_does_not_deliver_is_not_complete) {
    fixture.stage("deliver", [&](StageContext&) { return note("done"); });
    const auto result = fixture.start(PipelineFixture::delivering());
    EXPECT_FALSE(result.success);
    const auto& errors = fixture.state(result.task_id).previous_errors;
    ASSERT_FALSE(errors.empty());
    EXPECT_NE(errors.front().find("has delivered nothing"), std::string::npos) << errors.front();
}

TEST_F(ControllerTest, delivery_commits_once_and_anchors_the_journal) {
    fixture.stage("deliver", [&](StageContext& context) {
        EXPECT_TRUE(context.workspace().create("CHANGELOG.md", "x\n").ok());
        const auto delivery = context.deliver(DeliveryRequest{"Add it\nEvil-Trailer: 1", "body", {}});
        return delivery.ok() ? note(delivery->commit) : StageResult::failed(delivery.error());
    });
    StartOptions options = PipelineFixture::delivering();
    options.pipeline.stages[0].agent = "devops_engineer";
    const auto result = fixture.start(options);
    ASSERT_TRUE(result.success) << result.error->to_string();
    ASSERT_EQ(fixture.memory.messages.size(), 1U);
    EXPECT_THAT(fixture.memory.messages[0], StartsWith("Add it Evil-Trailer: 1\n"));
    EXPECT_THAT(fixture.memory.messages[0], HasSubstr("AgentForge-Journal: "));
    EXPECT_EQ(fixture.state(result.task_id).commit, "commit-1");
}

TEST_F(ControllerTest, nothing_is_committed_past_a_failed_gate) {
    fixture.memory.gate = [](const GateCall& call, const Files&) { return gate_report(call, call.request.gate != "deliver"); };
    fixture.stage("deliver", [&](StageContext& context) {
        const auto delivery = context.deliver(DeliveryRequest{"Add it", "", {}});
        EXPECT_EQ(delivery.error().code, "AF-ORCH-030");
        return StageResult::failed(delivery.error());
    });
    EXPECT_EQ(fixture.start(PipelineFixture::delivering()).status, TaskStatus::failed);
    EXPECT_EQ(fixture.memory.commits, 0U);
}

// ---------------------------------------------------------------------------------------------- cost --

class BudgetTest : public ControllerTest {
protected:
    BudgetTest() {
        std::ofstream(fixture.folder.path() / "prices.yaml")
            << "prices:\n  as_of: \"2026-11-01\"\n  models:\n    fake-1: {input: 10, cached_input: 1, cache_write: 20, output: 100, reasoning: 200}\n";
        prices = PriceTable::load((fixture.folder.path() / "prices.yaml").string()).value();
        fixture.services.prices = &prices;
        fixture.services.max_output_tokens = 1'000;
        fixture.stage("a", [this](StageContext& context) { return talk(context); });
    }

    /// A stage that says `words` texts, each in one call.
    StageResult talk(StageContext& context) {
        for (unsigned word = 0; word < words; ++word) {
            AgentRun run;
            run.role = "software_architect";
            run.objective = "say something, number " + std::to_string(word);
            run.text_answer = true;
            const auto outcome = context.run_agent(run);
            if (!outcome.ok()) { return StageResult::failed(outcome.error()); }
        }
        return note();
    }
    /// Answers with 50 tokens in and 5 out a call, which cost 1,000 micro-USD.
    void answers() {
        fixture.answers([this](const CompletionRequest&) -> Result<Completion> {
            ++asked;
            fixture.clock.advance(each_takes);
            return say("hello");
        });
    }
    [[nodiscard]] Spend spent(const PipelineResult& result) { return fixture.state(result.task_id).ledger.total(); }
    [[nodiscard]] static StartOptions one_stage() { return PipelineFixture::with({"a"}); }

    PriceTable prices;
    unsigned words = 3;
    unsigned asked = 0;
    std::chrono::milliseconds each_takes{0};
};

TEST_F(BudgetTest, every_call_is_counted_by_stage_agent_and_model) {
    answers();
    const auto result = fixture.start(one_stage());
    ASSERT_TRUE(result.success);
    const TaskState state = fixture.state(result.task_id);
    ASSERT_EQ(state.ledger.entries().size(), 1U);
    const LedgerEntry& entry = state.ledger.entries()[0];
    EXPECT_EQ(entry.stage + " " + entry.agent + " " + entry.model, "a software_architect fake-1");
    EXPECT_EQ(entry.spend.calls, 3U);
    EXPECT_EQ(entry.spend.cost_microusd, 3'000U);
    EXPECT_EQ(result.spend, entry.spend);
}

TEST_F(BudgetTest, cached_written_and_reasoning_tokens_have_their_own_prices) {
    words = 1;
    fixture.answers([](const CompletionRequest&) -> Result<Completion> {
        Completion completion = say("hello");
        completion.usage = {1'000, 100, 600, std::nullopt, false};
        completion.diagnostics = {{"cache_write_input_tokens", 100}, {"reasoning_tokens", 40}};
        return completion;
    });
    EXPECT_EQ(spent(fixture.start(one_stage())).cost_microusd, 300U * 10 + 600 * 1 + 100 * 20 + 60 * 100 + 40 * 200);
}

TEST_F(BudgetTest, the_cost_that_a_backend_reports_is_used_unchanged) {
    words = 1;
    fixture.answers([](const CompletionRequest&) -> Result<Completion> {
        Completion completion = say("hello");
        completion.usage.cost_microusd = 77;
        return completion;
    });
    EXPECT_EQ(spent(fixture.start(one_stage())).cost_microusd, 77U);
}

TEST_F(BudgetTest, the_configured_model_is_priced_if_the_answer_names_none) {
    words = 1;
    fixture.services.model_name = [](const AgentDefinition&) { return std::string("fake-1-20260101"); };
    fixture.answers([](const CompletionRequest&) -> Result<Completion> {
        Completion completion = say("hello");
        completion.model.clear();
        return completion;
    });
    const auto result = fixture.start(one_stage());
    EXPECT_EQ(spent(result).cost_microusd, 1'000U);
    EXPECT_EQ(fixture.state(result.task_id).ledger.entries()[0].model, "fake-1-20260101");
}

TEST_F(BudgetTest, a_model_without_a_price_has_an_unknown_cost) {
    fixture.services.prices = nullptr;
    answers();
    const auto result = fixture.start(one_stage());
    EXPECT_EQ(result.spend.unpriced, 3U);
    EXPECT_THAT(result.unpriced_models, ElementsAre("fake-1"));
}

TEST_F(BudgetTest, a_task_pauses_before_a_call_that_could_exceed_its_limit) {
    answers();
    fixture.services.limits.task.steps = 2;
    const auto paused = fixture.start(one_stage());
    EXPECT_EQ(paused.status, TaskStatus::paused);
    EXPECT_EQ(paused.exit_code, ExitCode::person_needed);
    EXPECT_EQ(paused.error->code, "AF-COST-012");
    EXPECT_THAT(fixture.state(paused.task_id).pause_reason, StartsWith("AF-COST-012"));
    EXPECT_EQ(asked, 2U);
}

TEST_F(BudgetTest, a_paused_task_continues_once_the_limit_is_raised) {
    answers();
    fixture.services.limits.task.steps = 2;
    const auto paused = fixture.start(one_stage());
    fixture.services.limits.task.steps = 3;
    const auto result = fixture.resume(paused.task_id);
    EXPECT_TRUE(result.success);
    EXPECT_EQ(asked, 3U) << "no call is made twice";
    EXPECT_EQ(spent(result).calls, 3U);
    EXPECT_EQ(spent(result).lost, 0U) << "it was paused, and did not die";
}

TEST_F(BudgetTest, a_task_keeps_its_limit_if_no_new_one_is_given) {
    answers();
    fixture.services.limits.task.steps = 2;
    const auto paused = fixture.start(one_stage());
    fixture.services.limits = {};
    EXPECT_EQ(fixture.resume(paused.task_id).status, TaskStatus::paused);
    EXPECT_EQ(asked, 2U);
    EXPECT_EQ(fixture.count(paused.task_id, "costing"), 1U) << "recorded anew only where it changes";
}

TEST_F(BudgetTest, money_is_never_spent_beyond_its_limit) {
    answers();
    fixture.services.model_name = [](const AgentDefinition&) { return std::string("fake-1"); };
    fixture.services.limits.task.cost_microusd =
        250'000;  // One call may cost 100,000 for its output and some 20,000 for its input.
    const auto paused = fixture.start(one_stage());
    EXPECT_EQ(paused.status, TaskStatus::completed) << "three calls cost 1,000 each, and each time the most still fitted";
    fixture.services.limits.task.cost_microusd = 100'000;
    const auto refused = fixture.start(one_stage());
    EXPECT_EQ(refused.error->code, "AF-COST-010");
    EXPECT_EQ(spent(refused).calls, 0U);
    EXPECT_EQ(asked, 3U);
}

TEST_F(BudgetTest, a_backend_that_reports_cost_is_limited_by_its_most_expensive_call) {
    fixture.services.prices = nullptr;
    fixture.answers([](const CompletionRequest&) -> Result<Completion> {
        Completion completion = say("hello");
        completion.usage.cost_microusd = 40'000;
        return completion;
    });
    fixture.services.limits.task.cost_microusd = 100'000;
    const auto paused = fixture.start(one_stage());
    EXPECT_EQ(paused.error->code, "AF-COST-010");
    EXPECT_EQ(spent(paused).cost_microusd, 80'000U);
}

TEST_F(BudgetTest, a_cost_limit_stops_a_model_whose_price_turns_out_to_be_unknown) {
    fixture.services.prices = nullptr;
    answers();
    fixture.services.limits.task.cost_microusd = 1'000'000;
    const auto paused = fixture.start(one_stage());
    EXPECT_EQ(paused.error->code, "AF-COST-014");
    EXPECT_EQ(asked, 1U);
}

TEST_F(BudgetTest, a_stage_stops_at_its_share_and_leaves_the_rest_to_later_stages) {
    answers();
    fixture.stage("b", [this](StageContext& context) { return talk(context); });
    StartOptions options = PipelineFixture::with({"a", "b"});
    options.pipeline.stages[0].budget_share = 20;
    options.pipeline.stages[1].budget_share = 80;
    options.pipeline.stages[0].max_steps = 200;    // The budget ends the run, not a lack of progress.
    fixture.services.limits.task.tokens = 20'000;  // A call may use some 1,700.
    words = 100;
    const auto paused = fixture.start(options);
    EXPECT_EQ(paused.error->code, "AF-COST-011");
    EXPECT_EQ(paused.current_stage, "a");
    EXPECT_GE(spent(paused).tokens(), 4'000U) << "20 %";
    EXPECT_LT(spent(paused).tokens(), 4'000U + 55);
}

TEST_F(BudgetTest, the_time_limit_counts_running_time_and_not_waiting) {
    answers();
    each_takes = std::chrono::seconds(40);
    fixture.services.limits.task.wall_ms = 60'000;
    const auto paused = fixture.start(one_stage());
    EXPECT_EQ(paused.error->code, "AF-COST-013");
    EXPECT_EQ(asked, 2U);
    fixture.clock.advance(std::chrono::hours(5));
    fixture.services.limits.task.wall_ms = 121'000;
    EXPECT_TRUE(fixture.resume(paused.task_id).success);
    EXPECT_EQ(fixture.state(paused.task_id).wall_ms(), 120'000U);
}

TEST_F(BudgetTest, a_call_ended_by_the_time_limit_pauses_the_task) {
    fixture.services.limits.task.wall_ms = 60'000;
    fixture.answers([this](const CompletionRequest&) -> Result<Completion> {
        fixture.clock.advance(std::chrono::seconds(61));
        return Error{"AF-LLM-103", "the deadline passed", "", "", ErrorKind::timeout};
    });
    const auto paused = fixture.start(one_stage());
    EXPECT_EQ(paused.status, TaskStatus::paused);
    EXPECT_EQ(paused.error->code, "AF-COST-013");
}

/// What a failed call adds to the ledger.
class ControllerFailedCall : public BudgetTest, public ::testing::WithParamInterface<std::tuple<const char*, ErrorKind, bool>> {};

TEST_P(ControllerFailedCall, counts_if_the_model_may_have_started) {
    const auto& [code, kind, counts] = GetParam();
    fixture.services.model_name = [](const AgentDefinition&) { return std::string("fake-1"); };
    fixture.answers([code = code, kind = kind](const CompletionRequest&) -> Result<Completion> {
        return Error{code, "no", "", "", kind};
    });
    StartOptions options = one_stage();
    options.pipeline.stages[0].max_retries = 0;
    const Spend spend = spent(fixture.start(options));
    EXPECT_EQ(spend.lost, counts ? 1U : 0U);
    EXPECT_EQ(spend.output_tokens, counts ? 1'000U : 0U) << "all that it could have answered";
    EXPECT_EQ(spend.cost_microusd >= 100'000, counts);
}

INSTANTIATE_TEST_SUITE_P(Errors, ControllerFailedCall,
                         ::testing::Values(std::tuple{"AF-LLM-409", ErrorKind::transient, true},
                                           std::tuple{"AF-LLM-103", ErrorKind::timeout, true},
                                           std::tuple{"AF-LLM-411", ErrorKind::cancelled, true},
                                           std::tuple{"AF-LLM-401", ErrorKind::unavailable, false},
                                           std::tuple{"AF-LLM-402", ErrorKind::transient, false},
                                           std::tuple{"AF-LLM-405", ErrorKind::invalid, false}));

TEST_F(BudgetTest, a_call_lost_in_a_crash_is_counted_once_at_its_maximum) {
    fixture.services.model_name = [](const AgentDefinition&) { return std::string("fake-1"); };
    const fs::path tasks = fixture.folder.path() / ".agentforge";
    const fs::path saved = fixture.folder.path() / "saved";
    fixture.answers([&](const CompletionRequest&) -> Result<Completion> {
        // The state that a process would leave if it were killed now.
        if (++asked == 2) { fs::copy(tasks, saved, fs::copy_options::recursive); }
        return say("hello");
    });
    const auto whole = fixture.start(one_stage());
    fs::remove_all(tasks);
    fs::rename(saved, tasks);
    const auto result = fixture.resume(whole.task_id);
    ASSERT_TRUE(result.success);
    EXPECT_EQ(spent(result).calls, 3U);
    EXPECT_EQ(spent(result).lost, 1U);
    EXPECT_EQ(fixture.count(whole.task_id, "call_lost"), 1U);
    EXPECT_GE(spent(result).cost_microusd, 103'000U);
}

TEST_F(BudgetTest, a_lost_call_is_attributed_to_the_model_of_the_last_answer) {
    fixture.answers([this](const CompletionRequest&) -> Result<Completion> {
        if (++asked == 2) { return Error{"AF-LLM-102", "the answer was empty", "", "", ErrorKind::invalid}; }
        return say("hello");
    });
    const auto result = fixture.start(one_stage());
    const TaskState state = fixture.state(result.task_id);
    ASSERT_EQ(state.ledger.entries().size(), 1U) << "no model is configured, and the answers say fake-1";
    EXPECT_EQ(state.ledger.entries()[0].spend.lost, 1U);
    EXPECT_GE(state.ledger.entries()[0].spend.cost_microusd, 103'000U);
}

TEST_F(BudgetTest, an_answer_recorded_before_a_crash_is_not_counted_twice) {
    const fs::path tasks = fixture.folder.path() / ".agentforge";
    const fs::path saved = fixture.folder.path() / "saved";
    answers();
    fixture.stage("a", [&](StageContext& context) {
        StageResult result = talk(context);
        // The projector may replace a file during the copy; then copies again.
        for (std::error_code error(1, std::generic_category()); error && !fs::exists(saved / "whole");) {
            fs::remove_all(saved);
            fs::copy(tasks, saved, fs::copy_options::recursive, error);
            if (!error) { std::ofstream(saved / "whole") << "yes"; }
        }
        return result;
    });
    const auto whole = fixture.start(one_stage());
    fs::remove_all(tasks);
    fs::rename(saved, tasks);
    const auto result = fixture.resume(whole.task_id);
    EXPECT_EQ(spent(result).calls, 3U);
    EXPECT_EQ(spent(result).lost, 0U) << "nothing more was to be asked";
    EXPECT_EQ(asked, 3U);
}

TEST_F(BudgetTest, the_same_failing_action_three_times_stops_the_stage_without_another_attempt) {
    unsigned attempts = 0;
    fixture.stage("a", [&](StageContext&) {
        ++attempts;
        return StageResult::failed(Error{"AF-AGENT-011", "the same failing action", "", "", ErrorKind::invalid});
    });
    const auto result = fixture.start(one_stage());
    EXPECT_EQ(result.exit_code, ExitCode::person_needed);
    EXPECT_EQ(fixture.state(result.task_id).escalation->cause, EscalationCause::attempts);
    EXPECT_EQ(attempts, 1U);
}

TEST_F(BudgetTest, an_agent_out_of_attempts_asks_a_person_and_continues_with_the_answer) {
    std::vector<std::string> answers;
    fixture.stage("a", [&](StageContext& context) {
        const json::value* answer = context.input().resolution ? context.input().resolution->if_contains("answer") : nullptr;
        answers.push_back(answer == nullptr ? "" : std::string(answer->as_string()));
        return answers.size() <= 3
                   ? StageResult::failed(Error{"AF-AGENT-010", "used up its 40 steps", "", "", ErrorKind::invalid})
                   : note();
    });
    const auto waiting = fixture.start(one_stage());
    ASSERT_EQ(waiting.exit_code, ExitCode::person_needed);
    EXPECT_THAT(fixture.state(waiting.task_id).escalation->reason, HasSubstr("failed after 3 attempt(s)"));
    fixture.resolve(waiting, {{"answer", "use the cache"}});
    EXPECT_TRUE(fixture.resume(waiting.task_id).success);
    EXPECT_EQ(answers, (std::vector<std::string>{"", "", "", "use the cache"}));
}

TEST_F(BudgetTest, a_failure_not_caused_by_the_agent_fails_the_task) {
    fixture.stage("a", [&](StageContext&) {
        return StageResult::failed(Error{"AF-X-001", "the plugin is broken", "", "", ErrorKind::invalid});
    });
    EXPECT_EQ(fixture.start(one_stage()).status, TaskStatus::failed);
}

}  // namespace
}  // namespace agentforge::kernel::testing
