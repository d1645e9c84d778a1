// SPDX-License-Identifier: Apache-2.0
// What a power cut leaves of the git directory, by the rules of POSIX: the bytes of synced files, and the names that a folder had
// when it was synced last. Watches every fsync of this program, those of libgit2 too.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <set>
#include <system_error>
#include <vector>

#include "git_fixture.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

ino_t inode_of(const fs::path& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

class SyncedDisk {
public:
    explicit SyncedDisk(fs::path git_directory) : git_directory_(std::move(git_directory)), before_(entries("")) {}

    void note_sync(int descriptor) {
        struct stat status {};
        std::error_code error;
        const fs::path path = fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error);
        if (error || ::fstat(descriptor, &status) != 0) { return; }
        if (!S_ISDIR(status.st_mode)) {
            sizes_[status.st_ino] = status.st_size;
            if (at_ref && path.string().find("/.git/refs/") != std::string::npos) { at_ref(); }
            return;
        }
        if (at_folder) { at_folder(path); }
        std::set<std::string>& names = names_[status.st_ino];
        names.clear();
        for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
            names.insert(at->path().filename().string());
        }
    }

    /// Returns the files and folders below this one, made since the beginning, that a power cut would take.
    [[nodiscard]] std::vector<std::string> lost(const std::string& below) const {
        std::vector<std::string> found;
        for (const std::string& entry : entries(below)) {
            const fs::path path = git_directory_ / entry;
            if (before_.contains(entry)) { continue; }
            const auto names = names_.find(inode_of(path.parent_path()));
            const auto size = sizes_.find(inode_of(path));
            std::error_code error;
            const bool has_name = names != names_.end() && names->second.contains(path.filename().string());
            const bool has_bytes = !fs::is_regular_file(path, error) ||
                                   (size != sizes_.end() && size->second == static_cast<off_t>(fs::file_size(path, error)));
            if (!has_name || !has_bytes) { found.push_back(entry); }
        }
        return found;
    }

    std::function<void()> at_ref;                    ///< Called when a file of a ref was synced, before it has its name.
    std::function<void(const fs::path&)> at_folder;  ///< Called when a folder was synced.

private:
    [[nodiscard]] std::set<std::string> entries(const std::string& below) const {
        std::set<std::string> found;
        std::error_code error;
        for (fs::recursive_directory_iterator at(git_directory_ / below, error), end; !error && at != end; at.increment(error)) {
            found.insert(at->path().lexically_relative(git_directory_).string());
        }
        return found;
    }

    fs::path git_directory_;
    std::set<std::string> before_;
    std::map<ino_t, off_t> sizes_;
    std::map<ino_t, std::set<std::string>> names_;
};

std::atomic<SyncedDisk*> watching{nullptr};

int sync_by(long call, int descriptor) {
    const long result = ::syscall(call, descriptor);
    SyncedDisk* const disk = watching.load();
    if (result == 0 && disk != nullptr) { disk->note_sync(descriptor); }
    return static_cast<int>(result);
}

}  // namespace
}  // namespace agentforge::kernel

// A program's own symbols come before those of the libraries that it links, so libgit2 calls these too.
extern "C" {
__attribute__((visibility("default"))) int fsync(int descriptor) { return agentforge::kernel::sync_by(SYS_fsync, descriptor); }
__attribute__((visibility("default"))) int fdatasync(int descriptor) {
    return agentforge::kernel::sync_by(SYS_fdatasync, descriptor);
}
}

namespace agentforge::kernel {
namespace {

class DurableTest : public GitTest {
protected:
    DurableTest() : commit_(first_commit()), worktree_(ensure(commit_)), disk_(user() / ".git") { watching = &disk_; }
    ~DurableTest() override { watching = nullptr; }

    /// Records a tree with a new file and keeps it under a ref.
    void keep(const std::string& name, const std::string& bytes) {
        write(worktree_.path() / "new/deep/file.py", bytes);
        const std::string tree = snapshot(worktree_);
        const auto kept = open().keep_tree(name, tree);
        ASSERT_TRUE(kept.ok()) << kept.error().to_string();
    }

