// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "aggregate/figures.hpp"
#include "base/clock.hpp"
#include "program/program.hpp"
#include "program/terminal/task_box.hpp"
#include "program/terminal/terminal.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* now_text = "2026-01-02T15:30:00.000Z";

TEST(TerminalBox, frames_its_parts_and_omits_empty_ones) {
    EXPECT_THAT(boxed({{{.text = "HEAD", .right = "right"}}, {}, {{.text = "body"}}}, {.columns = 20}),
                ElementsAre("┌──────────────────┐", "│ HEAD       right │", "├──────────────────┤", "│ body             │",
                            "└──────────────────┘"));
}

TEST(TerminalBox, truncates_text_and_keeps_the_right_edge) {
    EXPECT_EQ(boxed({{{.text = std::string(40, 'a'), .right = "3 s"}}}, {.columns = 24}).at(1), "│ aaaaaaaaaaaaaaa… 3 s │");
}

TEST(TerminalBox, omits_the_right_text_if_it_does_not_fit) {
    EXPECT_EQ(boxed({{{.text = std::string(40, 'a'), .right = "a long time"}}}, {.columns = 20}).at(1), "│ aaaaaaaaaaaaaaa… │");
}

TEST(TerminalBox, wraps_text_that_must_not_be_cut) {
    const auto lines = boxed({{{.text = "  one two three four five six", .whole = true}}}, {.columns = 20});
    EXPECT_THAT(lines,
                ElementsAre("┌──────────────────┐", "│   one two three  │", "│   four five six  │", "└──────────────────┘"));
}

TEST(TerminalBox, breaks_a_word_longer_than_a_line) {
    const auto lines = boxed({{{.text = std::string(40, 'x'), .whole = true}}}, {.columns = 20});
    EXPECT_EQ(lines.at(1), "│ xxxxxxxxxxxxxxxx │");
    EXPECT_EQ(lines.at(3), "│ xxxxxxxx         │");
}

TEST(TerminalBox, every_line_is_as_wide_as_the_terminal_for_any_text) {
    for (const std::size_t columns : {20U, 23U, 40U, 80U}) {
        for (const char* text : {"", "日本語のとても長い文章がここに書いてあります。そしてまだ続きます",
                                 "  an indented  text   with blanks that goes on for quite a while …",
                                 "… … … … … … … … … … … … … … … … … … … … … … … … …"}) {
            for (const bool whole : {false, true}) {
                for (const std::string& line : boxed({{{.text = text, .right = "12 m", .whole = whole}}}, {.columns = columns})) {
                    EXPECT_EQ(cells_of(line), columns) << line;
                }
            }
        }
    }
}

TEST(TerminalBox, is_at_most_100_cells_wide) { EXPECT_EQ(cells_of(boxed({{{.text = "x"}}}, {.columns = 300}).front()), 100U); }

TEST(TerminalBox, is_ascii_on_an_ascii_terminal) {
    EXPECT_THAT(boxed({{{.text = "✓ done"}}}, {.columns = 20, .unicode = false}),
                ElementsAre("+------------------+", "| + done           |", "+------------------+"));
}

TEST(TerminalBox, colours_only_the_sign_and_only_on_a_colour_terminal) {
    const BoxPart part{{.text = "✓ done", .colours = "32"}};
    EXPECT_EQ(boxed({part}, {.columns = 20, .colour = true}).at(1), "│ \x1b[32m✓\x1b[0m done           │");
    EXPECT_EQ(boxed({part}, {.columns = 20}).at(1), "│ ✓ done           │");
}

TEST(TerminalBox, a_bar_is_full_only_at_the_end) {
    EXPECT_EQ(bar_of(0, 8, 10), "░░░░░░░░░░");
    EXPECT_EQ(bar_of(5, 8, 10), "██████░░░░");
    EXPECT_EQ(bar_of(7, 8, 4), "███░");
    EXPECT_EQ(bar_of(8, 8, 10), "██████████");
    EXPECT_EQ(bar_of(0, 0, 2), "░░");
}

