// SPDX-License-Identifier: Apache-2.0
#include "tools/workspace/role_workspace.hpp"

#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "base/hash.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

class WorkspaceTest : public testing::Test {
protected:
    WorkspaceTest() { reopen({}); }
    void reopen(const std::map<std::string, std::string, std::less<>>& constraints, const std::vector<std::string>& locked = {}) {
        auto rules = RolePaths::make("tester", constraints, locked);
        auto opened = RoleWorkspace::open(folder_.path().string(), std::move(rules).value());
        workspace_ = std::move(opened).value();
    }
    void put(const std::string& path, std::string_view bytes) const {
        fs::create_directories((folder_.path() / path).parent_path());
        ASSERT_TRUE(write_file_atomic(folder_.path() / path, bytes, Durability::cached).ok());
    }
    [[nodiscard]] std::string get(const std::string& path) const { return read_file(folder_.path() / path).value_or("(none)"); }
    [[nodiscard]] fs::path at(const std::string& path) const { return folder_.path() / path; }

    TemporaryDirectory folder_{"workspace"};
    std::unique_ptr<RoleWorkspace> workspace_;
};

template <class T>
std::string code(const Result<T>& result) {
    return result.ok() ? "" : result.error().code;
}

TEST_F(WorkspaceTest, reads_a_file_with_hash_and_size) {
    put("a.txt", "one\ntwo\nthree");
    const auto view = workspace_->read("./a.txt");
    ASSERT_TRUE(view.ok());
    EXPECT_EQ(view->path, "a.txt");
    EXPECT_EQ(view->content, "one\ntwo\nthree");
    EXPECT_EQ(view->sha256, sha256("one\ntwo\nthree"));
    EXPECT_EQ(view->total_lines, 3U);
    EXPECT_EQ(view->last_line, 3U);
    EXPECT_FALSE(view->truncated);
}
TEST_F(WorkspaceTest, a_submodule_is_read_only) {
    put("lib/a.c", "int a;\n");
    put("library.c", "int b;\n");
    workspace_->pin({"lib"});
    EXPECT_TRUE(workspace_->read("lib/a.c").ok());
    EXPECT_EQ(code(workspace_->create("lib/new.c", "x")), "AF-TOOL-060");
    EXPECT_EQ(code(workspace_->edit("lib/a.c", "a", "b")), "AF-TOOL-060");
    EXPECT_EQ(code(workspace_->remove("lib/a.c")), "AF-TOOL-060");
    EXPECT_EQ(code(workspace_->move("library.c", "lib/b.c")), "AF-TOOL-060");
    EXPECT_FALSE(workspace_->check_write("lib/./a.c").ok());
    EXPECT_TRUE(workspace_->edit("library.c", "b", "c").ok());
}
TEST_F(WorkspaceTest, reads_a_range_of_lines) {
    put("a.txt", "one\ntwo\nthree\n");
    const auto view = workspace_->read("a.txt", {2, 2});
    ASSERT_TRUE(view.ok());
    EXPECT_EQ(view->content, "two\n");
    EXPECT_TRUE(view->truncated);
    EXPECT_EQ(workspace_->read("a.txt", {2, 99})->content, "two\nthree\n");
}
TEST_F(WorkspaceTest, refuses_a_range_outside_the_file) {
    put("a.txt", "one\n");
    EXPECT_EQ(code(workspace_->read("a.txt", {5, 0})), "AF-TOOL-045");
    put("b.txt", "one\ntwo\n");
    EXPECT_EQ(code(workspace_->read("b.txt", {2, 1})), "AF-TOOL-045");
}
TEST_F(WorkspaceTest, reads_an_empty_file) {
    put("a.txt", "");
    const auto view = workspace_->read("a.txt");
    ASSERT_TRUE(view.ok());
    EXPECT_EQ(view->total_lines, 0U);
    EXPECT_FALSE(view->truncated);
}
TEST_F(WorkspaceTest, cuts_a_long_file_at_a_whole_line) {
    put("a.txt", "12345\n12345\n12345\n");
    const auto view = workspace_->read("a.txt", {1, 0, 13});
    EXPECT_EQ(view->content, "12345\n12345\n");
    EXPECT_EQ(view->last_line, 2U);
    EXPECT_TRUE(view->truncated);
}
TEST_F(WorkspaceTest, cuts_one_long_line_at_a_character) {
    put("a.txt", "ééééé");
    EXPECT_EQ(workspace_->read("a.txt", {1, 0, 5})->content, "éé");
}
TEST_F(WorkspaceTest, large_file_is_read_by_range_only) {
    std::string text;
    for (int i = 0; i < 400'000; ++i) { text += "line\nx"; }
    put("a.txt", text);
    const auto refused = workspace_->read("a.txt");
    EXPECT_EQ(code(refused), "AF-TOOL-037");
    EXPECT_NE(refused.error().remedy.find("first_line"), std::string::npos);
    EXPECT_EQ(workspace_->read("a.txt", {1, 1})->content, "line\n");
}
TEST_F(WorkspaceTest, binary_file_is_only_described) {
    put("a.bin", std::string("\x7f"
                             "ELF\0\1",
                             6));
    const auto refused = workspace_->read("a.bin");
    EXPECT_EQ(code(refused), "AF-TOOL-036");
    EXPECT_NE(refused.error().message.find("6 bytes"), std::string::npos);
    EXPECT_EQ(code(workspace_->edit("a.bin", "ELF", "x")), "AF-TOOL-036");
}
TEST_F(WorkspaceTest, missing_files_and_folders_are_reported) {
    put("d/a.txt", "x");
    EXPECT_EQ(code(workspace_->read("none.txt")), "AF-TOOL-031");
    EXPECT_EQ(code(workspace_->read("d")), "AF-TOOL-034");
    EXPECT_EQ(code(workspace_->read("d/a.txt/b")), "AF-TOOL-034");
    EXPECT_EQ(code(workspace_->list("d/a.txt")), "AF-TOOL-034");
    EXPECT_EQ(code(workspace_->list("none")), "AF-TOOL-031");
}
TEST_F(WorkspaceTest, lists_sorted_by_path_without_records_and_version_control) {
    put("b/x.py", "1");
    put("b.py", "22");
    put("a.py", "");
    put(".git/config", "x");
    put("sub/.agentforge/x", "x");
    const auto listing = workspace_->list(".");
    ASSERT_TRUE(listing.ok());
    std::string text;
    for (const auto& entry : listing->entries) { text += entry.path + (entry.directory ? "/ " : " "); }
    EXPECT_EQ(text, "a.py b.py b/ b/x.py sub/ ");
    EXPECT_EQ(listing->entries[1].size_bytes, 2U);
    EXPECT_FALSE(listing->truncated);
}
TEST_F(WorkspaceTest, lists_by_glob_and_limit) {
    for (int i = 0; i < 5; ++i) { put("d/" + std::to_string(i) + ".py", ""); }
    put("d/x.txt", "");
    EXPECT_EQ(workspace_->list("d", {true, "*.py", 100})->entries.size(), 5U);
    const auto cut = workspace_->list(".", {true, "*.py", 2});
    EXPECT_EQ(cut->entries.size(), 2U);
    EXPECT_TRUE(cut->truncated);
    EXPECT_EQ(workspace_->list(".", {false, "", 100})->entries.size(), 1U);
    EXPECT_EQ(code(workspace_->list(".", {true, "[", 100})), "AF-TOOL-020");
}
TEST_F(WorkspaceTest, searches_lines_with_numbers) {
    put("a.py", "import os\ndef slug(x):\n    return slug\n");
    put("b.txt", "slug\n");
    const auto hits = workspace_->search({R"(\bslug\b)", false, false, "*.py", 100});
    ASSERT_TRUE(hits.ok());
    ASSERT_EQ(hits->hits.size(), 2U);
    EXPECT_EQ(hits->hits[1].path, "a.py");
    EXPECT_EQ(hits->hits[1].line, 3U);
    EXPECT_EQ(hits->hits[1].text, "    return slug");
}
TEST_F(WorkspaceTest, search_matches_line_by_line_for_any_pattern) {
    put("a.py", "abc\r\nxyz\r\n\r\nabc");
    EXPECT_EQ(workspace_->search({"c[^q]*x", false, false, "", 100})->hits.size(), 0U);
    EXPECT_EQ(workspace_->search({"^abc$", false, false, "", 100})->hits.size(), 2U);
    EXPECT_EQ(workspace_->search({"a.c", true, false, "", 100})->hits.size(), 0U);
    EXPECT_EQ(workspace_->search({"ABC", true, true, "", 100})->hits.size(), 2U);
    EXPECT_EQ(workspace_->search({"x*", false, false, "", 100})->hits.size(), 4U);
}
TEST_F(WorkspaceTest, search_cuts_long_lines_around_the_hit_and_skips_binary_files) {
    put("a.txt", std::string(5000, 'a') + "needle" + std::string(5000, 'b') + "\n");
    put("b.bin", std::string("needle\0", 7));
    const auto hits = workspace_->search({"needle", false, false, "", 100});
    ASSERT_EQ(hits->hits.size(), 1U);
    EXPECT_LE(hits->hits[0].text.size(), 310U);
    EXPECT_NE(hits->hits[0].text.find("needle"), std::string::npos);
}
TEST_F(WorkspaceTest, search_stops_at_the_limit) {
    put("a.txt", "x\nx\nx\n");
    const auto hits = workspace_->search({"x", false, false, "", 2});
    EXPECT_EQ(hits->hits.size(), 2U);
    EXPECT_TRUE(hits->truncated);
}
TEST_F(WorkspaceTest, malformed_pattern_is_refused_with_the_reason) {
    const auto refused = workspace_->search({"def (foo", false, false, "", 100});
    EXPECT_EQ(code(refused), "AF-TOOL-021");
    EXPECT_NE(refused.error().message.find("missing )"), std::string::npos) << refused.error().message;
    EXPECT_EQ(code(workspace_->search({"", false, false, "", 100})), "AF-TOOL-021");
    EXPECT_EQ(code(workspace_->search({"(((a{500}){500}){500})", false, false, "", 100})), "AF-TOOL-021");
}
TEST_F(WorkspaceTest, creates_a_file_and_its_folders) {
    const auto change = workspace_->create("a/b/c.txt", "one\ntwo");
    ASSERT_TRUE(change.ok()) << change.error().to_string();
    EXPECT_EQ(get("a/b/c.txt"), "one\ntwo");
    EXPECT_TRUE(change->created);
    EXPECT_EQ(change->lines_added, 2U);
    EXPECT_EQ(change->after_sha256, sha256("one\ntwo"));
    EXPECT_TRUE(change->before_sha256.empty());
}
TEST_F(WorkspaceTest, does_not_overwrite_unless_told) {
    put("a.txt", "old\n");
    EXPECT_EQ(code(workspace_->create("a.txt", "new\n")), "AF-TOOL-035");
    EXPECT_EQ(get("a.txt"), "old\n");
    const auto change = workspace_->create("a.txt", "new\n", true);
    ASSERT_TRUE(change.ok());
    EXPECT_EQ(change->before_sha256, sha256("old\n"));
    EXPECT_EQ(change->lines_removed, 1U);
    EXPECT_FALSE(change->created);
}
TEST_F(WorkspaceTest, create_over_a_folder_or_below_a_file_is_refused) {
    put("d/a.txt", "x");
    EXPECT_EQ(code(workspace_->create("d", "x")), "AF-TOOL-034");
    EXPECT_EQ(code(workspace_->create("d/a.txt/b", "x")), "AF-TOOL-034");
    EXPECT_EQ(code(workspace_->create(".", "x")), "AF-TOOL-034");
}
TEST_F(WorkspaceTest, edit_keeps_mode_and_all_other_bytes) {
    put("run.sh", "#!/bin/sh\r\necho caf\xE9\r\necho b");
    ASSERT_EQ(::chmod(at("run.sh").c_str(), 0755), 0);
    const auto change = workspace_->edit("run.sh", "echo b", "echo c");
    ASSERT_TRUE(change.ok()) << change.error().to_string();
    EXPECT_EQ(get("run.sh"), "#!/bin/sh\r\necho caf\xE9\r\necho c");
    struct stat status {};
    ASSERT_EQ(::stat(at("run.sh").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0755U);
    EXPECT_EQ(change->lines_added, 1U);
    EXPECT_EQ(change->lines_removed, 1U);
}
TEST_F(WorkspaceTest, leaves_no_temporary_file_behind) {
    put("a.txt", "a");
    EXPECT_TRUE(workspace_->edit("a.txt", "a", "b").ok());
    EXPECT_FALSE(workspace_->create("a.txt", "c").ok());
    EXPECT_EQ(workspace_->list(".")->entries.size(), 1U);
}
TEST_F(WorkspaceTest, moves_a_file_and_records_both_ends) {
    put("a.txt", "x\n");
    ASSERT_TRUE(workspace_->move("a.txt", "d/b.txt").ok());
    EXPECT_EQ(get("d/b.txt"), "x\n");
    EXPECT_FALSE(workspace_->exists("a.txt"));
    const auto changes = workspace_->take_changes();
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_EQ(changes[0].path, "a.txt");
    EXPECT_TRUE(changes[0].after_sha256.empty());
    EXPECT_EQ(changes[1].path, "d/b.txt");
    EXPECT_EQ(changes[1].after_sha256, changes[0].before_sha256);
    EXPECT_TRUE(workspace_->take_changes().empty());
}
TEST_F(WorkspaceTest, move_overwrites_nothing_and_moves_no_folder) {
    put("a.txt", "a");
    put("b.txt", "b");
    put("d/c.txt", "c");
    EXPECT_EQ(code(workspace_->move("a.txt", "b.txt")), "AF-TOOL-035");
    EXPECT_EQ(code(workspace_->move("a.txt", "d")), "AF-TOOL-034");
    EXPECT_EQ(code(workspace_->move("d", "e")), "AF-TOOL-034");
    EXPECT_EQ(code(workspace_->move("a.txt", "a.txt")), "AF-TOOL-043");
    EXPECT_EQ(get("b.txt"), "b");
}
TEST_F(WorkspaceTest, removes_files_only) {
    put("d/a.txt", "x\n");
    EXPECT_EQ(code(workspace_->remove("d")), "AF-TOOL-034");
    const auto change = workspace_->remove("d/a.txt");
    ASSERT_TRUE(change.ok());
    EXPECT_EQ(change->lines_removed, 1U);
    EXPECT_TRUE(change->after_sha256.empty());
    EXPECT_EQ(code(workspace_->remove("d/a.txt")), "AF-TOOL-031");
}
TEST_F(WorkspaceTest, every_write_obeys_the_role) {
    reopen({{"create_file", "tests/**/*"}}, {"tests/test_locked.py"});
    put("tests/test_locked.py", "locked");
    put("tests/a.py", "a");
    put("src/a.py", "a");
    EXPECT_EQ(code(workspace_->create("src/b.py", "x")), "AF-TOOL-013");
    EXPECT_EQ(code(workspace_->edit("src/a.py", "a", "b")), "AF-TOOL-013");
    EXPECT_EQ(code(workspace_->remove("src/a.py")), "AF-TOOL-013");
    EXPECT_EQ(code(workspace_->move("src/a.py", "tests/b.py")), "AF-TOOL-013");
    EXPECT_EQ(code(workspace_->move("tests/a.py", "src/b.py")), "AF-TOOL-013");
    EXPECT_EQ(code(workspace_->edit("tests/test_locked.py", "locked", "open")), "AF-TOOL-015");
    EXPECT_EQ(code(workspace_->move("tests/a.py", "tests/test_locked.py")), "AF-TOOL-015");
    EXPECT_TRUE(workspace_->read("src/a.py").ok());
    EXPECT_TRUE(workspace_->edit("tests/a.py", "a", "b").ok());
    EXPECT_EQ(workspace_->take_changes().size(), 1U);
}
TEST_F(WorkspaceTest, refused_create_makes_no_folder) {
    reopen({{"create_file", "tests/**/*"}});
    EXPECT_FALSE(workspace_->create("src/new/a.py", "x").ok());
    EXPECT_FALSE(fs::exists(at("src")));
}
TEST_F(WorkspaceTest, writes_are_refused_while_they_are_not_allowed) {
    workspace_->allow_writes(false);
    EXPECT_EQ(code(workspace_->create("a.txt", "x")), "AF-TOOL-014");
    workspace_->allow_writes(true);
    EXPECT_TRUE(workspace_->create("a.txt", "x").ok());
}
TEST_F(WorkspaceTest, denied_file_permissions_are_not_a_machine_failure) {
    put("a.txt", "a\n");
    ASSERT_EQ(::chmod(at("a.txt").c_str(), 0), 0);
    ASSERT_EQ(::chmod(at(".").c_str(), 0755), 0);
    const int before = ::setfsuid(65534);  // As root, permissions apply only with another user id.
    const auto refused = workspace_->read("a.txt");
    ::setfsuid(static_cast<uid_t>(before));
    EXPECT_EQ(code(refused), "AF-TOOL-038");
    EXPECT_EQ(refused.error().kind, ErrorKind::denied);
}
TEST_F(WorkspaceTest, a_write_that_fails_halfway_leaves_only_the_old_file) {
    put("a.txt", "old\n");
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1000, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto refused = workspace_->create("a.txt", std::string(5000, 'x'), true);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, old_handler);
    EXPECT_EQ(code(refused), "AF-TOOL-038");
    EXPECT_EQ(refused.error().kind, ErrorKind::io) << "the machine's";
    EXPECT_EQ(get("a.txt"), "old\n");
    EXPECT_EQ(workspace_->list(".")->entries.size(), 1U);
    EXPECT_TRUE(workspace_->take_changes().empty());
}
FileEdit file_edit(FileEditKind kind, std::string path, std::string content = "", std::string move_to = "") {
    FileEdit edit;
    edit.kind = kind;
    edit.path = std::move(path);
    edit.content = std::move(content);
    edit.move_to = std::move(move_to);
    return edit;
}
FileEdit changed(std::string path, std::string search, std::string replace, std::string move_to = "") {
    FileEdit edit = file_edit(FileEditKind::change, std::move(path), "", std::move(move_to));
    Hunk hunk;
    hunk.search = std::move(search);
    hunk.replace = std::move(replace);
    edit.hunks.push_back(std::move(hunk));
    return edit;
}
constexpr auto created = FileEditKind::create;
constexpr auto removed = FileEditKind::remove;
constexpr auto overwritten = FileEditKind::overwrite;

TEST_F(WorkspaceTest, applies_edits_of_several_files_at_once) {
    put("change.txt", "a\nb\n");
    put("whole.txt",
        "\xEF\xBB\xBF"
        "a\r\n");
    put("gone.txt", "g\n");
    put("moved.txt", "m\n");
    put("both.txt", "x\ny\n");
    ASSERT_EQ(::chmod(at("both.txt").c_str(), 0755), 0);
    const auto done =
        workspace_->apply({changed("change.txt", "b", "c"), file_edit(overwritten, "whole.txt", "z\n"),
                           file_edit(removed, "gone.txt"), file_edit(FileEditKind::change, "./moved.txt", "", "new/place.txt"),
                           changed("both.txt", "y", "z", "new/both.txt"), file_edit(created, "new/deep/file.txt", "n\n")});
    ASSERT_TRUE(done.ok()) << done.error().to_string();
    EXPECT_EQ(get("change.txt"), "a\nc\n");
    EXPECT_EQ(get("whole.txt"),
              "\xEF\xBB\xBF"
              "z\r\n");
    EXPECT_EQ(get("new/place.txt"), "m\n");
    EXPECT_EQ(get("new/both.txt"), "x\nz\n");
    EXPECT_EQ(get("new/deep/file.txt"), "n\n");
    EXPECT_EQ(fs::status(at("new/both.txt")).permissions() & fs::perms::owner_exec, fs::perms::owner_exec);
    std::string files;
    const auto listing = workspace_->list(".");
    for (const auto& entry : listing->entries) { files += entry.path + " "; }
    EXPECT_EQ(files, "change.txt new new/both.txt new/deep new/deep/file.txt new/place.txt whole.txt ");
    std::string recorded;
    for (const auto& change : workspace_->take_changes()) {
        recorded +=
            change.path + (change.before_sha256.empty() ? "" : " had") + (change.after_sha256.empty() ? "" : " has") + "; ";
    }
    EXPECT_EQ(
        recorded,
        "change.txt had has; whole.txt had has; gone.txt had; moved.txt had; new/place.txt has; both.txt had; new/both.txt has; new/deep/file.txt has; ");
}

struct Refusal {
    std::string name;
    std::vector<FileEdit> edits;
    std::string code;
};
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.code; }

