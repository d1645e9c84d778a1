// SPDX-License-Identifier: Apache-2.0
// A user's repository in a temporary folder, made and checked by the `git` program itself.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "base/files.hpp"
#include "git/repository.hpp"
#include "git/worktree.hpp"

namespace agentforge::kernel {

/// Hides the configuration of this machine. Set before libgit2 starts.
class Isolation {
public:
    Isolation() {
        ::setenv("HOME", "/nonexistent-home", 1);
        ::setenv("XDG_CONFIG_HOME", "/nonexistent-home/.config", 1);
        ::setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
        ::setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
        ::setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
        for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}) { ::unsetenv(name); }
    }
};

class GitTest : public ::testing::Test {
protected:
    GitTest() : temporary_("git-test") {
        static const Isolation isolation;
        std::filesystem::create_directories(user());
        git("init -q -b main .");
        // Written directly, which saves two processes in each case.
        std::ofstream(user() / ".git/config", std::ios::app) << "[user]\n\tname = Ada Example\n\temail = ada@example.org\n";
    }

    [[nodiscard]] std::filesystem::path base() const { return std::filesystem::canonical(temporary_.path()); }
    [[nodiscard]] std::filesystem::path user() const { return temporary_.path() / "user repo"; }
    [[nodiscard]] std::filesystem::path task() const { return temporary_.path() / "state" / "task-1"; }

    /// Returns the output of a shell command. A failure fails the test.
    static std::string run(const std::string& command) {
        std::string out;
        FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
        if (pipe == nullptr) {
            ADD_FAILURE() << "popen";
            return out;
        }
        std::array<char, 4096> buffer{};
        while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) { out.append(buffer.data(), count); }
        const int status = ::pclose(pipe);
        EXPECT_EQ(status, 0) << command << "\n" << out;
        return out;
    }
    static std::string git_in(const std::filesystem::path& folder, const std::string& arguments) {
        return run("git -C '" + folder.string() + "' " + arguments);
    }
    std::string git(const std::string& arguments) const { return git_in(user(), arguments); }
    [[nodiscard]] std::string id_of(const std::string& revision) const {
        std::string id = git("rev-parse '" + revision + "'");
        while (!id.empty() && id.back() == '\n') { id.pop_back(); }
        return id;
    }

    static void write(const std::filesystem::path& file, std::string_view bytes) {
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << bytes;
    }
    static std::string read(const std::filesystem::path& file) {
        std::ifstream in(file, std::ios::binary);
        std::ostringstream bytes;
        bytes << in.rdbuf();
        return bytes.str();
    }
    /// Returns everything below a folder: path → kind, mode and bytes.
    static std::map<std::string, std::string> picture(const std::filesystem::path& folder) {
        std::map<std::string, std::string> all;
        for (auto it = std::filesystem::recursive_directory_iterator(folder);
             it != std::filesystem::recursive_directory_iterator(); ++it) {
            const std::string path = it->path().lexically_relative(folder).string();
            struct stat st {};
            ::lstat(it->path().c_str(), &st);
            std::string text = std::to_string(st.st_mode) + ":";
            if (S_ISLNK(st.st_mode)) { text += std::filesystem::read_symlink(it->path()).string(); }
            if (S_ISREG(st.st_mode)) { text += read(it->path()); }
            all[path] = text;
        }
        return all;
    }
    /// Makes a first commit with a few files and returns its id.
    std::string first_commit() const {
        write(user() / "README.md", "# Demo\n");
        write(user() / "src/app.py", "def main():\n    return 0\n");
        write(user() / "src/run.sh", "#!/bin/sh\nexit 0\n");
        ::chmod((user() / "src/run.sh").c_str(), 0755);
        write(user() / ".gitignore", "*.log\n__pycache__/\n/build/\n");
        std::filesystem::create_symlink("src/app.py", user() / "link");
        git("add -A");
        git("commit -q -m first");
        return id_of("HEAD");
    }

    Worktree ensure(const std::string& commit) const {
        Result<Worktree> worktree = Worktree::ensure(user(), task(), "task-1", commit);
        if (!worktree.ok()) {
            ADD_FAILURE() << worktree.error().to_string();
            std::abort();
        }
        return std::move(worktree).value();
    }
    Repository open() const {
        Result<Repository> repository = Repository::open(user());
        if (!repository.ok()) {
            ADD_FAILURE() << repository.error().to_string();
            std::abort();
        }
        return std::move(repository).value();
    }
    static std::string snapshot(Worktree& worktree) {
        Result<std::string> tree = worktree.snapshot();
        if (!tree.ok()) {
            ADD_FAILURE() << tree.error().to_string();
            return {};
        }
        return *tree;
    }
    static std::string snapshot_paths(Worktree& worktree, const std::vector<std::string>& paths) {
        Result<std::string> tree = worktree.snapshot_paths(paths);
        if (!tree.ok()) {
            ADD_FAILURE() << tree.error().to_string();
            return {};
        }
        return *tree;
    }
    static void reset(Worktree& worktree, const std::string& tree, bool clean = true) {
        const Result<void> done = worktree.reset_to(tree, clean);
        if (!done.ok()) { ADD_FAILURE() << done.error().to_string(); }
    }
    [[nodiscard]] std::string list(const std::string& tree) const {
        return git("-c core.quotePath=false ls-tree -r --name-only " + tree);
    }

private:
    TemporaryDirectory temporary_;
};

}  // namespace agentforge::kernel
