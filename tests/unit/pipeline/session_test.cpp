// SPDX-License-Identifier: Apache-2.0
#include "pipeline/task_session.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "unit/no_threads.hpp"

namespace agentforge::kernel {
namespace {

constexpr const char* id = "task-20260102-kept-1f2e3d4c";

const records::StageStarted intake_started{.stage = "intake", .attempt = 1, .visit = 1, .iteration = 0, .cycle = 0};

class SessionTest : public ::testing::Test {
protected:
    SessionTest() {
        session_ = TaskSession::create(store_, {{"task_id", id}, {"request", "r"}, {"pipeline", "short"}}, created(id), clock_,
                                       "test", redactor_)
                       .value();
    }

    static records::TaskCreated created(const std::string& task_id) {
        PipelineTemplate parsed;
        parsed.name = "short";
        parsed.goal_type = "implement";
        StageTemplate stage;
        stage.name = "intake";
        parsed.stages.push_back(stage);
        return {.task_id = task_id,
                .request = "r",
                .goal_type = "implement",
                .pipeline = parsed.to_json(),
                .base_commit = std::string(40, 'a'),
                .base_tree = std::string(40, 'b'),
                .base_branch = "",
                .supervised = false,
                .approve_stages = {},
                .iterate_stages = {},
                .interactive = false};
    }

    std::string shown_memory() { return read_file(store_.paths(id).working_memory(), 1U << 20U).value(); }
    json::value shown() { return parse_json(read_file(session_->paths().state(), 1U << 20U).value(), "state.yaml").value(); }

