// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/terminal/live_view.hpp"
#include "program/terminal/terminal.hpp"

namespace agentforge::kernel::testing {
namespace {

using std::chrono::seconds;

struct Watched {
    LiveView view;
    LiveView::Time now{};
    TaskState state;

    Watched() {
        for (const char* name : {"intake", "spec", "red"}) {
            StageTemplate stage;
            stage.name = name;
            stage.agent = "software_architect";
            state.pipeline.stages.push_back(stage);
            StageState entry;
            entry.name = name;
            state.stages.push_back(entry);
        }
        state.stages[0].status = StageStatus::completed;
        state.stage_index = 1;
    }
    void tell(records::Body body) { view.recorded(state, records::AnyRecord{{}, std::move(body)}, now); }
    void tell(const Event& event) { view.event(event, now); }
    void begin() {
        tell(records::TaskStarted{});
        tell(records::StageStarted{});
    }
    void step(std::uint64_t number, std::uint64_t tokens, std::uint64_t microusd) {
        records::CallUsage usage{};
        usage.input_tokens = tokens;
        usage.cost_microusd = microusd;
        state.ledger.add("spec", "software_architect", usage);
        state.steps = number;
        tell(records::Step{});
    }
    [[nodiscard]] static event::Answering asked() { return {"spec", "software_architect", 1, 0}; }
    [[nodiscard]] std::vector<std::string> lines(std::size_t columns = 100, bool stopping = false) const {
        return view.lines({columns, false}, now, stopping);
    }
};

TEST(LiveView, is_empty_before_a_task_begins) { EXPECT_TRUE(Watched().lines().empty()); }

TEST(LiveView, is_empty_after_the_task_ends) {
    Watched watched;
    watched.begin();
    watched.tell(event::RunEnded{"", "", "", 0});
    EXPECT_TRUE(watched.lines().empty());
}

TEST(LiveView, marks_stages_done_running_and_pending) {
    Watched watched;
    watched.begin();
    EXPECT_EQ(watched.lines().at(0), "✓ intake  ● spec  · red");
}

TEST(LiveView, counts_stages_if_their_names_do_not_fit) {
    Watched watched;
    watched.begin();
    EXPECT_EQ(watched.lines(20).at(0), "● spec  1/3");
}

TEST(LiveView, marks_failed_and_skipped_stages) {
    Watched watched;
    watched.begin();
    records::StageFailed failed{};
    failed.stage = "spec";
    watched.tell(failed);
    watched.tell(records::StageSkipped{"red", ""});
    EXPECT_EQ(watched.lines().at(0), "✓ intake  ✗ spec  – red");
}

TEST(LiveView, shows_the_duration_of_a_model_call) {
    Watched watched;
    watched.begin();
    watched.tell(Watched::asked());
    watched.now += seconds(65);
    EXPECT_EQ(watched.lines().at(1), "spec  software_architect  asking the model  1:05");
}

TEST(LiveView, shows_known_figures) {
    Watched watched;
    watched.begin();
    watched.step(4, 1200, 120000);
    records::Gate gate{};
    gate.tests = 10;
    gate.tests_passed = 8;
    gate.conformance = true;
    watched.tell(gate);
    watched.now += seconds(3661);
    EXPECT_EQ(watched.lines().at(2), "1:01:01  tests 8/10  conformance ✓  1200 tokens  $0.1200");
}

TEST(LiveView, shows_the_step_under_way) {
    Watched watched;
    watched.begin();
    watched.step(4, 0, 0);
    watched.tell(Watched::asked());
    EXPECT_EQ(watched.lines().at(1), "spec  software_architect  step 5  asking the model");
}

TEST(LiveView, continues_the_figures_of_a_stage_entered_again) {
    Watched watched;
    watched.step(7, 900, 0);
    watched.state.progress = StageProgress::executing;
    watched.tell(records::TaskResumed{});
    EXPECT_EQ(watched.lines().at(0), "✓ intake  ● spec  · red");
    EXPECT_EQ(watched.lines().at(1), "spec  software_architect  step 8  begins");
    EXPECT_THAT(watched.lines().at(2), ::testing::StartsWith("0:00  900 tokens"));
}

TEST(LiveView, says_that_it_will_stop_after_the_step) {
    Watched watched;
    watched.begin();
    EXPECT_EQ(watched.lines(100, true).at(2), "0:00  stopping at the end of this step (Ctrl-C again: at once)");
}

TEST(LiveView, no_line_fills_the_terminal) {
    Watched watched;
    watched.begin();
    watched.tell(event::ToolCalled{"spec", "software_architect", 1, "read_file", true, std::string(300, 'x')});
    watched.step(4, 120000000, 0);
    for (const std::string& line : watched.lines(24, true)) { EXPECT_LT(cells_of(line), 24U) << line; }
}

TEST(LiveView, escapes_control_characters_from_a_model) {
    Watched watched;
    watched.begin();
    watched.tell(event::ToolCalled{"spec", "software_architect", 1, "read_file", true, "a\x1b[2Jb"});
    EXPECT_EQ(watched.lines().at(1), "spec  software_architect  read_file: a\\x1b[2Jb");
}

TEST(Terminal, counts_wide_characters_twice_and_combining_ones_zero) {
    EXPECT_EQ(cells_of("abc"), 3U);
    EXPECT_EQ(cells_of("日本"), 4U);
    EXPECT_EQ(cells_of("e\xcc\x81"), 1U);
}

TEST(Terminal, cuts_before_the_first_character_that_does_not_fit) {
    EXPECT_EQ(fitting("abcdef", 6), "abcdef");
    EXPECT_EQ(fitting("abcdef", 5), "abcd…");
    EXPECT_EQ(fitting("日本語", 4), "日…");
}

TEST(Terminal, wraps_at_blanks_and_indents_to_the_last_column_in_the_first_half) {
    EXPECT_EQ(folded_lines("fits\n\nas it is\n", 10), "fits\n\nas it is\n");
    EXPECT_EQ(folded_lines("one two three four", 9), "one two\nthree\nfour");
    EXPECT_EQ(folded_lines("  a  one two three\nb", 12), "  a  one two\n     three\nb");
    EXPECT_EQ(folded_lines("            far to the right", 12), "    far to\n    the\n    right");
    EXPECT_EQ(folded_lines("see /a/path/longer/than/that now", 10), "see\n/a/path/longer/than/that\nnow");
}

TEST(Terminal, writes_its_marks_in_ascii) { EXPECT_EQ(as_ascii("✓ ● · … 日"), "+ * . ~ ?"); }

TEST(Terminal, takes_the_encoding_from_the_first_variable_that_is_set) {
    EXPECT_TRUE(shows_unicode({{"LANG", "de_DE.utf8"}}));
    EXPECT_FALSE(shows_unicode({{"LANG", "de_DE.UTF-8"}, {"LC_ALL", "C"}}));
    EXPECT_FALSE(shows_unicode({}));
}

}  // namespace
}  // namespace agentforge::kernel::testing
