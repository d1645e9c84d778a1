// SPDX-License-Identifier: Apache-2.0
// The projection of a task's state: to state.yaml and back.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "base/yaml.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {
namespace {

TaskState full() {
    TaskState state;
    state.task_id = "task-20260102-x-00000001";
    state.request = "Add it";
    state.goal_type = "implement";
    state.pipeline.name = "p";
    for (const char* name : {"zeta", "alpha"}) {
        StageTemplate stage;
        stage.name = stage.executor = name;
        stage.contract = stage.artifact = "note";
        stage.config = {{"exit_gate", "green"}};
        state.pipeline.stages.push_back(stage);
        StageState entry;
        entry.name = name;
        state.stages.push_back(entry);
    }
    state.pipeline.exit_stage = "alpha";
    state.base_commit = "c";
    state.base_tree = "t0";
    state.created_at = "2026-01-02T00:00:00.000Z";
    state.exit_after = "alpha";
    state.supervised = true;
    state.approve_stages = {"zeta"};
    state.status = TaskStatus::paused;
    state.stage_index = 1;
    state.progress = StageProgress::escalated;
    StageState& done = state.stages[0];
    done.status = StageStatus::completed;
    done.visits = done.attempts = done.contract_retries = done.reviews = done.iterations = done.versions = done.cycles =
        done.escalations = 2;
    done.cycles_before = done.retries = 1;
    done.plan_step = records::PlanStep{3, 7, "Integrate it", 2U};
    done.artifact = "artifacts/a.yaml";
    done.artifact_hash = done.approved_hash = "h";
    done.conditions = {"no_ambiguities"};
    done.asks = true;
    done.error = "e";
    done.skip_reason = "s";
    done.steps = done.input_tokens = done.output_tokens = done.duration_ms = 1ULL << 40U;
    done.review_files["artifacts/r.yaml"] = {"alice", "h2", "2026-01-02T00:00:01.000Z"};
    done.started_at = done.completed_at = "2026-01-02T00:00:01.000Z";
    state.reviewed_by = {"alice"};
    state.held_out = HeldOutTests{"t1", {"a"}, {"b"}, {{"a", 1U}}, "held out: a", true};
    state.escalation = OpenEscalation{"ESC-1", EscalationCause::cycle_limit, "r", "q", {"a"}, "b", "plan"};
    state.approval = OpenApproval{"APR-1", "h"};
    state.updated_at = state.completed_at = "2026-01-02T00:00:02.000Z";
    state.error = "e";
    state.error_code = "X-1";
    state.pause_reason = "p";
    state.exit_stage = "alpha";
    state.feedback = "";
    state.resolution_blob = "b1";
    state.previous_artifact_blob = "b2";
    state.previous_errors = {"one", "two"};
    state.cycle_to = "zeta";
    state.cycle_reason = "why";
    state.tree = "t1";
    state.red_tree = "t2";
    state.before_red = "t3";
    state.gates["green"] = GateState{"t1", true, true, "ok", 4};
    state.commit = "c1";
    state.branch = "agentforge/x";
    state.delivery.deliverable_type = "pr";
    state.delivery.tree = state.delivery.workspace_tree = "t1";
    state.delivery.signed_ = false;
    state.delivery.drift = records::BaseDrift{.branch = "main",
                                              .head = "h",
                                              .commits = 2,
                                              .rewritten = false,
                                              .changed_by_both = std::vector<std::string>{"a.py"},
                                              .conflicts = {}};
    state.delivery.pr_url = "";
    state.prepared = PreparedCommit{"agentforge/x", "c1", "t1", "t1", "none"};
    state.dependencies = MetDependencies{"b3", {{"task-2", "", "deliver", "b", "c"}}, {{"lib", "api", "^1", "v1.2", "c", "p"}}};
    state.steps = 5;
    state.stages[0].wall_ms = 77;
    records::CallUsage call{};
    call.model = "m";
    call.input_tokens = 12;
    call.cost_microusd = 34;
    state.ledger.add("zeta", "architect", call);
    records::LimitsInForce limits;
    limits.max_tokens = 5;
    limits.stages.emplace()["zeta"].max_steps = 9;
    state.costing.limits = limits;
    state.costing.prices.emplace().push_back({.as_of = "2026-01-01", .sha256 = "hash"});
    state.feedback_issues.push_back({.location = "requirements.REQ-001", .issue = "vague", .priority = "must_address"});
    state.feedback_answers.push_back({.location = "requirements.REQ-001", .issue = "vague", .result = "unchanged"});
    state.answer_counted = true;
    state.ended_while_running = true;
    state.seq = 9;
    state.hash = "hh";
    return state;
}

TEST(TestPipelineState, to_dict_serializes_all_fields) {
    const json::object value = to_json(full());
    for (const char* key : {"task_id",    "request",    "status", "pipeline",     "current_stage", "stages",   "gates",
                            "created_at", "updated_at", "error",  "waiting_for",  "escalation",    "approval", "feedback",
                            "exit_after", "commit",     "branch", "total_tokens", "seq",           "hash"}) {
        EXPECT_TRUE(value.contains(key)) << key;
    }
    EXPECT_EQ(value.at("current_stage").as_string(), "alpha");
    EXPECT_EQ(value.at("waiting_for").as_string(), "escalation");
}

TEST(TestPipelineState, from_dict_deserializes_correctly) {
    const auto state = task_state_from_json(to_json(full()));
    ASSERT_TRUE(state.ok()) << state.error().to_string();
    EXPECT_EQ(state->status, TaskStatus::paused);
    EXPECT_EQ(state->stages[0].name, "zeta") << "stages keep the order of the pipeline";
    EXPECT_EQ(state->escalation->cause, EscalationCause::cycle_limit);
    EXPECT_EQ(state->feedback, "") << "empty feedback is not none";
}

TEST(TestPipelineState, round_trip_preserves_state) {
    const auto text = parse_json(to_json_pretty(to_json(full())), "state.yaml");
    ASSERT_TRUE(text.ok());
    EXPECT_TRUE(task_state_from_json(text->get_object()).value() == full());
    EXPECT_TRUE(task_state_from_json(to_json(TaskState())).value() == TaskState());
}

TEST(TestPipelineState, unknown_or_missing_fields_are_corrupt) {
    const json::object whole = to_json(full());
    for (const auto& [key, value] : whole) {
        json::object broken = whole;
        broken[key] = json::array{1};
        const auto state = task_state_from_json(broken);
        if (state.ok()) { continue; }  // The field is computed from others, or null means none.
        EXPECT_EQ(state.error().code, "AF-TASK-004") << std::string(key);
    }
    json::object odd = whole;
    odd["stages"].get_object()["zeta"].get_object()["status"] = "sleeping";
    EXPECT_EQ(task_state_from_json(odd).error().code, "AF-TASK-004");
    odd = whole;
    odd["escalation"].get_object()["cause"] = "whim";
    EXPECT_EQ(task_state_from_json(odd).error().code, "AF-TASK-004");
    odd = whole;
    odd.erase("tree");
    EXPECT_EQ(task_state_from_json(odd).error().code, "AF-TASK-004");
}

/// Applies a record. It has the next step and the time of the record before it, unless it says otherwise.
Result<void> take(TaskState& state, json::object record) {
    const bool is_step = record.at("type") == "step";
    if (!record.contains("step")) { record["step"] = state.steps + (is_step ? 1 : 0); }
    if (!record.contains("timestamp")) { record["timestamp"] = state.updated_at; }
    return fold(state, record);
}

json::object created_record(json::object pipeline) {
    return {{"type", "task_created"},
            {"timestamp", "2026-01-02T10:00:00.000Z"},
            {"task_id", "t"},
            {"request", "r"},
            {"goal_type", "g"},
            {"base_commit", "c"},
            {"base_tree", "t0"},
            {"supervised", false},
            {"approve_stages", json::array()},
            {"pipeline", std::move(pipeline)}};
}

/// A task of one stage, in progress.
TaskState at_work() {
    PipelineTemplate pipeline;
    pipeline.name = "p";
    pipeline.goal_type = "g";
    StageTemplate stage;
    stage.name = "a";
    pipeline.stages = {stage};
    pipeline.exit_stage = "a";
    TaskState state;
    const auto apply = [&](json::object record) {
        const auto done = take(state, record);
        EXPECT_TRUE(done.ok()) << done.error().to_string();
    };
    apply(created_record(pipeline.to_json()));
    apply({{"type", "task_started"}, {"timestamp", "2026-01-02T10:00:01.000Z"}});
    apply({{"type", "stage_started"}, {"timestamp", "2026-01-02T10:00:02.500Z"}, {"stage", "a"}});
    return state;
}

/// A task that delivers from tree t0.
TaskState delivering() {
    TaskState state = at_work();
    const json::object gate{{"type", "gate"}, {"gate", "deliver"}, {"tree", "t0"}, {"passed", true}, {"summary", "s"}};
    EXPECT_TRUE(take(state, gate).ok());
    return state;
}

json::object delivered_record() {
    return {{"type", "delivered"},    {"stage", "a"},       {"deliverable_type", "pr"}, {"tree", "t0"},
            {"workspace_tree", "t0"}, {"base_commit", "c"}, {"base_tree", "t0"},        {"branch", "b"},
            {"commit", "c1"},         {"signed", true},     {"commit_hooks", "none"}};
}

std::string shown_delivery(const TaskState& state) { return json::serialize(to_json(state).at("delivery")); }

TEST(TaskDelivery, is_shown_in_the_order_of_its_records) {
    TaskState state = delivering();
    json::object delivered = delivered_record();
    const json::object drift{{"branch", "main"},
                             {"head", "h"},
                             {"commits", 2},
                             {"rewritten", false},
                             {"changed_by_both", json::array{"a.py"}},
                             {"conflicts", json::array()}};
    delivered["drift"] = drift;
    ASSERT_TRUE(take(state, delivered).ok());
    ASSERT_TRUE(take(state, {{"type", "published"},
                             {"stage", "a"},
                             {"remote", "origin"},
                             {"pr_url", ""},
                             {"published_by", "git"},
                             {"publish_note", ""}})
                    .ok());
    EXPECT_EQ(
        shown_delivery(state),
        R"({"deliverable_type":"pr","tree":"t0","workspace_tree":"t0","base_commit":"c","base_tree":"t0","branch":"b","commit":"c1","signed":true,"commit_hooks":"none","drift":)" +
            json::serialize(drift) + R"(,"remote":"origin","pr_url":"","published_by":"git","publish_note":""})");
    EXPECT_EQ(task_state_from_json(to_json(state))->delivery, state.delivery);
}

TEST(TaskDelivery, lacks_fields_that_an_older_version_did_not_record) {
    TaskState state = delivering();
    ASSERT_TRUE(take(state, {{"type", "delivered"}, {"stage", "a"}, {"tree", "t0"}, {"branch", "b"}, {"commit", "c1"}}).ok());
    EXPECT_EQ(shown_delivery(state), R"({"tree":"t0","branch":"b","commit":"c1"})");
}

TEST(TaskDelivery, is_refused_without_its_gate_on_the_same_tree) {
    TaskState state = delivering();
    json::object delivered = delivered_record();
    delivered["tree"] = "t9";
    const auto refused = take(state, delivered);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("it delivers tree t9, but the deliver gate was not measured on"), std::string::npos)
        << refused.error().message;
}