    std::string commit_;
    Worktree worktree_;
    SyncedDisk disk_;
};

TEST_F(DurableTest, a_kept_tree_is_on_disk_with_its_ref) {
    keep("task-1/step-1", "x = 1\n");
    EXPECT_THAT(disk_.lost("objects"), IsEmpty());
    EXPECT_THAT(disk_.lost("refs"), IsEmpty());
    EXPECT_TRUE(fs::exists(user() / ".git/refs/agentforge/task-1/step-1"));
}

TEST_F(DurableTest, a_tree_of_many_new_files_is_on_disk) {
    for (int number = 0; number < 300; ++number) {
        write(worktree_.path() / ("many/" + std::to_string(number) + ".txt"), std::to_string(number));
    }
    keep("task-1/step-1", "x = 1\n");
    EXPECT_THAT(disk_.lost("objects"), IsEmpty());
}

TEST_F(DurableTest, the_objects_are_on_disk_before_the_ref_that_names_them) {
    std::size_t refs = 0;
    std::vector<std::string> too_late;
    disk_.at_ref = [&] {
        ++refs;
        for (const std::string& each : disk_.lost("objects")) { too_late.push_back(each); }
    };
    keep("task-1/step-1", "x = 1\n");
    EXPECT_EQ(refs, 1U);
    EXPECT_THAT(too_late, IsEmpty());
}

TEST_F(DurableTest, a_change_within_the_same_clock_tick_is_on_disk_too) {
    for (int step = 1; step <= 40; ++step) {
        keep("task-" + std::to_string(step) + "/step-1", "x = " + std::to_string(step) + "\n");
        ASSERT_THAT(disk_.lost("objects"), IsEmpty()) << "step " << step;
        ASSERT_THAT(disk_.lost("refs"), IsEmpty()) << "step " << step;
    }
}

TEST_F(DurableTest, a_delivered_branch_is_on_disk_with_its_commit_and_its_log) {
    write(worktree_.path() / "new.py", "x = 1\n");
    const std::string tree = snapshot(worktree_);
    const Repository repository = open();
    const auto commit = repository.commit({.tree = tree,
                                           .parent = commit_,
                                           .message = "Add x",
                                           .author_name = "Ada",
                                           .author_email = "ada@example.org",
                                           .time = {}});
    ASSERT_TRUE(commit.ok()) << commit.error().to_string();
    ASSERT_TRUE(repository.create_branch("agentforge/task-1", *commit).ok());
    EXPECT_THAT(disk_.lost("objects"), IsEmpty());
    EXPECT_THAT(disk_.lost("refs"), IsEmpty());
    EXPECT_THAT(disk_.lost("logs"), IsEmpty());
}

TEST_F(DurableTest, what_gits_program_wrote_is_on_disk) {
    const auto begin = std::chrono::system_clock::now();
    git("commit-tree -m signed HEAD^{tree}");
    ASSERT_FALSE(disk_.lost("objects").empty());
    const auto synced = open().sync_objects_since(begin);
    ASSERT_TRUE(synced.ok()) << synced.error().to_string();
    EXPECT_THAT(disk_.lost("objects"), IsEmpty());
}

TEST_F(DurableTest, the_record_of_a_removed_worktree_goes_once_its_folder_cannot_come_back) {
    std::vector<std::string> synced;
    bool record_too = false;
    disk_.at_folder = [&](const fs::path& folder) {
        record_too = record_too || (folder.filename() == "worktrees" && !fs::exists(user() / ".git/worktrees/task-1"));
        if (!fs::exists(task()) && fs::exists(user() / ".git/worktrees/task-1/gitdir")) {
            synced.push_back(folder.filename().string());
        }
    };
    ASSERT_TRUE(Worktree::remove(user(), task(), "task-1").ok());
    EXPECT_THAT(synced, IsSupersetOf({"task-1.removed", "state"}));
    EXPECT_FALSE(fs::exists(user() / ".git/worktrees/task-1"));
    EXPECT_TRUE(record_too);
}

}  // namespace
}  // namespace agentforge::kernel
