// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/next_commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "aggregate/figures.hpp"
#include "program/terminal/task_box.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TaskOverview standing(const std::string& status) {
    TaskOverview task;
    task.summary.task_id = "task-20260102-add-a-cache-1f2e3d4c";
    task.summary.status = status;
    return task;
}

TaskOverview waiting_for(const std::string& what) {
    TaskOverview task = standing("awaiting_approval");
    task.summary.waiting_for = what;
    task.waiting_id = "ACT-1";
    return task;
}

std::vector<std::string> commands(const std::vector<NextCommand>& next) {
    std::vector<std::string> texts;
    for (const NextCommand& each : next) { texts.push_back(each.command); }
    return texts;
}

std::vector<std::string> lines(const std::string& place_flag, const std::vector<NextCommand>& next, std::size_t columns = 200) {
    std::ostringstream nowhere;
    Program program{.out = nowhere, .err = nowhere, .environment = {}, .directory = {}};
    program.place_flag = place_flag;
    return lines_of(program, next, columns);
}

TEST(NextCommands, of_an_unreadable_task_are_those_of_its_problem) {
    TaskOverview task = standing("paused");
    task.problem =
        Error{"AF-JRNL-002", "the hash chain is broken", "actions.yaml", "restore it from a backup", ErrorKind::corrupt};
    EXPECT_THAT(commands(next_commands(task)), IsEmpty());
}

TEST(NextCommands, of_a_task_that_never_started_remove_it) {
    TaskOverview task = standing("pending");
    EXPECT_THAT(commands(next_commands(task)), ElementsAre("agentforge resume 1f2e3d4c"));
    task.began = false;
    EXPECT_THAT(commands(next_commands(task)), ElementsAre("agentforge abort 1f2e3d4c"));
}

TEST(NextCommands, of_a_task_at_a_limit_are_those_in_its_reason) {
    TaskOverview task = standing("paused");
    task.question =
        "AF-COST-012: the task may take 3 steps; it has taken 3 steps (limits.max_steps)\n"
        "  no work is lost; raise the limit: agentforge resume 1f2e3d4c --set limits.max_steps=6   or   agentforge resume 1f2e3d4c "
        "--set limits.stages.red.max_steps=4";
    EXPECT_THAT(commands(next_commands(task)), ElementsAre("agentforge resume 1f2e3d4c --set limits.max_steps=6",
                                                           "agentforge resume 1f2e3d4c --set limits.stages.red.max_steps=4"));
}

TEST(NextCommands, of_a_replay_that_stopped_continue_it_without_or_with_a_model) {
    TaskOverview task = standing("paused");
    task.question = "AF-RPLY-002: step 3 does not fit here; recorded: success; now: failure";
    EXPECT_THAT(commands(next_commands(task)),
                ElementsAre("agentforge replay 1f2e3d4c --continue", "agentforge resume 1f2e3d4c"));
}

TEST(NextCommands, name_the_task_if_the_reason_does_not) {
    TaskOverview task = standing("paused");
    task.question = "AF-LLM-201: no answer\n  continue with a model: agentforge resume TASK --set llm.backend=auto";
    EXPECT_THAT(commands(next_commands(task)), ElementsAre("agentforge resume 1f2e3d4c --set llm.backend=auto"));
}

TEST(NextCommands, of_a_paused_task_is_resume) {
    TaskOverview task = standing("paused");
    task.question = "at your request";
    EXPECT_THAT(commands(next_commands(task)), ElementsAre("agentforge resume 1f2e3d4c"));
}

TEST(NextCommands, of_an_answered_task_is_resume_instead_of_an_answer) {
    TaskOverview task = waiting_for("approval");
    EXPECT_THAT(commands(next_commands(task)).front(), "agentforge approve 1f2e3d4c");
    task.answered = true;
    EXPECT_THAT(commands(next_commands(task)), ElementsAre("agentforge resume 1f2e3d4c"));
}

TEST(NextCommands, of_a_task_that_cannot_be_resumed_are_none) {
    TaskOverview task = standing("failed");
    task.can_resume = false;
    EXPECT_THAT(next_commands(task), IsEmpty());
}

TEST(NextCommands, of_a_part_of_a_set_resume_the_set) {
    TaskOverview task = standing("paused");
    task.set = "set-20260102-add-a-cache-9a8b7c6d";
    EXPECT_THAT(commands(next_commands(task)), ElementsAre("agentforge resume set-20260102-add-a-cache-9a8b7c6d"));
}

TEST(NextCommands, of_a_running_task_are_none) {
    TaskOverview task = standing("running");
    task.running = true;
    EXPECT_THAT(next_commands(task), IsEmpty());
}

TEST(NextCommandLines, align_their_remarks_as_comments) {
    EXPECT_THAT(
        lines("", {{"agentforge diff 1", "shows the change"}, {"agentforge apply 1", ""}, {"agentforge inspect 1", "all"}}),
        ElementsAre("agentforge diff 1       # shows the change", "agentforge apply 1", "agentforge inspect 1    # all"));
}

TEST(NextCommandLines, omit_remarks_that_do_not_fit) {
    EXPECT_THAT(lines("", {{"agentforge diff 1", "shows the change"}}, 30), ElementsAre("agentforge diff 1"));
}

TEST(NextCommandLines, name_the_repository_as_on_the_command_line) {
    EXPECT_THAT(lines("-C sub", {{"agentforge diff 1", ""}}), ElementsAre("agentforge -C sub diff 1"));
}

TEST(NextCommandsWithPlace, also_apply_to_commands_in_sentences_only) {
    std::ostringstream nowhere;
    Program program{.out = nowhere, .err = nowhere, .environment = {}, .directory = {}};
    const std::string text =
        "`agentforge resume 1` or agentforge diff 1; agentforge --repo x status; the agentforge/1 branch; agentforge: no";
    EXPECT_EQ(program.with_place(text), text);
    program.place_flag = "--repo api";
    EXPECT_EQ(program.with_place(text),
              "`agentforge --repo api resume 1` or agentforge --repo api diff 1; agentforge --repo x status; the agentforge/1 "
              "branch; agentforge: no");
}

TEST(TaskListCounts, name_each_condition_in_use) {
    const TaskCounts counts{.conditions = {{"completed", 5}, {"paused", 2}, {"failed", 1}}, .waiting = 1};
    EXPECT_EQ(counts_in_words(counts, false), "Active: 0    Completed: 5    Waiting for you: 1    Paused: 2    Failed: 1");
    EXPECT_EQ(counts_in_words(counts, true), "0 active, 5 done, 1 waits for you, 2 paused, 1 failed");
}

}  // namespace
}  // namespace agentforge::kernel
