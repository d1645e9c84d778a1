// SPDX-License-Identifier: Apache-2.0
#include "git/clone.hpp"
#include "git_fixture.hpp"

namespace agentforge::kernel {
namespace {

class CheckoutTest : public GitTest {
protected:
    CheckoutTest() : commit_(first_commit()), tree_(id_of("HEAD^{tree}")), worktree_(ensure(commit_)) {}
    [[nodiscard]] std::filesystem::path in(const std::string& path) const { return worktree_.path() / path; }
    /// The worktree holds the first commit and nothing else.
    void expect_exact() {
        EXPECT_EQ(run("cd '" + worktree_.path().string() + "' && find . -mindepth 1 | LC_ALL=C sort"),
                  "./.git\n./.gitignore\n./README.md\n./link\n./src\n./src/app.py\n./src/run.sh\n");
        EXPECT_EQ(snapshot(worktree_), tree_);
        EXPECT_EQ(git_in(worktree_.path(), "status --porcelain --ignored"), "");
    }
    std::string commit_;
    std::string tree_;
    Worktree worktree_;
};

TEST_F(CheckoutTest, removes_extra_files_and_restores_changed_ones) {
    write(in("new/file.py"), "x\n");
    write(in("src/app.py"), "changed\n");
    ::chmod(in("src/run.sh").c_str(), 0644);
    std::filesystem::remove(in("README.md"));
    reset(worktree_, tree_);
    expect_exact();
}

TEST_F(CheckoutTest, clean_removes_ignored_files_too) {
    write(in("src/__pycache__/app.pyc"), "poison");
    write(in("debug.log"), "x");
    reset(worktree_, tree_, true);
    expect_exact();
}

TEST_F(CheckoutTest, keeps_ignored_files_without_clean) {
    write(in("src/__pycache__/app.pyc"), "cache");
    write(in("other/x.log"), "x");
    write(in("other/y.txt"), "y");
    reset(worktree_, tree_, false);
    EXPECT_EQ(read(in("src/__pycache__/app.pyc")), "cache");
    EXPECT_EQ(read(in("other/x.log")), "x");
    EXPECT_FALSE(std::filesystem::exists(in("other/y.txt")));
}

TEST_F(CheckoutTest, an_ignore_file_from_the_agent_protects_nothing) {
    write(in(".gitignore"), "*\n");
    write(in("evil/.gitignore"), "*\n");
    write(in("evil/conftest.py"), "x\n");
    reset(worktree_, tree_, false);
    expect_exact();
}

TEST_F(CheckoutTest, a_link_where_a_folder_should_be_is_replaced_and_not_followed) {
    write(base() / "elsewhere/app.py", "precious\n");
    std::filesystem::remove_all(in("src"));
    std::filesystem::create_directory_symlink(base() / "elsewhere", in("src"));
    reset(worktree_, tree_);
    expect_exact();
    EXPECT_EQ(read(base() / "elsewhere/app.py"), "precious\n");
}

TEST_F(CheckoutTest, a_folder_where_a_file_should_be_is_replaced) {
    std::filesystem::remove(in("README.md"));
    write(in("README.md/inner/file"), "x");
    reset(worktree_, tree_);
    expect_exact();
}

TEST_F(CheckoutTest, a_file_where_a_folder_should_be_is_replaced) {
    std::filesystem::remove_all(in("src"));
    write(in("src"), "x");
    reset(worktree_, tree_);
    expect_exact();
}

TEST_F(CheckoutTest, removes_read_only_folders) {
    write(in("locked/inner/file"), "x");
    ::chmod(in("locked/inner").c_str(), 0555);
    ::chmod(in("locked").c_str(), 0);
    ::chmod(in("src").c_str(), 0555);
    write(in("src/app.py"), "changed\n");
    reset(worktree_, tree_);
    expect_exact();
}

TEST_F(CheckoutTest, removes_nested_repositories_and_pipes) {
    write(in("src/.git/HEAD"), "ref: refs/heads/main\n");
    ASSERT_EQ(::mkfifo(in("pipe").c_str(), 0644), 0);
    reset(worktree_, tree_);
    expect_exact();
}

TEST_F(CheckoutTest, a_replaced_git_file_is_repaired) {
    std::filesystem::remove(in(".git"));
    std::filesystem::create_symlink("/etc", in(".git"));
    reset(worktree_, tree_);
    expect_exact();
}

TEST_F(CheckoutTest, does_not_rewrite_unchanged_files) {
    struct stat before {};
    struct stat after {};
    ::stat(in("src/app.py").c_str(), &before);
    // Files of the last timer tick count as unknown, so this waits until they are older.
    timespec now{};
    do {
        ::clock_gettime(CLOCK_REALTIME, &now);
    } while ((now.tv_sec - before.st_ctim.tv_sec) * 1000000000LL + now.tv_nsec - before.st_ctim.tv_nsec < 30000000LL);
    snapshot(worktree_);
    reset(worktree_, tree_);
    ::stat(in("src/app.py").c_str(), &after);
    EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST_F(CheckoutTest, names_a_missing_tree) {
    const auto done = worktree_.reset_to(std::string(40, '2'), true);
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().code, "AF-GIT-007");
}

/// As on a file system that shares the bytes of files. Here they are copied and counted.
class CheckoutSharingTest : public GitTest {
protected:
    CheckoutSharingTest() : commit_(first_commit()), before_(git::clone_file()) { asked = 0; }
    ~CheckoutSharingTest() override { git::clone_file() = before_; }
    static bool copy(int to, int from) {
        ++asked;
        std::array<char, 4096> bytes{};
        const ssize_t count = ::pread(from, bytes.data(), bytes.size(), 0);
        return count >= 0 && ::pwrite(to, bytes.data(), static_cast<std::size_t>(count), 0) == count;
    }
    static bool copy_wrongly(int to, int from) { return copy(to, from) && ::pwrite(to, "X", 1, 0) == 1; }
    static bool refuse(int, int) {
        ++asked;
        return false;
    }
    void expect_the_commit() {
        const Worktree made = ensure(commit_);
        EXPECT_EQ(git_in(made.path(), "status --porcelain"), "");
        EXPECT_EQ(git_in(made.path(), "ls-files --stage"), git("ls-files --stage"));
        EXPECT_EQ(read(made.path() / "src/app.py"), git("show HEAD:src/app.py"));
    }
    std::string commit_;
    git::CloneFile before_;
    static inline int asked = 0;
};

TEST_F(CheckoutSharingTest, a_worktree_shares_each_file_with_the_users_checkout) {
    git::clone_file() = copy;
    expect_the_commit();
    EXPECT_EQ(asked, 4) << "the link is made, not shared";
}

TEST_F(CheckoutSharingTest, does_not_share_a_file_that_the_user_changed) {
    std::string changed = read(user() / "src/app.py");
    changed.front() = '#';
    write(user() / "src/app.py", changed);
    std::filesystem::remove(user() / "README.md");
    git::clone_file() = copy;
    const Worktree made = ensure(commit_);
    EXPECT_EQ(read(made.path() / "src/app.py"), git("show HEAD:src/app.py"));
    EXPECT_EQ(read(made.path() / "README.md"), git("show HEAD:README.md"));
}

TEST_F(CheckoutSharingTest, does_not_trust_shared_files_with_other_bytes) {
    git::clone_file() = copy_wrongly;
    expect_the_commit();
}

TEST_F(CheckoutSharingTest, tries_a_file_system_without_reflinks_once) {
    git::clone_file() = refuse;
    expect_the_commit();
    EXPECT_EQ(asked, 1);
}

TEST_F(CheckoutSharingTest, does_not_follow_a_link_in_the_users_checkout) {
    std::filesystem::rename(user() / "README.md", user() / "other.md");
    std::filesystem::create_symlink("other.md", user() / "README.md");
    git::clone_file() = copy;
    const Worktree made = ensure(commit_);
    EXPECT_EQ(asked, 3);
    EXPECT_EQ(read(made.path() / "README.md"), git("show HEAD:README.md"));
}

}  // namespace
}  // namespace agentforge::kernel
