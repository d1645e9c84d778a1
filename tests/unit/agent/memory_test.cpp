// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "agent/memory.hpp"

namespace agentforge::kernel {
namespace {

StepRecord done(unsigned step, std::string tool, json::object arguments, std::string output = "", json::object data = {}) {
    StepRecord record;
    record.step = step;
    record.tool = std::move(tool);
    record.arguments = std::move(arguments);
    record.success = true;
    record.summary = record.tool;
    record.output = std::move(output);
    record.data = std::move(data);
    return record;
}

StepRecord failed(unsigned step, std::string tool, json::object arguments) {
    StepRecord record = done(step, std::move(tool), std::move(arguments));
    record.success = false;
    record.error = "no";
    return record;
}

TEST(Memory, keeps_the_last_three_actions) {
    Memory memory;
    for (unsigned step = 1; step <= 9; ++step) { memory.add(done(step, "run_tests", {})); }
    ASSERT_EQ(memory.recent().size(), 3U);
    EXPECT_EQ(memory.recent().front().step, 7U);
}

TEST(Memory, keeps_a_read_file_as_a_view) {
    Memory memory;
    memory.add(done(1, "read_file", {{"path", "a.py"}}, "x = 1\n", {{"first_line", 1}, {"total_lines", 1}, {"sha256", "ab"}}));
    ASSERT_EQ(memory.files().size(), 1U);
    EXPECT_EQ(memory.files()[0].content, "x = 1\n");
}

TEST(Memory, strips_line_numbers_from_a_view) {
    Memory memory;
    memory.add(done(1, "read_file", {{"path", "a.py"}, {"first_line", 9}}, " 9\tx = 1\n10\ty = 2\n"));
    EXPECT_EQ(memory.files()[0].content, "x = 1\ny = 2\n");
    EXPECT_EQ(memory.files()[0].first_line, 9U);
}

TEST(Memory, strips_the_tools_note_on_lines_from_a_view) {
    std::uint64_t first = 1;
    EXPECT_EQ(without_line_numbers("3\ta\n4\t(b)\n(lines 3-4 of 9; give first_line and last_line for others)\n", first),
              "a\n(b)\n");
}

TEST(Memory, an_empty_file_is_an_empty_view) {
    Memory memory;
    memory.add(done(1, "read_file", {{"path", "a.py"}}, "(the file is empty)\n",
                    {{"first_line", 1}, {"last_line", 0}, {"total_lines", 0}}));
    EXPECT_EQ(memory.files()[0].content, "");
}

TEST(Memory, keeps_text_that_merely_starts_with_a_number) {
    std::uint64_t first = 1;
    EXPECT_EQ(without_line_numbers("1\ta\nb\n", first), "1\ta\nb\n");
}

TEST(Memory, applies_an_edit_to_the_view) {
    Memory memory;
    memory.add(done(1, "read_file", {{"path", "a.py"}}, "a\nb\nc\n"));
    memory.add(done(2, "edit_file", {{"path", "a.py"}, {"search", "b\n"}, {"replace", "B1\nB2\n"}}));
    EXPECT_EQ(memory.files()[0].content, "a\nB1\nB2\nc\n");
}

TEST(Memory, gives_an_edited_view_the_hash_of_the_change) {
    Memory memory;
    memory.add(done(1, "read_file", {{"path", "a.py"}}, "a\n", {{"sha256", "old"}}));
    StepRecord edit = done(2, "edit_file", {{"path", "a.py"}, {"search", "a"}, {"replace", "b"}});
    edit.changes = {{"a.py", "old", "new", 1, 1, false}};
    memory.add(edit);
    EXPECT_EQ(memory.files()[0].sha256, "new");
}

TEST(Memory, shows_the_new_text_after_an_edit_to_an_unread_file) {
    Memory memory;
    memory.add(done(1, "edit_file", {{"path", "a.py"}, {"search", "x"}, {"replace", "y = 1"}}));
    ASSERT_EQ(memory.files().size(), 1U);
    EXPECT_EQ(std::pair(memory.files()[0].content, memory.files()[0].first_line),
              std::pair(std::string("y = 1"), std::uint64_t{0}));
}

TEST(Memory, forgets_the_line_numbers_of_a_part_that_an_edit_elsewhere_moved) {
    Memory memory;
    memory.add(done(1, "read_file", {{"path", "a.py"}, {"first_line", 50}}, "later\n"));
    memory.add(done(2, "edit_file", {{"path", "a.py"}, {"search", "early"}, {"replace", "early\nand more"}}));
    const auto part = std::find_if(memory.files().begin(), memory.files().end(),
                                   [](const FileMemory& file) { return file.content == "later\n"; });
    EXPECT_TRUE(part == memory.files().end() || part->first_line == 0);
}

TEST(Memory, keeps_a_created_file_as_a_view) {
    Memory memory;
    memory.add(done(1, "create_file", {{"path", "a.py"}, {"content", "x\ny\n"}}));
    EXPECT_EQ(memory.files()[0].total_lines, 2U);
}

TEST(Memory, applies_several_pieces_of_an_edit) {
    Memory memory;
    memory.add(done(1, "read_file", {{"path", "a.py"}}, "a\nb\nc\n"));
    memory.add(done(2, "edit_file",
                    {{"path", "a.py"}, {"edits", {{{"search", "a"}, {"replace", "A"}}, {{"search", "c"}, {"replace", "C"}}}}}));
    EXPECT_EQ(memory.files()[0].content, "A\nb\nC\n");
}

TEST(Memory, keeps_a_file_that_was_overwritten_as_a_view) {
    Memory memory;
    memory.add(done(1, "read_file", {{"path", "a.py"}}, "a\nb\nc\n"));
    memory.add(done(2, "edit_file", {{"path", "a.py"}, {"content", "x\n"}}));
    ASSERT_EQ(memory.files().size(), 1U);
    EXPECT_EQ(memory.files()[0].content, "x\n");
}

TEST(Memory, uses_the_views_that_a_tolerant_edit_returns) {
    Memory memory;
    memory.add(done(1, "read_file", {{"path", "a.py"}}, "  a\n"));
    StepRecord edit =
        done(2, "edit_file", {{"path", "a.py"}, {"search", "a\n"}, {"replace", "b\n"}}, "",
             {{"views", {{{"path", "a.py"}, {"content", "  b\n"}, {"sha256", "new"}, {"first_line", 1}, {"total_lines", 1}}}}});
    edit.changes = {{"a.py", "old", "new", 1, 1, false}};
    memory.add(edit);
    ASSERT_EQ(memory.files().size(), 1U);
    EXPECT_EQ(memory.files()[0].content, "  b\n");
}

TEST(Memory, a_patch_keeps_only_the_views_that_it_returns) {
    Memory memory;
    memory.add(done(1, "read_file", {{"path", "a.py"}}, "a\n"));
    memory.add(done(2, "read_file", {{"path", "b.py"}}, "b\n"));
    memory.add(done(3, "read_file", {{"path", "c.py"}}, "c\n"));
    StepRecord patch =
        done(4, "apply_patch", {{"patch", "…"}}, "",
             {{"views", {{{"path", "a.py"}, {"content", "A\n"}, {"sha256", "new"}, {"first_line", 1}, {"total_lines", 1}}}}});
    patch.changes = {{"a.py", "old", "new", 1, 1, false}, {"b.py", "old", "", 0, 1, false}};
    memory.add(patch);
    std::string seen;
    for (const FileMemory& file : memory.files()) { seen += file.path + " " + file.content; }
    EXPECT_EQ(seen, "a.py A\nc.py c\n");
}

TEST(Memory, knows_the_hash_of_each_file_as_last_seen) {
    Memory memory;
    memory.add(done(1, "read_file", {{"path", "a.py"}, {"first_line", 1}, {"last_line", 1}}, "1\ta\n",
                    {{"sha256", "first"}, {"total_lines", 9}}));
    memory.add(done(2, "read_file", {{"path", "a.py"}, {"first_line", 5}, {"last_line", 5}}, "5\te\n",
                    {{"sha256", "second"}, {"total_lines", 9}}));
    memory.add(done(3, "read_file", {{"path", "b.py"}}, "b\n"));
    EXPECT_EQ(memory.seen(), (std::map<std::string, std::string, std::less<>>{{"a.py", "second"}}));
}

TEST(Memory, forgets_a_deleted_file) {
    Memory memory;
    memory.add(done(1, "read_file", {{"path", "a.py"}}, "a\n"));
    memory.add(done(2, "delete_file", {{"path", "a.py"}}));
    EXPECT_TRUE(memory.files().empty());
}

TEST(Memory, follows_a_moved_file) {
    Memory memory;
    memory.add(done(1, "read_file", {{"path", "a.py"}}, "a\n"));
    memory.add(done(2, "move_file", {{"path", "a.py"}, {"to", "b.py"}}));
    EXPECT_EQ(memory.files()[0].path, "b.py");
}

TEST(Memory, a_failed_edit_changes_no_view) {
    Memory memory;
    memory.add(done(1, "read_file", {{"path", "a.py"}}, "a\n"));
    memory.add(failed(2, "edit_file", {{"path", "a.py"}, {"search", "a"}, {"replace", "b"}}));
    EXPECT_EQ(memory.files()[0].content, "a\n");
}

TEST(Memory, evicts_the_least_recently_used_view_first) {
    Memory memory;
    unsigned step = 0;
    for (int i = 0; i < 12; ++i) { memory.add(done(++step, "read_file", {{"path", "f" + std::to_string(i)}}, "a\n")); }
    memory.add(done(++step, "edit_file", {{"path", "f0"}, {"search", "a"}, {"replace", "b"}}));
    memory.add(done(++step, "read_file", {{"path", "new"}}, "n\n"));
    const auto has = [&](std::string_view path) {
        return std::any_of(memory.files().begin(), memory.files().end(),
                           [&](const FileMemory& file) { return file.path == path; });
    };
    EXPECT_TRUE(has("new"));
    EXPECT_TRUE(has("f0"));
    EXPECT_FALSE(has("f1"));
}

TEST(Memory, counts_the_same_failing_action) {
    Memory memory;
    memory.add(failed(1, "run_tests", {{"paths", 1}}));
    memory.add(failed(2, "run_tests", {{"paths", 1}}));
    EXPECT_EQ(memory.identical_failures(), 2U);
}

TEST(Memory, a_success_resets_the_count_of_failures) {
    Memory memory;
    memory.add(failed(1, "run_tests", {}));
    memory.add(done(2, "read_file", {{"path", "a"}}));
    memory.add(failed(3, "run_tests", {}));
    EXPECT_EQ(memory.identical_failures(), 1U);
}

TEST(Memory, counts_refusals_for_the_same_reason_whatever_was_done_in_between) {
    Memory memory;
    memory.add(failed(1, "complete", {{"summary", "one"}}));
    memory.add(done(2, "read_file", {{"path", "a"}}));
    memory.add(failed(3, "complete", {{"summary", "two"}}));
    EXPECT_EQ(memory.identical_refusals(), 2U);
}

TEST(Memory, raises_the_calibration_when_a_backend_counts_more) {
    Memory memory;
    StepRecord record = done(1, "run_tests", {});
    record.section_tokens = {{"total", 1000}};
    record.completion.usage.input_tokens = 1200;
    memory.add(record);
    EXPECT_EQ(memory.calibration_permille(), 1200U);
}

TEST(Memory, never_lowers_the_calibration) {
    Memory memory;
    StepRecord record = done(1, "run_tests", {});
    record.section_tokens = {{"total", 1000}};
    record.completion.usage.input_tokens = 1200;
    memory.add(record);
    record.step = 2;
    record.completion.usage.input_tokens = 500;
    memory.add(record);
    EXPECT_EQ(memory.calibration_permille(), 1200U);
}

TEST(Memory, ignores_estimated_usage_when_calibrating) {
    Memory memory;
    StepRecord record = done(1, "run_tests", {});
    record.section_tokens = {{"total", 1000}};
    record.completion.usage = {1900, 5, 0, {}, true};
    memory.add(record);
    EXPECT_EQ(memory.calibration_permille(), 1000U);
}

}  // namespace
}  // namespace agentforge::kernel