TEST(TaskCost, a_step_of_an_older_journal_counts_by_its_own_figures) {
    TaskState state = at_work();
    ASSERT_TRUE(take(state, {{"type", "step"},
                             {"phase", "a"},
                             {"step", 1},
                             {"input_tokens", 100},
                             {"output_tokens", 10},
                             {"agent", {{"role", "r"}}},
                             {"llm_call", {{"model", "m"}, {"cost_microusd", 5}}}})
                    .ok());
    EXPECT_EQ(state.ledger.total().tokens(), 110U);
    EXPECT_EQ(state.ledger.total().cost_microusd, 5U);
    EXPECT_EQ(state.ledger.entries()[0].agent, "r");
}

TEST(TaskCost, an_answer_and_its_step_are_one_call) {
    TaskState state = at_work();
    ASSERT_TRUE(
        take(state,
             {{"type", "answer"}, {"phase", "a"}, {"usage", {{"model", "m"}, {"input_tokens", 100}, {"output_tokens", 10}}}})
            .ok());
    ASSERT_TRUE(take(state, {{"type", "step"}, {"phase", "a"}, {"step", 1}, {"input_tokens", 100}, {"output_tokens", 10}}).ok());
    EXPECT_EQ(state.ledger.total().calls, 1U);
    EXPECT_EQ(state.ledger.total().unpriced, 1U);
}

