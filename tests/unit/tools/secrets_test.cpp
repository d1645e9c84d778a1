// SPDX-License-Identifier: Apache-2.0
// What a role sees of the workspace's secrets, and what happens to a placeholder that it writes.
#include <gtest/gtest.h>

#include "secrets/restore.hpp"
#include "tools/role_workspace.hpp"

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

TEST_F(WorkspaceSecrets, AreShownAsPlaceholders) {
    put("a.env", "KEY=" + secret + "\nB=1\n");
    EXPECT_EQ(workspace_->read("a.env")->content, "KEY=" + placeholder_ + "\nB=1\n");
}

TEST_F(WorkspaceSecrets, AreShownAsPlaceholdersEvenIfTheRangeEndsInside) {
    put("a.env", "KEY=" + secret + "\n");
    for (std::uint64_t most = 5; most < 24; ++most) {
        ReadOptions options;
        options.max_bytes = most;
        EXPECT_THAT(workspace_->read("a.env", options)->content, Not(HasSubstr(secret.substr(0, 2)))) << most;
    }
}

TEST_F(WorkspaceSecrets, AreNotFoundBySearchingForTheirBeginning) {
    put("a.env", "KEY=" + secret + "\n");
    SearchQuery query;
    query.pattern = "=Zx8C";
    EXPECT_TRUE(workspace_->search(query)->hits.empty());
}

TEST_F(WorkspaceSecrets, AreHiddenInTheLineOfAHit) {
    put("a.env", "KEY=" + secret + "\n");
    SearchQuery query;
    query.pattern = "KEY";
    EXPECT_EQ(workspace_->search(query)->hits.at(0).text, "KEY=" + placeholder_);
}

TEST_F(WorkspaceSecrets, AreFoundByTheirPlaceholder) {
    put("a.env", "KEY=" + secret + "\n");
    SearchQuery query;
    query.pattern = placeholder_;
    query.literal = true;
    EXPECT_EQ(workspace_->search(query)->hits.size(), 1U);
}

TEST_F(WorkspaceSecrets, StayWhenTheirLineIsEdited) {
    put("a.env", "KEY=" + secret + "\nB=1\n");
    ASSERT_TRUE(workspace_->edit("a.env", "KEY=" + placeholder_ + "\nB=1", "NAME=" + placeholder_ + "\nB=2").ok());
    EXPECT_EQ(get("a.env"), "NAME=" + secret + "\nB=2\n");
}

TEST_F(WorkspaceSecrets, StayWhenAnotherLineIsEdited) {
    put("a.env", "KEY=" + secret + "\nB=1\n");
    ASSERT_TRUE(workspace_->edit("a.env", "B=1", "B=2").ok());
    EXPECT_EQ(get("a.env"), "KEY=" + secret + "\nB=2\n");
}

TEST_F(WorkspaceSecrets, CannotBeGuessedByEditingTheirPrefix) {
    put("a.env", "KEY=" + secret + "\n");
    const auto edit = workspace_->edit("a.env", "KEY=Zx8C", "KEY=Zx8CX");
    ASSERT_EQ(code(edit), "AF-TOOL-040");
    EXPECT_THAT(edit.error().to_string(), Not(HasSubstr(secret)));
}

TEST_F(WorkspaceSecrets, StayWhenTheWholeFileIsWritten) {
    put("a.env", "KEY=" + secret + "\n");
    ASSERT_TRUE(workspace_->create("a.env", "# keys\nKEY=" + placeholder_ + "\n", true).ok());
    EXPECT_EQ(get("a.env"), "# keys\nKEY=" + secret + "\n");
}

TEST_F(WorkspaceSecrets, StayWhenAPatchChangesTheirLines) {
    put("a.env", "KEY=" + secret + "\nB=1\n");
    FileEdit edit;
    edit.path = "a.env";
    edit.hunks = {{"KEY=" + placeholder_ + "\nB=1\n", "NAME=" + placeholder_ + "\nB=2\n", {}, true, false, ""}};
    ASSERT_EQ(code(workspace_->apply({edit})), "");
    EXPECT_EQ(get("a.env"), "NAME=" + secret + "\nB=2\n");
}

TEST_F(WorkspaceSecrets, StayWhenAPatchWritesTheWholeFile) {
    put("a.env", "KEY=" + secret + "\n");
    FileEdit edit;
    edit.kind = FileEditKind::overwrite;
    edit.path = "a.env";
    edit.content = "# keys\nKEY=" + placeholder_ + "\n";
    ASSERT_EQ(code(workspace_->apply({edit})), "");
    EXPECT_EQ(get("a.env"), "# keys\nKEY=" + secret + "\n");
}

TEST_F(WorkspaceSecrets, OfTheEnvironmentMakeAPatchWriteNothing) {
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

TEST_F(WorkspaceSecrets, MoveWithTheCodeThatHoldsThem) {
    put("a.env", "KEY=" + secret + "\n");
    ASSERT_TRUE(workspace_->create("b.env", "KEY=" + placeholder_ + "\n").ok());
    EXPECT_EQ(get("b.env"), "KEY=" + secret + "\n");
}

TEST_F(WorkspaceSecrets, OfTheEnvironmentAreNeverWritten) {
    const auto created = workspace_->create("b.env", "KEY=" + placeholder_ + "\n");
    EXPECT_EQ(code(created), "AF-SEC-003");
    EXPECT_EQ(get("b.env"), "(none)");
}

TEST_F(WorkspaceSecrets, TruncatedAreRefusedAndTheFileIsKept) {
    put("a.env", "KEY=" + secret + "\n");
    EXPECT_EQ(code(workspace_->create("a.env", "KEY=[REDACTED:SHOP_KEY]\n", true)), "AF-SEC-004");
    EXPECT_EQ(get("a.env"), "KEY=" + secret + "\n");
}

TEST_F(WorkspaceSecrets, DoNotChangeTheHashesOfTheFile) {
    put("a.env", "KEY=" + secret + "\n");
    const std::string before = workspace_->read("a.env")->sha256;
    ASSERT_TRUE(workspace_->edit("a.env", "KEY=", "NAME=").ok());
    EXPECT_EQ(workspace_->take_changes().at(0).before_sha256, before);
}

}  // namespace
}  // namespace agentforge::kernel
