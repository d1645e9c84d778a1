// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
protected:
    TemporaryDirectory folder_{"files"};
    fs::path at(const std::string& name) const { return folder_.path() / name; }
    std::size_t entries() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
    }
};

std::string code_of(const Result<void>& result) { return result.ok() ? "" : result.error().code; }
template <class T>
std::string code_of(const Result<T>& result) {
    return result.ok() ? "" : result.error().code;
}

TEST_F(Files, reads_what_was_written) {
    const std::string bytes("a\0b\r\n\xFF", 6);
    for (const auto durability : {Durability::cached, Durability::synced}) {
        ASSERT_TRUE(write_file_atomic(at("f"), bytes, durability).ok());
        EXPECT_EQ(read_file(at("f")).value(), bytes);
    }
    EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, an_empty_file_is_read) {
    ASSERT_TRUE(write_file_atomic(at("f"), "", Durability::cached).ok());
    EXPECT_EQ(read_file(at("f")).value(), "");
}

TEST_F(Files, reads_a_file_without_a_size_to_its_end) {
    const auto bytes = read_file("/proc/self/status");
    ASSERT_TRUE(bytes.ok());
    EXPECT_NE(bytes->find("Pid:"), std::string::npos);
}

TEST_F(Files, a_missing_file_is_not_found) {
    const auto result = read_file(at("nothing"));
    EXPECT_EQ(code_of(result), "AF-BASE-010");
    EXPECT_EQ(result.error().kind, ErrorKind::not_found);
    EXPECT_EQ(code_of(read_file(at("nothing") / "below")), "AF-BASE-010");
}

TEST_F(Files, a_folder_is_not_read_as_a_file) { EXPECT_EQ(code_of(read_file(folder_.path())), "AF-BASE-011"); }

TEST_F(Files, reading_a_fifo_does_not_block) {
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
    EXPECT_EQ(code_of(read_file(at("pipe"))), "AF-BASE-011");
}

TEST_F(Files, a_file_larger_than_allowed_is_refused) {
    ASSERT_TRUE(write_file_atomic(at("f"), "12345", Durability::cached).ok());
    EXPECT_EQ(read_file(at("f"), 5).value(), "12345");
    const auto result = read_file(at("f"), 4);
    EXPECT_EQ(code_of(result), "AF-BASE-012");
    EXPECT_EQ(result.error().kind, ErrorKind::invalid);
}

TEST_F(Files, a_file_without_a_size_cannot_pass_the_limit) {
    EXPECT_EQ(code_of(read_file("/proc/self/status", 10)), "AF-BASE-012");
}

TEST_F(Files, a_missing_parent_is_an_error_with_a_remedy) {
    const auto result = write_file_atomic(at("no") / "f", "x", Durability::cached);
    EXPECT_EQ(code_of(result), "AF-BASE-013");
    EXPECT_NE(result.error().remedy.find("folder"), std::string::npos);
}

TEST_F(Files, a_folder_is_not_replaced_by_a_file) {
    fs::create_directory(at("d"));
    EXPECT_EQ(code_of(write_file_atomic(at("d"), "x", Durability::cached)), "AF-BASE-013");
    EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, keeps_the_old_file_if_the_new_one_cannot_be_written) {
    ASSERT_TRUE(write_file_atomic(at("f"), "old", Durability::cached).ok());
    fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec);
    const auto result = write_file_atomic(at("f"), "new", Durability::cached);
    if (::geteuid() != 0) { EXPECT_EQ(code_of(result), "AF-BASE-013"); }
    EXPECT_EQ(read_file(at("f")).value(), ::geteuid() != 0 ? "old" : "new");
    fs::permissions(folder_.path(), fs::perms::owner_all);
}

TEST_F(Files, a_name_of_the_longest_length_is_written) {
    ASSERT_TRUE(write_file_atomic(at(std::string(255, 'n')), "x", Durability::synced).ok());
    EXPECT_EQ(code_of(write_file_atomic(at(std::string(256, 'n')), "x", Durability::cached)), "AF-BASE-013");
    EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, creates_a_file_with_the_requested_mode) {
    const auto mask = ::umask(022);
    ASSERT_TRUE(write_file_atomic(at("f"), "x", Durability::cached, 0755).ok());
    ASSERT_TRUE(write_file_atomic(at("g"), "x", Durability::cached, 0600).ok());
    ::umask(mask);
    EXPECT_EQ(fs::status(at("f")).permissions(), fs::perms(0755));
    EXPECT_EQ(fs::status(at("g")).permissions(), fs::perms(0600));
}

