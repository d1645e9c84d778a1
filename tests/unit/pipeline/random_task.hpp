// SPDX-License-Identifier: Apache-2.0
// Random tasks: templates, and the records that a controller could write for them.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pipeline/machine.hpp"
#include "task/state.hpp"

namespace agentforge::kernel::testing {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}
    /// 0 … sides-1.
    unsigned roll(unsigned sides) { return static_cast<unsigned>(engine_() % sides); }
    bool once_in(unsigned times) { return roll(times) == 0; }
    template <class List>
    const auto& pick(const List& list) {
        return list[roll(static_cast<unsigned>(list.size()))];
    }

private:
    std::mt19937_64 engine_;
};

inline PipelineTemplate random_pipeline(Dice& dice) {
    static const std::vector<std::string> names{"intake", "clarify",  "analyze", "spec",  "red",
                                                "green",  "refactor", "deliver", "extra", "last"};
    PipelineTemplate pipeline;
    pipeline.name = "random";
    pipeline.goal_type = "implement";
    const std::size_t count = 1 + dice.roll(10);
    for (std::size_t index = 0; index < count; ++index) {
        StageTemplate stage;
        stage.name = names[index];
        stage.executor = stage.name;
        stage.contract = "note";
        stage.artifact = "note";
        stage.max_retries = dice.roll(4);
        stage.max_contract_retries = dice.roll(4);
        stage.max_reviews = dice.roll(4);
        stage.max_cycles = dice.roll(4);
        stage.max_iterations = dice.roll(4);
        stage.approve = dice.once_in(5);
        stage.review_blocking = !dice.once_in(4);
        if (dice.once_in(4)) { stage.reviewers = {"alice"}; }
        if (dice.once_in(8)) { stage.reviewers = {"alice", "bob"}; }
        if (dice.once_in(3)) { stage.config["exit_gate"] = dice.once_in(2) ? "green" : "tests"; }
        if (dice.once_in(4)) { stage.skip_if = "trivial_change OR no_ambiguities"; }
        pipeline.stages.push_back(std::move(stage));
    }
    if (dice.once_in(3)) { pipeline.stages[dice.roll(static_cast<unsigned>(count))].delivers = true; }
    pipeline.exit_stage = pipeline.stages[dice.once_in(5) ? dice.roll(static_cast<unsigned>(count)) : count - 1].name;
    return pipeline;
}

/// A task with its journal. A fold of the journal must give the same state.
class Task {
public:
    Task(Dice& dice, PipelineTemplate pipeline) : Task(dice, std::move(pipeline), json::object()) {
        EXPECT_TRUE(record("task_started", {}));
    }
    /// With more fields of `task_created`; it has not started.
    Task(Dice& dice, PipelineTemplate pipeline, const json::object& more) {
        json::object created{{"task_id", "task-20260102-x-00000001"},
                             {"request", "do it"},
                             {"goal_type", "implement"},
                             {"pipeline", pipeline.to_json()},
                             {"base_commit", "c0"},
                             {"base_tree", "t0"},
                             {"supervised", dice.once_in(5)},
                             {"approve_stages", json::array()}};
        if (dice.once_in(5)) { created["approve_stages"].get_array().emplace_back(dice.pick(pipeline.stages).name); }
        if (dice.once_in(4)) { created["iterate_stages"] = json::array{dice.pick(pipeline.stages).name}; }
        if (dice.once_in(4)) { created["interactive"] = true; }
        if (dice.once_in(5)) { created["exit_after"] = dice.pick(pipeline.stages).name; }
        for (const auto& [key, value] : more) { created[key] = value; }
        EXPECT_TRUE(record("task_created", std::move(created)));
    }

    /// Returns false if the state refuses the record; then nothing is kept.
    bool record(std::string_view type, json::object fields) {
        fields["type"] = type;
        fields["seq"] = state.seq + 1;
        if (!fields.contains("step")) { fields["step"] = state.steps + (type == "step" ? 1 : 0); }
        fields["timestamp"] = "2026-01-02T00:00:" + std::to_string(10 + state.seq % 50) + ".000Z";
        fields["hash"] = "h" + std::to_string(state.seq + 1);
        const auto done = fold(state, fields);
        refusal = done.ok() ? std::string() : done.error().to_string();
        if (!done.ok()) { return false; }
        journal.push_back(Record{state.seq, std::move(fields), state.hash});
        return true;
    }

    [[nodiscard]] std::string new_tree() { return "t" + std::to_string(++trees_); }

    TaskState state;
    std::vector<Record> journal;
    std::string refusal;

private:
    unsigned trees_ = 0;
};

/// Counts what a template allows, from the records alone.
class Ledger {
public:
    explicit Ledger(const PipelineTemplate& pipeline) : pipeline_(pipeline) {}

