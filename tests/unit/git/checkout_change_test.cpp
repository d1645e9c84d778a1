// SPDX-License-Identifier: Apache-2.0
#include "git/checkout_change.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

namespace agentforge::kernel::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A checkout of five files. The change edits one, deletes one, adds one in a new folder, makes one executable and replaces a
/// link.
class CheckoutChangeTest : public ::testing::Test {
protected:
    CheckoutChangeTest() {
        write("edited.txt", "before\n");
        write("folder/deleted.txt", "gone\n");
        write("script.sh", "#!/bin/sh\n");
        write("kept.txt", "mine\n");
        fs::create_symlink("edited.txt", root() / "link");
    }
    [[nodiscard]] fs::path root() const { return folder_.path() / "checkout"; }
    [[nodiscard]] fs::path place() const { return root() / ".agentforge" / "apply"; }
    void write(const std::string& path, const std::string& text) const {
        fs::create_directories((root() / path).parent_path());
        std::ofstream(root() / path, std::ios::binary) << text;
    }
    Result<CheckoutChange> prepared() const {
        return CheckoutChange::prepare(root(), place(), "task-1",
                                       {"edited.txt", "folder/deleted.txt", "new/added.txt", "script.sh", "link"});
    }
    static void change_copies(const CheckoutChange& change) {
        std::ofstream(change.copies() / "edited.txt", std::ios::binary) << "after\n";
        fs::remove(change.copies() / "folder/deleted.txt");
        fs::create_directories(change.copies() / "new");
        std::ofstream(change.copies() / "new/added.txt") << "added\n";
        fs::permissions(change.copies() / "script.sh", fs::perms::owner_exec, fs::perm_options::add);
        fs::remove(change.copies() / "link");
        fs::create_symlink("kept.txt", change.copies() / "link");
    }
    void seal() const {
        auto change = prepared();
        ASSERT_TRUE(change.ok()) << change.error().to_string();
        change_copies(*change);
        ASSERT_TRUE(change->seal("").ok());
    }
    [[nodiscard]] std::map<std::string, std::string> files() const {
        std::map<std::string, std::string> found;
        for (auto at = fs::recursive_directory_iterator(root()); at != fs::recursive_directory_iterator(); ++at) {
            if (at->path().filename() == ".agentforge") {
                at.disable_recursion_pending();
                continue;
            }
            const std::string name = at->path().lexically_relative(root()).string();
            if (at->is_symlink()) {
                found[name] = "-> " + fs::read_symlink(at->path()).string();
            } else if (at->is_regular_file()) {
                std::ifstream file(at->path(), std::ios::binary);
                found[name] = std::string(std::istreambuf_iterator<char>(file), {});
                if ((at->status().permissions() & fs::perms::owner_exec) != fs::perms::none) { found[name] += "(x)"; }
            }
        }
        return found;
    }
    const std::map<std::string, std::string> before_{{"edited.txt", "before\n"},
                                                     {"folder/deleted.txt", "gone\n"},
                                                     {"script.sh", "#!/bin/sh\n"},
                                                     {"kept.txt", "mine\n"},
                                                     {"link", "-> edited.txt"}};
    const std::map<std::string, std::string> after_{{"edited.txt", "after\n"},
                                                    {"new/added.txt", "added\n"},
                                                    {"script.sh", "#!/bin/sh\n(x)"},
                                                    {"kept.txt", "mine\n"},
                                                    {"link", "-> kept.txt"}};
    TemporaryDirectory folder_{"checkout-change"};
};

TEST_F(CheckoutChangeTest, puts_every_file_in_place) {
    seal();
    auto change = CheckoutChange::find(root(), place());
    ASSERT_TRUE(change.ok() && *change);
    EXPECT_THAT(*(*change)->install(), IsEmpty());
    ASSERT_TRUE((*change)->finish({}).ok());
    EXPECT_EQ(files(), after_);
    EXPECT_FALSE(fs::exists(root() / "folder"));
    EXPECT_FALSE(CheckoutChange::unfinished(place()));
}

