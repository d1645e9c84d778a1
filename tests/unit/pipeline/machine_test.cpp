// SPDX-License-Identifier: Apache-2.0
// The life of a task as a pure function: properties over random event sequences.
#include "unit/pipeline/invariants.hpp"
#include "unit/pipeline/random_task.hpp"
#include "unit/pipeline/random_turn.hpp"

#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned sequences_per_seed = 500;  // Sanitizers make them ten times as slow, and few sequences suffice.
#else
constexpr unsigned sequences_per_seed = 2'500;
#endif

template <class... T>
std::vector<std::string> types_in(const std::variant<T...>*) {
    return {std::string(T::type)...};
}

/// The types of all records, and one that does not exist.
std::vector<std::string> types_to_try() {
    std::vector<std::string> types = types_in(static_cast<const records::Body*>(nullptr));
    types.emplace_back("no_such_type");
    return types;
}

/// Leaves only the fields that a record of its type has.
template <class... T>
void drop_unknown_fields(json::object& record, const std::variant<T...>*) {
    const std::string type(record.at("type").as_string());
    std::vector<std::string> unknown;
    for (const auto& [key, value] : record) {
        const std::string_view name = key;
        const bool known = records::has_key<records::Envelope>(name) || ((type == T::type && records::has_key<T>(name)) || ...);
        if (!known) { unknown.emplace_back(name); }
    }
    for (const std::string& key : unknown) { record.erase(key); }
}

/// Returns a record that, most of the time, no controller would write here.
json::object arbitrary(const Task& task, Dice& dice) {
    static const std::vector<std::string> types = types_to_try();
    static const std::vector<std::string> trees{"t0", "t1", "t2"};
    static const std::vector<std::string> decisions{"edited", "whim", "approved", "approved"};
    static const std::vector<std::string> gates{"deliver", "green", "tests"};
    const std::string open_action = task.state.action ? task.state.action->hash : "a1";
    const std::string& stage = dice.pick(task.state.stages).name;
    const std::string& type = dice.pick(types);
    json::object record{
        {"type", type},
        {"timestamp", "2026-01-02T00:00:10.000Z"},
        {"seq", task.state.seq + (dice.once_in(20) ? 2 : 1)},
        {"stage", dice.once_in(3) ? stage : task.state.stage().name},
        {"phase", task.state.stage().name},
        {"exit_stage", dice.once_in(3) ? stage : task.state.stage().name},
        {"to", dice.pick(task.state.stages).name},
        {"reason", dice.once_in(2) ? "trivial_change" : "why"},
        {"code", "X"},
        {"message", "m"},
        {"error", {{"code", "X"}, {"message", "m"}}},
        {"cause", dice.once_in(6) ? "whim" : "review"},
        {"question", "?"},
        {"options", json::array()},
        {"escalation_id", dice.once_in(4) ? "ESC-2" : "ESC-1"},
        {"approval_id", dice.once_in(4) ? "APR-2" : "APR-1"},
        {"abort", dice.once_in(2)},
        {"approved", dice.once_in(2)},
        {"resolution_blob", "b"},
        {"action_hash", dice.once_in(3) ? "a9" : open_action},
        {"action_blob", "b"},
        {"tool", "edit_file"},
        {"decision", dice.pick(decisions)},
        {"artifact", dice.once_in(8) ? "../p" : "p"},
        {"artifact_hash", dice.once_in(3) ? "a9" : task.state.stage().artifact_hash},
        {"conditions", json::array{"trivial_change"}},
        {"errors", json::array{"e"}},
        {"reviewer", dice.once_in(3) ? "eve" : "alice"},
        {"blocking", dice.roll(2)},
        {"issues", json::array()},
        {"step", dice.once_in(8) ? dice.roll(3) : task.state.steps + (type == records::Step::type ? 1 : 0)},
        {"gate", dice.pick(gates)},
        {"passed", dice.once_in(2)},
        {"partial", dice.once_in(3)},
        {"summary", "s"},
        {"tree", dice.once_in(2) ? dice.pick(trees) : task.state.tree},
        {"commit", "c"},
        {"branch", "b"},
        {"red_tree", dice.once_in(4) ? "t9" : task.state.red_tree},
        {"files", json::array{"f"}},
        {"shown", json::array()},
        {"hidden", dice.once_in(2)},
        {"task_id", "task-20260102-x-00000002"},
        {"parent", task.state.task_id},
        {"from_step", task.state.steps},
        {"replaces", task.state.commit},
        {"base_commit", "c0"},
        {"gate_passed", dice.once_in(2)},
        {"remote", "origin"},
        {"pr_url", ""},
        {"patch_file", dice.once_in(2) ? "../p" : "p"},
        {"usage", {{"input_tokens", 3}, {"output_tokens", 1}}},
        {"in_force", json::object()},
        {"specification_blob", "b"},
        {"tasks", json::array()},
        {"external", json::array()},
        {"hand_back", {{"tests", json::array{"t"}}, {"requirement", "REQ-001"}, {"patch", dice.once_in(2) ? "../p" : "p"}}}};
    if (dice.once_in(3)) { record["feedback"] = "better"; }
    if (dice.once_in(3)) { record["decision"] = dice.once_in(2) ? "exit" : "reject"; }
    record["revise"] = dice.once_in(2);
    record["freshness"] = json::object{{"head", "c"}, {"stale", json::array()}, {"accepted", ""}};
    if (dice.once_in(3)) {
        PipelineTemplate longer = task.state.pipeline;
        if (dice.once_in(3)) { longer.stages[dice.roll(static_cast<unsigned>(longer.stages.size()))].max_steps += 1; }
        record["extension"] = json::object{{"pipeline", longer.to_json()}, {"exit_stage", stage}, {"next_pipeline", "n"}};
    }
    if (!dice.once_in(20)) { drop_unknown_fields(record, static_cast<const records::Body*>(nullptr)); }
    if (dice.once_in(8)) {
        const auto* victim = record.begin() + dice.roll(static_cast<unsigned>(record.size()));
        record.erase(victim->key());
    }
    if (dice.once_in(8)) {
        (record.begin() + dice.roll(static_cast<unsigned>(record.size())))->value() = json::array{1, nullptr};
    }
    return record;
}