TEST(TaskCost, time_counts_only_while_a_process_runs_the_task) {
    TaskState state = at_work();
    EXPECT_EQ(state.wall_ms(), 1'500U) << "from its start on";
    ASSERT_TRUE(take(state, {{"type", "task_paused"}, {"timestamp", "2026-01-02T10:00:05.000Z"}, {"reason", "x"}}).ok());
    ASSERT_TRUE(take(state, {{"type", "task_resumed"}, {"timestamp", "2026-01-02T11:00:00.000Z"}}).ok());
    EXPECT_EQ(state.wall_ms(), 4'000U) << "not while it is paused";
    EXPECT_FALSE(state.ended_while_running);
    ASSERT_TRUE(take(state, {{"type", "task_resumed"}, {"timestamp", "2026-01-02T12:00:00.000Z"}}).ok());
    EXPECT_EQ(state.wall_ms(), 4'000U) << "not while no process had it";
    EXPECT_TRUE(state.ended_while_running) << "it was not paused before";
}

TEST(TaskState, refuses_a_record_with_an_invalid_time) {
    TaskState state = at_work();
    for (const char* time : {"yesterday", "", "2026-13-02T10:00:05.000Z", "2026-01-02 10:00"}) {
        const auto folded = take(state, {{"type", "task_paused"}, {"timestamp", time}, {"reason", "x"}});
        ASSERT_FALSE(folded.ok()) << time;
        EXPECT_EQ(folded.error().code, "AF-TASK-012");
        EXPECT_NE(folded.error().message.find("timestamp"), std::string::npos);
    }
}

TEST(TaskCost, an_abandoned_call_may_still_be_running) {
    TaskState state = at_work();
    ASSERT_TRUE(take(state, {{"type", "task_paused"}, {"reason", "x"}, {"given_up", true}}).ok());
    EXPECT_TRUE(state.ended_while_running);
    EXPECT_EQ(state.status, TaskStatus::paused);
}

TEST(TaskCost, a_clock_that_goes_back_subtracts_no_time) {
    TaskState state = at_work();
    ASSERT_TRUE(take(state, {{"type", "note"}, {"timestamp", "2026-01-01T00:00:00.000Z"}}).ok());
    EXPECT_EQ(state.wall_ms(), 1'500U);
}

// ------------------------------------------------------------------------------------------- records that contradict --

void expect_refused(TaskState& state, const json::object& record, std::string_view code, std::string_view why) {
    const TaskState before = state;
    const auto refused = take(state, record);
    ASSERT_FALSE(refused.ok()) << json::serialize(record);
    EXPECT_EQ(refused.error().code, code);
    EXPECT_NE(refused.error().message.find(why), std::string::npos) << refused.error().message;
    EXPECT_TRUE(state == before);
}

TEST(TaskRecords, a_record_belongs_to_the_current_step_of_the_task) {
    TaskState state = at_work();
    expect_refused(state, {{"type", "note"}, {"step", 99'999}}, "AF-TASK-010", "step 99999 while the task is at step 0");
}

TEST(TaskRecords, a_record_without_step_or_time_is_incomplete) {
    TaskState state = at_work();
    for (const char* key : {"step", "timestamp"}) {
        json::object note{{"type", "note"}, {"step", 0}, {"timestamp", "2026-01-02T10:00:03.000Z"}};
        note.erase(key);
        const auto refused = fold(state, note);
        ASSERT_FALSE(refused.ok()) << key;
        EXPECT_EQ(refused.error().code, "AF-TASK-012");
    }
}

json::object answer_record() {
    return {{"type", "answer"}, {"phase", "a"}, {"visit", 1}, {"run", 1}, {"run_step", 1}, {"agent", {{"role", "r"}}}};
}

TEST(TaskRecords, a_step_has_one_answer) {
    TaskState state = at_work();
    json::object answer = answer_record();
    answer["usage"] = {{"input_tokens", 100}, {"output_tokens", 10}};
    ASSERT_TRUE(take(state, answer).ok());
    expect_refused(state, answer, "AF-TASK-010", "its step already has an answer");
    EXPECT_EQ(state.ledger.total().calls, 1U);
}

TEST(TaskRecords, an_answer_refused_for_its_usage_leaves_no_run) {
    TaskState state = at_work();
    json::object answer = answer_record();
    answer["usage"] = {{"input_tokens", std::uint64_t(1) << 50U}, {"output_tokens", 10}};
    expect_refused(state, answer, "AF-TASK-010", "`input_tokens` is more than a call can have used");
}

TEST(TaskRecords, work_belongs_to_the_current_visit_of_the_current_stage) {
    TaskState state = at_work();
    json::object answer = answer_record();
    answer["phase"] = "zzz";
    expect_refused(state, answer, "AF-TASK-010", "it is about stage `zzz` while `a` is the current one");
    answer = answer_record();
    answer["visit"] = 2;
    expect_refused(state, answer, "AF-TASK-010", "visit 2 of stage `a`, but visit 1 is the current one");
    expect_refused(state, {{"type", "step"}, {"phase", "a"}, {"visit", 2}}, "AF-TASK-010", "visit 1 is the current one");
    expect_refused(state,
                   {{"type", "gate"}, {"stage", "zzz"}, {"gate", "tests"}, {"tree", "t0"}, {"passed", true}, {"summary", "s"}},
                   "AF-TASK-010", "it is about stage `zzz`");
}

TEST(TaskRecords, a_visit_must_be_the_next_one) {
    TaskState state = at_work();
    ASSERT_TRUE(take(state, {{"type", "stage_failed"}, {"stage", "a"}, {"error", {{"code", "X"}, {"message", "m"}}}}).ok());
    expect_refused(state, {{"type", "stage_started"}, {"stage", "a"}, {"visit", 7}}, "AF-TASK-010",
                   "visit 2, attempt 2 comes next");
    EXPECT_TRUE(take(state, {{"type", "stage_started"}, {"stage", "a"}, {"visit", 2}, {"attempt", 2}}).ok());
}

TEST(TaskRecords, an_unknown_field_of_the_agent_is_refused) {
    TaskState state = at_work();
    json::object answer = answer_record();
    answer["agent"] = {{"role", "r"}, {"colour", "red"}};
    expect_refused(state, answer, "AF-TASK-011", "the unknown field `colour`");
}

TEST(TaskRecords, a_wrong_template_is_an_error_of_its_record) {
    TaskState state;
    const auto refused = take(state, created_record({{"colour", "red"}}));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "AF-TASK-010");
    EXPECT_NE(refused.error().where.find("type task_created"), std::string::npos) << refused.error().where;
}

json::object call_record(std::string_view type, unsigned call) {
    json::object record{{"type", type}, {"stage", "a"}, {"visit", 1}, {"call", call}, {"name", "run_gate"}, {"input_hash", "h"}};
    if (type == "call_finished") { record["outcome"] = "ok"; }
    return record;
}

TEST(TaskRecords, a_call_finishes_once_and_only_if_it_began) {
    TaskState state = at_work();
    expect_refused(state, call_record("call_finished", 1), "AF-TASK-010", "call 1 of its visit is not under way");
    ASSERT_TRUE(take(state, call_record("call_started", 1)).ok());
    expect_refused(state, call_record("call_started", 1), "AF-TASK-010", "call 1 of its visit was already made");
    json::object other = call_record("call_finished", 1);
    other["input_hash"] = "h2";
    expect_refused(state, other, "AF-TASK-010", "call 1 is of `run_gate` with different input");
    ASSERT_TRUE(take(state, call_record("call_finished", 1)).ok());
    expect_refused(state, call_record("call_finished", 1), "AF-TASK-010", "call 1 of its visit is not under way");
}

TEST(TaskRecords, a_call_of_another_stage_or_visit_is_refused) {
    TaskState state = at_work();
    json::object started = call_record("call_started", 1);
    started["visit"] = 7;
    expect_refused(state, started, "AF-TASK-010", "visit 7 of stage `a`, which is not the current one");
    started = call_record("call_started", 1);
    started["stage"] = "b";
    expect_refused(state, started, "AF-TASK-010", "visit 1 of stage `b`");
}

TEST(TaskRecords, a_call_that_does_not_say_how_it_ended_is_refused) {
    TaskState state = at_work();
    ASSERT_TRUE(take(state, call_record("call_started", 1)).ok());
    json::object finished = call_record("call_finished", 1);
    finished.erase("outcome");
    expect_refused(state, finished, "AF-TASK-010", "how the call ended");
    finished["outcome"] = "perhaps";
    expect_refused(state, finished, "AF-TASK-012", "field `outcome` must be one of ok, error, but is 'perhaps'");
}

TEST(TaskRecords, a_cycle_goes_to_the_requested_stage) {
    TaskState state = at_work();
    state.pipeline.stages.push_back(state.pipeline.stages[0]);
    state.pipeline.stages[1].name = "b";
    state.stages.push_back(state.stages[0]);
    state.stages[1].name = "b";
    state.stage_index = 1;
    state.stages[0].status = StageStatus::completed;
    state.pipeline.stages[0].max_cycles = 1;
    ASSERT_TRUE(take(state, {{"type", "cycle_requested"}, {"stage", "b"}, {"to", "a"}, {"reason", "r"}}).ok());
    expect_refused(state, {{"type", "cycle_started"}, {"stage", "b"}, {"to", "b"}}, "AF-TASK-010", "but the request names `a`");
    EXPECT_TRUE(take(state, {{"type", "cycle_started"}, {"stage", "b"}, {"to", "a"}}).ok());
}

TEST(TaskRecords, a_plan_step_must_exist_in_the_plan) {
    TaskState state = at_work();
    json::object started = call_record("call_started", 1);
    for (const unsigned number : {0U, 3U}) {
        started["plan_step"] = {{"number", number}, {"of", 2}, {"title", "t"}, {"attempt", 1}};
        expect_refused(state, started, "AF-TASK-010", "a plan of 2 steps has no step " + std::to_string(number));
    }
    started["plan_step"].as_object()["number"] = 2;
    EXPECT_TRUE(take(state, started).ok());
}

TEST(TaskRecords, held_out_tests_must_be_files_of_the_repository) {
    TaskState state = at_work();
    state.red_tree = "t1";
    json::object held{{"type", "held_out"}, {"stage", "a"},           {"red_tree", "t1"}, {"files", json::array{"../x.py"}},
                      {"hidden", true},     {"shown", json::array()}, {"reason", "r"},    {"tree", "t2"}};
    expect_refused(state, held, "AF-TASK-010", "`../x.py` is not a file of the repository");
    held["files"] = json::array{"tests/x.py"};
    EXPECT_TRUE(take(state, held).ok());
}

TEST(TaskRecords, a_new_base_has_a_commit_and_a_tree) {
    TaskState state = at_work();
    state.status = TaskStatus::completed;
    state.stages[0].status = StageStatus::completed;
    const json::object continued{{"type", "task_continued"},
                                 {"revise", true},
                                 {"freshness", {{"head", "h"}, {"stale", json::array()}, {"accepted", ""}}},
                                 {"base_commit", "c"}};
    expect_refused(state, continued, "AF-TASK-010", "only one of the new base's commit and tree");
}

TEST(TaskRecords, plugins_have_an_id_a_version_a_hash_and_a_source) {
    TaskState state = at_work();
    const json::object plugin{{"id", "org.x"}, {"version", "1.0.0"}, {"sha256", "h"}, {"source", "shipped"}};
    ASSERT_TRUE(take(state, {{"type", "plugins"}, {"in_use", json::array{plugin}}}).ok());
    for (const json::value& odd : {json::value("all"), json::value(json::array{1}), json::value(json::array{json::object()})}) {
        expect_refused(state, {{"type", "plugins"}, {"in_use", odd}}, "AF-TASK-010", "its plugins are not a list");
    }
    expect_refused(state, {{"type", "plugins"}}, "AF-TASK-010", "it names no list of plugins");
}

TEST(TaskDelivery, names_a_commit_or_a_file) {
    TaskState state = delivering();
    json::object delivered = delivered_record();
    delivered["commit"] = "";
    expect_refused(state, delivered, "AF-TASK-010", "neither a commit nor a file");
}

TEST(TaskDelivery, must_come_before_the_end_of_its_stage) {
    TaskState state = at_work();
    state.pipeline.stages[0].delivers = true;
    const json::object accepted{{"type", "artifact_accepted"},
                                {"stage", "a"},
                                {"artifact", "artifacts/a.yaml"},
                                {"artifact_hash", "h"},
                                {"conditions", json::array()}};
    expect_refused(state, accepted, "AF-TASK-010", "stage `a` has delivered nothing");
    ASSERT_TRUE(take(state, {{"type", "gate"}, {"gate", "deliver"}, {"tree", "t0"}, {"passed", true}, {"summary", "s"}}).ok());
    ASSERT_TRUE(take(state, delivered_record()).ok());
    EXPECT_TRUE(take(state, accepted).ok());
}

}  // namespace
}  // namespace agentforge::kernel