TEST(TimeSince, is_coarse_for_old_times) {
    const auto now = *parse_time(now_text);
    EXPECT_EQ(time_since("2026-01-02T15:29:48.000Z", now), "12 s");
    EXPECT_EQ(time_since("2026-01-02T15:20:00.000Z", now), "10 m");
    EXPECT_EQ(time_since("2026-01-02T12:10:00.000Z", now), "3 h 20 m");
    EXPECT_EQ(time_since("2025-12-31T12:30:00.000Z", now), "2 d 3 h");
    EXPECT_EQ(time_since("2026-01-02T16:00:00.000Z", now), "0 s");  // The clock was set back.
    EXPECT_EQ(time_since("yesterday", now), "");
}

/// A program without -C and --repo.
const Program& here() {
    static std::ostringstream nowhere;
    static const Program program{.out = nowhere, .err = nowhere, .environment = {}, .directory = {}};
    return program;
}

/// The tasks that the boxes below show.
TaskOverview overview(const std::string& id, const std::string& request, const std::string& status, const std::string& stage) {
    TaskOverview made;
    made.summary = {.task_id = "task-20260102-" + id,
                    .request = request,
                    .status = status,
                    .pipeline = "implement",
                    .current_stage = stage,
                    .created_at = "2026-01-02T13:15:00.000Z",
                    .updated_at = "2026-01-02T12:10:00.000Z",
                    .waiting_for = ""};
    return made;
}

std::vector<TaskOverview> three_tasks() {
    TaskOverview runs = overview("a-11111111", "Add OAuth2 authentication", "running", "green");
    runs.running = true;
    runs.stages_done = 5;
    runs.stages = 8;
    runs.progress = 0.625;
    runs.activity = {.action = "edit_file",
                     .at = "2026-01-02T15:29:48.000Z",
                     .target = "auth/oauth.py",
                     .tests = 10,
                     .tests_passed = 8,
                     .conformance = true};
    TaskOverview waits = overview("b-22222222", "Migrate to PostgreSQL", "paused", "clarify");
    waits.summary.waiting_for = "escalation";
    waits.waiting_id = "ESC-1";
    waits.question = "Clarification on schema migration strategy";
    TaskOverview done = overview("c-33333333", "Add rate limiting middleware", "completed", "deliver");
    return {runs, waits, done};
}

std::vector<std::string> box_of(const BoxStyle& style, const std::vector<TaskOverview>& tasks = three_tasks(),
                                std::size_t left_out = 0) {
    const TaskCounts counts{.conditions = {{"in_progress", 1}, {"completed", 5}}, .waiting = 1};
    return boxed(box_of_tasks(here(), "backend", counts, tasks, left_out, style, *parse_time(now_text)), style);
}

TEST(TaskListBox, matches_the_specification) {
    EXPECT_THAT(box_of({.columns = 64}), ElementsAre("┌──────────────────────────────────────────────────────────────┐",    //
                                                     "│ AGENTFORGE STATUS                                    backend │",    //
                                                     "├──────────────────────────────────────────────────────────────┤",    //
                                                     "│ Active: 1    Completed: 5    Waiting for you: 1              │",    //
                                                     "│                                                              │",    //
                                                     "│ ● 11111111 GREEN ██████░░░░ 62%                     2 h 15 m │",    //
                                                     "│   \"Add OAuth2 authentication\"                                │",  //
                                                     "│   Tests: 8/10  Conformance: ✓  Last: edit_file (12 s ago)    │",    //
                                                     "│                                                              │",    //
                                                     "│ ⚠ 22222222 ESCALATED                                3 h 20 m │",    //
                                                     "│   \"Migrate to PostgreSQL\"                                    │",  //
                                                     "│   Waiting: Clarification on schema migration strategy        │",    //
                                                     "│   agentforge resolve ESC-1 \"your answer\"                     │",  //
                                                     "│                                                              │",    //
                                                     "│ ✓ 33333333 \"Add rate limiting middleware\"       3 h 20 m ago │",  //
                                                     "└──────────────────────────────────────────────────────────────┘"));
}