/// A change from a file to a folder, or back, stopped after any file and then finished.
class CheckoutChangeOfKindTest : public CheckoutChangeTest {
protected:
    /// `at` becomes a folder with one file, or the file again.
    Result<CheckoutChange> prepared(const std::string& at, bool to_folder) const {
        auto change = CheckoutChange::prepare(root(), place(), "task-1", {at, at + "/in.txt"});
        if (!change.ok()) { return change; }
        fs::remove_all(change->copies() / at);
        if (to_folder) { fs::create_directories(change->copies() / at); }
        std::ofstream(change->copies() / (to_folder ? at + "/in.txt" : at)) << "new\n";
        AF_CHECK(change->seal(""));
        return change;
    }
    static Result<std::vector<std::string>> install(CheckoutChange& change, int stop_after) {
        int left = stop_after;
        if (left > 0) {
            static_cast<void>(change.install([&left] { return --left > 0; }).ok());
        }
        return change.install();
    }
};

TEST_F(CheckoutChangeOfKindTest, turns_a_file_into_a_folder) {
    for (int stop_after = 0; stop_after <= 2; ++stop_after) {
        SCOPED_TRACE(stop_after);
        fs::remove_all(root() / "kept.txt");
        write("kept.txt", "mine\n");
        auto change = prepared("kept.txt", true);
        ASSERT_TRUE(change.ok()) << change.error().to_string();
        EXPECT_THAT(*install(*change, stop_after), IsEmpty());
        ASSERT_TRUE(change->finish({}).ok());
        EXPECT_EQ(files().at("kept.txt/in.txt"), "new\n");
    }
}

TEST_F(CheckoutChangeOfKindTest, turns_a_folder_into_a_file) {
    for (int stop_after = 0; stop_after <= 2; ++stop_after) {
        SCOPED_TRACE(stop_after);
        fs::remove_all(root() / "kind");
        write("kind/in.txt", "old\n");
        auto change = prepared("kind", false);
        ASSERT_TRUE(change.ok()) << change.error().to_string();
        EXPECT_THAT(*install(*change, stop_after), IsEmpty());
        ASSERT_TRUE(change->finish({}).ok());
        EXPECT_EQ(files().at("kind"), "new\n");
    }
}

TEST_F(CheckoutChangeOfKindTest, leaves_a_folder_that_has_other_files) {
    write("kind/in.txt", "old\n");
    write("kind/mine.txt", "mine\n");
    auto change = prepared("kind", false);
    ASSERT_TRUE(change.ok()) << change.error().to_string();
    EXPECT_THAT(*change->install(), ElementsAre("kind"));
    EXPECT_EQ(files().at("kind/mine.txt"), "mine\n");
}

TEST_F(CheckoutChangeOfKindTest, leaves_an_edited_file_in_whose_place_a_folder_would_come) {
    auto change = prepared("kept.txt", true);
    ASSERT_TRUE(change.ok()) << change.error().to_string();
    write("kept.txt", "edited\n");
    EXPECT_THAT(*change->install(), ElementsAre("kept.txt", "kept.txt/in.txt"));
    EXPECT_EQ(files().at("kept.txt"), "edited\n");
}

TEST_F(CheckoutChangeTest, discards_a_change_that_was_only_prepared) {
    {
        auto change = prepared();
        ASSERT_TRUE(change.ok());
        change_copies(*change);
    }
    const auto found = CheckoutChange::find(root(), place());
    ASSERT_TRUE(found.ok());
    EXPECT_FALSE(*found);
    EXPECT_EQ(files(), before_);
    EXPECT_FALSE(fs::exists(place() / "files"));
}

TEST_F(CheckoutChangeTest, finishes_a_change_interrupted_after_any_file) {
    for (int files_put = 0; files_put <= 5; ++files_put) {
        SCOPED_TRACE(files_put);
        fs::remove_all(root());
        write("edited.txt", "before\n");
        write("folder/deleted.txt", "gone\n");
        write("script.sh", "#!/bin/sh\n");
        write("kept.txt", "mine\n");
        fs::create_symlink("edited.txt", root() / "link");
        seal();
        {
            auto dying = CheckoutChange::find(root(), place());
            ASSERT_TRUE(dying.ok() && *dying);
            int left = files_put;
            if (left > 0) {
                static_cast<void>((*dying)->install([&left] { return --left > 0; }));
            }
        }
        EXPECT_EQ(CheckoutChange::unfinished(place()).value_or(UnfinishedChange()).task, "task-1");
        auto next = CheckoutChange::find(root(), place());
        ASSERT_TRUE(next.ok() && *next);
        EXPECT_THAT(*(*next)->install(), IsEmpty());
        ASSERT_TRUE((*next)->finish({}).ok());
        EXPECT_EQ(files(), after_);
    }
}

