// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>

#include "git_fixture.hpp"

namespace agentforge::kernel {
namespace {

using WorktreeTest = GitTest;

TEST_F(WorktreeTest, creates_the_files_of_the_commit) {
    const std::string commit = first_commit();
    const Worktree worktree = ensure(commit);
    EXPECT_EQ(read(worktree.path() / "src/app.py"), read(user() / "src/app.py"));
}

TEST_F(WorktreeTest, is_created_during_git_worktree_prune) {
    const std::string commit = first_commit();
    std::atomic<bool> over{false};
    std::thread prune([&] {
        while (!over) { git("worktree prune --expire=now"); }
    });
    for (int number = 0; number < 40; ++number) {
        const std::string name = "task-" + std::to_string(number);
        const auto made = Worktree::ensure(user(), task().parent_path() / name, name, commit);
        EXPECT_TRUE(made.ok()) << made.error().to_string();
    }
    over = true;
    prune.join();
    const std::string listed = git("worktree list --porcelain");
    EXPECT_NE(listed.find("task-39"), std::string::npos);
    EXPECT_EQ(listed.find("locked"), std::string::npos);
}

TEST_F(WorktreeTest, leaves_the_users_checkout_untouched) {
    const std::string commit = first_commit();
    write(user() / "README.md", "# Changed\n");
    write(user() / "staged.txt", "staged\n");
    git("add staged.txt");
    write(user() / "untracked.txt", "untracked\n");
    const std::string status = git("status --porcelain");
    const std::string branches = git("branch -a");
    const std::string index = read(user() / ".git/index");
    auto before = picture(user());
    {
        Worktree worktree = ensure(commit);
        write(worktree.path() / "new.py", "x = 1\n");
        std::filesystem::remove(worktree.path() / "README.md");
        const std::string tree = snapshot(worktree);
        reset(worktree, id_of("HEAD^{tree}"));
        reset(worktree, tree);
    }
    EXPECT_EQ(read(user() / ".git/index"), index);
    EXPECT_EQ(read(user() / ".git/HEAD"), "ref: refs/heads/main\n");
    auto after = picture(user());
    std::erase_if(before, [](const auto& one) { return one.first.starts_with(".git/"); });
    std::erase_if(after, [](const auto& one) { return one.first.starts_with(".git/"); });
    EXPECT_EQ(after, before);
    EXPECT_EQ(git("status --porcelain"), status);
    EXPECT_EQ(git("branch -a"), branches);
}

TEST_F(WorktreeTest, git_lists_it_as_detached_and_fsck_is_content) {
    const std::string commit = first_commit();
    const Worktree worktree = ensure(commit);
    EXPECT_NE(git("worktree list --porcelain").find("worktree " + worktree.path().string() + "\nHEAD " + commit + "\ndetached"),
              std::string::npos);
    EXPECT_EQ(git("fsck --strict --no-dangling --no-progress"), "");
    EXPECT_EQ(git_in(worktree.path(), "status --porcelain"), "");
}

TEST_F(WorktreeTest, leaves_no_branch_and_blocks_no_checkout) {
    const std::string commit = first_commit();
    git("branch other");
    const Worktree worktree = ensure(commit);
    EXPECT_EQ(git("branch --format='%(refname)'"), "refs/heads/main\nrefs/heads/other\n");
    git("checkout -q other");
    git("checkout -q main");
}

TEST_F(WorktreeTest, locks_that_a_killed_task_left_on_its_indexes_are_removed) {
    const std::string commit = first_commit();
    std::filesystem::path admin;
    {
        const Worktree worktree = ensure(commit);
        const std::string link = read(worktree.path() / ".git");
        admin = link.substr(8, link.size() - 9);  // gitdir: …
    }
    for (const char* index : {"index", "agentforge-index"}) {
        std::filesystem::remove(admin / index);
        write(admin / (std::string(index) + ".lock"), "");
    }
    const Worktree worktree = ensure(commit);
    EXPECT_TRUE(std::filesystem::exists(admin / "index"));
    EXPECT_TRUE(std::filesystem::exists(admin / "agentforge-index"));
}

TEST_F(WorktreeTest, reopens_an_existing_one_with_its_files) {
    const std::string commit = first_commit();
    { write(ensure(commit).path() / "kept.txt", "kept\n"); }
    const Worktree again = ensure(commit);
    EXPECT_EQ(read(again.path() / "kept.txt"), "kept\n");
}

TEST_F(WorktreeTest, repairs_a_record_without_a_folder) {
    const std::string commit = first_commit();
    { ensure(commit); }
    std::filesystem::remove_all(task());
    const Worktree again = ensure(commit);
    EXPECT_EQ(read(again.path() / "README.md"), "# Demo\n");
}

TEST_F(WorktreeTest, repairs_a_folder_whose_record_is_gone) {
    const std::string commit = first_commit();
    { ensure(commit); }
    std::filesystem::remove_all(user() / ".git/worktrees");
    const Worktree again = ensure(commit);
    EXPECT_EQ(git_in(again.path(), "status --porcelain"), "");
}

TEST_F(WorktreeTest, repairs_an_empty_folder) {
    const std::string commit = first_commit();
    std::filesystem::create_directories(task());
    const Worktree worktree = ensure(commit);
    EXPECT_EQ(git_in(worktree.path(), "status --porcelain"), "");
}

TEST_F(WorktreeTest, leaves_a_foreign_folder_alone) {
    const std::string commit = first_commit();
    write(task() / "thesis.txt", "mine\n");
    const auto made = Worktree::ensure(user(), task(), "task-1", commit);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "AF-GIT-021");
    const auto removed = Worktree::remove(user(), task(), "task-1");
    ASSERT_FALSE(removed.ok());
    EXPECT_EQ(removed.error().code, "AF-GIT-021");
    EXPECT_EQ(read(task() / "thesis.txt"), "mine\n");
}

TEST_F(WorktreeTest, refuses_a_place_inside_the_repository) {
    const std::string commit = first_commit();
    const auto made = Worktree::ensure(user(), user() / "sub" / "task", "task-1", commit);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "AF-GIT-023");
}

