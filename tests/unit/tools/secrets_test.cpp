// SPDX-License-Identifier: Apache-2.0
// What a role sees of the workspace's secrets, and what happens to a placeholder that it writes.
#include <gtest/gtest.h>

#include "secrets/restore.hpp"
#include "tools/workspace/role_workspace.hpp"

namespace agentforge::kernel {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string secret = "Zx8Cv5Bn2Mq1We4Rt7";

class WorkspaceSecrets : public testing::Test {
protected:
    WorkspaceSecrets()
        : workspace_(
              std::move(RoleWorkspace::open(folder_.path().string(), RolePaths::make("tester", {}).value(), redactor_)).value()) {
    }
    void put(const std::string& path, std::string_view bytes) const {
        ASSERT_TRUE(write_file_atomic(folder_.path() / path, bytes, Durability::cached).ok());
    }
    [[nodiscard]] std::string get(const std::string& path) const { return read_file(folder_.path() / path).value_or("(none)"); }
    template <class T>
    static std::string code(const Result<T>& result) {
        return result.ok() ? "" : result.error().code;
    }

    TemporaryDirectory folder_{"workspace-secrets"};
    Redactor redactor_{{{"SHOP_KEY", secret}}, {}, "k"};
    const std::string placeholder_ = redactor_.redact(secret);
    std::unique_ptr<RoleWorkspace> workspace_;
};

TEST_F(WorkspaceSecrets, are_shown_as_placeholders) {
    put("a.env", "KEY=" + secret + "\nB=1\n");
    EXPECT_EQ(workspace_->read("a.env")->content, "KEY=" + placeholder_ + "\nB=1\n");
}

TEST_F(WorkspaceSecrets, are_shown_as_placeholders_even_if_the_range_ends_inside) {
    put("a.env", "KEY=" + secret + "\n");
    for (std::uint64_t most = 5; most < 24; ++most) {
        ReadOptions options;
        options.max_bytes = most;
        EXPECT_THAT(workspace_->read("a.env", options)->content, Not(HasSubstr(secret.substr(0, 2)))) << most;
    }
}

TEST_F(WorkspaceSecrets, are_not_found_by_searching_for_their_beginning) {
    put("a.env", "KEY=" + secret + "\n");
    SearchQuery query;
    query.pattern = "=Zx8C";
    EXPECT_TRUE(workspace_->search(query)->hits.empty());
}

TEST_F(WorkspaceSecrets, are_hidden_in_the_line_of_a_hit) {
    put("a.env", "KEY=" + secret + "\n");
    SearchQuery query;
    query.pattern = "KEY";
    EXPECT_EQ(workspace_->search(query)->hits.at(0).text, "KEY=" + placeholder_);
}

TEST_F(WorkspaceSecrets, are_found_by_their_placeholder) {
    put("a.env", "KEY=" + secret + "\n");
    SearchQuery query;
    query.pattern = placeholder_;
    query.literal = true;
    EXPECT_EQ(workspace_->search(query)->hits.size(), 1U);
}

TEST_F(WorkspaceSecrets, stay_when_their_line_is_edited) {
    put("a.env", "KEY=" + secret + "\nB=1\n");
    ASSERT_TRUE(workspace_->edit("a.env", "KEY=" + placeholder_ + "\nB=1", "NAME=" + placeholder_ + "\nB=2").ok());
    EXPECT_EQ(get("a.env"), "NAME=" + secret + "\nB=2\n");
}

TEST_F(WorkspaceSecrets, stay_when_another_line_is_edited) {
    put("a.env", "KEY=" + secret + "\nB=1\n");
    ASSERT_TRUE(workspace_->edit("a.env", "B=1", "B=2").ok());
    EXPECT_EQ(get("a.env"), "KEY=" + secret + "\nB=2\n");
}

TEST_F(WorkspaceSecrets, cannot_be_guessed_by_editing_their_prefix) {
    put("a.env", "KEY=" + secret + "\n");
    const auto edit = workspace_->edit("a.env", "KEY=Zx8C", "KEY=Zx8CX");
    ASSERT_EQ(code(edit), "AF-TOOL-040");
    EXPECT_THAT(edit.error().to_string(), Not(HasSubstr(secret)));
}

TEST_F(WorkspaceSecrets, stay_when_the_whole_file_is_written) {
    put("a.env", "KEY=" + secret + "\n");
    ASSERT_TRUE(workspace_->create("a.env", "# keys\nKEY=" + placeholder_ + "\n", true).ok());
    EXPECT_EQ(get("a.env"), "# keys\nKEY=" + secret + "\n");
}

TEST_F(WorkspaceSecrets, stay_when_a_patch_changes_their_lines) {
    put("a.env", "KEY=" + secret + "\nB=1\n");
    FileEdit edit;
    edit.path = "a.env";
    edit.hunks = {{"KEY=" + placeholder_ + "\nB=1\n", "NAME=" + placeholder_ + "\nB=2\n", {}, true, false, ""}};
    ASSERT_EQ(code(workspace_->apply({edit})), "");
    EXPECT_EQ(get("a.env"), "NAME=" + secret + "\nB=2\n");
}

TEST_F(WorkspaceSecrets, stay_when_a_patch_writes_the_whole_file) {
    put("a.env", "KEY=" + secret + "\n");
    FileEdit edit;
    edit.kind = FileEditKind::overwrite;
    edit.path = "a.env";
    edit.content = "# keys\nKEY=" + placeholder_ + "\n";
    ASSERT_EQ(code(workspace_->apply({edit})), "");
    EXPECT_EQ(get("a.env"), "# keys\nKEY=" + secret + "\n");
}

TEST_F(WorkspaceSecrets, of_the_environment_make_a_patch_write_nothing) {
    put("b.txt", "B=1\n");
    FileEdit change;
    change.path = "b.txt";
    change.hunks = {{"B=1", "B=2", {}, false, false, ""}};
    FileEdit create;
    create.kind = FileEditKind::create;
    create.path = "c.txt";
    create.content = placeholder_;
    EXPECT_EQ(code(workspace_->apply({change, create})), "AF-SEC-003");
    EXPECT_EQ(get("b.txt") + get("c.txt"), "B=1\n(none)");
}

TEST_F(WorkspaceSecrets, move_with_the_code_that_holds_them) {
    put("a.env", "KEY=" + secret + "\n");
    ASSERT_TRUE(workspace_->create("b.env", "KEY=" + placeholder_ + "\n").ok());
    EXPECT_EQ(get("b.env"), "KEY=" + secret + "\n");
}

TEST_F(WorkspaceSecrets, of_the_environment_are_never_written) {
    const auto created = workspace_->create("b.env", "KEY=" + placeholder_ + "\n");
    EXPECT_EQ(code(created), "AF-SEC-003");
    EXPECT_EQ(get("b.env"), "(none)");
}

TEST_F(WorkspaceSecrets, truncated_are_refused_and_the_file_is_kept) {
    put("a.env", "KEY=" + secret + "\n");
    EXPECT_EQ(code(workspace_->create("a.env", "KEY=[REDACTED:SHOP_KEY]\n", true)), "AF-SEC-004");
    EXPECT_EQ(get("a.env"), "KEY=" + secret + "\n");
}

TEST_F(WorkspaceSecrets, do_not_change_the_hashes_of_the_file) {
    put("a.env", "KEY=" + secret + "\n");
    const std::string before = workspace_->read("a.env")->sha256;
    ASSERT_TRUE(workspace_->edit("a.env", "KEY=", "NAME=").ok());
    EXPECT_EQ(workspace_->take_changes().at(0).before_sha256, before);
}

}  // namespace
}  // namespace agentforge::kernel
