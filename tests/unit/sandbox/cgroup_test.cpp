// SPDX-License-Identifier: Apache-2.0
// The cgroup of one program, in folders with the kernel's names: few test machines have a delegated one.
#include "sandbox/exec/cgroup.hpp"

#include <gtest/gtest.h>

#include <sys/xattr.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace agentforge::exec {

std::uint64_t number(const char* text) { return std::strtoull(text, nullptr, 10); }

namespace {

namespace fs = std::filesystem;

class DelegatedCgroup : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::path(testing::TempDir()) / "agentforge-cgroup-XXXXXX").string();
        mount_ = ::mkdtemp(pattern.data());
        put(scope() / "cgroup.subtree_control", "cpu memory pids\n");
        put(scope() / "agentforge-host" / "cgroup.procs", "");
        for (const char* name : {"memory.max", "pids.max", "cgroup.procs", "memory.events", "pids.events", "cgroup.kill"}) {
            put(run() / name, "");
        }
        policy_.memory = 1024;
        policy_.processes = 7;
    }
    void TearDown() override {
        std::error_code ignored;
        fs::remove_all(mount_, ignored);
    }

    void delegate() { ASSERT_EQ(::setxattr(scope().c_str(), "user.delegate", "1", 1, 0), 0); }
    bool make() { return cgroup_.make(mount_.c_str(), "/user.slice/run.scope/agentforge-host", policy_); }
    [[nodiscard]] fs::path scope() const { return mount_ / "user.slice" / "run.scope"; }
    [[nodiscard]] fs::path run() const { return scope() / ("agentforge-" + std::to_string(::getpid())); }
    static void put(const fs::path& file, const std::string& text) {
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    static std::string text_of(const fs::path& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    fs::path mount_;
    Policy policy_;
    Cgroup cgroup_;
};

TEST_F(DelegatedCgroup, limits_memory_and_processes) {
    delegate();
    ASSERT_TRUE(make());
    EXPECT_EQ(text_of(run() / "memory.max"), "1024");
    EXPECT_EQ(text_of(run() / "pids.max"), "7");
    EXPECT_TRUE(cgroup_.join());
    EXPECT_EQ(text_of(run() / "cgroup.procs"), "0");
}

TEST_F(DelegatedCgroup, names_the_limit_that_the_kernel_enforced) {
    delegate();
    ASSERT_TRUE(make());
    EXPECT_EQ(cgroup_.exceeded(), nullptr);
    put(run() / "pids.events", "max 3\n");
    EXPECT_STREQ(cgroup_.exceeded(), "processes");
    put(run() / "memory.events", "low 0\noom 1\noom_kill 1\n");
    EXPECT_STREQ(cgroup_.exceeded(), "memory");
}

TEST_F(DelegatedCgroup, is_killed_when_the_program_ended) {
    delegate();
    ASSERT_TRUE(make());
    cgroup_.remove();
    EXPECT_EQ(text_of(run() / "cgroup.kill"), "1");
    EXPECT_FALSE(cgroup_.made());
}

TEST_F(DelegatedCgroup, is_not_created_without_delegation) {
    EXPECT_FALSE(make());
    EXPECT_EQ(text_of(run() / "memory.max"), "");
    EXPECT_TRUE(cgroup_.join()) << "a program without one runs";
}

TEST_F(DelegatedCgroup, is_not_created_without_memory_and_pids_controllers) {
    put(scope() / "cgroup.subtree_control", "cpu\n");
    delegate();
    EXPECT_FALSE(make());
}

TEST_F(DelegatedCgroup, moves_its_processes_down_before_limiting_its_children) {
    put(scope() / "cgroup.subtree_control", "");
    put(scope() / "cgroup.procs", "4711\n");
    delegate();
    EXPECT_FALSE(cgroup_.make(mount_.c_str(), "/user.slice/run.scope", policy_)) << "nothing here answers as the kernel does";
    EXPECT_EQ(text_of(scope() / "agentforge-host" / "cgroup.procs"), "4711\n");
    EXPECT_EQ(text_of(scope() / "cgroup.subtree_control"), "+memory +pids");
}

}  // namespace
}  // namespace agentforge::exec