TEST(TaskListBox, fits_forty_columns) {
    const auto lines = box_of({.columns = 40});
    for (const std::string& line : lines) { EXPECT_EQ(cells_of(line), 40U) << line; }
    EXPECT_THAT(lines, Contains("│ ● 11111111 GREEN 62%        2 h 15 m │"));
}

TEST(TaskListBox, without_unicode_and_colours_is_plain_ascii) {
    for (const std::string& line : box_of({.columns = 64, .colour = false, .unicode = false})) {
        EXPECT_THAT(line, ::testing::Not(HasSubstr("?"))) << line;
    }
    EXPECT_THAT(box_of({.columns = 64, .unicode = false}),
                Contains("| * 11111111 GREEN ######.... 62%                     2 h 15 m |"));
}

TEST(TaskListBox, names_a_task_without_a_process_and_how_to_resume_it) {
    TaskOverview lost = overview("a-11111111", "Add OAuth2 authentication", "running", "green");
    const auto lines = box_of({.columns = 64}, {lost});
    EXPECT_THAT(lines, Contains(HasSubstr("✗ 11111111 INTERRUPTED")));
    EXPECT_THAT(lines, Contains(HasSubstr("agentforge resume 11111111")));
}

TEST(DisplayPlainLines, show_progress_and_pending_questions_but_nothing_transient) {
    const auto tasks = three_tasks();
    EXPECT_THAT(plain_lines(here(), tasks[0]), ElementsAre("62%  Tests: 8/10  Conformance: ✓  Last: edit_file"));
    EXPECT_THAT(plain_lines(here(), tasks[1]),
                ElementsAre("waits for: escalation", "Waiting: Clarification on schema migration strategy",
                            "agentforge resolve ESC-1 \"your answer\""));
    EXPECT_TRUE(plain_lines(here(), tasks[2]).empty());
}

TEST(DisplayPlainLines, say_how_to_resume_an_interrupted_task) {
    const TaskOverview lost = overview("a-11111111", "Add OAuth2 authentication", "running", "green");
    EXPECT_TRUE(is_interrupted(lost));
    EXPECT_FALSE(is_interrupted(three_tasks()[0]));
    EXPECT_THAT(plain_lines(here(), lost), ElementsAre("agentforge resume 11111111"));
}

TEST(TaskListBox, says_how_many_are_omitted) {
    EXPECT_THAT(box_of({.columns = 64}, {}, 7), Contains(HasSubstr("… and 7 more: agentforge status --limit 0")));
}

TEST(TaskListBox, escapes_control_characters_from_a_person) {
    EXPECT_THAT(box_of({.columns = 64}, {overview("a-1", "a\x1b[2Jb\u202e\u061c", "completed", "deliver")}),
                Contains(HasSubstr("a\\x1b[2Jb\\u202e\\u061c")));
}

TEST(TaskOverview, needs_no_projection_if_the_state_is_known) {
    TaskState state;
    state.task_id = "task-20260102-a-11111111";
    state.status = TaskStatus::awaiting_approval;
    state.progress = StageProgress::approving;
    for (const char* name : {"intake", "clarify", "analyze", "spec"}) {
        state.stages.emplace_back();
        state.stages.back().name = name;
    }
    state.stages.front().status = StageStatus::completed;
    state.stage_index = 1;
    state.exit_after = "analyze";
    state.approval = OpenApproval{.id = "APR-1", .artifact_hash = ""};
    const TaskOverview overview = overview_of(state, {}, {"/nowhere"});
    EXPECT_EQ(overview.summary.current_stage + " " + overview.summary.status, "clarify awaiting_approval");
    EXPECT_EQ(overview.waiting_id + " " + overview.question, "APR-1 approval of clarify");
    EXPECT_EQ(overview.stages, 3U);
    EXPECT_EQ(overview.stages_done, 1U);
    EXPECT_DOUBLE_EQ(overview.progress, overall_progress(state));
}

}  // namespace
}  // namespace agentforge::kernel::testing
