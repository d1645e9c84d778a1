// SPDX-License-Identifier: Apache-2.0
// Breaks each invariant: a check that cannot fail proves nothing.
#include "unit/pipeline/invariants.hpp"

#include <fstream>

#include "unit/pipeline/random_task.hpp"

namespace agentforge::kernel::testing {
namespace {

class StateInvariants : public ::testing::Test {
protected:
    StateInvariants() {
        StageTemplate first;
        first.name = "build";
        first.max_cycles = 1;
        first.reviewers = {"alice"};
        first.config["exit_gate"] = "green";
        StageTemplate last;
        last.name = "ship";
        before_.pipeline.stages = {first, last};
        before_.stages.resize(2);
        before_.stages[0].name = "build";
        before_.stages[1].name = "ship";
        before_.task_id = "task-1";
        before_.status = TaskStatus::running;
        before_.progress = StageProgress::accepted;
        before_.tree = "t1";
        before_.gates["green"] = measured("t1", true);
        before_.gates["deliver"] = measured("t1", true);
        before_.reviewed_by = {"alice"};
        after_ = before_;
    }
    static GateState measured(const std::string& tree, bool passed, bool partial = false) {
        return {tree, passed, partial, "", 0};
    }
    std::string broken(const std::string& type, bool taken = true) {
        const json::object record{{"type", type}, {"tree", "t1"}};
        return broken_invariants({before_, record, after_, taken});
    }
    TaskState before_;
    TaskState after_;
};

TEST_F(StateInvariants, hold_for_a_valid_record) {
    EXPECT_EQ(broken("stage_completed"), "");
    EXPECT_EQ(broken("delivered"), "");
    EXPECT_EQ(broken("stage_started", false), "");
}

TEST_F(StateInvariants, number_1_finds_a_second_running_stage) {
    after_.stages[1].status = StageStatus::running;
    EXPECT_EQ(broken("stage_started"), "1: ship runs and is not the current stage\n");
}

TEST_F(StateInvariants, number_2_finds_a_stage_completed_without_its_gate) {
    for (const GateState& gate : {measured("t1", false), measured("t0", true), measured("t1", true, true)}) {
        before_.gates["green"] = gate;
        EXPECT_EQ(broken("stage_completed"), "2: build was completed without its gate\n");
    }
    before_.gates.erase("green");
    EXPECT_EQ(broken("stage_completed"), "2: build was completed without its gate\n");
}

TEST_F(StateInvariants, number_3_finds_a_stage_completed_without_review_or_approval) {
    before_.pipeline.stages[0].approve = true;
    EXPECT_EQ(broken("stage_completed"), "3: build was completed without an approval\n");
    before_.reviewed_by.clear();
    EXPECT_EQ(broken("stage_completed"), "3: build was completed without its reviews\n");
}

TEST_F(StateInvariants, number_4_finds_a_record_after_the_end) {
    before_.status = TaskStatus::aborted;
    after_.status = TaskStatus::aborted;
    EXPECT_EQ(broken("stage_started"), "4: stage_started was recorded after the task's end\n");
}

TEST_F(StateInvariants, number_5_finds_a_workspace_that_changes_while_nothing_executes) {
    after_.tree = "t2";
    EXPECT_EQ(broken("step"), "5: step changed the workspace of a stage that does not execute\n");
}

TEST_F(StateInvariants, number_6_finds_a_delivery_without_its_gate) {
    before_.gates["deliver"].tree = "t0";
    EXPECT_EQ(broken("delivered"), "6: a commit was delivered without its gate\n");
}

TEST_F(StateInvariants, number_7_finds_one_cycle_too_many) {
    after_.stages[0].cycles = 2;
    EXPECT_EQ(broken("cycle_started"), "7: build was gone back to too often\n");
}

TEST_F(StateInvariants, number_8_finds_a_refused_record_that_changed_something) {
    after_.tree = "t1";
    after_.commit = "c";
    EXPECT_EQ(broken("step", false), "8: step was refused and changed the state\n");
}

TEST_F(StateInvariants, number_9_finds_a_file_outside_of_the_tasks_folder) {
    for (const char* file : {"/etc/passwd", "../state.yaml", "artifacts/../../x"}) {
        after_.stages[0].artifact = file;
        EXPECT_EQ(broken("artifact_accepted"),
                  std::string("9: the artifact of build is not below the task's folder: ") + file + "\n");
    }
}

TEST_F(StateInvariants, number_9_finds_a_patch_outside_of_the_tasks_folder) {
    after_.delivery.patch_file = "../p";
    EXPECT_EQ(broken("published"), "9: the delivered patch is not below the task's folder: ../p\n");
    records::HandBackEvidence evidence{};
    evidence.patch = "/p";
    after_.resumption.hand_backs.push_back({"ship", "build", evidence});
    EXPECT_EQ(broken("cycle_requested"), "9: the patch that ship handed back is not below the task's folder: /p\n");
}

TEST_F(StateInvariants, number_10_finds_a_changed_template_of_a_completed_stage) {
    before_.stages[0].status = StageStatus::completed;
    before_.status = TaskStatus::completed;
    after_ = before_;
    after_.status = TaskStatus::paused;
    after_.pipeline.stages[0].max_steps += 1;
    EXPECT_EQ(broken("task_continued"), "10: build has another template than it was done by\n");
}

TEST_F(StateInvariants, number_11_finds_an_unreachable_state) {
    before_.status = TaskStatus::pending;
    after_ = before_;
    after_.status = TaskStatus::running;
    EXPECT_EQ(broken("task_resumed"), "11: task_resumed led from pending to running\n");
    after_.status = TaskStatus::completed;
    EXPECT_EQ(broken("note"), "11: note led from pending to completed\n");
}

TEST_F(StateInvariants, number_12_finds_a_completed_delivery_stage_without_a_delivery) {
    before_.pipeline.stages[0].delivers = true;
    after_ = before_;
    const std::string found = broken("stage_completed");
    EXPECT_NE(found.find("12: " + before_.stage().name + " was completed without a delivery\n"), std::string::npos) << found;
}

/// The head of the fold and the checks give each number the same meaning.
TEST_F(StateInvariants, match_the_numbers_in_the_fold) {
    std::ifstream fold(std::string(AGENTFORGE_SOURCE_DIR) + "/kernel/task/fold.hpp");
    unsigned numbered = 0;
    for (std::string line; std::getline(fold, line);) {
        if (line.starts_with("//   " + std::to_string(numbered + 1) + ". ")) { ++numbered; }
    }
    EXPECT_EQ(numbered, invariants.size());
}

}  // namespace
}  // namespace agentforge::kernel::testing
