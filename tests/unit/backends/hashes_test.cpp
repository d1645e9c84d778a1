// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/hashes.hpp"
#include "backends/model_client.hpp"

namespace agentforge::kernel {
namespace {

struct Case {
    const char* name;
    std::string text;
    std::string expected;
};
class ContextHashVolatileParts : public ::testing::TestWithParam<Case> {};

TEST_P(ContextHashVolatileParts, become_placeholders) { EXPECT_EQ(without_volatile_parts(GetParam().text), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    Every, ContextHashVolatileParts,
    ::testing::Values(
        Case{"task_id", "id: \"task-20260102-add-oauth2-1f2e3d4c\"", "id: \"<task>\""},
        Case{"artifact_id", "spec_ref: \"SPEC-20260102-add-oauth2-1f2e3d4c\"", "spec_ref: \"<id>\""},
        Case{"requirement_id_stays", "covers REQ-001", "covers REQ-001"},
        Case{"task_branch", "agentforge/task-20260102-x-1f2e3d4c.", "agentforge/<task>."},
        Case{"escalation_id", "see ESC-20260102-1", "see <id>"},
        Case{"time_utc", "at 2026-01-02T15:30:00.123Z on", "at <time> on"},
        Case{"time_offset", "at 2026-01-02T15:30:00+01:00", "at <time>"}, Case{"time_space", "2026-01-02 15:30:00,", "<time>,"},
        Case{"milliseconds", "took 12 ms.", "took <duration>."}, Case{"seconds", "2 passed in 0.03s", "2 passed in <duration>"},
        Case{"long_seconds", "1.25 seconds", "<duration>"},
        Case{"sha", "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904", "tree <hash>"},
        Case{"short_sha", "sha256: \"ba7816bf8f01\"", "sha256: \"<hash>\""},
        Case{"uuid", "123e4567-e89b-12d3-a456-426614174000", "<uuid>"},
        Case{"address", "<object at 0x7f3a2b1c>", "<object at <address>>"}, Case{"path", "in /home/user/w/a.py:3", "in <path>:3"},
        Case{"quoted_path", "\"/tmp/x/y\"", "\"<path>\""},
        Case{"kept_words", "a decade of feedbacks, 12 files, 3 steps, task-force",
             "a decade of feedbacks, 12 files, 3 steps, task-force"},
        Case{"kept_relative_path", "src/a/b.py and ./c/d and ../e/f", "src/a/b.py and ./c/d and ../e/f"},
        Case{"kept_url", "https://example.org/a/b", "https://example.org/a/b"}, Case{"kept_division", "a / b // c", "a / b // c"},
        Case{"kept_version", "1.2.3s", "1.2.3s"}, Case{"kept_short_hex", "abc123", "abc123"}),
    [](const auto& one) { return std::string(one.param.name); });

CompletionRequest request() {
    CompletionRequest result;
    result.system = "You are it.";
    result.user = "state";
    result.place.stage = "green";
    result.place.role = "software_developer";
    result.tools = {{"read_file", "Reads.", {{"type", "object"}}}};
    return result;
}

TEST(FrameHash, does_not_depend_on_the_context) {
    CompletionRequest other = request();
    other.user = "another state";
    other.place.step = 9;
    EXPECT_EQ(frame_hash(request()), frame_hash(other));
}

TEST(FrameHash, depends_on_the_system_prompt) {
    CompletionRequest other = request();
    other.system += "!";
    EXPECT_NE(frame_hash(request()), frame_hash(other));
}

TEST(FrameHash, depends_on_the_offered_tools) {
    CompletionRequest other = request();
    other.tools[0].description = "Reads more.";
    EXPECT_NE(frame_hash(request()), frame_hash(other));
}

TEST(FrameHash, depends_on_the_role) {
    CompletionRequest other = request();
    other.place.role = "test_engineer";
    EXPECT_NE(frame_hash(request()), frame_hash(other));
}

TEST(ContextHash, is_equal_in_two_folders) {
    CompletionRequest one = request();
    CompletionRequest other = request();
    one.user = "ran /home/a/w/t.py in 3 ms for task-20260102-x-00000001";
    other.user = "ran /srv/other/t.py in 41 ms for task-20270304-x-ffffffff";
    EXPECT_EQ(context_hash(one), context_hash(other));
}

TEST(ContextHash, differs_if_a_result_differs) {
    CompletionRequest one = request();
    CompletionRequest other = request();
    one.user = "2 tests passed";
    other.user = "3 tests passed";
    EXPECT_NE(context_hash(one), context_hash(other));
}

}  // namespace
}  // namespace agentforge::kernel
