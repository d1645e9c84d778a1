// SPDX-License-Identifier: Apache-2.0
// The projection of a task's state (001 §5.1): to state.yaml and back.
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
    done.visits = done.attempts = done.heals = done.reviews = done.iterations = done.versions = done.cycles = done.escalations = 2;
    done.artifact = "artifacts/a.yaml";
    done.artifact_hash = done.approved_hash = "h";
    done.conditions = {"no_ambiguities"};
    done.error = "e";
    done.skip_reason = "s";
    done.steps = done.input_tokens = done.output_tokens = done.duration_ms = 1ULL << 40U;
    done.started_at = done.completed_at = "2026-01-02T00:00:01.000Z";
    state.reviewed_by = {"alice"};
    state.escalation = OpenEscalation{"ESC-1", EscalationCause::cycle_limit, "r", "q", {"a"}, "b"};
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
    state.steps = 5;
    state.seq = 9;
    state.hash = "hh";
    return state;
}

TEST(TestPipelineState, to_dict_serializes_all_fields) {
    const json::object value = to_json(full());
    for (const char* key : {"task_id", "request", "status", "pipeline", "current_stage", "stages", "gates", "created_at", "updated_at", "error", "waiting_for",
                            "escalation", "approval", "feedback", "exit_after", "commit", "branch", "total_tokens", "seq", "hash"}) {
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

TEST(TestPipelineState, what_is_unknown_or_missing_is_corrupt) {
    const json::object whole = to_json(full());
    for (const auto& [key, value] : whole) {
        json::object broken = whole;
        broken[key] = json::array{1};
        const auto state = task_state_from_json(broken);
        if (state.ok()) { continue; }   // Computed from the rest, or null means none.
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

}  // namespace
}  // namespace agentforge::kernel
