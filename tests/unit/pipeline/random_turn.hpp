// SPDX-License-Identifier: Apache-2.0
// One random turn of a controller.
#pragma once

#include "unit/pipeline/random_task.hpp"

namespace agentforge::kernel::testing {

inline json::object about(const Task& task) { return {{"stage", task.state.stage().name}}; }

inline json::object with(json::object fields, json::object more) {
    for (auto& [key, value] : more) { fields[key] = std::move(value); }
    return fields;
}

/// Makes one turn of a controller with random results of stages, gates, reviewers and people. Returns false if there is nothing
/// left to do.
inline bool turn(Task& task, Dice& dice) {
    const json::object stage = about(task);
    const std::string hash = "a" + std::to_string(dice.roll(5));
    struct Turn {
        Task& task;
        Dice& dice;
        const json::object& stage;
        const std::string& hash;

        bool operator()(const effect::StartStage&) const { return task.record("stage_started", stage); }
        bool operator()(const effect::SkipStage& skip) const {
            return task.record("stage_skipped", with(stage, {{"reason", skip.reason}}));
        }
        bool operator()(const effect::RunStage&) const {
            if (task.state.interactive && dice.once_in(3)) { return propose(); }
            const std::string gate = exit_gate(task.state.stage_template());
            switch (dice.roll(13)) {
                case 0:
                    return task.record("step", {{"phase", task.state.stage().name},
                                                {"step", task.state.steps + 1},
                                                {"input_tokens", 3},
                                                {"tree", task.new_tree()}});
                case 1:
                    return call();
                case 2:
                    return task.record("stage_failed", with(stage, {{"error", {{"code", "X"}, {"message", "boom"}}}}));
                case 3:
                    return task.record("artifact_rejected",
                                       with(stage, {{"errors", json::array{"wrong"}}, {"artifact_blob", hash}}));
                case 4:
                    return ask("stage");
                case 5:
                    if (task.state.stage_index == 0) { return true; }
                    return send_back();
                case 6:
                    return task.record("gate", with(stage, {{"gate", gate.empty() ? "types" : gate},
                                                            {"tree", task.state.tree},
                                                            {"passed", false},
                                                            {"summary", "no"},
                                                            {"failing", "f"},
                                                            {"failures", 2}}));
                case 7:
                    return deliver();
                default:
                    break;
            }
            if (!gate.empty()) {
                EXPECT_TRUE(task.record(
                    "gate", with(stage, {{"gate", gate}, {"tree", task.state.tree}, {"passed", true}, {"summary", "yes"}})));
            }
            if (makes_delivery(task.state.stage_template()) && !has_delivered(task.state)) { EXPECT_TRUE(deliver()); }
            json::array words;
            if (dice.once_in(3)) { words.emplace_back(dice.once_in(2) ? "trivial_change" : "no_ambiguities"); }
            return task.record("artifact_accepted",
                               with(stage, {{"artifact", "artifacts/x.yaml"}, {"artifact_hash", hash}, {"conditions", words}}));
        }
        bool operator()(const effect::ReviewStage& review) const {
            if (dice.once_in(8)) { return ask("review"); }
            if (task.state.interactive && dice.once_in(3)) { return propose(); }
            return task.record("review_finished", with(stage, {{"reviewer", review.reviewer},
                                                               {"blocking", dice.once_in(3) ? 2 : 0},
                                                               {"issues", json::array{"i"}},
                                                               {"artifact_blob", hash}}));
        }
        bool operator()(const effect::StartCycle& cycle) const {
            return task.record("cycle_started", with(stage, {{"to", cycle.to}, {"reason", cycle.reason}}));
        }
        bool operator()(const effect::RequestApproval&) const {
            return task.record("approval_requested",
                               with(stage, {{"approval_id", "APR-1"}, {"artifact_hash", task.state.stage().artifact_hash}}));
        }
        bool operator()(const effect::RaiseEscalation&) const {
            return task.record("escalation_raised", with(stage, {{"escalation_id", "ESC-1"}}));
        }
        bool operator()(const effect::EscalateLimit& limit) const { return ask(std::string(name_of(limit.cause))); }
        bool operator()(const effect::AskAction&) const {
            return task.record("action_asked", with(stage, {{"approval_id", "ACT-1"}, {"action_hash", task.state.action->hash}}));
        }
        bool operator()(const effect::AwaitPerson&) const {
            if (dice.once_in(4)) { return task.record("task_paused", {{"reason", "nobody there"}}); }
            if (task.state.action) {
                static const std::vector<std::string> decisions{"approved", "edited", "rejected"};
                return task.record("action_decided", with(stage, {{"approval_id", "ACT-1"},
                                                                  {"action_hash", task.state.action->hash},
                                                                  {"decision", dice.pick(decisions)},
                                                                  {"edited_blob", "b"}}));
            }
            if (task.state.escalation) {
                return task.record(
                    "escalation_resolved",
                    with(stage, {{"escalation_id", "ESC-1"}, {"abort", dice.once_in(10)}, {"resolution_blob", "b"}}));
            }
            json::object decided = with(stage, {{"approval_id", "APR-1"},
                                                {"artifact_hash", task.state.approval->artifact_hash},
                                                {"approved", false},
                                                {"artifact_blob", hash}});
            if (dice.once_in(3)) {
                decided["feedback"] = "better";
            } else {
                decided["approved"] = !dice.once_in(8);
                const bool says_why = dice.once_in(3);
                if (!decided["approved"].get_bool() && says_why) {
                    decided["decision"] = "reject";
                    decided["feedback"] = "not this";
                }
                if (decided["approved"].get_bool() && dice.once_in(6)) { decided["decision"] = "exit"; }
                if (decided["approved"].get_bool() && !decided.contains("decision") && dice.once_in(6) && has_more()) {
                    decided["decision"] = "extend";
                    decided["extension"] = extension();
                }
            }
            return task.record("approval_decided", std::move(decided));
        }
        bool operator()(const effect::CompleteStage&) const { return task.record("stage_completed", stage); }
        bool operator()(const effect::CompleteTask& done) const {
            return task.record("task_completed", {{"exit_stage", done.exit_stage}, {"exit_type", done.exit_type}});
        }
        bool operator()(const effect::FailTask& failure) const {
            return task.record("task_failed", {{"code", failure.code}, {"message", failure.message}});
        }
        bool operator()(const effect::Rest&) const {
            if (task.state.status == TaskStatus::completed && !has_delivered(task.state) && dice.once_in(3)) {
                const json::object fresh{{"head", "c1"}, {"stale", json::array()}, {"accepted", ""}};
                if (has_more() && dice.once_in(2)) {
                    return task.record("task_continued", {{"revise", false}, {"freshness", fresh}, {"extension", extension()}});
                }
                return task.state.stage().status == StageStatus::completed &&
                       task.record("task_continued", {{"revise", true}, {"freshness", fresh}});
            }
            if (task.state.status == TaskStatus::completed && !task.state.commit.empty() && dice.once_in(3)) {
                return task.record("rebased", {{"replaces", task.state.commit},
                                               {"commit", task.state.commit + "'"},
                                               {"base_commit", "c9"},
                                               {"gate_passed", true},
                                               {"tree", task.new_tree()}});
            }
            const bool may =
                task.state.status == TaskStatus::paused || (task.state.status == TaskStatus::failed && dice.once_in(2));
            return may && task.record("task_resumed", {{"reason", "resumed"}});
        }

        bool has_more() const { return task.state.stage_index + 1 < task.state.stages.size(); }
        json::object extension() const {
            const auto more = static_cast<unsigned>(task.state.stages.size() - task.state.stage_index - 1);
            return {{"pipeline", task.state.pipeline.to_json()},
                    {"exit_stage", task.state.stages[task.state.stage_index + 1 + dice.roll(more)].name},
                    {"next_pipeline", "random"}};
        }
        bool send_back() const {
            json::object fields = with(
                stage,
                {{"to", task.state.stages[dice.roll(static_cast<unsigned>(task.state.stage_index))].name}, {"reason", "again"}});
            if (dice.once_in(2)) { fields["hand_back"] = json::object{{"tests", json::array{"t"}}, {"requirement", "REQ-001"}}; }
            return task.record("cycle_requested", std::move(fields));
        }
        /// A call of the stage's host that writes.
        bool call() const {
            json::object fields = with(stage, {{"visit", task.state.stage().visits},
                                               {"call", task.state.resumption.calls.size() + 1},
                                               {"name", "write_file"},
                                               {"input_hash", "h"}});
            if (!task.record("call_started", fields)) { return false; }
            fields["outcome"] = "ok";
            fields["tree"] = task.new_tree();
            return task.record("call_finished", std::move(fields));
        }
        /// By whatever stage is at work.
        bool deliver() const {
            const std::string& tree = task.state.tree;
            return task.record("gate",
                               with(stage, {{"gate", "deliver"}, {"tree", tree}, {"passed", true}, {"summary", "yes"}})) &&
                   task.record("delivered", with(stage, {{"tree", tree}, {"commit", "c1"}, {"branch", "b1"}}));
        }
        bool propose() const {
            return task.record(
                "action_proposed",
                {{"phase", task.state.stage().name}, {"tool", "edit_file"}, {"action_hash", hash}, {"action_blob", "b"}});
        }
        bool ask(const std::string& cause) const {
            return task.record(
                "stage_escalated",
                with(stage,
                     {{"cause", cause}, {"reason", "stuck"}, {"question", "what now?"}, {"options", json::array{"a", "b"}}}));
        }
    };
    const Effect effect = next(task.state);
    const bool rests = std::holds_alternative<effect::Rest>(effect);
    const bool went = std::visit(Turn{task, dice, stage, hash}, effect);
    EXPECT_TRUE(went || (rests && task.refusal.empty())) << name_of(effect) << ": " << task.refusal;
    return went;
}

}  // namespace agentforge::kernel::testing
