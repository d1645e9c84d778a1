// SPDX-License-Identifier: Apache-2.0
// Attacks on the tools inside the process. Each has an allowed control, and the target must be unchanged afterwards.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tools/workspace/role_workspace.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

template <class T>
std::string code(const Result<T>& result) {
    return result.ok() ? "" : result.error().code;
}

class WorkspaceAttack : public testing::Test {
protected:
    WorkspaceAttack() {
        fs::create_directories(root() / "src");
        fs::create_directories(base_.path() / "ws-evil");
        put(secret(), "secret\n");
        put(root() / "src/a.py", "a = 1\n");
        put(base_.path() / "ws-evil/x.txt", "evil\n");
        open();
        EXPECT_EQ(::stat(secret().c_str(), &before_), 0);
    }
    ~WorkspaceAttack() override {
        // Checks the control and the target: nothing else was damaged, and the workspace still works.
        EXPECT_TRUE(workspace_->create("control.txt", "control\n", true).ok());
        struct stat after {};
        EXPECT_EQ(::stat(secret().c_str(), &after), 0);
        EXPECT_EQ(read_file(secret()).value_or("(none)"), "secret\n");
        EXPECT_EQ(read_file(base_.path() / "ws-evil/x.txt").value_or("(none)"), "evil\n");
        EXPECT_EQ(after.st_ino, before_.st_ino);
        EXPECT_EQ(after.st_mode, before_.st_mode);
        EXPECT_EQ(after.st_mtim.tv_nsec, before_.st_mtim.tv_nsec);
        EXPECT_EQ(std::distance(fs::directory_iterator(base_.path() / "ws-evil"), fs::directory_iterator()), 1);
    }
    void open() {
        auto opened = RoleWorkspace::open(root().string(), RolePaths::make("attacker", {}).value());
        ASSERT_TRUE(opened.ok()) << opened.error().to_string();
        workspace_ = std::move(opened).value();
    }
    static void put(const fs::path& path, std::string_view bytes) {
        ASSERT_TRUE(write_file_atomic(path, bytes, Durability::cached).ok());
    }
    [[nodiscard]] fs::path root() const { return base_.path() / "ws"; }
    [[nodiscard]] fs::path secret() const { return base_.path() / "secret.txt"; }
    /// Checks that no function of the workspace's interface reaches `path`.
    void expect_closed(const std::string& path, const std::string& expected) {
        EXPECT_EQ(code(workspace_->read(path)), expected) << path;
        EXPECT_EQ(code(workspace_->create(path, "pwned")), expected) << path;
        EXPECT_EQ(code(workspace_->create(path, "pwned", true)), expected) << path;
        EXPECT_EQ(code(workspace_->edit(path, "secret", "pwned")), expected) << path;
        EXPECT_EQ(code(workspace_->move(path, "stolen.txt")), expected) << path;
        EXPECT_EQ(code(workspace_->move("src/a.py", path)), expected) << path;
        EXPECT_EQ(code(workspace_->remove(path)), expected) << path;
        EXPECT_FALSE(fs::exists(root() / "stolen.txt"));
    }

    TemporaryDirectory base_{"attack"};
    std::unique_ptr<RoleWorkspace> workspace_;
    struct stat before_ {};
};