TEST_F(Files, a_file_of_the_user_keeps_its_permissions) {
    ASSERT_TRUE(write_file_atomic(at("f"), "old", Durability::cached, 0600).ok());
    ASSERT_TRUE(replace_users_file(at("f"), "new").ok());
    EXPECT_EQ(read_file(at("f")).value(), "new");
    EXPECT_EQ(fs::status(at("f")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Files, a_link_of_the_user_stays_and_its_target_is_replaced) {
    ASSERT_TRUE(write_file_atomic(at("f"), "old", Durability::cached).ok());
    fs::create_symlink("f", at("link"));
    ASSERT_TRUE(replace_users_file(at("link"), "new").ok());
    EXPECT_TRUE(fs::is_symlink(at("link")));
    EXPECT_EQ(read_file(at("f")).value(), "new");
}

TEST_F(Files, a_pipe_of_the_user_is_written_into) {
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
    const FileDescriptor reader(::open(at("pipe").c_str(), O_RDONLY | O_NONBLOCK));
    ASSERT_TRUE(replace_users_file(at("pipe"), "new").ok());
    std::string read(3, ' ');
    EXPECT_EQ(::read(reader.get(), read.data(), read.size()), 3);
    EXPECT_EQ(read, "new");
    EXPECT_TRUE(fs::is_fifo(at("pipe")));
}

TEST_F(Files, an_exclusive_file_is_not_replaced) {
    ASSERT_TRUE(create_file_exclusive(at("f"), "first", Durability::synced).ok());
    const auto second = create_file_exclusive(at("f"), "second", Durability::cached);
    EXPECT_EQ(code_of(second), "AF-BASE-014");
    EXPECT_EQ(second.error().kind, ErrorKind::conflict);
    EXPECT_EQ(read_file(at("f")).value(), "first");
    EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, an_exclusive_file_does_not_follow_a_dangling_link) {
    fs::create_symlink(at("elsewhere"), at("link"));
    EXPECT_EQ(code_of(create_file_exclusive(at("link"), "x", Durability::cached)), "AF-BASE-014");
    EXPECT_FALSE(fs::exists(at("elsewhere")));
}

TEST_F(Files, one_of_many_exclusive_writers_wins) {
    std::atomic<int> won{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back(
            [&, i] { won += create_file_exclusive(at("f"), std::to_string(i), Durability::cached).ok() ? 1 : 0; });
    }
    for (auto& thread : threads) { thread.join(); }
    EXPECT_EQ(won.load(), 1);
    EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, creates_folders_with_their_parents) {
    EXPECT_TRUE(make_directories(at("a/b/c")).ok());
    EXPECT_TRUE(make_directories(at("a/b/c")).ok());
    EXPECT_TRUE(fs::is_directory(at("a/b/c")));
}

TEST_F(Files, a_file_in_the_way_of_a_folder_is_an_error) {
    ASSERT_TRUE(write_file_atomic(at("f"), "x", Durability::cached).ok());
    EXPECT_EQ(code_of(make_directories(at("f"))), "AF-BASE-015");
    EXPECT_EQ(code_of(make_directories(at("f/g"))), "AF-BASE-015");
}

TEST_F(Files, a_missing_folder_cannot_be_synced) {
    EXPECT_EQ(code_of(sync_directory(at("no"))), "AF-BASE-016");
    EXPECT_TRUE(sync_directory(folder_.path()).ok());
}

TEST_F(Files, a_durable_write_removes_temporary_files_of_killed_writers) {
    const pid_t gone = ::fork();
    if (gone == 0) { ::_exit(0); }
    ASSERT_EQ(::waitpid(gone, nullptr, 0), gone);
    const fs::path left = at(".agentforge-new-" + std::to_string(gone) + "-0");
    const fs::path of_this = at(".agentforge-new-" + std::to_string(::getpid()) + "-999999");
    ASSERT_TRUE(write_file_atomic(left, "half", Durability::cached).ok());
    ASSERT_TRUE(write_file_atomic(of_this, "half", Durability::cached).ok());
    ASSERT_TRUE(write_file_atomic(at("f"), "whole", Durability::synced).ok());
    EXPECT_FALSE(fs::exists(left));
    EXPECT_TRUE(fs::exists(of_this));
}

TEST_F(Files, syncs_new_folders_up_to_the_first_existing_one) {
    ASSERT_TRUE(make_directories(at("a/b/c/")).ok());
    ASSERT_TRUE(write_file_atomic(at("a/b/c/f"), "bytes", Durability::synced).ok());
    fs::remove_all(at("a"));
    ASSERT_TRUE(make_directories(at("a/b")).ok());
    EXPECT_TRUE(sync_directory(at("a/b")).ok());
    EXPECT_TRUE(sync_directory(folder_.path()).ok());
}

TEST_F(Files, writing_to_a_full_device_is_an_error) {
    const FileDescriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    ASSERT_TRUE(full.valid());
    const auto result = write_all(full.get(), "x", "/dev/full");
    EXPECT_EQ(code_of(result), "AF-BASE-013");
    EXPECT_NE(result.error().remedy.find("space"), std::string::npos);
}

TEST_F(Files, writes_a_long_text_through_a_small_pipe) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    FileDescriptor in(ends[0]);
    FileDescriptor out(ends[1]);
    const std::string bytes(1'000'000, 'x');
    std::thread writer([&] {
        EXPECT_TRUE(write_all(out.get(), bytes, "pipe").ok());
        out.reset();
    });
    std::string read;
    char part[5000];
    for (ssize_t count = 0; (count = ::read(in.get(), part, sizeof part)) > 0;) {
        read.append(part, static_cast<std::size_t>(count));
    }
    writer.join();
    EXPECT_EQ(read, bytes);
}

TEST(FileDescriptor, closes_once_after_any_moves) {
    const int raw = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    {
        FileDescriptor first(raw);
        FileDescriptor second(std::move(first));
        FileDescriptor third;
        third = std::move(second);
        EXPECT_EQ(third.get(), raw);
        FileDescriptor& same = third;
        third = std::move(same);
        EXPECT_TRUE(third.valid());
    }
    EXPECT_EQ(::fcntl(raw, F_GETFD), -1);
}

TEST(TemporaryDirectory, of_a_killed_process_is_removed_and_one_in_use_is_not) {
    const TemporaryDirectory place("place");
    const char* const before = std::getenv("TMPDIR");
    const std::string restored = before == nullptr ? "" : before;
    ::setenv("TMPDIR", place.path().c_str(), 1);
    const std::filesystem::path abandoned = place.path() / "agentforge-replay-p1-Ab3dEf";
    const std::filesystem::path edited = place.path() / "agentforge-edit-p1-Ab3dEf";
    const std::filesystem::path anothers = place.path() / "agentforge-chaos-Ab3dEf";
    for (const auto& each : {abandoned, edited, anothers}) { std::filesystem::create_directories(each / "in"); }
    {
        const TemporaryDirectory used("used");
        TemporaryDirectory::remove_abandoned();
        EXPECT_TRUE(std::filesystem::exists(used.path()));
    }
    EXPECT_FALSE(std::filesystem::exists(abandoned));
    EXPECT_TRUE(std::filesystem::exists(edited));
    EXPECT_TRUE(std::filesystem::exists(anothers));
    before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", restored.c_str(), 1);
}

TEST(TemporaryDirectory, is_removed_with_its_contents) {
    fs::path path;
    {
        const TemporaryDirectory folder("test");
        path = folder.path();
        EXPECT_NE(path.filename().string().find("agentforge-test-"), std::string::npos);
        EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
        ASSERT_TRUE(make_directories(path / "a" / "b").ok());
        ASSERT_TRUE(write_file_atomic(path / "a" / "b" / "f", "x", Durability::cached).ok());
        fs::permissions(path / "a" / "b", fs::perms::owner_read);
        fs::permissions(path / "a", fs::perms::owner_read | fs::perms::owner_exec);
    }
    EXPECT_FALSE(fs::exists(path));
}

TEST(ErrnoText, is_a_sentence) { EXPECT_EQ(errno_text(ENOENT), "No such file or directory"); }

}  // namespace
}  // namespace agentforge::kernel