class ApplyRefused : public WorkspaceTest, public testing::WithParamInterface<Refusal> {};

TEST_P(ApplyRefused, and_every_file_stays_as_it_was) {
    reopen({{"edit_file", "!tests/**/*"}}, {"locked.txt"});
    put("a.txt", "a\n");
    put("b.txt", "b\n");
    put("locked.txt", "l\n");
    put("twice.txt", "t t\n");
    put("tests/t.txt", "t\n");
    put("nul.txt", std::string_view("n\0n", 3));
    fs::create_directory(at("folder"));
    fs::create_symlink("a.txt", at("link.txt"));
    const std::vector<FileEdit>& edits = GetParam().edits;
    std::vector<FileEdit> all{changed("a.txt", "a", "A"), file_edit(created, "made/new.txt", "n\n")};
    all.insert(all.end(), edits.begin(), edits.end());
    const auto before = workspace_->list(".")->entries.size();
    EXPECT_EQ(code(workspace_->apply(all)), GetParam().code);
    EXPECT_EQ(get("a.txt"), "a\n");
    EXPECT_EQ(get("b.txt"), "b\n");
    EXPECT_EQ(workspace_->list(".")->entries.size(), before);
    EXPECT_TRUE(workspace_->take_changes().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Because, ApplyRefused,
    testing::Values(
        Refusal{"the_text_stands_nowhere", std::vector{changed("b.txt", "q", "r")}, "AF-TOOL-040"},
        Refusal{"the_text_stands_twice", std::vector{file_edit(removed, "b.txt"), changed("twice.txt", "t", "T")}, "AF-TOOL-041"},
        Refusal{"the_file_is_locked", std::vector{changed("locked.txt", "l", "L")}, "AF-TOOL-015"},
        Refusal{"a_path_rule_forbids_it", std::vector{changed("tests/t.txt", "t", "T")}, "AF-TOOL-013"},
        Refusal{"a_path_rule_forbids_where_it_goes", std::vector{changed("b.txt", "b", "B", "tests/b.txt")}, "AF-TOOL-013"},
        Refusal{"the_path_leads_out", std::vector{file_edit(created, "../out.txt", "x")}, "AF-TOOL-010"},
        Refusal{"the_path_is_protected", std::vector{file_edit(created, ".git/hooks/pre-commit", "x")}, "AF-TOOL-011"},
        Refusal{"the_file_is_missing", std::vector{file_edit(removed, "none.txt")}, "AF-TOOL-031"},
        Refusal{"the_file_is_a_link", std::vector{changed("link.txt", "a", "b")}, "AF-TOOL-032"},
        Refusal{"a_link_is_in_the_way", std::vector{file_edit(created, "link.txt", "x")}, "AF-TOOL-032"},
        Refusal{"a_folder_is_in_the_way", std::vector{file_edit(created, "folder", "x")}, "AF-TOOL-034"},
        Refusal{"a_file_is_in_the_way_of_a_folder", std::vector{file_edit(created, "b.txt/x", "x")}, "AF-TOOL-034"},
        Refusal{"the_new_file_exists", std::vector{file_edit(created, "b.txt", "x")}, "AF-TOOL-035"},
        Refusal{"the_target_exists", std::vector{file_edit(FileEditKind::change, "b.txt", "", "nul.txt")}, "AF-TOOL-035"},
        Refusal{"the_file_is_binary", std::vector{changed("nul.txt", "n", "m")}, "AF-TOOL-036"},
        Refusal{"nothing_is_said", std::vector{file_edit(FileEditKind::change, "b.txt")}, "AF-TOOL-042"},
        Refusal{"only_changes_move", std::vector{file_edit(removed, "b.txt", "", "c.txt")}, "AF-TOOL-042"},
        Refusal{"nothing_would_change", std::vector{file_edit(overwritten, "b.txt", "b\n")}, "AF-TOOL-043"},
        Refusal{"a_path_is_named_twice", std::vector{changed("./a.txt", "a", "B")}, "AF-TOOL-048"},
        Refusal{"two_files_go_to_one_place", std::vector{changed("b.txt", "b", "B", "made/new.txt")}, "AF-TOOL-048"},
        // Only the exchange itself detects this: `made` became a folder meanwhile.
        Refusal{"an_exchange_fails", std::vector{file_edit(removed, "b.txt"), file_edit(created, "made", "x")}, "AF-TOOL-035"}),
    [](const auto& one) { return one.param.name; });

TEST_F(WorkspaceTest, edits_on_a_full_disk_leave_every_file_unchanged) {
    put("a.txt", "a\n");
    put("b.txt", "b\n");
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1000, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto refused = workspace_->apply({changed("a.txt", "a", "A"), file_edit(overwritten, "b.txt", std::string(5000, 'x'))});
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, old_handler);
    EXPECT_EQ(code(refused), "AF-TOOL-038");
    EXPECT_EQ(get("a.txt") + get("b.txt"), "a\nb\n");
    EXPECT_EQ(workspace_->list(".")->entries.size(), 2U);
}
TEST_F(WorkspaceTest, an_empty_list_of_edits_is_refused) { EXPECT_EQ(code(workspace_->apply({})), "AF-TOOL-042"); }
TEST_F(WorkspaceTest, a_file_changed_since_the_agent_read_it_is_not_written) {
    put("a.txt", "a\n");
    workspace_->expect({{"a.txt", sha256("a\n")}});
    put("a.txt", "a, changed by a test run\n");
    EXPECT_EQ(code(workspace_->edit("a.txt", "a", "b")), "AF-TOOL-046");
    EXPECT_EQ(code(workspace_->apply({changed("a.txt", "a", "b")})), "AF-TOOL-046");
    EXPECT_EQ(code(workspace_->apply({file_edit(overwritten, "a.txt", "b")})), "AF-TOOL-046");
    EXPECT_EQ(code(workspace_->create("a.txt", "b", true)), "AF-TOOL-046");
    EXPECT_EQ(code(workspace_->move("a.txt", "b.txt")), "AF-TOOL-046");
    EXPECT_EQ(code(workspace_->remove("a.txt")), "AF-TOOL-046");
    EXPECT_EQ(get("a.txt"), "a, changed by a test run\n");
}
TEST_F(WorkspaceTest, the_agents_own_writes_count_as_seen) {
    put("a.txt", "a\n");
    workspace_->expect({{"a.txt", sha256("a\n")}});
    EXPECT_TRUE(workspace_->edit("a.txt", "a", "b").ok());
    EXPECT_TRUE(workspace_->apply({changed("a.txt", "b", "c", "b.txt")}).ok());
    EXPECT_TRUE(workspace_->apply({file_edit(overwritten, "b.txt", "d\n")}).ok());
}
TEST_F(WorkspaceTest, an_unread_file_is_not_overwritten) {
    put("a.txt", "a\n");
    EXPECT_TRUE(workspace_->apply({file_edit(overwritten, "a.txt", "b\n")}).ok());
    workspace_->expect({});
    EXPECT_EQ(code(workspace_->apply({file_edit(overwritten, "a.txt", "c\n")})), "AF-TOOL-047");
    EXPECT_TRUE(workspace_->apply({changed("a.txt", "b", "c")}).ok());
}
TEST_F(WorkspaceTest, missing_root_is_an_error) { EXPECT_EQ(code(RoleWorkspace::open(at("none").string(), {})), "AF-TOOL-030"); }

}  // namespace
}  // namespace agentforge::kernel