TEST_F(CheckoutChangeTest, keeps_a_file_edited_meanwhile_and_saves_the_new_text_aside) {
    seal();
    write("edited.txt", "edited by hand\n");
    auto change = CheckoutChange::find(root(), place());
    ASSERT_TRUE(change.ok() && *change);
    const auto edited = (*change)->install();
    ASSERT_TRUE(edited.ok());
    EXPECT_THAT(*edited, ElementsAre("edited.txt"));
    const auto left = (*change)->finish(*edited);
    ASSERT_TRUE(left.ok());
    EXPECT_EQ(files().at("edited.txt"), "edited by hand\n");
    EXPECT_EQ(files().at("new/added.txt"), "added\n");
    std::ifstream kept(*left / "edited.txt");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), "after\n");
}

TEST_F(CheckoutChangeTest, puts_files_in_place_again_that_were_restored_since) {
    seal();
    {
        auto dying = CheckoutChange::find(root(), place());
        ASSERT_TRUE(dying.ok() && *dying);
        static_cast<void>((*dying)->install([this] { return !fs::exists(root() / "new/added.txt"); }));
    }
    fs::remove_all(root() / "new");
    fs::remove(root() / "edited.txt");
    write("edited.txt", "before\n");
    auto next = CheckoutChange::find(root(), place());
    ASSERT_TRUE(next.ok() && *next);
    const auto edited = (*next)->install();
    ASSERT_TRUE(edited.ok()) << edited.error().to_string();
    EXPECT_THAT(*edited, IsEmpty());
    ASSERT_TRUE((*next)->finish(*edited).ok());
    EXPECT_EQ(files(), after_);
    EXPECT_EQ(fs::hard_link_count(root() / "edited.txt"), 1U);
    EXPECT_FALSE(CheckoutChange::unfinished(place()));
}

TEST_F(CheckoutChangeTest, does_not_take_an_edit_in_place_for_the_change) {
    seal();
    {
        auto dying = CheckoutChange::find(root(), place());
        ASSERT_TRUE(dying.ok() && *dying);
        static_cast<void>((*dying)->install([this] { return !fs::exists(root() / "new/added.txt"); }));
    }
    write("new/added.txt", "edited by hand\n");  // Into the same file: its copy changes, too.
    auto next = CheckoutChange::find(root(), place());
    ASSERT_TRUE(next.ok() && *next);
    const auto edited = (*next)->install();
    ASSERT_TRUE(edited.ok()) << edited.error().to_string();
    EXPECT_THAT(*edited, ElementsAre("new/added.txt"));
    const auto left = (*next)->finish(*edited);
    ASSERT_TRUE(left.ok());
    EXPECT_TRUE(left->empty());
    EXPECT_EQ(files().at("new/added.txt"), "edited by hand\n");
    EXPECT_EQ(files().at("edited.txt"), "after\n");
}

TEST_F(CheckoutChangeTest, is_begun_until_a_person_undoes_all_of_it) {
    seal();
    const auto interrupted = [&] { return CheckoutChange::find(root(), place()).value().value(); };
    EXPECT_FALSE(interrupted().is_begun().value());
    ASSERT_TRUE(interrupted().install([] { return false; }).ok());  // The process ends after one file.
    EXPECT_TRUE(interrupted().is_begun().value());
    write("folder/deleted.txt", "gone\n");
    EXPECT_FALSE(interrupted().is_begun().value());
    EXPECT_THAT(interrupted().paths(), ElementsAre("edited.txt", "folder/deleted.txt", "new/added.txt", "script.sh", "link"));
}

TEST_F(CheckoutChangeTest, allows_one_process_at_a_time) {
    const auto first = prepared();
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(prepared().error().code, "AF-GIT-061");
    EXPECT_EQ(CheckoutChange::find(root(), place()).error().code, "AF-GIT-061");
}

TEST_F(CheckoutChangeTest, does_not_start_over_an_unfinished_change) {
    seal();
    EXPECT_EQ(prepared().error().code, "AF-GIT-061");
    EXPECT_EQ(CheckoutChange::unfinished(place()).value_or(UnfinishedChange()).task, "task-1");
}

TEST_F(CheckoutChangeTest, names_and_keeps_an_unreadable_record) {
    seal();
    std::ofstream(place() / "change.json") << "{";
    EXPECT_EQ(CheckoutChange::find(root(), place()).error().code, "AF-GIT-062");
    EXPECT_EQ(files(), before_);
}

}  // namespace
}  // namespace agentforge::kernel::testing
