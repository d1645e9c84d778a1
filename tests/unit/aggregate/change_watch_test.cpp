// SPDX-License-Identifier: Apache-2.0
#include "aggregate/change_watch.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "task/task_store.hpp"

namespace agentforge::kernel::testing {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds generous{20};
constexpr const char* task = "task-20260102-add-oauth2-1f2e3d4c";

class ChangeWatchTest : public ::testing::Test {
protected:
    void write(const char* text) { std::ofstream(tasks_ / task / "actions.yaml", std::ios::app) << text; }
    /// Waits until the watch reports the task, or the whole folder.
    bool hears(ChangeWatch& watch, const std::string& of) {
        const auto until = std::chrono::steady_clock::now() + generous;
        while (std::chrono::steady_clock::now() < until) {
            for (const ChangeWatch::Change& change : watch.wait(generous, -1)) {
                if (change.task == of) { return true; }
            }
        }
        return false;
    }
    TemporaryDirectory folder_{"watched"};
    fs::path tasks_ = folder_.path() / "tasks";
};

TEST_F(ChangeWatchTest, reports_an_appended_record) {
    fs::create_directories(tasks_ / task);
    write("a");
    ChangeWatch watch({tasks_});
    EXPECT_FALSE(watch.misses_events());
    EXPECT_TRUE(watch.wait(std::chrono::milliseconds(0), -1).empty());
    write("b");
    EXPECT_TRUE(hears(watch, task));
}

TEST_F(ChangeWatchTest, a_removed_link_to_a_task_does_not_stop_its_events) {
    fs::create_directories(tasks_ / task);
    write("a");
    ChangeWatch watch({tasks_});
    const fs::path link = tasks_ / "task-20260102-link-00000002";
    fs::create_directory_symlink(tasks_ / task, link);
    EXPECT_TRUE(hears(watch, ""));
    fs::remove(link);
    write("b");
    EXPECT_TRUE(hears(watch, task));
}

TEST_F(ChangeWatchTest, reports_the_deletion_of_an_open_journal) {
    fs::create_directories(tasks_ / task);
    write("a");
    const std::ifstream open(tasks_ / task / "actions.yaml");
    ChangeWatch watch({tasks_});
    fs::remove(tasks_ / task / "actions.yaml");
    EXPECT_TRUE(hears(watch, task));
    write("b");
    EXPECT_TRUE(hears(watch, task));
}

TEST_F(ChangeWatchTest, reports_a_new_task_and_then_its_records) {
    fs::create_directories(tasks_);
    ChangeWatch watch({tasks_});
    fs::create_directories(tasks_ / task);
    EXPECT_TRUE(hears(watch, ""));
    write("a");
    EXPECT_TRUE(hears(watch, task));
    write("b");
    EXPECT_TRUE(hears(watch, task));
}

TEST_F(ChangeWatchTest, reports_a_removed_task_and_misses_no_later_event) {
    fs::create_directories(tasks_ / task);
    write("a");
    fs::create_directories(tasks_ / "task-20260102-without-a-journal-1f2e3d4c");
    ChangeWatch watch({tasks_});
    fs::remove_all(tasks_ / task);
    EXPECT_TRUE(hears(watch, ""));
    fs::remove_all(tasks_ / "task-20260102-without-a-journal-1f2e3d4c");
    EXPECT_TRUE(hears(watch, ""));
    EXPECT_FALSE(watch.misses_events());
    fs::create_directories(tasks_ / task);
    write("b");
    EXPECT_TRUE(hears(watch, ""));
}

TEST_F(ChangeWatchTest, reports_files_that_are_not_tasks_except_dot_files) {
    fs::create_directories(tasks_);
    ChangeWatch watch({tasks_});
    std::ofstream(tasks_ / ".listing") << "x";
    EXPECT_TRUE(watch.wait(std::chrono::milliseconds(0), -1).empty());
    std::ofstream(tasks_ / "notes.txt") << "x";
    EXPECT_TRUE(hears(watch, ""));
    fs::remove(tasks_ / "notes.txt");
    EXPECT_TRUE(hears(watch, ""));
}

TEST_F(ChangeWatchTest, a_removed_folder_misses_events) {
    fs::create_directories(tasks_);
    ChangeWatch watch({tasks_});
    fs::remove_all(tasks_);
    EXPECT_TRUE(hears(watch, ""));
    EXPECT_TRUE(watch.misses_events());
}

TEST_F(ChangeWatchTest, reports_a_lock_taken_and_released_but_not_inspected) {
    fs::create_directories(tasks_ / task);
    write("a");
    ChangeWatch watch({tasks_}, {.locks = true});
    write("b");
    EXPECT_TRUE(hears(watch, task));
    {
        auto lock = TaskLock::acquire(TaskPaths{tasks_ / task}, "test", "2026-01-02T00:00:00.000Z");
        ASSERT_TRUE(lock.ok());
        write("c");
        EXPECT_TRUE(hears(watch, task));
        EXPECT_TRUE(TaskLock::holder(TaskPaths{tasks_ / task}));
        EXPECT_TRUE(watch.wait(std::chrono::milliseconds(0), -1).empty());
    }
    EXPECT_TRUE(hears(watch, task));
}

TEST_F(ChangeWatchTest, reports_files_of_other_folders_and_of_folders_created_later) {
    const fs::path sets = folder_.path() / "sets";
    fs::create_directories(tasks_);
    ChangeWatch watch({tasks_}, {.folders = {sets, folder_.path() / "answers"}});
    EXPECT_FALSE(watch.misses_events());
    fs::create_directories(tasks_ / task);
    EXPECT_TRUE(hears(watch, ""));
    fs::create_directories(sets / "one");
    fs::create_directories(tasks_ / "task-20260102-another-1f2e3d4c");
    EXPECT_TRUE(hears(watch, ""));
    std::ofstream(sets / "one" / "set.yaml") << "a";
    EXPECT_TRUE(hears(watch, ""));
    while (!watch.wait(std::chrono::milliseconds(0), -1).empty()) {}
    std::ofstream(sets / "one" / ".hidden") << "a";
    EXPECT_TRUE(watch.wait(std::chrono::milliseconds(0), -1).empty());
}

TEST_F(ChangeWatchTest, an_overflow_is_a_change_of_each_folder) {
    std::ifstream limit("/proc/sys/fs/inotify/max_queued_events");
    std::size_t most = 0;
    ASSERT_TRUE(limit >> most);
    fs::create_directories(tasks_ / task);
    fs::create_directories(folder_.path() / "other");
    write("a");
    ChangeWatch watch({tasks_}, {.folders = {folder_.path() / "other"}});
    // The system joins equal events that follow one another, so writes and changes of permissions take turns.
    for (std::size_t count = 0; count <= most; count += 2) {
        std::ofstream(tasks_ / task / "actions.yaml", std::ios::app) << "b";
        fs::permissions(tasks_ / task / "actions.yaml", fs::perms::owner_exec, fs::perm_options::add);
        fs::permissions(tasks_ / task / "actions.yaml", fs::perms::owner_exec, fs::perm_options::remove);
    }
    std::vector<std::pair<std::size_t, std::string>> heard;
    for (const ChangeWatch::Change& change : watch.wait(generous, -1)) { heard.emplace_back(change.folder, change.task); }
    EXPECT_EQ(heard, (std::vector<std::pair<std::size_t, std::string>>{{0, ""}, {0, task}, {1, ""}}));
}

TEST_F(ChangeWatchTest, a_missing_folder_misses_events) { EXPECT_TRUE(ChangeWatch({folder_.path() / "none"}).misses_events()); }

}  // namespace
}  // namespace agentforge::kernel::testing
