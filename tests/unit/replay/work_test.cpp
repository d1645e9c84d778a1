// SPDX-License-Identifier: Apache-2.0
// A recorded command's work, repeated in a real folder by a real shell.
#include <filesystem>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/files.hpp"
#include "replay.hpp"
#include "unit/agent/fakes.hpp"

namespace agentforge::kernel::testing {
namespace {

/// Runs the command at once, unconfined.
class WorkPlace final : public AgenticContext {
public:
    WorkPlace() { EXPECT_TRUE(make_directories(workspace_).ok() && make_directories(scratch_).ok()); }
    [[nodiscard]] bool cancelled() const noexcept override { return false; }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return std::nullopt; }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view) override {}
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return {}; }
    [[nodiscard]] const std::string& workspace() const noexcept override { return workspace_; }
    [[nodiscard]] const std::string& scratch() const noexcept override { return scratch_; }
    [[nodiscard]] Result<AgenticOutcome> run_command(const AgenticCommand& command) override {
        std::string line = "cd \"" + workspace_ + "\" && AGENTFORGE_ARTIFACT='" + artifact() + "'";
        for (const std::string& word : command.argv) { line += " '" + word + "'"; }
        const int status =
            std::system((line + " 2>'" + scratch_ + "/err'").c_str());  // NOLINT(cert-env33-c): as a user's shell would
        AgenticOutcome outcome;
        outcome.process.exit_code = WEXITSTATUS(status);
        outcome.process.err = read_file(scratch_ + "/err", 10'000).value();
        return outcome;
    }
    [[nodiscard]] std::string artifact() const { return scratch_ + "/artifact.yaml"; }
    [[nodiscard]] std::string at(const std::string& path) const { return workspace_ + "/" + path; }
    [[nodiscard]] std::string content(const std::string& path) const {
        const auto text = read_file(at(path), 10'000);
        return text.ok() ? *text : text.error().code;
    }
    void put(const std::string& path, const std::string& text) const {
        EXPECT_TRUE(make_directories(std::filesystem::path(at(path)).parent_path()).ok());
        EXPECT_TRUE(write_file_atomic(at(path), text, Durability::cached).ok());
    }

private:
    TemporaryDirectory directory_{"work"};
    std::string workspace_ = (directory_.path() / "it's the workspace").string();
    std::string scratch_ = (directory_.path() / "scratch").string();
};

Result<Completion> answer(const std::string& workspace, CallContext& context) {
    const TemporaryDirectory folder("transcript");
    const std::string file = (folder.path() / "t.yaml").string();
    const std::string entry = "agentforge_transcript: 1\nentries:\n  - {stage: green, step: 1, text: done" +
                              (workspace.empty() ? "" : ", workspace: " + workspace) + "}\n";
    EXPECT_TRUE(write_file_atomic(file, entry, Durability::cached).ok());
    ::replay::ReplayBackend backend({{"transcript", file}});
    CompletionRequest request;
    request.place = {"task-1", "green", "software_developer", 1, 1, 1};
    return backend.complete(request, nullptr, context);
}

class RecordedWork : public ::testing::Test {
protected:
    void redo(const std::string& workspace) {
        const auto given = answer(workspace, place);
        ASSERT_TRUE(given.ok()) << given.error().to_string();
        EXPECT_EQ(given->text, "done");
    }
    WorkPlace place;
};

TEST_F(RecordedWork, writes_new_files_in_new_folders) {
    redo(R"({changes: [{path: "a/b/it's new", text: "x = 1\n"}]})");
    EXPECT_EQ(place.content("a/b/it's new"), "x = 1\n");
}

TEST_F(RecordedWork, writes_binary_files) {
    redo("{changes: [{path: a, base64: 6Q0KAA==}]}");
    EXPECT_EQ(place.content("a"), std::string("\xe9\r\n\0", 4));
}

TEST_F(RecordedWork, overwrites_a_file_in_place) {
    place.put("a", "before");
    std::filesystem::create_hard_link(place.at("a"), place.at("same"));
    redo("{changes: [{path: a, text: after}]}");
    EXPECT_EQ(place.content("same"), "after");
}

TEST_F(RecordedWork, removes_files_before_others_replace_them) {
    place.put("a/b", "before");
    redo("{changes: [{path: a, text: now a file}, {path: a/b, deleted: true}]}");
    EXPECT_EQ(place.content("a"), "now a file");
}

TEST_F(RecordedWork, creates_links_without_following_existing_ones) {
    place.put("target", "kept");
    std::filesystem::create_symlink("target", place.at("was a link"));
    redo("{changes: [{path: new, link: target}, {path: was a link, text: a file}]}");
    EXPECT_EQ(std::filesystem::read_symlink(place.at("new")), "target");
    EXPECT_EQ(place.content("target"), "kept");
}

TEST_F(RecordedWork, sets_and_clears_the_executable_bit) {
    place.put("was", "#!");
    std::filesystem::permissions(place.at("was"), std::filesystem::perms::owner_all);
    redo("{changes: [{path: is, text: '#!', executable: true}, {path: was, text: '#!'}]}");
    constexpr auto executable = std::filesystem::perms::owner_exec;
    EXPECT_EQ(std::filesystem::status(place.at("is")).permissions() & executable, executable);
    EXPECT_EQ(std::filesystem::status(place.at("was")).permissions() & executable, std::filesystem::perms::none);
}

TEST_F(RecordedWork, leaves_the_artifact_where_the_host_expects_it) {
    redo("{changes: [], artifact: {text: 'summary: ready'}}");
    EXPECT_EQ(read_file(place.artifact(), 1000).value(), "summary: ready");
}

TEST_F(RecordedWork, impossible_changes_are_an_error_with_the_cause) {
    const auto impossible = answer("{changes: [{path: a, base64: '***'}]}", place);
    ASSERT_FALSE(impossible.ok());
    EXPECT_EQ(impossible.error().code, "AF-LLM-206");
    EXPECT_NE(impossible.error().message.find("base64"), std::string::npos) << impossible.error().message;
}

TEST_F(RecordedWork, an_answer_from_plain_mode_is_refused_in_agentic_mode) {
    EXPECT_EQ(answer("", place).error().code, "AF-LLM-207");
}

TEST(RecordedWorkInPlainMode, is_refused) {
    FakeContext context;
    EXPECT_EQ(answer("{changes: []}", context).error().code, "AF-LLM-207");
}

}  // namespace
}  // namespace agentforge::kernel::testing
