// SPDX-License-Identifier: Apache-2.0
// Kinds of repositories: with submodules, Git LFS, shallow, partial, sparse, in any encoding, for several tasks at once.
#include <thread>

#include "git_fixture.hpp"

namespace agentforge::kernel {
namespace {

constexpr const char* allow_files = "-c protocol.file.allow=always ";

class SubmoduleTest : public GitTest {
protected:
    SubmoduleTest() {
        first_commit();
        const std::filesystem::path library = base() / "library";
        write(library / "lib.c", "int lib;\n");
        write(library / "include/lib.h", "extern int lib;\n");
        write(library / ".gitignore", "*.o\n");
        run("cd '" + library.string() +
            "' && git init -q -b main . && git add -A && git -c user.name=L -c user.email=l@example.org commit -q -m Lib");
        git(allow_files + ("submodule --quiet add '" + library.string() + "' modules/lib"));
        git("commit -q -m submodule");
        tree_ = id_of("HEAD^{tree}");
    }
    [[nodiscard]] static std::filesystem::path lib(const Worktree& worktree) { return worktree.path() / "modules/lib"; }
    std::string tree_;
};

TEST_F(SubmoduleTest, has_the_files_of_the_recorded_commit) {
    write(user() / "modules/lib/lib.c", "int mine;\n");  // The user's change there is not included.
    const Worktree worktree = ensure(id_of("HEAD"));
    EXPECT_EQ(read(lib(worktree) / "lib.c"), "int lib;\n");
    EXPECT_EQ(read(lib(worktree) / "include/lib.h"), "extern int lib;\n");
    EXPECT_FALSE(std::filesystem::exists(lib(worktree) / ".git"));
    EXPECT_EQ(worktree.submodules(), std::vector<std::string>{"modules/lib"});
    EXPECT_TRUE(worktree.unfilled().empty());
}

TEST_F(SubmoduleTest, finds_and_reverts_a_change_in_it) {
    Worktree worktree = ensure(id_of("HEAD"));
    write(lib(worktree) / "lib.c", "int evil;\n");
    write(lib(worktree) / "new.c", "int more;\n");
    std::filesystem::remove_all(lib(worktree) / "include");
    EXPECT_EQ(snapshot(worktree), tree_);
    EXPECT_EQ(worktree.unrecordable(),
              (std::vector<std::string>{"modules/lib/lib.c", "modules/lib/new.c", "modules/lib/include/lib.h"}));
    reset(worktree, tree_);
    EXPECT_EQ(read(lib(worktree) / "lib.c"), "int lib;\n");
    EXPECT_EQ(read(lib(worktree) / "include/lib.h"), "extern int lib;\n");
    EXPECT_FALSE(std::filesystem::exists(lib(worktree) / "new.c"));
    EXPECT_EQ(snapshot(worktree), tree_);
    EXPECT_TRUE(worktree.unrecordable().empty());
}

TEST_F(SubmoduleTest, ignores_build_output_in_it) {
    Worktree worktree = ensure(id_of("HEAD"));
    write(lib(worktree) / "lib.o", "object");
    EXPECT_EQ(snapshot(worktree), tree_);
    EXPECT_TRUE(worktree.unrecordable().empty());
}

TEST_F(SubmoduleTest, restores_a_removed_folder) {
    Worktree worktree = ensure(id_of("HEAD"));
    std::filesystem::remove_all(worktree.path() / "modules");
    EXPECT_EQ(snapshot(worktree), tree_);
    EXPECT_EQ(worktree.unrecordable(), std::vector<std::string>{"modules/lib"});
    reset(worktree, tree_);
    EXPECT_EQ(read(lib(worktree) / "lib.c"), "int lib;\n");
}

TEST_F(SubmoduleTest, does_not_follow_a_link_in_its_place) {
    Worktree worktree = ensure(id_of("HEAD"));
    std::filesystem::remove_all(lib(worktree));
    write(base() / "outside/lib.c", "keep\n");
    std::filesystem::create_directory_symlink(base() / "outside", lib(worktree));
    reset(worktree, tree_);
    EXPECT_EQ(read(lib(worktree) / "lib.c"), "int lib;\n");
    EXPECT_EQ(read(base() / "outside/lib.c"), "keep\n");
}

TEST_F(SubmoduleTest, an_uninitialized_one_is_named_and_stays_empty) {
    git("submodule --quiet deinit -f modules/lib");
    Worktree worktree = ensure(id_of("HEAD"));
    EXPECT_TRUE(std::filesystem::is_empty(lib(worktree)));
    EXPECT_EQ(worktree.unfilled(), std::vector<std::string>{"modules/lib"});
    EXPECT_EQ(snapshot(worktree), tree_);
}

TEST_F(SubmoduleTest, a_reopened_worktree_remembers_which_were_filled) {
    { const Worktree worktree = ensure(id_of("HEAD")); }
    Worktree again = ensure(id_of("HEAD"));
    write(lib(again) / "lib.c", "int evil;\n");
    EXPECT_EQ(snapshot(again), tree_);
    EXPECT_EQ(again.unrecordable(), std::vector<std::string>{"modules/lib/lib.c"});
}

class LfsTest : public GitTest {
protected:
    /// The user's LFS object and its pointer, in the form of `git lfs`.
    LfsTest() {
        const std::string id = run("printf 'a picture' | sha256sum").substr(0, 64);
        pointer_ = "version https://git-lfs.github.com/spec/v1\noid sha256:" + id + "\nsize 9\n";
        object_ = user() / ".git/lfs/objects" / id.substr(0, 2) / id.substr(2, 2) / id;
        write(object_, "a picture");
        write(user() / ".gitattributes", "*.png filter=lfs diff=lfs merge=lfs -text\n");
        write(user() / "a.png", pointer_);
        write(user() / "plain.txt", pointer_);  // No attribute puts this file into LFS.
        git("add -A");
        git("commit -q -m pictures");
        tree_ = id_of("HEAD^{tree}");
    }
    std::string pointer_;
    std::filesystem::path object_;
    std::string tree_;
};

TEST_F(LfsTest, the_worktree_has_the_contents_and_the_tree_the_pointer) {
    Worktree worktree = ensure(id_of("HEAD"));
    EXPECT_EQ(read(worktree.path() / "a.png"), "a picture");
    EXPECT_EQ(read(worktree.path() / "plain.txt"), pointer_);
    EXPECT_EQ(snapshot(worktree), tree_);
}

TEST_F(LfsTest, new_contents_are_kept_and_recorded_as_a_pointer) {
    Worktree worktree = ensure(id_of("HEAD"));
    write(worktree.path() / "b.png", "another");
    const std::string id = run("printf another | sha256sum").substr(0, 64);
    const auto recorded = open().file_in_tree(snapshot(worktree), "b.png");
    EXPECT_EQ(recorded.value().value_or(""), "version https://git-lfs.github.com/spec/v1\noid sha256:" + id + "\nsize 7\n");
    EXPECT_EQ(read(user() / ".git/lfs/objects" / id.substr(0, 2) / id.substr(2, 2) / id), "another");
}

TEST_F(LfsTest, missing_contents_are_named_and_stay_a_pointer) {
    std::filesystem::remove(object_);
    Worktree worktree = ensure(id_of("HEAD"));
    EXPECT_EQ(read(worktree.path() / "a.png"), pointer_);
    EXPECT_EQ(worktree.unfilled(), std::vector<std::string>{"a.png"});
    EXPECT_EQ(snapshot(worktree), tree_);
}

TEST_F(LfsTest, damaged_contents_are_refused) {
    std::filesystem::permissions(object_, std::filesystem::perms::owner_all);
    write(object_, "a pictura");
    const Worktree worktree = ensure(id_of("HEAD"));
    EXPECT_EQ(read(worktree.path() / "a.png"), pointer_);
    EXPECT_EQ(worktree.unfilled(), std::vector<std::string>{"a.png"});
}

class CloneTest : public GitTest {
protected:
    CloneTest() {
        first_commit();
        git("config uploadpack.allowFilter true");
    }
    [[nodiscard]] std::filesystem::path clone(const std::string& how) const {
        run("git clone -q " + how + " 'file://" + user().string() + "' '" + (base() / "clone").string() + "'");
        return base() / "clone";
    }
    static std::string commit_of(const Repository& repository) { return repository.head_commit().value(); }
};

TEST_F(CloneTest, a_shallow_clone_works) {
    write(user() / "more.txt", "more\n");
    git("add -A");
    git("commit -q -m more");
    const auto repository = Repository::open(clone("--depth 1"));
    ASSERT_TRUE(repository.ok());
    auto worktree = Worktree::ensure(base() / "clone", task(), "task-1", commit_of(*repository));
    ASSERT_TRUE(worktree.ok()) << worktree.error().to_string();
    write(worktree->path() / "new.py", "x = 1\n");
    const auto made = repository->commit({snapshot(*worktree), commit_of(*repository), "new\n", "A", "a@example.org", {}});
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(git_in(base() / "clone", "show --format= --name-only " + *made), "new.py\n");
}

TEST_F(CloneTest, a_partial_clone_works_with_the_objects_it_has) {
    const auto repository = Repository::open(clone("--filter=blob:none"));
    ASSERT_TRUE(repository.ok()) << repository.error().to_string();
    auto worktree = Worktree::ensure(base() / "clone", task(), "task-1", commit_of(*repository));
    ASSERT_TRUE(worktree.ok()) << worktree.error().to_string();
    EXPECT_EQ(read(worktree->path() / "README.md"), "# Demo\n");
}

TEST_F(CloneTest, a_partial_clone_names_a_missing_object_and_how_to_fetch_it) {
    const auto repository = Repository::open(clone("--filter=blob:none --no-checkout"));
    ASSERT_TRUE(repository.ok());
    const auto refused = Worktree::ensure(base() / "clone", task(), "task-1", commit_of(*repository));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "AF-GIT-025");
    ASSERT_EQ(refused.error().remedy, "Fetch them: git archive HEAD > /dev/null");
    git_in(base() / "clone", "archive HEAD > /dev/null");
    EXPECT_TRUE(Worktree::ensure(base() / "clone", task(), "task-1", commit_of(*repository)).ok());
}

TEST_F(CloneTest, a_sparse_checkout_gives_a_full_worktree) {
    git("sparse-checkout set --no-cone /README.md");
    EXPECT_FALSE(std::filesystem::exists(user() / "src"));
    const Worktree worktree = ensure(id_of("HEAD"));
    EXPECT_TRUE(std::filesystem::exists(worktree.path() / "src/app.py"));
}

TEST_F(CloneTest, files_outside_a_sparse_checkout_are_not_changes) {
    git("sparse-checkout set --no-cone /README.md");
    const auto changed = open().uncommitted();
    ASSERT_TRUE(changed.ok()) << changed.error().to_string();
    EXPECT_EQ(*changed, std::vector<std::string>{});
}

class CheckoutBytesTest : public GitTest, public ::testing::WithParamInterface<std::pair<const char*, std::string>> {};

TEST_P(CheckoutBytesTest, survive_checkout_and_snapshot) {
    const std::string& bytes = GetParam().second;
    write(user() / "file.txt", bytes);
    git("-c core.autocrlf=false add -A");
    git("commit -q -m bytes");
    Worktree worktree = ensure(id_of("HEAD"));
    EXPECT_EQ(read(worktree.path() / "file.txt"), bytes);
    write(worktree.path() / "copy.txt", bytes);
    EXPECT_EQ(open().file_in_tree(snapshot(worktree), "copy.txt").value().value_or(""), bytes);
}
INSTANTIATE_TEST_SUITE_P(
    Files, CheckoutBytesTest,
    ::testing::Values(std::pair{"crlf", std::string("one\r\ntwo\r\n")}, std::pair{"mixed", std::string("one\r\ntwo\nthree\r")},
                      std::pair{"latin1", std::string("caf\xE9\n")}, std::pair{"utf16", std::string("\xFF\xFEh\0i\0\n\0", 8)},
                      std::pair{"bom", std::string("\xEF\xBB\xBFhi\n")}, std::pair{"no_last_newline", std::string("end")},
                      std::pair{"empty", std::string()}, std::pair{"nul", std::string("a\0b", 3)}),
    [](const auto& one) { return std::string(one.param.first); });

class WorktreeManyTasksTest : public GitTest {};

TEST_F(WorktreeManyTasksTest, of_one_repository_do_not_interfere) {
    const std::string commit = first_commit();
    constexpr int tasks = 4;
    constexpr int steps = 5;
    std::vector<std::string> trees(tasks);
    std::vector<std::string> failures(tasks);
    std::vector<std::thread> threads;
    for (int task = 0; task < tasks; ++task) {
        threads.emplace_back([&, task] {
            const std::string name = "task-" + std::to_string(task);
            auto worktree = Worktree::ensure(user(), base() / "state" / name, name, commit);
            const auto repository = Repository::open(user());
            if (!worktree.ok() || !repository.ok()) {
                failures[task] = worktree.ok() ? repository.error().to_string() : worktree.error().to_string();
                return;
            }
            for (int step = 0; step < steps; ++step) {
                write(worktree->path() / "mine.txt", name + " " + std::to_string(step));
                const auto tree = worktree->snapshot_paths({"mine.txt"});
                const auto kept =
                    tree.ok() ? repository->keep_tree(name + "/step-" + std::to_string(step), *tree) : Result<void>(tree.error());
                if (!kept.ok()) {
                    failures[task] = kept.error().to_string();
                    return;
                }
                trees[task] = *tree;
            }
        });
    }
    for (std::thread& thread : threads) { thread.join(); }
    for (int task = 0; task < tasks; ++task) {
        EXPECT_EQ(failures[task], "");
        EXPECT_EQ(open().file_in_tree(trees[task], "mine.txt").value().value_or(""), "task-" + std::to_string(task) + " 4");
    }
}

}  // namespace
}  // namespace agentforge::kernel
