// SPDX-License-Identifier: Apache-2.0
#include "aggregate/change_watch.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace agentforge::kernel::testing {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds generous{20};
constexpr const char* task = "task-20260102-add-oauth2-1f2e3d4c";

class Watched : public ::testing::Test {
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

TEST_F(Watched, AnAppendedRecordIsHeardOf) {
    fs::create_directories(tasks_ / task);
    write("a");
    ChangeWatch watch({tasks_});
    EXPECT_FALSE(watch.misses_events());
    EXPECT_TRUE(watch.wait(std::chrono::milliseconds(0), -1).empty());
    write("b");
    EXPECT_TRUE(hears(watch, task));
}

TEST_F(Watched, ADeletedJournalIsHeardOfWhileItIsOpen) {
    fs::create_directories(tasks_ / task);
    write("a");
    const std::ifstream open(tasks_ / task / "actions.yaml");
    ChangeWatch watch({tasks_});
    fs::remove(tasks_ / task / "actions.yaml");
    EXPECT_TRUE(hears(watch, task));
    write("b");
    EXPECT_TRUE(hears(watch, task));
}

TEST_F(Watched, ANewTaskIsHeardOfAndThenItsRecords) {
    fs::create_directories(tasks_);
    ChangeWatch watch({tasks_});
    fs::create_directories(tasks_ / task);
    EXPECT_TRUE(hears(watch, ""));
    write("a");
    EXPECT_TRUE(hears(watch, task));
    write("b");
    EXPECT_TRUE(hears(watch, task));
}

TEST_F(Watched, AFolderThatIsNotThereYetMissesEvents) { EXPECT_TRUE(ChangeWatch({folder_.path() / "none"}).misses_events()); }

}  // namespace
}  // namespace agentforge::kernel::testing