    void see(const json::object& body, const TaskState& after) {
        const std::string type(body.at("type").as_string());
        const std::string stage =
            body.contains("stage") && body.at("stage").is_string() ? std::string(body.at("stage").as_string()) : std::string();
        if (type == "task_resumed" && ended_) { new_round(after.stage().name); }
        ended_ = is_terminal(after.status);
        if (type == "gate") {
            gates_[std::string(body.at("gate").as_string())] = {std::string(body.at("tree").as_string()),
                                                                body.at("passed").as_bool()};
            if (after.progress == StageProgress::failed && after.stage().attempts == 0) {
                attempts_[after.stage().name] = 0;
                ++contract_retries_[after.stage().name];
            }
        }
        if (stage.empty()) { return; }
        const StageTemplate& limits = pipeline_.stages[*pipeline_.index_of(stage)];
        if (type == "stage_started") {
            EXPECT_LE(++attempts_[stage], limits.max_retries + 1) << stage;
        } else if (type == "artifact_rejected") {
            attempts_[stage] = 0;
            EXPECT_LE(++contract_retries_[stage], limits.max_contract_retries + 1) << stage;
        } else if (type == "artifact_accepted") {
            contract_retries_[stage] = 0;
        } else if (type == "review_finished") {
            if (limits.review_blocking && body.at("blocking").to_number<unsigned>() > 0) {
                attempts_[stage] = 0;
                EXPECT_LE(++reviews_[stage], std::max(1U, limits.max_reviews)) << stage;
            }
        } else if (type == "approval_decided") {
            if (body.contains("feedback") && !body.contains("decision")) {
                attempts_[stage] = 0;
                EXPECT_LE(++iterations_[stage], limits.max_iterations + 1) << stage;
            }
        } else if (type == "escalation_raised") {
            EXPECT_LE(++escalations_[stage], max_escalations_per_stage) << stage;
        } else if (type == "escalation_resolved") {
            new_round(stage);
            iterations_[stage] = 0;
            for (const StageState& entry : after.stages) { cycles_[entry.name] = entry.cycles - entry.cycles_before; }
        } else if (type == "cycle_started") {
            const std::string to(body.at("to").as_string());
            EXPECT_LE(++cycles_[to], pipeline_.stages[*pipeline_.index_of(to)].max_cycles) << to;
            for (const StageTemplate& entry : pipeline_.stages) { new_round(entry.name); }
        } else if (type == "stage_completed") {
            if (const std::string gate = exit_gate(limits); !gate.empty()) {
                EXPECT_TRUE(gates_[gate].second) << stage << " went past the failed gate " << gate;
                EXPECT_EQ(gates_[gate].first, after.tree) << stage << " went past a gate of another tree";
            }
        }
    }

private:
    void new_round(const std::string& stage) {
        attempts_[stage] = 0;
        contract_retries_[stage] = 0;
        reviews_[stage] = 0;
    }

    const PipelineTemplate& pipeline_;
    std::map<std::string, unsigned> attempts_, contract_retries_, reviews_, iterations_, cycles_, escalations_;
    std::map<std::string, std::pair<std::string, bool>> gates_;
    bool ended_ = false;
};

/// Checks that hold for every state.
inline void expect_sound(const TaskState& state) {
    unsigned running = 0;
    for (std::size_t index = 0; index < state.stages.size(); ++index) {
        const StageStatus status = state.stages[index].status;
        running += status == StageStatus::running ? 1 : 0;
        if (index < state.stage_index) {
            EXPECT_TRUE(status == StageStatus::completed || status == StageStatus::skipped) << state.stages[index].name;
        }
        if (index > state.stage_index) { EXPECT_EQ(status, StageStatus::pending) << state.stages[index].name; }
    }
    EXPECT_LE(running, 1U);
    if (running == 1) {
        EXPECT_EQ(state.stage().status, StageStatus::running);
        EXPECT_FALSE(is_terminal(state.status));
    }
    EXPECT_EQ(state.progress == StageProgress::asking || state.progress == StageProgress::escalated,
              state.escalation.has_value());
    EXPECT_EQ(state.progress == StageProgress::approving, state.approval.has_value());
    if (state.action) {
        EXPECT_TRUE(state.interactive && !is_terminal(state.status));
        EXPECT_EQ(state.status == TaskStatus::awaiting_approval, !state.action->id.empty());
    }
    EXPECT_EQ(state.progress == StageProgress::cycling, !state.cycle_to.empty());
    if (state.status == TaskStatus::completed) { EXPECT_FALSE(state.exit_stage.empty()); }
    // There is always a next effect.
    EXPECT_FALSE(name_of(next(state)).empty());
}

}  // namespace agentforge::kernel::testing
