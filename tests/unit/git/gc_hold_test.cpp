// SPDX-License-Identifier: Apache-2.0
#include "git/gc_hold.hpp"

#include <sys/wait.h>

#include <chrono>
#include <optional>
#include <thread>

#include "unit/git/git_fixture.hpp"

namespace agentforge::kernel {
namespace {

class GcHoldTest : public GitTest {
protected:
    [[nodiscard]] std::filesystem::path pid() const { return user() / ".git" / "gc.pid"; }
    [[nodiscard]] std::filesystem::path lock() const { return user() / ".git" / "gc.pid.lock"; }
    void make_lock(std::chrono::seconds age) const {
        write(lock(), "");
        std::filesystem::last_write_time(lock(), std::filesystem::file_time_type::clock::now() - age);
    }
    [[nodiscard]] bool names_this_process() const { return read(pid()).starts_with(std::to_string(::getpid()) + " "); }
    [[nodiscard]] std::size_t leftovers() const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(user() / ".git" / "objects")) {
            count += entry.path().filename().string().starts_with("tmp_") ? 1 : 0;
        }
        return count;
    }
    /// Returns the id of a process that has ended.
    static pid_t dead_process() {
        const pid_t child = ::fork();
        if (child == 0) { ::_exit(0); }
        ::waitpid(child, nullptr, 0);
        return child;
    }
};

TEST_F(GcHoldTest, names_the_process_while_it_lives_and_leaves_no_lock) {
    {
        const GcHold hold(user() / ".git");
        EXPECT_TRUE(names_this_process());
        EXPECT_FALSE(std::filesystem::exists(lock()));
    }
    EXPECT_FALSE(std::filesystem::exists(pid()));
    EXPECT_EQ(leftovers(), 0U);
}

TEST_F(GcHoldTest, removes_a_lock_that_a_dead_process_left) {
    make_lock(std::chrono::minutes(1));
    const auto began = std::chrono::steady_clock::now();
    const GcHold hold(user() / ".git");
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
    EXPECT_TRUE(names_this_process());
    EXPECT_FALSE(std::filesystem::exists(lock()));
    EXPECT_EQ(leftovers(), 0U);
}

TEST_F(GcHoldTest, leaves_a_lock_that_a_process_has_open) {
    make_lock(std::chrono::minutes(1));
    std::optional<FileDescriptor> gits(std::in_place, ::open(lock().c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_TRUE(gits->valid());
    std::thread git([&] {
        // Ends as soon as the hold has named the process, before the process may continue.
        while (!std::filesystem::exists(pid())) { std::this_thread::yield(); }
        EXPECT_TRUE(std::filesystem::exists(lock()));
        std::filesystem::remove(lock());
        gits.reset();
    });
    const GcHold hold(user() / ".git");
    EXPECT_FALSE(std::filesystem::exists(lock()));
    git.join();
    EXPECT_TRUE(names_this_process());
}

TEST_F(GcHoldTest, replaces_a_lock_of_a_process_that_is_gone) {
    std::array<char, 256> host{};
    ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
    write(pid(), std::to_string(dead_process()) + " " + host.data());
    const GcHold hold(user() / ".git");
    EXPECT_TRUE(names_this_process());
    EXPECT_EQ(leftovers(), 0U);
}

}  // namespace
}  // namespace agentforge::kernel
