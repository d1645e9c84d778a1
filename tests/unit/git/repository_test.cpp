// SPDX-License-Identifier: Apache-2.0
#include "git/git_configuration.hpp"
#include "git/merges.hpp"
#include "git_fixture.hpp"

namespace agentforge::kernel {
namespace {

using RepositoryTest = GitTest;

std::string code_of(const Result<Repository>& result) { return result.ok() ? "" : result.error().code; }

TEST_F(RepositoryTest, a_folder_without_a_repository_is_named) {
    std::filesystem::create_directories(base() / "plain");
    EXPECT_EQ(code_of(Repository::open(base() / "plain")), "AF-GIT-001");
}

TEST_F(RepositoryTest, a_repository_of_another_user_is_refused_with_a_remedy) {
    if (::geteuid() == 0) {
        run("chown -R 12345 '" + user().string() + "'");
    } else {
        return;
    }
    const auto opened = Repository::open(user());
    EXPECT_EQ(code_of(opened), "AF-GIT-002");
    EXPECT_NE(opened.error().remedy.find("safe.directory"), std::string::npos);
    run("chown -R 0 '" + user().string() + "'");
}

TEST_F(RepositoryTest, a_bare_repository_is_refused) {
    run("git init -q --bare '" + (base() / "bare.git").string() + "'");
    EXPECT_EQ(code_of(Repository::open(base() / "bare.git")), "AF-GIT-003");
}

TEST_F(RepositoryTest, a_sha256_repository_is_refused) {
    run("git init -q --object-format=sha256 '" + (base() / "sha256").string() + "'");
    EXPECT_EQ(code_of(Repository::open(base() / "sha256")), "AF-GIT-004");
}

TEST_F(RepositoryTest, an_unborn_branch_asks_for_a_first_commit) {
    const auto head = open().head_commit();
    ASSERT_FALSE(head.ok());
    EXPECT_EQ(head.error().code, "AF-GIT-005");
    EXPECT_EQ(open().current_branch(), std::optional<std::string>("main"));
}

TEST_F(RepositoryTest, is_found_from_a_subfolder) {
    const std::string commit = first_commit();
    const auto repository = Repository::open(user() / "src");
    ASSERT_TRUE(repository.ok());
    EXPECT_EQ(repository->head_commit().value(), commit);
    EXPECT_EQ(std::filesystem::canonical(repository->work_directory()), std::filesystem::canonical(user()));
    EXPECT_EQ(repository->tree_of(commit).value(), id_of("HEAD^{tree}"));
}

TEST_F(RepositoryTest, a_detached_head_is_on_no_branch) {
    first_commit();
    git("checkout -q --detach");
    EXPECT_EQ(open().current_branch(), std::nullopt);
}

TEST_F(RepositoryTest, uncommitted_names_staged_changed_deleted_and_new_files) {
    first_commit();
    write(user() / "staged.txt", "x");
    git("add staged.txt");
    write(user() / "src/app.py", "changed, and longer than before\n");
    std::filesystem::remove(user() / "README.md");
    write(user() / "new/file.txt", "x");
    write(user() / "x.log", "ignored");
    write(user() / ".agentforge/tasks/x", "x");
    EXPECT_EQ(open().uncommitted().value(), (std::vector<std::string>{"README.md", "new/file.txt", "src/app.py", "staged.txt"}));
}

TEST_F(RepositoryTest, identity_comes_from_the_configuration) {
    EXPECT_EQ(open().identity(), (std::pair<std::string, std::string>("Ada Example", "ada@example.org")));
    git("config --unset user.email");
    EXPECT_EQ(open().identity(), std::nullopt);
}

TEST_F(RepositoryTest, diff_finds_renames_and_counts_lines) {
    first_commit();
    std::string lines;
    for (int i = 0; i < 40; ++i) { lines += "line " + std::to_string(i) + "\n"; }
    write(user() / "old.txt", lines);
    git("add -A");
    git("commit -q -m lines");
    const std::string before = id_of("HEAD^{tree}");
    git("mv old.txt new.txt");
    write(user() / "new.txt", lines + "one more\n");
    write(user() / "src/app.py", "def main():\n    return 1\n");
    git("add -A");
    git("commit -q -m rename");
    const auto changes = open().diff(before, id_of("HEAD^{tree}"));
    ASSERT_TRUE(changes.ok());
    ASSERT_EQ(changes->size(), 2U);
    EXPECT_EQ((*changes)[0].status, 'R');
    EXPECT_EQ((*changes)[0].old_path, "old.txt");
    EXPECT_EQ((*changes)[0].lines_added, 1U);
    EXPECT_EQ((*changes)[1].path, "src/app.py");
    EXPECT_EQ((*changes)[1].lines_removed, 1U);
}

TEST_F(RepositoryTest, patch_applies_and_is_bounded) {
    first_commit();
    const Repository repository = open();
    const std::string before = id_of("HEAD^{tree}");
    const std::string after = repository.edit_tree(before, {{"src/app.py", "new\n"}}).value();
    const std::string patch = repository.patch(before, after).value();
    write(base() / "p.patch", patch);
    git("apply '" + (base() / "p.patch").string() + "'");
    EXPECT_EQ(read(user() / "src/app.py"), "new\n");
    const std::string cut = repository.patch(before, after, 60).value();
    EXPECT_LT(cut.size(), 200U);
    EXPECT_NE(cut.find("left out"), std::string::npos);
}

TEST_F(RepositoryTest, patches_and_line_counts_do_not_depend_on_attributes) {
    first_commit();
    std::string code;
    for (int at = 0; at < 8; ++at) { code += "def f" + std::to_string(at) + "():\n    a = 1\n\n\n    return 1\n"; }
    const std::string image("PNG\0", 4);
    const std::string before = open().edit_tree(id_of("HEAD^{tree}"), {{"src/app.py", code}, {"image.png", image}}).value();
    const std::string changed = code + "    # end\n";
    const std::string after = open().edit_tree(before, {{"src/app.py", changed}, {"image.png", image + "more"}}).value();
    const std::string plain = open().patch(before, after).value();
    EXPECT_NE(plain.find("@@ def f7():\n"), std::string::npos) << plain;
    EXPECT_NE(plain.find("+    # end\n"), std::string::npos) << plain;
    EXPECT_NE(plain.find("Binary files a/image.png and b/image.png differ\n"), std::string::npos) << plain;
    for (const char* attributes : {"* -diff\n", "* binary\n", "* diff\n", "*.py diff=odd\n"}) {
        write(user() / ".git" / "info" / "attributes", attributes);
        git("config diff.odd.xfuncname '^ *return.*'");
        EXPECT_EQ(open().patch(before, after).value(), plain) << attributes;
        const auto changes = open().diff(before, after).value();
        ASSERT_EQ(changes.size(), 2U);
        EXPECT_EQ(changes[0].lines_added, 0U) << attributes;
        EXPECT_EQ(changes[1].lines_added, 1U) << attributes;
    }
}

TEST_F(RepositoryTest, patch_shows_modes_renames_and_removed_files) {
    first_commit();
    write(user() / "src" / "tool.sh", "#!/bin/sh\necho one\necho two\necho three\n");
    git("add -A");
    const auto staged = [&] { return git("write-tree").substr(0, 40); };
    const std::string before = staged();
    git("mv src/tool.sh src/other.sh");
    git("update-index --chmod=+x src/other.sh");
    git("rm -q src/app.py");
    const std::string after = staged();
    write(base() / "p.patch", open().patch(before, after).value());
    git("read-tree " + before);
    git("apply --cached '" + (base() / "p.patch").string() + "'");
    EXPECT_EQ(staged(), after) << read(base() / "p.patch");
}

TEST_F(RepositoryTest, edit_tree_replaces_adds_and_removes) {
    first_commit();
    const Repository repository = open();
    const auto tree = repository.edit_tree(
        id_of("HEAD^{tree}"),
        {{"src/app.py", std::nullopt}, {"src/run.sh", std::nullopt}, {"a/b/c.txt", "c"}, {"README.md", "new\n"}});
    ASSERT_TRUE(tree.ok());
    EXPECT_EQ(repository.files_in_tree(*tree).value(),
              (std::vector<std::string>{".gitignore", "README.md", "a/b/c.txt", "link"}));
    EXPECT_EQ(repository.file_in_tree(*tree, "README.md").value(), std::optional<std::string>("new\n"));
    EXPECT_EQ(repository.file_in_tree(*tree, "src/app.py").value(), std::nullopt);
}

TEST_F(RepositoryTest, links_of_a_tree_are_listed_with_their_targets) {
    first_commit();
    EXPECT_EQ(open().links_in_tree(id_of("HEAD^{tree}")).value(), (std::map<std::string, std::string>{{"link", "src/app.py"}}));
}

TEST_F(RepositoryTest, edit_tree_keeps_the_executable_bit) {
    first_commit();
    const auto tree = open().edit_tree(id_of("HEAD^{tree}"), {{"src/run.sh", "#!/bin/sh\n"}});
    EXPECT_NE(git("ls-tree " + *tree + " src/run.sh").find("100755"), std::string::npos);
}

TEST_F(RepositoryTest, edit_tree_refuses_paths_that_git_cannot_hold) {
    first_commit();
    for (const char* path : {"../x", "/x", ".git/x", "a//b", ""}) {
        const auto tree = open().edit_tree(id_of("HEAD^{tree}"), {{path, "x"}});
        ASSERT_FALSE(tree.ok()) << path;
        EXPECT_EQ(tree.error().code, "AF-GIT-015");
    }
    EXPECT_FALSE(open().edit_tree(id_of("HEAD^{tree}"), {{"a", "x"}, {"a/b", "x"}}).ok());
}

TEST_F(RepositoryTest, edit_tree_may_remove_everything) {
    first_commit();
    const auto tree = open().edit_tree(id_of("HEAD^{tree}"), {{".gitignore", std::nullopt},
                                                              {"README.md", std::nullopt},
                                                              {"link", std::nullopt},
                                                              {"src/app.py", std::nullopt},
                                                              {"src/run.sh", std::nullopt}});
    EXPECT_EQ(tree.value(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
}

TEST_F(RepositoryTest, keep_tree_is_deterministic_and_survives_gc) {
    first_commit();
    const Repository repository = open();
    const std::string tree = repository.edit_tree(id_of("HEAD^{tree}"), {{"x.txt", "x"}}).value();
    ASSERT_TRUE(repository.keep_tree("task-1/step-1", tree).ok());
    const std::string first = id_of("refs/agentforge/task-1/step-1");
    ASSERT_TRUE(repository.keep_tree("task-1/step-1", tree).ok());
    EXPECT_EQ(id_of("refs/agentforge/task-1/step-1"), first);
    git("gc -q --prune=now");
    EXPECT_EQ(git("cat-file blob " + tree + ":x.txt"), "x");
    EXPECT_EQ(git("branch --format='%(refname)'"), "refs/heads/main\n");
}

TEST_F(RepositoryTest, drop_refs_removes_only_the_refs_of_one_task) {
    first_commit();
    const Repository repository = open();
    const std::string tree = id_of("HEAD^{tree}");
    for (const char* name : {"task-1/a", "task-1/b", "task-10/a"}) { ASSERT_TRUE(repository.keep_tree(name, tree).ok()); }
    ASSERT_TRUE(repository.drop_refs("task-1").ok());
    EXPECT_EQ(git("for-each-ref --format='%(refname)' refs/agentforge"), "refs/agentforge/task-10/a\n");
    EXPECT_FALSE(repository.drop_refs("").ok());
    EXPECT_FALSE(repository.drop_refs("../heads").ok());
}

TEST_F(RepositoryTest, reads_the_users_configuration_as_git_does) {
    std::ofstream(user() / ".git/config", std::ios::app)
        << "[gpg]\n\tformat = ssh\n[yes]\n\ta = true\n\tb = YES\n\tc = on\n\td = 1\n\te\n[no]\n\ta = false\n\tb = Off\n\tc = 0\n\td = maybe\n";
    const GitConfiguration configuration(user());
    EXPECT_EQ(configuration.text("gpg.format"), "ssh");
    EXPECT_EQ(configuration.text("gpg.program"), "");
    for (const char* key : {"yes.a", "yes.b", "yes.c", "yes.d", "yes.e"}) { EXPECT_TRUE(configuration.flag(key)) << key; }
    for (const char* key : {"no.a", "no.b", "no.c", "no.d", "no.such"}) { EXPECT_FALSE(configuration.flag(key)) << key; }
    EXPECT_FALSE(GitConfiguration(base() / "nowhere").flag("yes.a"));
}

TEST_F(RepositoryTest, commits_and_branches_though_signing_is_configured) {
    const std::string commit = first_commit();
    git("config commit.gpgsign true");
    git("config gpg.program /bin/false");
    const Repository repository = open();
    const std::string tree = repository.edit_tree(id_of("HEAD^{tree}"), {{"x.txt", "x"}}).value();
    const auto made = repository.commit(
        {tree, commit, "Add x\n\nTask: task-1\n", "Ada", "ada@example.org", std::chrono::system_clock::time_point{}});
    ASSERT_TRUE(made.ok());
    ASSERT_TRUE(repository.create_branch("agentforge/task-1", *made).ok());
    EXPECT_EQ(id_of("agentforge/task-1"), *made);
    EXPECT_EQ(git("log -1 --format='%an <%ae> %s' agentforge/task-1"), "Ada <ada@example.org> Add x\n");
    EXPECT_EQ(git("status --porcelain"), "");
    EXPECT_EQ(git("fsck --strict --no-dangling --no-progress"), "");
}

TEST_F(RepositoryTest, create_branch_may_be_repeated_but_moves_nothing) {
    const std::string commit = first_commit();
    const Repository repository = open();
    ASSERT_TRUE(repository.create_branch("agentforge/t", commit).ok());
    EXPECT_TRUE(repository.create_branch("agentforge/t", commit).ok());
    const auto other =
        repository.commit({id_of("HEAD^{tree}"), commit, "m\n", "A", "a@example.org", std::chrono::system_clock::time_point{}});
    const auto moved = repository.create_branch("agentforge/t", *other);
    ASSERT_FALSE(moved.ok());
    EXPECT_EQ(moved.error().code, "AF-GIT-010");
    EXPECT_EQ(repository.branch_commit("agentforge/t").value(), std::optional<std::string>(commit));
    EXPECT_EQ(repository.branch_commit("none").value(), std::nullopt);
}

TEST_F(RepositoryTest, a_branch_in_the_way_is_named) {
    const std::string commit = first_commit();
    git("branch agentforge");
    const auto made = open().create_branch("agentforge/t", commit);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "AF-GIT-014");
}

TEST_F(RepositoryTest, a_lock_of_the_user_is_named_and_not_deleted) {
    const std::string commit = first_commit();
    write(user() / ".git/refs/heads/feature.lock", "");
    const auto made = open().create_branch("feature", commit);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "AF-GIT-011");
    EXPECT_TRUE(std::filesystem::exists(user() / ".git/refs/heads/feature.lock"));
}

TEST_F(RepositoryTest, a_lock_that_a_killed_task_left_on_its_tree_is_removed) {
    first_commit();
    write(user() / ".git/refs/agentforge/t.lock", "");
    const auto kept = open().keep_tree("t", id_of("HEAD^{tree}"));
    EXPECT_TRUE(kept.ok()) << kept.error().to_string();
}

TEST_F(RepositoryTest, a_lock_that_a_killed_task_left_on_its_branch_is_removed) {
    const std::string commit = first_commit();
    write(user() / ".git/refs/heads/agentforge/t.lock", "");
    const auto made = open().create_branch("agentforge/t", commit);
    EXPECT_TRUE(made.ok()) << made.error().to_string();
}

TEST_F(RepositoryTest, a_lock_that_a_killed_rebase_left_on_its_branch_is_removed) {
    const std::string before = first_commit();
    git("branch agentforge/t");
    git("commit -q --allow-empty -m next");
    write(user() / ".git/refs/heads/agentforge/t.lock", "");
    const auto moved = move_branch(user(), "agentforge/t", before, id_of("HEAD"));
    EXPECT_TRUE(moved.ok()) << moved.error().to_string();
    EXPECT_EQ(id_of("agentforge/t"), id_of("HEAD"));
}

TEST_F(RepositoryTest, an_author_that_git_does_not_accept_is_named) {
    const std::string commit = first_commit();
    const auto made = open().commit({id_of("HEAD^{tree}"), commit, "m", "<>", "", std::chrono::system_clock::time_point{}});
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "AF-GIT-013");
}

}  // namespace
}  // namespace agentforge::kernel