/// Everything else that a resumed task needs is in the journal.
void expect_round_trip(TaskState state) {
    state.resumption = {};
    state.gate_figures = {};
    state.people_figures = {};
    state.inherited = {};
    const json::object projection = to_json(state);
    const auto direct = task_state_from_json(projection);
    ASSERT_TRUE(direct.ok()) << direct.error().to_string();
    EXPECT_TRUE(*direct == state);
    const auto text = parse_json(to_json_pretty(projection), "state.yaml");
    ASSERT_TRUE(text.ok()) << text.error().to_string();
    const auto read = task_state_from_json(text->get_object());
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_TRUE(*read == state);
}

PipelineTemplate two_stages() {
    PipelineTemplate pipeline;
    pipeline.name = "timed";
    pipeline.goal_type = "implement";
    pipeline.timeout = std::chrono::seconds(10);
    for (const char* name : {"one", "two"}) {
        StageTemplate stage;
        stage.name = stage.executor = name;
        stage.contract = stage.artifact = "note";
        pipeline.stages.push_back(std::move(stage));
    }
    pipeline.exit_stage = "two";
    return pipeline;
}

/// The fields of a task that asks nobody.
json::object unattended() {
    return {{"supervised", false},
            {"approve_stages", json::array()},
            {"iterate_stages", json::array()},
            {"interactive", false},
            {"exit_after", "two"}};
}

TEST(Machine, a_hand_back_with_a_patch_outside_the_tasks_folder_is_refused) {
    Dice dice(1);
    Task task(dice, two_stages(), unattended());
    ASSERT_TRUE(task.record("task_started", {})) << task.refusal;
    ASSERT_TRUE(task.record("stage_started", about(task)));
    ASSERT_TRUE(task.record("artifact_accepted",
                            with(about(task), {{"artifact", "x"}, {"artifact_hash", "a"}, {"conditions", json::array()}})));
    ASSERT_TRUE(task.record("stage_completed", about(task)));
    ASSERT_TRUE(task.record("stage_started", about(task)));
    const auto hands_back = [&](const char* patch) {
        const json::object evidence{{"tests", json::array{"t"}}, {"requirement", "REQ-001"}, {"patch", patch}};
        return task.record("cycle_requested", with(about(task), {{"to", "one"}, {"reason", "wrong"}, {"hand_back", evidence}}));
    };
    EXPECT_FALSE(hands_back("../../x.patch"));
    EXPECT_NE(task.refusal.find("is not a file below the task's folder"), std::string::npos) << task.refusal;
    EXPECT_TRUE(hands_back("artifacts/snapshots/x.patch")) << task.refusal;
}

