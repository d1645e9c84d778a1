// SPDX-License-Identifier: Apache-2.0
// The loop over the real bridge and a real workspace.
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "unit/agent/fakes.hpp"

namespace agentforge::kernel::testing {
namespace {

class WriteTool final : public Tool {
public:
    ToolSpec spec() const override { return {"create_file", "Creates a file.", schema({{"path", "string"}, {"content", "string"}}), ToolEffect::writes, {"path"}}; }
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

class WorkspaceHost : public FakeHost {
public:
    RoleWorkspace* workspace = nullptr;
    std::vector<Change> take_changes() override { return workspace->take_changes(); }
};

struct Workshop {
    TemporaryDirectory folder{"agent"};
    WorkspaceHost host;
    FakeContext context;
    NullEventSink events;

    Result<AgentOutcome> run(FakeBackend::Answer answer) {
        RunSpec spec = usual_spec();
        spec.agent.allowed_tools = {"create_file", "complete"};
        spec.agent.forbidden_tools = {"deploy"};
        auto rules = RolePaths::make(spec.agent.role, {});
        EXPECT_TRUE(rules.ok());
        auto workspace = RoleWorkspace::open(folder.path().string(), std::move(rules).value());
        EXPECT_TRUE(workspace.ok()) << workspace.error().to_string();
        host.workspace = workspace.value().get();
        ToolBridge bridge(spec.agent, {{"create_file", std::make_shared<WriteTool>()}, {"complete", std::make_shared<CompleteTool>()}},
                          *workspace.value(), host, schema({{"summary", "string"}}));
        const auto client = client_of(std::make_shared<FakeBackend>(std::move(answer)));
        return run_agent(spec, bridge, *client, host, context, events);
    }
};

TEST(AgentWithBridge, writes_files_and_completes) {
    Workshop setup;
    const auto outcome = setup.run([](const CompletionRequest& request) {
        return request.place.step == 1 ? tool_answer("create_file", {{"path", "a.py"}, {"content", "x = 1\n"}}) : tool_answer("complete", {{"summary", "done"}});
    });
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_EQ(read_file(setup.folder.path() / "a.py").value(), "x = 1\n");
}

TEST(AgentWithBridge, records_what_a_step_changed) {
    Workshop setup;
    ASSERT_TRUE(setup.run([](const CompletionRequest& request) {
        return request.place.step == 1 ? tool_answer("create_file", {{"path", "a.py"}, {"content", "x = 1\n"}}) : tool_answer("complete", {{"summary", "done"}});
    }).ok());
    ASSERT_EQ(setup.host.records[0].changes.size(), 1U);
    EXPECT_EQ(setup.host.records[0].changes[0].path, "a.py");
}

TEST(AgentWithBridge, tells_the_model_why_a_tool_was_refused) {
    Workshop setup;
    ASSERT_TRUE(setup.run([](const CompletionRequest& request) {
        return request.place.step == 1 ? tool_answer("deploy", {}) : tool_answer("complete", {{"summary", "done"}});
    }).ok());
    EXPECT_NE(setup.host.records[1].context.find("AF-TOOL-001"), std::string::npos) << setup.host.records[1].context;
}

}  // namespace
}  // namespace agentforge::kernel::testing
