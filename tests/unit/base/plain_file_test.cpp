// SPDX-License-Identifier: Apache-2.0
#include "base/plain_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace agentforge::kernel {
namespace {

class PlainFile : public ::testing::Test {
protected:
    PlainFile() {
        std::filesystem::create_directories(root() / "a" / "b");
        std::ofstream(root() / "a" / "b" / "file") << "text";
        std::ofstream(outside_.path() / "secret") << "secret";
    }
    [[nodiscard]] std::filesystem::path root() const { return folder_.path() / "task"; }
    void expect_refused(const std::string& name, const std::string& words) const {
        const auto read = read_plain_file(root(), name);
        ASSERT_FALSE(read.ok());
        EXPECT_EQ(read.error().code, "AF-BASE-037");
        EXPECT_EQ(read.error().kind, ErrorKind::conflict);
        EXPECT_NE(read.error().message.find(words), std::string::npos) << read.error().message;
        EXPECT_TRUE(irregular_kind(root(), name).has_value());
    }

    TemporaryDirectory folder_{"plain-file"};
    TemporaryDirectory outside_{"plain-file-outside"};
};

TEST_F(PlainFile, is_read_through_folders) {
    EXPECT_EQ(read_plain_file(root(), "a/b/file").value(), "text");
    EXPECT_EQ(irregular_kind(root(), "a/b/file"), std::nullopt);
}

TEST_F(PlainFile, that_is_missing_is_not_found) {
    for (const char* name : {"a/b/other", "a/c/file", "x/y/z"}) {
        EXPECT_EQ(read_plain_file(root(), name).error().kind, ErrorKind::not_found) << name;
        EXPECT_EQ(irregular_kind(root(), name), std::nullopt) << name;
    }
}

TEST_F(PlainFile, that_is_a_symbolic_or_hard_link_is_refused) {
    std::filesystem::create_symlink(outside_.path() / "secret", root() / "link");
    expect_refused("link", "a symbolic link");
    std::filesystem::create_symlink("nowhere", root() / "dangling");
    expect_refused("dangling", "a symbolic link");
    std::filesystem::create_hard_link(root() / "a" / "b" / "file", root() / "second");
    expect_refused("second", "hard links");
    expect_refused("a/b/file", "hard links");
}

TEST_F(PlainFile, that_is_a_folder_pipe_or_socket_is_refused) {
    expect_refused("a/b", "a folder");
    ASSERT_EQ(::mkfifo((root() / "pipe").c_str(), 0600), 0);
    expect_refused("pipe", "a pipe");
}

TEST_F(PlainFile, below_a_link_is_refused) {
    std::filesystem::create_directory_symlink(outside_.path(), root() / "a" / "elsewhere");
    expect_refused("a/elsewhere/secret", "below a symbolic link (elsewhere)");
    std::filesystem::create_directory_symlink(root(), folder_.path() / "linked");
    EXPECT_EQ(read_plain_file(folder_.path() / "linked", "a/b/file").error().code, "AF-BASE-037");
}

TEST_F(PlainFile, larger_than_the_limit_is_refused) {
    EXPECT_EQ(read_plain_file(root(), "a/b/file", 3).error().code, "AF-BASE-012");
}

}  // namespace
}  // namespace agentforge::kernel