TEST(Machine, a_task_resumed_after_the_pipeline_timeout_gets_the_time_again) {
    Dice dice(1);
    Task task(dice, two_stages(), unattended());
    ASSERT_TRUE(task.record("task_started", {})) << task.refusal;
    ASSERT_TRUE(task.record("stage_started", about(task)));
    ASSERT_TRUE(task.record(
        "artifact_accepted",
        with(about(task), {{"artifact", "x"}, {"artifact_hash", "a"}, {"conditions", json::array()}, {"duration_ms", 11'000}})));
    ASSERT_TRUE(task.record("stage_completed", about(task)));
    const Effect over = next(task.state);
    ASSERT_TRUE(std::holds_alternative<effect::FailTask>(over));
    ASSERT_TRUE(task.record("task_failed", {{"code", std::get<effect::FailTask>(over).code}, {"message", "time"}}));
    ASSERT_TRUE(task.record("task_resumed", {{"reason", "resumed"}}));
    EXPECT_TRUE(std::holds_alternative<effect::StartStage>(next(task.state))) << "the template cannot be changed any more";
    expect_round_trip(task.state);
}

class MachineProperties : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(MachineProperties, every_sequence_of_events_keeps_order_gates_and_limits) {
    std::uint64_t ended = 0;
    Tried tried{};
    for (unsigned number = 0; number < sequences_per_seed && !HasFailure(); ++number) {
        const std::uint64_t seed = GetParam() * 1'000'000 + number;
        SCOPED_TRACE("seed " + std::to_string(seed));
        Dice dice(seed);
        const PipelineTemplate pipeline = random_pipeline(dice);
        Task task(dice, pipeline);
        Ledger ledger(pipeline);
        TaskState replayed;
        std::size_t entered = 0;
        for (unsigned turns = 0; turns < 120; ++turns) {
            if (!turn(task, dice)) { break; }
            if (dice.once_in(40) && !is_terminal(task.state.status)) {
                EXPECT_TRUE(task.record("task_paused", {{"reason", "interrupted"}}));
            }
            if (dice.once_in(40) && task.state.status == TaskStatus::running) {
                EXPECT_TRUE(task.record("task_resumed", {{"reason", "crash"}}));
            }
            if (dice.once_in(400) && !is_terminal(task.state.status)) {
                EXPECT_TRUE(task.record("task_aborted", {{"reason", "enough"}}));
            }
            // The ledger sees each record with the state after it.
            for (; entered < task.journal.size(); ++entered) {
                const std::optional<TaskState> before =
                    number % 5 == 0 ? std::optional(replayed) : std::nullopt;  // Copies take most of the time.
                ASSERT_TRUE(fold(replayed, task.journal[entered].body).ok());
                if (before) { EXPECT_EQ(broken_invariants({*before, task.journal[entered].body, replayed}, &tried), ""); }
                if (entered < 2) { continue; }
                ledger.see(task.journal[entered].body, replayed);
                expect_sound(replayed);
            }
        }
        ended += is_terminal(task.state.status) ? 1U : 0U;
        ASSERT_TRUE(replayed == task.state);
        ASSERT_TRUE(fold_all(task.journal).value() == task.state);
        expect_round_trip(task.state);
    }
    EXPECT_GT(ended, sequences_per_seed / 4) << "the sequences are too short to show anything";
    for (const Invariant& one : invariants) {
        if (one.number != 8) { EXPECT_GT(tried[one.number], 10U) << "nothing could have broken invariant " << one.number; }
    }
}

TEST_P(MachineProperties, an_arbitrary_record_is_refused_or_leaves_a_valid_state) {
    std::uint64_t taken = 0;
    Tried tried{};
    for (unsigned number = 0; number < sequences_per_seed && !HasFailure(); ++number) {
        const std::uint64_t seed = GetParam() * 1'000'000 + 500'000 + number;
        SCOPED_TRACE("seed " + std::to_string(seed));
        Dice dice(seed);
        Task task(dice, random_pipeline(dice));
        for (unsigned count = dice.roll(30); count > 0; --count) { static_cast<void>(turn(task, dice)); }
        for (unsigned count = 0; count < 12; ++count) {
            const json::object record = arbitrary(task, dice);
            const TaskState before = task.state;
            const auto done = fold(task.state, record);
            if (done.ok()) {
                ++taken;
                EXPECT_EQ(task.state.seq, before.seq + 1);
                EXPECT_FALSE(is_terminal(before.status) && is_terminal(task.state.status) && before.status != task.state.status &&
                             !(before.status == TaskStatus::failed && task.state.status == TaskStatus::aborted));
            } else {
                EXPECT_EQ(done.error().kind, ErrorKind::corrupt);
            }
            if (record.contains("type") && record.at("type").is_string()) {
                EXPECT_EQ(broken_invariants({before, record, task.state, done.ok()}, &tried), "");
            }
            ASSERT_TRUE(done.ok() || task.state == before) << json::serialize(record) << done.error().to_string();
            expect_sound(task.state);
            if (HasFailure()) {
                ADD_FAILURE() << json::serialize(record) << "\nbefore: " << json::serialize(to_json(before));
                break;
            }
        }
        expect_round_trip(task.state);
    }
    EXPECT_GT(tried[8], sequences_per_seed) << "nearly nothing was refused";
    EXPECT_GT(taken, sequences_per_seed / 2) << "nearly everything was refused: the records are too wild to show anything";
}

TEST_P(MachineProperties, a_task_without_failures_ends_within_a_bound) {
    for (unsigned number = 0; number < sequences_per_seed / 5 && !HasFailure(); ++number) {
        const std::uint64_t seed = GetParam() * 1'000'000 + 900'000 + number;
        SCOPED_TRACE("seed " + std::to_string(seed));
        Dice dice(seed);
        const PipelineTemplate pipeline = random_pipeline(dice);
        Task task(dice, pipeline);
        std::size_t bound = 1;
        for (const StageTemplate& stage : pipeline.stages) { bound += 6 + stage.reviewers.size(); }
        for (; bound > 0 && !is_terminal(task.state.status); --bound) {
            const json::object stage = about(task);
            const Effect effect = next(task.state);
            if (std::holds_alternative<effect::RunStage>(effect)) {
                if (const std::string gate = exit_gate(task.state.stage_template()); !gate.empty()) {
                    ASSERT_TRUE(task.record(
                        "gate", with(stage, {{"gate", gate}, {"tree", task.state.tree}, {"passed", true}, {"summary", "yes"}})));
                }
                if (makes_delivery(task.state.stage_template())) {
                    ASSERT_TRUE(task.record(
                        "gate",
                        with(stage, {{"gate", "deliver"}, {"tree", task.state.tree}, {"passed", true}, {"summary", "yes"}})));
                    ASSERT_TRUE(
                        task.record("delivered", with(stage, {{"tree", task.state.tree}, {"commit", "c1"}, {"branch", "b"}})));
                }
                ASSERT_TRUE(task.record("artifact_accepted",
                                        with(stage, {{"artifact", "x"}, {"artifact_hash", "a"}, {"conditions", json::array()}})));
            } else if (const auto* review = std::get_if<effect::ReviewStage>(&effect)) {
                ASSERT_TRUE(
                    task.record("review_finished",
                                with(stage, {{"reviewer", review->reviewer}, {"blocking", 0}, {"issues", json::array()}})));
            } else if (std::holds_alternative<effect::AwaitPerson>(effect)) {
                ASSERT_TRUE(task.record("approval_decided",
                                        with(stage, {{"approval_id", "APR-1"}, {"artifact_hash", "a"}, {"approved", true}})));
            } else {
                ASSERT_TRUE(turn(task, dice));
            }
        }
        EXPECT_EQ(task.state.status, TaskStatus::completed);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, MachineProperties, ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8));

}  // namespace
}  // namespace agentforge::kernel::testing
