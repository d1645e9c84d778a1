// SPDX-License-Identifier: Apache-2.0
// Journals that an older version wrote: each still opens, and says what that version said of its task (tests/journals).
#include <filesystem>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "journal/journal.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {
namespace {

const std::filesystem::path journals = std::filesystem::path(AGENTFORGE_SOURCE_DIR) / "tests" / "journals";

class KeptJournal : public ::testing::TestWithParam<const char*> {
protected:
    [[nodiscard]] std::filesystem::path folder() const { return journals / GetParam(); }
    [[nodiscard]] json::object shown() const { return parse_json(read_file(folder() / "state.yaml").value(), "state.yaml").value().as_object(); }
};

TEST_P(KeptJournal, folds_to_the_state_that_was_shown) {
    const auto records = Journal::read(folder() / "actions.yaml");
    ASSERT_TRUE(records.ok()) << records.error().to_string();
    const json::object expected = shown();
    TaskState state;
    for (const Record& record : *records) {
        if (state.seq == expected.at("seq").to_number<Sequence>()) { break; }       // Of a process that was killed, `state.yaml` lacks the last records.
        const auto folded = fold(state, record.body);
        ASSERT_TRUE(folded.ok()) << folded.error().to_string();
    }
    EXPECT_EQ(json::value(to_json(state)), json::value(expected));
}

TEST_P(KeptJournal, folds_whole) {
    const auto records = Journal::read(folder() / "actions.yaml");
    ASSERT_TRUE(records.ok());
    const auto state = fold_all(*records);
    ASSERT_TRUE(state.ok()) << state.error().to_string();
    EXPECT_EQ(state->seq, records->size());
}

INSTANTIATE_TEST_SUITE_P(Kept, KeptJournal, ::testing::Values("delivered_and_rebased", "killed_in_green", "paused_at_a_limit", "waiting_for_action", "waiting_for_approval"));

TEST(KeptJournals, of_a_killed_run_the_answer_that_no_step_used_waits) {
    const auto state = fold_all(Journal::read(journals / "killed_in_green" / "actions.yaml").value());
    ASSERT_TRUE(state.ok());
    ASSERT_FALSE(state->resumption.runs.empty());
    const RunState& run = state->resumption.runs.rbegin()->second;
    EXPECT_EQ(run.answers.size(), 1U);
    EXPECT_EQ(run.steps.size(), run.answers.begin()->first - 1U);
    EXPECT_FALSE(state->resumption.calls.empty());
}

TEST(KeptJournals, the_deadline_of_what_waits_is_that_of_its_record) {
    const auto state = fold_all(Journal::read(journals / "waiting_for_approval" / "actions.yaml").value());
    ASSERT_TRUE(state.ok() && state->approval);
    EXPECT_EQ(state->resumption.deadline.id, state->approval->id);
    EXPECT_FALSE(state->resumption.accepted_at.empty());
}

}  // namespace
}  // namespace agentforge::kernel