// ---- path text ----
TEST_F(WorkspaceAttack, dot_dot) { expect_closed("../secret.txt", "AF-TOOL-010"); }
TEST_F(WorkspaceAttack, dot_dot_inside) { expect_closed("src/../../secret.txt", "AF-TOOL-010"); }
TEST_F(WorkspaceAttack, absolute_path) { expect_closed(secret().string(), "AF-TOOL-010"); }
TEST_F(WorkspaceAttack, prefix_sibling) { expect_closed("../ws-evil/x.txt", "AF-TOOL-010"); }
TEST_F(WorkspaceAttack, absolute_path_of_the_workspace_itself) { expect_closed((root() / "src/a.py").string(), "AF-TOOL-010"); }
TEST_F(WorkspaceAttack, double_slash_and_dot_are_the_same_file) {
    EXPECT_TRUE(workspace_->edit("src//./a.py", "a = 1", "a = 2").ok());
    EXPECT_EQ(read_file(root() / "src/a.py").value(), "a = 2\n");
}
TEST_F(WorkspaceAttack, nul_in_the_path) { expect_closed(std::string("control.txt\0/../../secret.txt", 29), "AF-TOOL-012"); }
TEST_F(WorkspaceAttack, newline_in_the_path) { expect_closed("a\nb", "AF-TOOL-012"); }
TEST_F(WorkspaceAttack, invalid_utf8_in_the_path) { expect_closed("a\xC0\xAE\xC0\xAE/b", "AF-TOOL-012"); }
TEST_F(WorkspaceAttack, path_longer_than_the_system_allows) { expect_closed(std::string(8000, 'a'), "AF-TOOL-012"); }
TEST_F(WorkspaceAttack, git_in_other_case) { expect_closed(".GIT/hooks/post-commit", "AF-TOOL-011"); }
TEST_F(WorkspaceAttack, git_with_ignorable_code_points) { expect_closed(".g\u200Dit/config", "AF-TOOL-011"); }
TEST_F(WorkspaceAttack, nested_git_where_none_is) { expect_closed("src/.git/config", "AF-TOOL-011"); }
TEST_F(WorkspaceAttack, records_of_agentforge) { expect_closed(".agentforge/agents/software_developer.yaml", "AF-TOOL-011"); }
TEST_F(WorkspaceAttack, home_folder) { expect_closed("~/secret.txt", "AF-TOOL-010"); }
TEST_F(WorkspaceAttack, variables_and_globs_are_ordinary_names) {
    ASSERT_TRUE(workspace_->create("$HOME/[a]*.txt", "x").ok());
    EXPECT_EQ(read_file(root() / "$HOME/[a]*.txt").value_or(""), "x");
}
TEST_F(WorkspaceAttack, unicode_forms_are_different_files) {
    put(root() / "e\u0301.txt", "decomposed");
    ASSERT_TRUE(workspace_->create("\u00e9.txt", "composed").ok());
    EXPECT_EQ(read_file(root() / "e\u0301.txt").value_or(""), "decomposed");
}
TEST_F(WorkspaceAttack, deleted_workspace) {
    auto gone = base_.path() / "gone";
    fs::create_directories(gone);
    auto opened = RoleWorkspace::open(gone.string(), {});
    ASSERT_TRUE(opened.ok());
    fs::remove_all(gone);
    fs::create_directories(gone);
    EXPECT_FALSE((*opened)->create("x.txt", "x").ok());
    EXPECT_FALSE(fs::exists(gone / "x.txt"));
}

// ---- links ----
TEST_F(WorkspaceAttack, link_to_a_file_outside) {
    fs::create_symlink(secret(), root() / "link");
    expect_closed("link", "AF-TOOL-032");
    EXPECT_NE(workspace_->read("link").error().message.find("is a symbolic link to"), std::string::npos);
}
TEST_F(WorkspaceAttack, link_to_a_file_inside) {
    fs::create_symlink("src/a.py", root() / "link");
    expect_closed("link", "AF-TOOL-032");
    EXPECT_EQ(read_file(root() / "src/a.py").value(), "a = 1\n");
}
TEST_F(WorkspaceAttack, link_to_a_folder_outside) {
    fs::create_directory_symlink(base_.path() / "ws-evil", root() / "link");
    expect_closed("link/x.txt", "AF-TOOL-032");
    EXPECT_EQ(code(workspace_->create("link/new.txt", "x")), "AF-TOOL-032");
    EXPECT_EQ(code(workspace_->create("link/new/deep.txt", "x")), "AF-TOOL-032");
    EXPECT_EQ(code(workspace_->list("link")), "AF-TOOL-032");
}
TEST_F(WorkspaceAttack, chained_links) {
    fs::create_symlink(secret(), root() / "one");
    fs::create_symlink("one", root() / "two");
    expect_closed("two", "AF-TOOL-032");
}
TEST_F(WorkspaceAttack, looping_links) {
    fs::create_symlink("two", root() / "one");
    fs::create_symlink("one", root() / "two");
    expect_closed("one", "AF-TOOL-032");
}
TEST_F(WorkspaceAttack, dangling_link_to_a_new_file_outside) {
    fs::create_symlink(base_.path() / "new.txt", root() / "link");
    expect_closed("link", "AF-TOOL-032");
    EXPECT_FALSE(fs::exists(base_.path() / "new.txt"));
}
TEST_F(WorkspaceAttack, workspace_that_is_a_link) {
    fs::create_directory_symlink(base_.path() / "ws-evil", base_.path() / "ws-link");
    const auto opened = RoleWorkspace::open((base_.path() / "ws-link").string(), {});
    EXPECT_EQ(code(opened), "AF-TOOL-030");
}
TEST_F(WorkspaceAttack, listing_shows_a_link_and_does_not_follow_it) {
    fs::create_directory_symlink(base_.path() / "ws-evil", root() / "link");
    const auto listing = workspace_->list(".");
    ASSERT_TRUE(listing.ok());
    ASSERT_EQ(listing->entries.size(), 3U);
    EXPECT_EQ(listing->entries[0].path, "link -> " + (base_.path() / "ws-evil").string());
}
TEST_F(WorkspaceAttack, search_does_not_follow_links) {
    fs::create_directory_symlink(base_.path() / "ws-evil", root() / "link");
    fs::create_symlink(secret(), root() / "file");
    EXPECT_TRUE(workspace_->search({"evil|secret", false, false, "", 100})->hits.empty());
}
TEST_F(WorkspaceAttack, links_through_proc) {
    fs::create_symlink("/proc/self/root", root() / "link");
    fs::create_symlink("/proc/self/cwd", root() / "cwd");
    expect_closed("link/etc/passwd", "AF-TOOL-032");
    expect_closed("cwd/x", "AF-TOOL-032");
}
TEST_F(WorkspaceAttack, hard_link_to_a_file_outside_is_not_written_through) {
    fs::create_hard_link(secret(), root() / "hard.txt");
    ASSERT_EQ(::stat(secret().c_str(), &before_), 0);
    ASSERT_TRUE(workspace_->edit("hard.txt", "secret", "pwned").ok());
    EXPECT_EQ(read_file(root() / "hard.txt").value(), "pwned\n");
    ASSERT_TRUE(workspace_->create("hard.txt", "again\n", true).ok());
}

