// SPDX-License-Identifier: Apache-2.0
// Which result streams are trusted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/engine/helper_results.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::HasSubstr;

/// A stream in the runner's form.
class Lines {
public:
    Lines& add(json::object fields) {
        fields["n"] = nonce;
        fields["i"] = count_++;
        text_ += json::serialize(fields) + "\n";
        return *this;
    }
    Lines& plan(const std::string& id, bool canary = false) {
        return add({{"type", "plan"}, {"id", id}, {"name", id}, {"file", "t.py"}, {"line", 1}, {"canary", canary}});
    }
    Lines& result(const std::string& id, const std::string& status, bool canary = false) {
        ++results_;
        return add({{"type", "result"},
                    {"id", id},
                    {"name", id},
                    {"file", "t.py"},
                    {"line", 2},
                    {"canary", canary},
                    {"status", status},
                    {"message", "m"}});
    }
    Lines& canary(const std::string& status = "failed_assertion") { return plan("canary", true).result("canary", status, true); }
    Lines& end(int exit) { return add({{"type", "end"}, {"lines", count_}, {"results", results_}, {"exit", exit}}); }
    Lines& raw(const std::string& text) {
        text_ += text;
        return *this;
    }
    [[nodiscard]] const std::string& text() const { return text_; }
    std::string nonce = "secret";

private:
    std::string text_;
    std::int64_t count_ = 0;
    std::int64_t results_ = 0;
};

TestRun read(const Lines& lines, int exit_code, int signal = 0) {
    ProcessOutcome outcome;
    outcome.exit_code = exit_code;
    outcome.signal = signal;
    return read_test_lines(lines.text(), {"secret", 1, std::chrono::seconds(60)}, outcome);
}

TEST(TestResults, a_complete_stream_is_trusted) {
    const auto run = read(Lines().plan("a").result("a", "passed").canary().end(0), 0);
    EXPECT_TRUE(run.trusted) << run.distrust;
    ASSERT_EQ(run.tests.size(), 1U);
    EXPECT_EQ(run.tests[0].status, TestStatus::passed);
}

TEST(TestResults, an_empty_stream_is_not_trusted) { EXPECT_FALSE(read(Lines(), 0).trusted); }

TEST(TestResults, a_stream_without_end_is_not_trusted_and_passes_no_test) {
    const auto run = read(Lines().plan("a").plan("b").result("a", "passed"), 0);
    EXPECT_FALSE(run.trusted);
    for (const auto& test : run.tests) { EXPECT_EQ(test.status, TestStatus::error); }
    EXPECT_THAT(run.tests.at(1).message, HasSubstr("not run"));
}

TEST(TestResults, the_test_that_was_running_is_named) {
    const auto run = read(Lines().plan("a").add({{"type", "start"}, {"id", "a"}}), 139, 11);
    EXPECT_THAT(run.distrust, HasSubstr("signal 11"));
    EXPECT_THAT(run.distrust, HasSubstr("in or after a"));
}

TEST(TestResults, a_wrong_nonce_is_not_trusted) {
    Lines lines;
    lines.nonce = "guess";
    EXPECT_FALSE(read(lines.plan("a").result("a", "passed").canary().end(0), 0).trusted);
}

TEST(TestResults, a_line_that_is_not_json_is_not_trusted) {
    EXPECT_FALSE(read(Lines().plan("a").raw("hello\n").result("a", "passed").canary().end(0), 0).trusted);
}

TEST(TestResults, a_repeated_line_is_not_trusted) {
    Lines lines;
    lines.plan("a").result("a", "passed").canary();
    const auto last = lines.text().substr(lines.text().rfind('\n', lines.text().size() - 2) + 1);
    EXPECT_FALSE(read(lines.raw(last).end(0), 0).trusted);
}

TEST(TestResults, lines_after_the_end_are_not_trusted) {
    EXPECT_FALSE(read(Lines().plan("a").result("a", "passed").canary().end(0).result("a", "passed"), 0).trusted);
    EXPECT_FALSE(read(Lines().plan("a").result("a", "passed").canary().end(0).raw("x"), 0).trusted);
}

TEST(TestResults, a_mismatched_exit_code_is_not_trusted) {
    EXPECT_FALSE(read(Lines().plan("a").result("a", "failed_assertion").canary().end(1), 0).trusted);
    EXPECT_FALSE(read(Lines().plan("a").result("a", "passed").canary().end(0), 1).trusted);
    EXPECT_FALSE(read(Lines().plan("a").result("a", "failed_assertion").canary().end(0), 0).trusted);
}

TEST(TestResults, a_planned_test_without_a_result_is_not_trusted) {
    EXPECT_FALSE(read(Lines().plan("a").canary().end(0), 0).trusted);
}

TEST(TestResults, a_test_reported_twice_is_not_trusted) {
    EXPECT_FALSE(read(Lines().plan("a").result("a", "failed_assertion").result("a", "passed").canary().end(0), 0).trusted);
}

TEST(TestResults, an_unknown_status_is_not_trusted) {
    EXPECT_FALSE(read(Lines().plan("a").result("a", "splendid").canary().end(0), 0).trusted);
}

TEST(TestResults, a_canary_that_passes_is_not_trusted) {
    const auto run = read(Lines().plan("a").result("a", "passed").canary("passed").end(0), 0);
    EXPECT_FALSE(run.trusted);
    EXPECT_THAT(run.distrust, HasSubstr("canary"));
}

TEST(TestResults, a_missing_canary_is_not_trusted) {
    EXPECT_THAT(read(Lines().plan("a").result("a", "passed").end(0), 0).distrust, HasSubstr("canary"));
}

TEST(TestResults, counts_include_every_status) {
    const auto counts = count_tests({{"a", "", "", 0, TestStatus::passed, ""},
                                     {"b", "", "", 0, TestStatus::failed_skeleton, ""},
                                     {"c", "", "", 0, TestStatus::error, ""},
                                     {"d", "", "", 0, TestStatus::not_collected, ""},
                                     {"e", "", "", 0, TestStatus::skipped, ""}});
    EXPECT_EQ(json::value(counts), (json::value{{"total", 5}, {"passed", 1}, {"failed", 1}, {"errors", 2}, {"skipped", 1}}));
}

}  // namespace
}  // namespace agentforge::kernel
