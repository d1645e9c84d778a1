// SPDX-License-Identifier: Apache-2.0
#include "pipeline/staleness.hpp"

#include <gmock/gmock.h>
#include "unit/git/git_fixture.hpp"

namespace agentforge::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

json::object naming(const std::string& text) { return {{"risks", json::array{json::object{{"description", text}}}}}; }

TEST(StalenessNamedPaths, match_only_as_whole_paths) {
    EXPECT_TRUE(names_path(naming("src/a.py"), "src/a.py"));
    EXPECT_TRUE(names_path(naming("See `src/a.py:12`, and ./src/a.py."), "src/a.py"));
    EXPECT_TRUE(names_path({{"file_notes", {{"src/a.py", "new"}}}}, "src/a.py"));
    EXPECT_FALSE(names_path(naming("other/src/a.py and src/a.pyc and src/a.py.bak"), "src/a.py"));
    EXPECT_FALSE(names_path(naming("data.py"), "a.py"));
}

TEST(StalenessNamedPaths, include_files_below_a_folder_named_with_a_slash) {
    EXPECT_TRUE(names_path(naming("src/auth/"), "src/auth/token.py"));
    EXPECT_FALSE(names_path(naming("src/auth"), "src/auth/token.py"));
    EXPECT_FALSE(names_path(naming("/"), "src/auth/token.py"));
}

TEST(StalenessNamedPaths, include_files_below_a_source_folder_that_is_a_whole_text) {
    const Folders folders{"src", "src/auth"};
    for (const char* text : {"src/auth", "./src/auth", "src/auth/", "src"}) {
        EXPECT_TRUE(names_path(naming(text), "src/auth/token.py", folders)) << text;
    }
    EXPECT_TRUE(names_path({{"file_notes", {{"src/auth", "new"}}}}, "src/auth/token.py", folders));
    for (const char* text : {"src/auth is new", "src/authority", "auth", ""}) {
        EXPECT_FALSE(names_path(naming(text), "src/auth/token.py", folders)) << text;
    }
}

class StalenessTest : public GitTest {
protected:
    StalenessTest() { base_commit = first_commit(); }
    std::string change(const std::string& file, const std::string& text, const std::string& message) {
        write(user() / file, text);
        git("add -A");
        git("commit -q -m '" + message + "'");
        return id_of("HEAD");
    }
    [[nodiscard]] Result<Staleness> measure(const std::string& text) {
        return measure_staleness(open(), {{"spec", naming(text)}, {"analyze", naming("docs/x.md")}}, base_commit, id_of("HEAD"));
    }
    std::string base_commit;
};

TEST_F(StalenessTest, names_the_files_and_the_commits_that_changed_them) {
    const std::string first = change("src/app.py", "one\n", "First change");
    change("src/other.py", "other\n", "Another file");
    const std::string second = change("src/app.py", "two\n", "Second change");
    const auto staleness = measure("src/app.py");
    ASSERT_TRUE(staleness.ok()) << staleness.error().to_string();
    ASSERT_EQ(staleness->files.size(), 1U);
    EXPECT_EQ(staleness->files[0].path, "src/app.py");
    EXPECT_THAT(staleness->files[0].named_by, ElementsAre("spec"));
    EXPECT_THAT(staleness->files[0].commits, ElementsAre(CommitLine{second, "Second change"}, CommitLine{first, "First change"}));
    EXPECT_THAT(describe(staleness->files),
                ElementsAre("src/app.py (in spec): " + second.substr(0, 8) + " Second change, and 1 more"));
}

TEST_F(StalenessTest, is_none_if_no_named_file_changed) {
    change("src/other.py", "other\n", "Another file");
    EXPECT_THAT(measure("src/app.py")->files, IsEmpty());
}

TEST_F(StalenessTest, is_none_if_nothing_changed) { EXPECT_FALSE(measure("src/app.py")->stale()); }

TEST_F(StalenessTest, counts_a_file_added_since) {
    change("src/new.py", "new\n", "Somebody was faster");
    EXPECT_EQ(measure("src/new.py")->files.at(0).change, 'A');
}

TEST_F(StalenessTest, counts_a_file_below_a_folder_of_the_base) {
    change("src/new.py", "new\n", "Somebody was faster");
    change("lib/new.py", "new\n", "A folder of its own");
    EXPECT_EQ(measure("src")->files.at(0).path, "src/new.py");
    EXPECT_FALSE(measure("lib")->stale());
}

TEST_F(StalenessTest, is_unknown_if_the_base_is_gone) {
    base_commit = std::string(40, 'e');
    const auto staleness = measure("src/app.py");
    ASSERT_TRUE(staleness.ok()) << staleness.error().to_string();
    EXPECT_TRUE(staleness->stale());
    EXPECT_THAT(staleness->files, IsEmpty());
}

TEST_F(StalenessTest, ignores_a_reverted_change) {
    change("src/app.py", "one\n", "First change");
    git("revert --no-edit HEAD");
    EXPECT_FALSE(measure("src/app.py")->stale());
}

}  // namespace
}  // namespace agentforge::kernel