// ---- races ----
TEST_F(WorkspaceAttack, folder_swapped_for_a_link_while_writing) {
    std::atomic<bool> stop{false};
    std::thread swapper([&] {
        fs::create_directories(base_.path() / "real");
        std::error_code ignored;
        while (!stop.load()) {
            fs::rename(root() / "swap", base_.path() / "away", ignored);
            fs::create_directory_symlink(base_.path() / "ws-evil", root() / "swap", ignored);
            fs::remove(root() / "swap", ignored);
            fs::rename(base_.path() / "away", root() / "swap", ignored);
        }
    });
    for (int i = 0; i < 3000; ++i) {
        (void)workspace_->create("swap/x.txt", "pwned", true);
        (void)workspace_->edit("swap/x.txt", "evil", "pwned");
        (void)workspace_->remove("swap/x.txt");
    }
    stop = true;
    swapper.join();
}
TEST_F(WorkspaceAttack, file_swapped_for_a_link_while_writing) {
    std::atomic<bool> stop{false};
    std::thread swapper([&] {
        std::error_code ignored;
        while (!stop.load()) {
            fs::remove(root() / "swap.txt", ignored);
            fs::create_symlink(secret(), root() / "swap.txt", ignored);
            fs::remove(root() / "swap.txt", ignored);
            const FileDescriptor file(::open((root() / "swap.txt").c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644));
        }
    });
    for (int i = 0; i < 3000; ++i) {
        (void)workspace_->create("swap.txt", "pwned", true);
        const auto seen = workspace_->read("swap.txt");
        if (seen.ok()) { EXPECT_EQ(seen->content.find("secret"), std::string::npos); }
        (void)workspace_->edit("swap.txt", "secret", "pwned");
    }
    stop = true;
    swapper.join();
}
TEST_F(WorkspaceAttack, folder_renamed_meanwhile_stays_the_workspace) {
    fs::rename(root(), base_.path() / "moved");
    fs::create_directory_symlink(base_.path() / "ws-evil", root());
    EXPECT_EQ(workspace_->read("src/a.py")->content, "a = 1\n");
    ASSERT_TRUE(workspace_->create("x.txt", "inside").ok());
    EXPECT_EQ(read_file(base_.path() / "moved/x.txt").value_or(""), "inside");
}

// ---- special files ----
TEST_F(WorkspaceAttack, pipe_does_not_block) {
    ASSERT_EQ(::mkfifo((root() / "pipe").c_str(), 0644), 0);
    EXPECT_EQ(code(workspace_->read("pipe")), "AF-TOOL-033");
    EXPECT_EQ(code(workspace_->edit("pipe", "a", "b")), "AF-TOOL-033");
    EXPECT_EQ(code(workspace_->create("pipe", "x", true)), "AF-TOOL-033");
    EXPECT_EQ(code(workspace_->remove("pipe")), "AF-TOOL-033");
    EXPECT_TRUE(workspace_->search({"x", false, false, "", 100}).ok());
    EXPECT_EQ(workspace_->list(".", {false, "", 100})->entries[0].path, "pipe (pipe)");
}
TEST_F(WorkspaceAttack, socket_is_refused) {
    const FileDescriptor server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = (root() / "sock").string();
    ASSERT_LT(path.size(), sizeof address.sun_path);
    path.copy(address.sun_path, path.size());
    ASSERT_EQ(::bind(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(code(workspace_->read("sock")), "AF-TOOL-033");
    EXPECT_EQ(code(workspace_->create("sock", "x", true)), "AF-TOOL-033");
}
TEST_F(WorkspaceAttack, deep_folders_do_not_exhaust_descriptors) {
    std::string path;
    for (int i = 0; i < 300; ++i) { path += "d/"; }
    fs::create_directories(root() / path);
    const auto listing = workspace_->list(".", {true, "", 100'000});
    ASSERT_TRUE(listing.ok());
    EXPECT_TRUE(listing->truncated);
    EXPECT_TRUE(workspace_->create(path + "x.txt", "x").ok());
}

}  // namespace
}  // namespace agentforge::kernel
