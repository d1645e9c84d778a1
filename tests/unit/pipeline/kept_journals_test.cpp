// SPDX-License-Identifier: Apache-2.0
// Journals that an older version wrote: each still opens, with the same state of its task (tests/journals).
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "journal/journal.hpp"
#include "pipeline/task_session.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {
namespace {

const std::filesystem::path journals = std::filesystem::path(AGENTFORGE_SOURCE_DIR) / "tests" / "journals";

/// Returns the first place where `now` differs from `then`. New fields do not count.
std::string other_than_shown(const json::value& now, const json::value& then, const std::string& place) {
    if (!now.is_object() || !then.is_object()) {
        return now == then
                   ? ""
                   : place + " is " + json::serialize(now).substr(0, 200) + " and was " + json::serialize(then).substr(0, 200);
    }
    for (const auto& [key, value] : then.get_object()) {
        const json::value* const found = now.get_object().if_contains(key);
        const std::string below = place + "." + std::string(key);
        if (found == nullptr) { return below + " is gone"; }
        if (std::string other = other_than_shown(*found, value, below); !other.empty()) { return other; }
    }
    return {};
}

class JournalKept : public ::testing::TestWithParam<const char*> {
protected:
    [[nodiscard]] std::filesystem::path folder() const { return journals / GetParam(); }
    [[nodiscard]] json::object shown() const {
        return parse_json(read_file(folder() / "state.yaml").value(), "state.yaml").value().as_object();
    }
};

TEST_P(JournalKept, folds_to_the_recorded_state) {
    const auto records = Journal::read(folder() / "actions.yaml");
    ASSERT_TRUE(records.ok()) << records.error().to_string();
    const json::object expected = shown();
    TaskState state;
    for (const Record& record : *records) {
        // If a process was killed, its `state.yaml` lacks the last records.
        if (state.seq == expected.at("seq").to_number<Sequence>()) { break; }
        const auto folded = fold(state, record.body);
        ASSERT_TRUE(folded.ok()) << folded.error().to_string();
    }
    EXPECT_EQ(other_than_shown(json::value(to_json(state)), json::value(expected), "state"), "");
}

TEST_P(JournalKept, folds_to_its_last_record) {
    const auto records = Journal::read(folder() / "actions.yaml");
    ASSERT_TRUE(records.ok());
    const auto state = fold_all(*records);
    ASSERT_TRUE(state.ok()) << state.error().to_string();
    EXPECT_EQ(state->seq, records->size());
}

TEST_P(JournalKept, can_be_continued_in_a_session) {
    const TemporaryDirectory project("kept");
    TaskStore store(project.path() / ".agentforge");
    const std::string id(shown().at("task_id").as_string());
    const TaskPaths paths = store.paths(id);
    std::filesystem::create_directories(paths.root);
    std::filesystem::copy_file(folder() / "actions.yaml", paths.journal());
    ASSERT_TRUE(write_file_atomic(paths.task(), "task_id: " + id + "\n", Durability::cached).ok());
    FakeClock clock;
    TaskState gone_on;
    {
        auto session = TaskSession::open(store, id, clock, "test");
        ASSERT_TRUE(session.ok()) << session.error().to_string();
        const bool ended = is_terminal((*session)->state().status);
        const records::Body next =
            ended ? records::Body(records::Note{"after its end", "", {}}) : records::Body(records::TaskResumed{"again"});
        const auto recorded = (*session)->record(next);
        ASSERT_TRUE(recorded.ok()) << recorded.error().to_string();
        gone_on = (*session)->state();
    }
    const auto again = read_task_state(store, id);
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    EXPECT_EQ(again->seq, gone_on.seq);
    EXPECT_TRUE(*again == gone_on);
}

INSTANTIATE_TEST_SUITE_P(Kept, JournalKept,
                         ::testing::Values("delivered_and_rebased", "killed_in_green", "paused_at_a_limit", "waiting_for_action",
                                           "waiting_for_approval"));

TEST(JournalsKept, a_killed_run_keeps_the_unused_answer) {
    const auto state = fold_all(Journal::read(journals / "killed_in_green" / "actions.yaml").value());
    ASSERT_TRUE(state.ok());
    ASSERT_FALSE(state->resumption.runs.empty());
    const RunState& run = state->resumption.runs.rbegin()->second;
    EXPECT_EQ(run.answers.size(), 1U);
    EXPECT_EQ(run.steps.size(), run.answers.begin()->first - 1U);
    EXPECT_FALSE(state->resumption.calls.empty());
}

TEST(JournalsKept, a_rebased_delivery_is_shown_byte_for_byte_as_before) {
    const std::filesystem::path folder = journals / "delivered_and_rebased";
    const auto shown = parse_json(read_file(folder / "state.yaml").value(), "state.yaml").value();
    const auto state = fold_all(Journal::read(folder / "actions.yaml").value());
    ASSERT_TRUE(state.ok());
    EXPECT_EQ(json::serialize(to_json(*state).at("delivery")), json::serialize(shown.at("delivery")));
}

TEST(JournalsKept, a_pending_approval_has_the_deadline_of_its_record) {
    const auto state = fold_all(Journal::read(journals / "waiting_for_approval" / "actions.yaml").value());
    ASSERT_TRUE(state.ok() && state->approval);
    EXPECT_EQ(state->resumption.deadline.id, state->approval->id);
    EXPECT_FALSE(state->resumption.accepted_at.empty());
}

/// Folds a kept journal in which one field of the newest record of a type has another value.
Error refusal_of(std::string_view type, const char* field, const json::value& value, const char* inside = nullptr) {
    auto records = Journal::read(journals / "delivered_and_rebased" / "actions.yaml").value();
    const auto newest =
        std::find_if(records.rbegin(), records.rend(), [&](const Record& record) { return record.type() == type; });
    if (newest == records.rend()) { return {}; }
    json::object& changed = inside == nullptr ? newest->body : newest->body.at(inside).as_object();
    changed[field] = value;
    const auto state = fold_all(records);
    return state.ok() ? Error{} : state.error();
}

TEST(JournalsKept, a_record_with_a_path_outside_the_tasks_folder_is_refused) {
    for (const char* file : {"/etc/passwd", "../../state.yaml", "artifacts/../../../x", "", "./x"}) {
        EXPECT_NE(refusal_of("artifact_accepted", "artifact", file).message.find("is not a file below the task's folder"),
                  std::string::npos)
            << file;
        EXPECT_NE(refusal_of("step", "patch", file).message.find("is not a file below the task's folder"), std::string::npos)
            << file;
    }
}

TEST(JournalsKept, a_rebase_cannot_name_the_delivered_file) {
    auto journal = Journal::read(journals / "delivered_and_rebased" / "actions.yaml").value();
    const auto rebased = std::find_if(journal.begin(), journal.end(),
                                      [](const Record& record) { return record.type() == records::Rebased::type; });
    ASSERT_NE(rebased, journal.end());
    rebased->body["patch_file"] = "../../x";
    const auto state = fold_all(journal);
    ASSERT_FALSE(state.ok());
    EXPECT_EQ(state.error().message, "the journal contains a record with the unknown field `patch_file`");
}

TEST(JournalsKept, a_usage_that_is_not_a_token_count_is_refused) {
    const json::value none[] = {"x", -5, nullptr, 1.5, json::value(std::uint64_t(1) << 63U)};
    for (const json::value& number : none) {
        EXPECT_NE(refusal_of("answer", "input_tokens", number, "usage").message.find("`input_tokens`"), std::string::npos)
            << number;
    }
    EXPECT_FALSE(refusal_of("step", "input_tokens", std::uint64_t(1) << 63U).message.empty());
}

}  // namespace
}  // namespace agentforge::kernel
