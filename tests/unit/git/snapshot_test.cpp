// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "git_fixture.hpp"

namespace agentforge::kernel {
namespace {

class SnapshotTest : public GitTest {
protected:
    SnapshotTest() : commit_(first_commit()), worktree_(ensure(commit_)) {}
    [[nodiscard]] std::filesystem::path in(const std::string& path) const { return worktree_.path() / path; }
    [[nodiscard]] bool records(const std::string& path) {
        return ("\n" + list(snapshot(worktree_))).find("\n" + path + "\n") != std::string::npos;
    }
    std::string commit_;
    Worktree worktree_;
};

TEST_F(SnapshotTest, of_untouched_files_is_the_commits_tree) { EXPECT_EQ(snapshot(worktree_), id_of("HEAD^{tree}")); }

TEST_F(SnapshotTest, records_new_changed_and_deleted_files) {
    write(in("new.py"), "x = 1\n");
    write(in("src/app.py"), "changed\n");
    std::filesystem::remove(in("README.md"));
    const std::string tree = snapshot(worktree_);
    EXPECT_EQ(list(tree), ".gitignore\nlink\nnew.py\nsrc/app.py\nsrc/run.sh\n");
    EXPECT_EQ(git("cat-file blob " + tree + ":src/app.py"), "changed\n");
}

TEST_F(SnapshotTest, keeps_modes_and_links) {
    ::chmod(in("src/app.py").c_str(), 0755);
    std::filesystem::create_symlink("/etc/passwd", in("outside"));
    const std::string tree = snapshot(worktree_);
    EXPECT_NE(git("ls-tree " + tree + " src/app.py").find("100755"), std::string::npos);
    EXPECT_EQ(git("cat-file blob " + tree + ":outside"), "/etc/passwd");
    EXPECT_NE(git("ls-tree " + tree + " outside").find("120000"), std::string::npos);
}

TEST_F(SnapshotTest, omits_ignored_files) {
    write(in("debug.log"), "x");
    write(in("src/__pycache__/app.pyc"), "x");
    write(in("build/out"), "x");
    EXPECT_EQ(snapshot(worktree_), id_of("HEAD^{tree}"));
}

TEST_F(SnapshotTest, a_changed_ignore_file_applies_to_recorded_files) {
    write(in("notes.tmp"), "x");
    EXPECT_TRUE(records("notes.tmp"));
    write(in(".gitignore"), "*.tmp\n");
    EXPECT_FALSE(records("notes.tmp"));
}

TEST_F(SnapshotTest, records_tracked_files_that_an_ignore_file_names) {
    write(in(".gitignore"), "/src/\n*.md\n");
    EXPECT_TRUE(records("src/app.py"));
    std::filesystem::remove(in("README.md"));
    EXPECT_FALSE(records("README.md"));
    write(in("README.md"), "again\n");
    EXPECT_TRUE(records("README.md"));
}

TEST_F(SnapshotTest, names_files_that_no_tree_can_hold_until_a_reset_removes_them) {
    write(in("vendor/.git/config"), "[core]\n\tfsmonitor = touch /tmp/evil\n");
    write(in("src/.GIT"), "gitdir: /tmp/evil\n");
    write(in(".git"), "gitdir: /tmp/evil\n");
    const std::string deep(200, 'd');
    run("cd '" + worktree_.path().string() + "' && for level in $(seq 300); do mkdir " + deep + " && cd -P " + deep +
        " && touch file || exit 1; done");
    const std::string tree = snapshot(worktree_);
    EXPECT_THAT(list(tree), ::testing::Not(::testing::AnyOf(::testing::HasSubstr(".git/"), ::testing::HasSubstr(".GIT"))));
    EXPECT_EQ(snapshot(worktree_), tree);
    std::vector<std::string> found = worktree_.unrecordable();
    ASSERT_EQ(found.size(), 4U);
    EXPECT_THAT(found.front(), ::testing::StartsWith(deep.substr(0, 100)));
    EXPECT_EQ((std::vector<std::string>{found.begin() + 1, found.end()}),
              (std::vector<std::string>{"src/.GIT", "vendor/.git", ".git"}));
    reset(worktree_, id_of("HEAD^{tree}"));
    EXPECT_EQ(snapshot(worktree_), id_of("HEAD^{tree}"));
    EXPECT_TRUE(worktree_.unrecordable().empty());
    EXPECT_FALSE(std::filesystem::exists(in("src/.GIT")) || std::filesystem::exists(in("vendor")) ||
                 std::filesystem::exists(in(deep)));
}

TEST_F(SnapshotTest, refuses_a_path_nested_too_deeply) {
    std::string path;
    for (int level = 0; level < 250; ++level) { path += "d/"; }
    write(in(path + "file"), "x");
    const auto recorded = worktree_.snapshot_paths({path + "file"});
    ASSERT_FALSE(recorded.ok());
    EXPECT_EQ(recorded.error().code, "AF-GIT-035");
}

TEST_F(SnapshotTest, omits_agentforge_and_nested_git_folders) {
    write(in(".agentforge/tasks/x.yaml"), "x");
    write(in("vendor/.git/config"), "[core]\n");
    write(in("vendor/code.py"), "x = 1\n");
    EXPECT_EQ(list(snapshot(worktree_)), ".gitignore\nREADME.md\nlink\nsrc/app.py\nsrc/run.sh\nvendor/code.py\n");
}

TEST_F(SnapshotTest, keeps_the_recorded_agentforge_files_of_the_commit) {
    write(user() / ".agentforge/config/settings.yaml", "a: 1\n");
    git("add -f .agentforge");
    git("commit -q -m settings");
    Worktree other = std::move(*Worktree::ensure(user(), base() / "state/task-2", "task-2", id_of("HEAD")));
    std::filesystem::remove_all(other.path() / ".agentforge");
    EXPECT_EQ(snapshot(other), id_of("HEAD^{tree}"));
}

TEST_F(SnapshotTest, records_unusual_file_names) {
    for (const char* name : {"with space.txt", "größe.txt", "line\nbreak.txt", "quote\".txt", "-dash", "star*"}) {
        write(in(name), name);
    }
    const std::string tree = snapshot(worktree_);
    const Repository repository = open();
    const auto bytes = repository.file_in_tree(tree, "line\nbreak.txt");
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(*bytes, std::optional<std::string>("line\nbreak.txt"));
    EXPECT_EQ(git("fsck --strict --no-dangling --no-progress"), "");
}

TEST_F(SnapshotTest, records_the_bytes_on_disk_whatever_the_filters) {
    git("config core.autocrlf true");
    git("config filter.shout.clean 'tr a-z A-Z'");
    git("config filter.shout.smudge 'touch " + (base() / "filter-ran").string() + "'");
    git("config filter.shout.required true");
    write(in(".gitattributes"), "* text=auto ident filter=shout eol=crlf\n");
    write(in("crlf.txt"), "one\r\ntwo\r\n$Id: x $\r\n");
    write(in("lf.txt"), "one\n$Id$\n");
    const std::string tree = snapshot(worktree_);
    EXPECT_EQ(open().file_in_tree(tree, "crlf.txt").value(), std::optional<std::string>("one\r\ntwo\r\n$Id: x $\r\n"));
    reset(worktree_, id_of("HEAD^{tree}"));
    reset(worktree_, tree);
    EXPECT_EQ(read(in("crlf.txt")), "one\r\ntwo\r\n$Id: x $\r\n");
    EXPECT_EQ(read(in("lf.txt")), "one\n$Id$\n");
    EXPECT_FALSE(std::filesystem::exists(base() / "filter-ran"));
}

TEST_F(SnapshotTest, detects_a_change_of_the_same_size_and_mtime) {
    write(in("a.txt"), "aaaa");
    const std::string before = snapshot(worktree_);
    struct stat st {};
    ::stat(in("a.txt").c_str(), &st);
    write(in("a.txt"), "bbbb");
    const timespec times[2] = {st.st_atim, st.st_mtim};
    ::utimensat(AT_FDCWD, in("a.txt").c_str(), times, 0);
    EXPECT_NE(snapshot(worktree_), before);
}

TEST_F(SnapshotTest, omits_empty_folders) {
    std::filesystem::create_directories(in("empty/inner"));
    EXPECT_EQ(snapshot(worktree_), id_of("HEAD^{tree}"));
}

TEST_F(SnapshotTest, records_a_file_that_replaced_a_folder) {
    std::filesystem::remove_all(in("src"));
    write(in("src"), "a file\n");
    EXPECT_EQ(list(snapshot(worktree_)), ".gitignore\nREADME.md\nlink\nsrc\n");
}

TEST_F(SnapshotTest, records_a_link_that_replaced_a_folder_without_following_it) {
    std::filesystem::remove_all(in("src"));
    std::filesystem::create_directory_symlink(user() / "src", in("src"));
    EXPECT_EQ(list(snapshot(worktree_)), ".gitignore\nREADME.md\nlink\nsrc\n");
}

TEST_F(SnapshotTest, omits_pipes_without_blocking) {
    ASSERT_EQ(::mkfifo(in("pipe").c_str(), 0644), 0);
    EXPECT_EQ(snapshot(worktree_), id_of("HEAD^{tree}"));
}

TEST_F(SnapshotTest, refuses_an_ignore_file_that_is_a_pipe) {
    std::filesystem::create_directory(in("sub"));
    ASSERT_EQ(::mkfifo(in("sub/.gitignore").c_str(), 0644), 0);
    const auto tree = worktree_.snapshot();
    ASSERT_FALSE(tree.ok());
    EXPECT_EQ(tree.error().code, "AF-GIT-036");
}

TEST_F(SnapshotTest, of_known_paths_equals_a_full_snapshot) {
    write(in("new.py"), "x = 1\n");
    write(in("deep/er/file.txt"), "x\n");
    std::filesystem::remove_all(in("src"));
    write(in("debug.log"), "x");
    const std::string some =
        snapshot_paths(worktree_, {"new.py", "deep/er/file.txt", "src/app.py", "src/run.sh", "debug.log", "never-there"});
    EXPECT_EQ(some, snapshot(worktree_));
}

TEST_F(SnapshotTest, of_a_path_below_a_link_records_the_link) {
    std::filesystem::remove_all(in("src"));
    std::filesystem::create_directory_symlink(user() / "src", in("src"));
    EXPECT_EQ(list(snapshot_paths(worktree_, {"src/app.py"})), ".gitignore\nREADME.md\nlink\nsrc\n");
}

TEST_F(SnapshotTest, of_a_folder_records_everything_below_it) {
    write(in("pkg/a.py"), "a\n");
    write(in("pkg/sub/b.py"), "b\n");
    const std::string tree = snapshot_paths(worktree_, {"pkg"});
    std::filesystem::remove_all(in("pkg/sub"));
    EXPECT_NE(list(tree).find("pkg/sub/b.py"), std::string::npos);
    EXPECT_EQ(list(snapshot_paths(worktree_, {"pkg"})).find("pkg/sub/b.py"), std::string::npos);
}

TEST_F(SnapshotTest, refuses_paths_that_leave_the_worktree) {
    for (const char* path : {"../x", "/etc/passwd", "a/../../x", ".git/config", "sub/.GIT/x", ""}) {
        const auto tree = worktree_.snapshot_paths({path});
        ASSERT_FALSE(tree.ok()) << path;
        EXPECT_EQ(tree.error().code, "AF-GIT-015");
    }
}

TEST_F(SnapshotTest, of_a_reopened_worktree_is_the_same) {
    write(in("new.py"), "x = 1\n");
    const std::string tree = snapshot(worktree_);
    Worktree again = ensure(commit_);
    EXPECT_EQ(snapshot(again), tree);
}

TEST_F(SnapshotTest, survives_a_broken_cache) {
    write(in("new.py"), "x = 1\n");
    const std::string tree = snapshot(worktree_);
    write(user() / ".git/worktrees/task-1/agentforge-index", "garbage");
    Worktree again = ensure(commit_);
    EXPECT_EQ(snapshot(again), tree);
}

TEST_F(SnapshotTest, repairs_a_git_file_that_was_replaced) {
    std::filesystem::remove(in(".git"));
    write(in(".git/config"), "[core]\n\tfsmonitor = touch /tmp/evil\n");
    EXPECT_EQ(snapshot(worktree_), id_of("HEAD^{tree}"));
    EXPECT_EQ(git_in(worktree_.path(), "status --porcelain"), "");
}

TEST_F(SnapshotTest, keeps_gitlinks_as_they_are) {
    git("update-index --add --cacheinfo 160000," + commit_ + ",modules/lib");
    git("commit -q -m submodule");
    Worktree other = std::move(*Worktree::ensure(user(), base() / "state/task-2", "task-2", id_of("HEAD")));
    EXPECT_TRUE(std::filesystem::is_directory(other.path() / "modules/lib"));
    write(other.path() / "modules/lib/file", "x");
    EXPECT_EQ(snapshot(other), id_of("HEAD^{tree}"));
}

TEST_F(SnapshotTest, changes_since_names_what_differs) {
    write(in("new.py"), "x = 1\n");
    std::filesystem::remove(in("README.md"));
    const auto changes = worktree_.changes_since(id_of("HEAD^{tree}"));
    ASSERT_TRUE(changes.ok());
    ASSERT_EQ(changes->size(), 2U);
    EXPECT_EQ((*changes)[0].path, "README.md");
    EXPECT_EQ((*changes)[0].status, 'D');
    EXPECT_EQ((*changes)[1].status, 'A');
}

TEST_F(SnapshotTest, survives_git_gc) {
    write(in("new.py"), "x = 1\n");
    const std::string tree = snapshot(worktree_);
    git("gc -q --prune=now");
    Worktree again = ensure(commit_);
    EXPECT_EQ(snapshot(again), tree);
    EXPECT_EQ(git("cat-file blob " + tree + ":new.py"), "x = 1\n");
}

TEST_F(SnapshotTest, of_two_thousand_files_is_complete) {
    for (int i = 0; i < 2000; ++i) {
        write(in("many/" + std::to_string(i % 40) + "/f" + std::to_string(i) + ".txt"), std::to_string(i));
    }
    using clock = std::chrono::steady_clock;
    const auto ms = [](clock::time_point from) {
        return std::to_string(std::chrono::duration<double, std::milli>(clock::now() - from).count());
    };
    auto start = clock::now();
    const std::string tree = snapshot(worktree_);
    RecordProperty("first_ms", ms(start));
    EXPECT_EQ(open().files_in_tree(tree)->size(), 2005U);
    const auto made = open().commit({tree, commit_, "many\n", "A", "a@example.org", std::chrono::system_clock::time_point{}});
    ASSERT_TRUE(made.ok());
    start = clock::now();
    Worktree other = std::move(*Worktree::ensure(user(), base() / "state/task-2", "task-2", *made));
    RecordProperty("ensure_ms", ms(start));
    snapshot(other);
    start = clock::now();
    EXPECT_EQ(snapshot(other), tree);
    RecordProperty("unchanged_ms", ms(start));
    write(other.path() / "many/3/f3.txt", "changed");
    start = clock::now();
    snapshot_paths(other, {"many/3/f3.txt"});
    RecordProperty("paths_ms", ms(start));
    start = clock::now();
    reset(other, tree);
    RecordProperty("reset_ms", ms(start));
}

}  // namespace
}  // namespace agentforge::kernel