    TemporaryDirectory folder_{"session-test"};
    TaskStore store_{folder_.path()};
    SystemClock clock_;
    Redactor redactor_{{{"SHOP_KEY", "Zx8Cv5Bn2Mq1We4Rt7"}}, {}, "k"};
    std::unique_ptr<TaskSession> session_;
};

TEST_F(SessionTest, a_small_value_is_stored_in_the_record) {
    const auto kept = session_->keep({{"text", "yes"}});
    ASSERT_TRUE(kept.ok());
    EXPECT_EQ(kept->value, (json::value{{"text", "yes"}}));
    EXPECT_EQ(session_->kept(*kept).value(), (json::value{{"text", "yes"}}));
}

TEST_F(SessionTest, no_secret_reaches_the_tasks_files) {
    const std::string secret = "Zx8Cv5Bn2Mq1We4Rt7";
    const auto small = session_->keep({{"a", secret}});
    const auto large = session_->keep({{"a", std::string(10'000, 'x') + secret}});
    ASSERT_TRUE(small.ok() && large.ok());
    ASSERT_TRUE(session_->put(json::array{secret}).ok());
    ASSERT_TRUE(session_->put_text("a " + secret).ok());
    ASSERT_TRUE(session_->record(records::Note{secret, "", *small}).ok());
    ASSERT_TRUE(session_->record(records::Note{"", "", *large}).ok());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
        if (!entry.is_regular_file()) { continue; }
        EXPECT_EQ(read_file(entry.path()).value().find(secret), std::string::npos) << entry.path();
    }
}

TEST_F(SessionTest, a_journal_with_placeholders_verifies) {
    ASSERT_TRUE(session_->record(records::Note{"Zx8Cv5Bn2Mq1We4Rt7", "", {}}).ok());
    EXPECT_TRUE(Journal::read(session_->paths().journal()).ok());
}

TEST_F(SessionTest, a_large_value_becomes_a_blob) {
    const json::value large{{"text", std::string(10'000, 'x')}};
    const auto kept = session_->keep(large);
    ASSERT_TRUE(kept.ok());
    EXPECT_FALSE(kept->value);
    EXPECT_EQ(session_->kept(*kept).value(), large);
}

TEST_F(SessionTest, a_value_that_a_record_cannot_hold_becomes_a_blob) {
    const json::value fraction{{"confidence", 0.5}};
    const auto kept = session_->keep(fraction);
    ASSERT_TRUE(kept.ok());
    EXPECT_FALSE(kept->value);
    EXPECT_EQ(session_->kept(*kept).value(), fraction);
}

TEST_F(SessionTest, a_value_that_was_never_stored_is_an_error) { EXPECT_EQ(session_->kept({}).error().code, "AF-ORCH-020"); }

TEST_F(SessionTest, a_session_that_takes_over_may_sign_what_the_one_before_might) {
    store_.note_own_journals(folder_.path() / "proofs");
    session_.reset();
    const std::string other = "task-20260102-other-2f2e3d4c";
    const auto begun = TaskSession::create(store_, {{"task_id", other}, {"request", "r"}, {"pipeline", "short"}}, created(other),
                                           clock_, "test", redactor_);
    ASSERT_TRUE(begun.ok());
    const auto next = (*begun)->take_over();
    ASSERT_TRUE(next.ok());
    EXPECT_TRUE((*next)->may_sign());
}

TEST_F(SessionTest, while_it_runs_the_mark_names_only_the_last_record) {
    store_.note_own_journals(folder_.path() / "proofs");
    const std::string other = "task-20260102-other-2f2e3d4c";
    const auto begun = TaskSession::create(store_, {{"task_id", other}, {"request", "r"}, {"pipeline", "short"}}, created(other),
                                           clock_, "test", redactor_);
    ASSERT_TRUE(begun.ok());
    ASSERT_TRUE((*begun)->record(records::TaskStarted{}).ok());
    const auto records = store_.records(other);
    ASSERT_TRUE(records.ok());
    const std::string& last = records->back().hash;
    EXPECT_EQ(read_file(folder_.path() / "proofs" / other).value(),
              last + "\n" + last + "\n" + (*begun)->paths().root.string() + "\n");
}

TEST_F(SessionTest, a_journal_cut_before_its_first_record_is_not_a_task) {
    const std::filesystem::path journal = session_->paths().journal();
    session_.reset();
    std::filesystem::resize_file(journal, read_file(journal).value().find("- {") + 20);
    const auto state = read_task_state(store_, id);
    ASSERT_FALSE(state.ok());
    EXPECT_EQ(state.error().code, "AF-TASK-014");
}

TEST_F(SessionTest, a_journal_whose_end_is_missing_is_refused_and_stays_as_it_is) {
    ASSERT_TRUE(session_->record(records::TaskStarted{}).ok());
    const TaskPaths paths = session_->paths();
    session_.reset();
    const std::string whole = read_file(paths.journal()).value();
    std::filesystem::resize_file(paths.journal(), whole.rfind("\n- {") + 20);  // A part of the last record is left.
    const std::string cut = read_file(paths.journal()).value();
    const std::string state = read_file(paths.state()).value();
    EXPECT_EQ(TaskSession::open(store_, id, clock_, "resume", redactor_).error().code, "AF-TASK-019");
    EXPECT_EQ(store_.state(id).error().code, "AF-TASK-019");
    EXPECT_EQ(store_.records(id).error().code, "AF-TASK-019");
    EXPECT_EQ(read_file(paths.journal()).value(), cut);
    EXPECT_EQ(read_file(paths.state()).value(), state);
}

TEST_F(SessionTest, a_task_continues_from_a_cut_journal_once_its_state_is_removed) {
    ASSERT_TRUE(session_->record(records::TaskStarted{}).ok());
    const TaskPaths paths = session_->paths();
    session_.reset();
    std::filesystem::resize_file(paths.journal(), read_file(paths.journal()).value().rfind("\n- {") + 1);
    std::filesystem::remove(paths.state());
    EXPECT_TRUE(TaskSession::open(store_, id, clock_, "resume", redactor_).ok());
}

TEST_F(SessionTest, a_copied_folder_is_not_its_original) {
    const std::string copy = "task-20260102-copy-2f2e3d4c";
    std::filesystem::copy(store_.paths(id).root, store_.paths(copy).root, std::filesystem::copy_options::recursive);
    EXPECT_EQ(store_.load(copy).error().code, "AF-TASK-015");
    EXPECT_EQ(read_task_state(store_, copy).error().code, "AF-TASK-015");
    EXPECT_EQ(TaskSession::open(store_, copy, clock_, "resume", redactor_).error().code, "AF-TASK-015");
}

TEST_F(SessionTest, a_journal_of_another_task_is_refused) {
    const std::string other = "task-20260102-other-2f2e3d4c";
    ASSERT_TRUE(store_.create(other, {{"task_id", other}, {"request", "r"}}).ok());
    std::filesystem::copy_file(store_.paths(id).journal(), store_.paths(other).journal());
    const auto read = read_task_state(store_, other);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, "AF-TASK-015");
    EXPECT_NE(read.error().message.find(id), std::string::npos);
    EXPECT_EQ(TaskSession::open(store_, other, clock_, "resume", redactor_).error().code, "AF-TASK-015");
}

TEST_F(SessionTest, a_journal_of_another_task_is_refused_without_being_truncated) {
    const std::string other = "task-20260102-other-2f2e3d4c";
    ASSERT_TRUE(store_.create(other, {{"task_id", other}, {"request", "r"}}).ok());
    const auto journal = store_.paths(other).journal();
    std::filesystem::copy_file(store_.paths(id).journal(), journal);
    std::ofstream(journal, std::ios::app) << "- {\"torn";
    const auto size = std::filesystem::file_size(journal);
    EXPECT_EQ(TaskSession::open(store_, other, clock_, "resume", redactor_).error().code, "AF-TASK-015");
    EXPECT_EQ(std::filesystem::file_size(journal), size);
    EXPECT_FALSE(std::filesystem::exists(journal.string() + ".torn-1"));
}

TEST_F(SessionTest, a_listing_names_a_journal_of_another_task_instead_of_showing_its_state) {
    const std::string other = "task-20260102-other-2f2e3d4c";
    ASSERT_TRUE(store_.create(other, {{"task_id", other}, {"request", "r"}}).ok());
    std::filesystem::copy_file(store_.paths(id).journal(), store_.paths(other).journal());
    const auto listing = store_.list();
    ASSERT_TRUE(listing.ok());
    ASSERT_EQ(listing->problems.size(), 1U);
    EXPECT_EQ(listing->problems.front().code, "AF-TASK-015");
}

TEST_F(SessionTest, a_task_file_without_a_task_id_is_refused) {
    std::ofstream(store_.paths(id).task()) << "format: 1\nrequest: r\n";
    EXPECT_EQ(store_.load(id).error().code, "AF-TASK-015");
}

TEST_F(SessionTest, the_next_listing_writes_missing_projections) {
    ASSERT_TRUE(session_->record(records::TaskStarted{}).ok());
    ASSERT_TRUE(session_->record(intake_started).ok());
    ASSERT_TRUE(session_->record(records::TaskAborted{"enough"}).ok());
    const json::value last = shown();
    const std::string memory = shown_memory();
    session_.reset();
    std::filesystem::remove(store_.paths(id).state());
    std::filesystem::resize_file(store_.paths(id).working_memory(), 0);
    const auto listing = store_.list();
    ASSERT_TRUE(listing.ok() && listing->problems.empty());
    ASSERT_EQ(listing->tasks.size(), 1U);
    EXPECT_EQ(listing->tasks.front().status, "aborted");
    EXPECT_EQ(json::value(store_.load_state(id).value()), last);
    EXPECT_EQ(shown_memory(), memory);
}

TEST_F(SessionTest, the_end_of_a_task_writes_both_projections) {
    ASSERT_TRUE(session_->record(records::TaskStarted{}).ok());
    ASSERT_TRUE(session_->record(intake_started).ok());
    ASSERT_TRUE(session_->record(records::TaskPaused{"asked to"}).ok());
    const std::string memory = shown_memory();
    std::filesystem::resize_file(store_.paths(id).working_memory(), 0);  // As a power cut can leave a file that was not synced.
    ASSERT_TRUE(session_->record(records::TaskAborted{"enough"}).ok());
    EXPECT_EQ(shown_memory(), memory);
}

TEST_F(SessionTest, the_projection_contains_the_whole_state) {
    ASSERT_TRUE(session_->record(records::TaskStarted{}).ok());
    EXPECT_EQ(shown(), json::value(to_json(session_->state())));
}

TEST_F(SessionTest, a_change_of_status_is_shown_when_record_returns) {
    ASSERT_TRUE(session_->record(records::TaskStarted{}).ok());
    ASSERT_TRUE(session_->record(records::TaskPaused{"asked to"}).ok());
    EXPECT_EQ(shown(), json::value(to_json(session_->state())));
}

TEST_F(SessionTest, records_in_quick_succession_are_shown_without_a_further_one) {
    ASSERT_TRUE(session_->record(records::TaskStarted{}).ok());
    ASSERT_TRUE(session_->record(intake_started).ok());
    const json::value expected = to_json(session_->state());
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (shown() != expected && std::chrono::steady_clock::now() < until) { std::this_thread::yield(); }
    EXPECT_EQ(shown(), expected);
}

TEST_F(SessionTest, records_in_quick_succession_are_shown_at_once_if_no_thread_is_available) {
    const NoThreads none;
    ASSERT_TRUE(session_->record(records::TaskStarted{}).ok());
    ASSERT_TRUE(session_->record(intake_started).ok());
    EXPECT_EQ(shown(), json::value(to_json(session_->state())));
}

TEST_F(SessionTest, a_session_that_ends_leaves_a_complete_projection) {
    ASSERT_TRUE(session_->record(records::TaskStarted{}).ok());
    ASSERT_TRUE(session_->record(intake_started).ok());
    const json::value expected = to_json(session_->state());
    const auto file = session_->paths().state();
    session_.reset();
    EXPECT_EQ(parse_json(read_file(file, 1U << 20U).value(), "state.yaml").value(), expected);
}

records::Gate passed_gate(std::string summary) {
    return {.stage = "intake",
            .gate = "tests",
            .tree = "t",
            .passed = true,
            .partial = false,
            .summary = std::move(summary),
            .duration_ms = 1,
            .report = {}};
}

TEST_F(SessionTest, the_working_memory_holds_the_last_twenty_items) {
    ASSERT_TRUE(session_->record(records::TaskStarted{}).ok());
    ASSERT_TRUE(session_->record(intake_started).ok());
    for (int number = 0; number < 25; ++number) { ASSERT_TRUE(session_->record(passed_gate(std::to_string(number))).ok()); }
    ASSERT_TRUE(session_->record(records::StageFailed{"intake", {"AF-X-001", "no", "", "", 0}, 0}).ok());
    const auto file = session_->paths().working_memory();
    session_.reset();
    const auto document = load_yaml(file.string(), YamlLimits{}).value();
    const json::array& items = document.value.at("items").as_array();
    ASSERT_EQ(items.size(), 20U);
    EXPECT_EQ(items.front().at("summary"), "6");
    EXPECT_EQ(items.back().at("type"), "stage_failed");
}

TEST_F(SessionTest, an_unwritten_record_is_not_in_the_state) {
    ASSERT_TRUE(session_->record(records::TaskStarted{}).ok());
    const TaskState before = session_->state();
    std::ofstream(session_->paths().journal(), std::ios::app) << "- {";
    EXPECT_EQ(session_->record(intake_started).error().code, "AF-JRNL-006");
    EXPECT_TRUE(session_->state() == before);
}

TEST_F(SessionTest, a_refused_record_is_not_written) {
    const auto journal = session_->paths().journal();
    const std::string before = read_file(journal).value();
    EXPECT_EQ(session_->record(intake_started).error().code, "AF-TASK-010");
    EXPECT_EQ(read_file(journal).value(), before);
}

TEST_F(SessionTest, invalid_utf8_is_in_the_state_as_in_the_journal) {
    ASSERT_TRUE(session_->record(records::TaskPaused{"a\xff"}).ok());
    EXPECT_EQ(session_->state().pause_reason, "a\xEF\xBF\xBD");
    EXPECT_TRUE(read_task_state(store_, id).value() == session_->state());
}

}  // namespace
}  // namespace agentforge::kernel
