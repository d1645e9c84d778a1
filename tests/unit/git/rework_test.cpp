// SPDX-License-Identifier: Apache-2.0
#include "git/rework.hpp"

#include "unit/git/git_fixture.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::chrono::hours two_weeks{24 * 14};

class ReworkTest : public GitTest {
protected:
    ReworkTest() {
        commit("a.py", "one\n", "2026-01-01T00:00:00Z");
        base_ = trimmed_line("rev-parse HEAD^{tree}");
        commit("a.py", "one\ntwo\nthree\nfour\nfive\n", "2026-01-02T00:00:00Z");
        delivered_ = trimmed_line("rev-parse HEAD");
    }
    void commit(const std::string& file, const std::string& text, const std::string& date,
                const std::string& message = "change") {
        std::ofstream(user() / file) << text;
        git("add -A");
        run("cd '" + user().string() + "' && GIT_AUTHOR_DATE=" + date + " GIT_COMMITTER_DATE=" + date + " git commit -q -m '" +
            message + "'");
    }
    std::string trimmed_line(const std::string& arguments) {
        std::string text = git(arguments);
        while (text.ends_with('\n')) { text.pop_back(); }
        return text;
    }
    [[nodiscard]] Rework found() const {
        const auto rework = rework_of(user(), base_, delivered_, two_weeks);
        EXPECT_TRUE(rework.ok() && rework->has_value());
        return rework.ok() && *rework ? **rework : Rework{};
    }
    std::string base_;
    std::string delivered_;
};

TEST_F(ReworkTest, is_none_if_nothing_follows_the_commit) {
    EXPECT_EQ(found().lines, 4U);
    EXPECT_EQ(found().gone, 0U);
}

TEST_F(ReworkTest, counts_delivered_lines_changed_or_removed_later) {
    commit("a.py", "one\ntwo\nTHREE\nfive\nsix\n", "2026-01-05T00:00:00Z");
    EXPECT_EQ(found().gone, 2U);
}

TEST_F(ReworkTest, does_not_count_older_lines) {
    commit("a.py", "ONE\ntwo\nthree\nfour\nfive\n", "2026-01-05T00:00:00Z");
    EXPECT_EQ(found().gone, 0U);
}

TEST_F(ReworkTest, does_not_count_changes_by_another_task) {
    commit("a.py", "one\nTWO\nthree\nfour\nfive\n", "2026-01-05T00:00:00Z",
           "Change it\n\nAgentForge-Task: task-20260105-x-00000001");
    EXPECT_EQ(found().gone, 0U);
    commit("a.py", "one\nTWO\nthree\nFOUR\nfive\n", "2026-01-06T00:00:00Z");
    EXPECT_EQ(found().gone, 1U);
}

TEST_F(ReworkTest, does_not_count_changes_after_the_period) {
    commit("a.py", "one\n", "2026-02-01T00:00:00Z");
    EXPECT_EQ(found().gone, 0U);
}

TEST_F(ReworkTest, follows_a_renamed_file) {
    git("mv a.py b.py");
    commit("b.py", "one\ntwo\nthree\nfour\nFIVE\n", "2026-01-05T00:00:00Z");
    EXPECT_EQ(found().gone, 1U);
}

TEST_F(ReworkTest, is_unknown_if_head_does_not_contain_the_commit) {
    git("checkout -q -B main HEAD^");
    const auto rework = rework_of(user(), base_, delivered_, two_weeks);
    ASSERT_TRUE(rework.ok()) << rework.error().to_string();
    EXPECT_FALSE(rework->has_value());
}

}  // namespace
}  // namespace agentforge::kernel
