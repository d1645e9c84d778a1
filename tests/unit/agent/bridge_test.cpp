// SPDX-License-Identifier: Apache-2.0
// The loop over the real bridge and a real workspace.
#include <gtest/gtest.h>

#include "agent/bridge_actions.hpp"
#include "base/files.hpp"
#include "unit/agent/fakes.hpp"

namespace agentforge::kernel::testing {
namespace {

class WriteTool final : public Tool {
public:
    ToolSpec spec() const override {
        return {
            "create_file", "Creates a file.", schema({{"path", "string"}, {"content", "string"}}), ToolEffect::writes, {"path"}};
    }
    ToolResult call(const json::object& arguments, ToolContext& context) override {
        const auto change = context.workspace().create(arguments.at("path").as_string(), arguments.at("content").as_string());
        if (!change.ok()) { return ToolResult::failed(change.error()); }
        return ToolResult::done("", "created");
    }
};

class CompleteTool final : public Tool {
public:
    ToolSpec spec() const override { return {"complete", "Hands in.", {{"type", "object"}}, ToolEffect::completes, {}}; }
    ToolResult call(const json::object& arguments, ToolContext& context) override {
        const auto taken = context.complete(arguments);
        if (!taken.ok()) { return ToolResult::failed(taken.error()); }
        return ToolResult::done("", "accepted");
    }
};

/// Reads the file, and then lets something else change it, as a test run may.
class ReadTool final : public Tool {
public:
    explicit ReadTool(std::filesystem::path changed_afterwards) : changed_(std::move(changed_afterwards)) {}
    ToolSpec spec() const override {
        return {"read_file", "Reads a file.", schema({{"path", "string"}}), ToolEffect::reads, {"path"}};
    }
    ToolResult call(const json::object& arguments, ToolContext& context) override {
        const auto view = context.workspace().read(std::string(arguments.at("path").as_string()));
        if (!view.ok()) { return ToolResult::failed(view.error()); }
        EXPECT_TRUE(write_file_atomic(changed_, "changed meanwhile\n", Durability::cached).ok());
        return ToolResult::done(view->content, "read",
                                {{"path", view->path}, {"sha256", view->sha256}, {"total_lines", view->total_lines}});
    }

private:
    std::filesystem::path changed_;
};

class EditTool final : public Tool {
public:
    ToolSpec spec() const override {
        return {"edit_file", "Edits a file.", schema({{"path", "string"}}), ToolEffect::writes, {"path"}};
    }
    ToolResult call(const json::object& arguments, ToolContext& context) override {
        const auto change = context.workspace().edit(std::string(arguments.at("path").as_string()), "changed", "edited");
        return change.ok() ? ToolResult::done("", "edited") : ToolResult::failed(change.error());
    }
};

class WorkspaceHost : public FakeHost {
public:
    RoleWorkspace* workspace = nullptr;
    std::vector<Change> take_changes() override { return workspace->take_changes(); }
};

struct TaskWorkspace {
    TemporaryDirectory folder{"agent"};
    WorkspaceHost host;
    FakeContext context;
    NullEventSink events;

    Result<AgentOutcome> run(FakeBackend::Answer answer) {
        RunSpec spec = usual_spec();
        spec.agent.allowed_tools = {"create_file", "read_file", "edit_file", "complete"};
        spec.agent.forbidden_tools = {"deploy"};
        auto rules = RolePaths::make(spec.agent.role, {});
        EXPECT_TRUE(rules.ok());
        auto workspace = RoleWorkspace::open(folder.path().string(), std::move(rules).value());
        EXPECT_TRUE(workspace.ok()) << workspace.error().to_string();
        host.workspace = workspace.value().get();
        ToolBridge bridge(spec.agent,
                          {{"create_file", std::make_shared<WriteTool>()},
                           {"read_file", std::make_shared<ReadTool>(folder.path() / "a.py")},
                           {"edit_file", std::make_shared<EditTool>()},
                           {"complete", std::make_shared<CompleteTool>()}},
                          *workspace.value(), host, schema({{"summary", "string"}}));
        const auto client = client_of(std::make_shared<FakeBackend>(std::move(answer)));
        BridgeActions actions(bridge);
        return run_steps(spec, actions, *client, host, context, events);
    }
};

TEST(AgentWithBridge, writes_files_and_completes) {
    TaskWorkspace setup;
    const auto outcome = setup.run([](const CompletionRequest& request) {
        return request.place.step == 1 ? tool_answer("create_file", {{"path", "a.py"}, {"content", "x = 1\n"}})
                                       : tool_answer("complete", {{"summary", "done"}});
    });
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_EQ(read_file(setup.folder.path() / "a.py").value(), "x = 1\n");
}

TEST(AgentWithBridge, records_what_a_step_changed) {
    TaskWorkspace setup;
    ASSERT_TRUE(setup
                    .run([](const CompletionRequest& request) {
                        return request.place.step == 1 ? tool_answer("create_file", {{"path", "a.py"}, {"content", "x = 1\n"}})
                                                       : tool_answer("complete", {{"summary", "done"}});
                    })
                    .ok());
    ASSERT_EQ(setup.host.records[0].changes.size(), 1U);
    EXPECT_EQ(setup.host.records[0].changes[0].path, "a.py");
}

TEST(AgentWithBridge, refuses_to_edit_a_changed_file_until_the_model_rereads_it) {
    TaskWorkspace setup;
    ASSERT_TRUE(write_file_atomic(setup.folder.path() / "a.py", "x = 1\n", Durability::cached).ok());
    ASSERT_TRUE(setup
                    .run([](const CompletionRequest& request) {
                        const auto step = request.place.step;
                        return step == 5 ? tool_answer("complete", {{"summary", "done"}})
                                         : tool_answer(step % 2 == 1 ? "read_file" : "edit_file", {{"path", "a.py"}});
                    })
                    .ok());
    EXPECT_NE(setup.host.records[1].error.find("AF-TOOL-046"), std::string::npos) << setup.host.records[1].error;
    EXPECT_EQ(setup.host.records[3].error, "");
    EXPECT_EQ(read_file(setup.folder.path() / "a.py").value(), "edited meanwhile\n");
}

TEST(AgentWithBridge, tells_the_model_why_a_tool_was_refused) {
    TaskWorkspace setup;
    ASSERT_TRUE(
        setup
            .run([](const CompletionRequest& request) {
                return request.place.step == 1 ? tool_answer("deploy", {}) : tool_answer("complete", {{"summary", "done"}});
            })
            .ok());
    EXPECT_NE(setup.host.records[1].context.find("AF-TOOL-001"), std::string::npos) << setup.host.records[1].context;
}

}  // namespace
}  // namespace agentforge::kernel::testing