TEST_F(WorktreeTest, refuses_a_name_that_is_a_path) {
    const std::string commit = first_commit();
    const auto made = Worktree::ensure(user(), task(), "../hooks", commit);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "AF-GIT-020");
}

TEST_F(WorktreeTest, refuses_a_name_that_another_folder_has) {
    const std::string commit = first_commit();
    { ensure(commit); }
    const auto made = Worktree::ensure(user(), base() / "state" / "task-2", "task-1", commit);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "AF-GIT-022");
}

TEST_F(WorktreeTest, names_a_missing_commit) {
    first_commit();
    const auto made = Worktree::ensure(user(), task(), "task-1", std::string(40, '1'));
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "AF-GIT-007");
}

TEST_F(WorktreeTest, remove_deletes_folder_and_record_and_may_be_repeated) {
    const std::string commit = first_commit();
    { ensure(commit); }
    ASSERT_TRUE(Worktree::remove(user(), task(), "task-1").ok());
    EXPECT_FALSE(std::filesystem::exists(task()));
    EXPECT_FALSE(std::filesystem::exists(user() / ".git/worktrees"));
    EXPECT_TRUE(Worktree::remove(user(), task(), "task-1").ok());
    EXPECT_EQ(git("worktree prune --verbose"), "");
}

TEST_F(WorktreeTest, records_outlive_their_folder) {
    { ensure(first_commit()); }
    std::filesystem::remove_all(task());
    const auto records = worktree_records(open());
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records.front().name, "task-1");
    EXPECT_EQ(records.front().path, base() / "state" / "task-1");
    std::filesystem::remove(user() / ".git/worktrees/task-1/gitdir");
    EXPECT_EQ(worktree_records(open()).front().path, "");
}

TEST_F(WorktreeTest, remove_deletes_very_deep_and_read_only_folders) {
    const std::string commit = first_commit();
    const Worktree worktree = ensure(commit);
    run("cd '" + worktree.path().string() +
        "' && python3 -c 'import os\nfor _ in range(1500):\n    os.mkdir(\"dddddd\")\n    os.chdir(\"dddddd\")\nopen(\"file\", \"w\").close()\nos.chmod(\".\", 0o555)'");
    ASSERT_TRUE(Worktree::remove(user(), task(), "task-1").ok());
    EXPECT_FALSE(std::filesystem::exists(task()));
}

TEST_F(WorktreeTest, hooks_never_run) {
    const std::string commit = first_commit();
    for (const char* hook : {"post-checkout", "reference-transaction", "pre-commit", "commit-msg", "post-index-change"}) {
        write(user() / ".git/hooks" / hook, "#!/bin/sh\ntouch '" + (base() / "hook-ran").string() + "'\nexit 1\n");
        ::chmod((user() / ".git/hooks" / hook).c_str(), 0755);
    }
    Worktree worktree = ensure(commit);
    write(worktree.path() / "new.py", "x = 1\n");
    const std::string tree = snapshot(worktree);
    const Repository repository = open();
    ASSERT_TRUE(repository.keep_tree("task-1/1", tree).ok());
    const auto made =
        repository.commit({tree, commit, "Add x\n", "Ada", "ada@example.org", std::chrono::system_clock::time_point{}});
    ASSERT_TRUE(made.ok());
    ASSERT_TRUE(repository.create_branch("agentforge/task-1", *made).ok());
    EXPECT_FALSE(std::filesystem::exists(base() / "hook-ran"));
}

TEST_F(WorktreeTest, works_when_given_a_linked_worktree_of_the_user) {
    const std::string commit = first_commit();
    git("worktree add -q -b feature '" + (base() / "linked").string() + "'");
    const auto made = Worktree::ensure(base() / "linked", task(), "task-1", commit);
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    EXPECT_EQ(git_in(made->path(), "status --porcelain"), "");
}

TEST_F(WorktreeTest, a_worktree_reopened_on_another_commit_moves_to_it) {
    const std::string commit = first_commit();
    { ensure(commit); }
    write(user() / "more.txt", "more\n");
    git("add -A");
    git("commit -q -m second");
    const Worktree worktree = ensure(id_of("HEAD"));
    EXPECT_EQ(git_in(worktree.path(), "rev-parse HEAD"), id_of("HEAD") + "\n");
}

}  // namespace
}  // namespace agentforge::kernel
