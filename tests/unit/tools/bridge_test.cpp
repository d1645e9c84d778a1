// SPDX-License-Identifier: Apache-2.0
#include "tools/tool_bridge.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

class FakeTool final : public Tool {
public:
    using Body = std::function<ToolResult(const json::object&, ToolContext&)>;
    FakeTool(ToolSpec spec, Body body) : spec_(std::move(spec)), body_(std::move(body)) {}
    [[nodiscard]] ToolSpec spec() const override { return spec_; }
    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        return body_(arguments, context);
    }

private:
    ToolSpec spec_;
    Body body_;
};

class FakeServices final : public ToolServices {
public:
    [[nodiscard]] Result<ProcessResult> run_process(const ProcessSpec&) override {
        ++processes;
        return ProcessResult{};
    }
    [[nodiscard]] Result<GateReport> run_gate(const GateRequest&) override {
        ++gates;
        return GateReport{};
    }
    [[nodiscard]] Result<void> complete(const json::object& artifact) override {
        completed = artifact;
        return {};
    }
    [[nodiscard]] Result<void> escalate(const EscalationRequest&) override {
        ++escalations;
        return {};
    }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view) override {}
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return {}; }
    [[nodiscard]] bool cancelled() const noexcept override { return false; }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return {}; }
    [[nodiscard]] const Redactor& redactor() const noexcept override { return hides; }
    Redactor hides{{{"SHOP_KEY", "Zx8Cv5Bn2Mq1We4Rt7"}}, {}, "k"};
    int processes = 0;
    int gates = 0;
    int escalations = 0;
    json::object completed;
};

class BridgeTest : public testing::Test {
protected:
    BridgeTest() {
        agent_.role = "software_developer";
        agent_.allowed_tools = {"read_file", "edit_file", "run_tests", "move_file", "missing_tool"};
        agent_.forbidden_tools = {"create_file"};
        const auto schema = [](const char* text) { return json::parse(text).as_object(); };
        const auto echo = [](const json::object& arguments, ToolContext&) {
            return ToolResult::done(json::serialize(arguments), "echoed", arguments);
        };
        add({"read_file",
             "Reads.",
             schema(
                 R"({"type":"object","properties":{"path":{"type":"string"},"first_line":{"type":"integer","minimum":1}},"required":["path"]})"),
             ToolEffect::reads,
             {"path"}},
            echo);
        add({"edit_file",
             "Edits.",
             schema(R"({"type":"object","properties":{"path":{"type":"string"}},"required":["path"]})"),
             ToolEffect::writes,
             {"path"}},
            echo);
        add({"create_file", "Creates.", schema(R"({"type":"object","properties":{}})"), ToolEffect::writes, {}}, echo);
        add({"move_file",
             "Moves.",
             schema(
                 R"({"type":"object","properties":{"path":{"type":"string"},"to":{"type":"string"}},"required":["path","to"]})"),
             ToolEffect::writes,
             {"path", "to"}},
            echo);
        add({"run_tests",
             "Runs.",
             schema(R"({"type":"object","properties":{"paths":{"type":"array","items":{"type":"string"},"maxItems":3}}})"),
             ToolEffect::executes,
             {"paths"}},
            echo);
    }
    void add(ToolSpec spec, FakeTool::Body body) {
        auto name = spec.name;
        tools_[name] = std::make_shared<FakeTool>(std::move(spec), std::move(body));
    }
    void allow(ToolSpec spec, FakeTool::Body body) {
        agent_.allowed_tools.push_back(spec.name);
        add(std::move(spec), std::move(body));
    }
    ToolResult call(std::string_view tool, const char* arguments) {
        auto rules = RolePaths::make(agent_.role, agent_.path_constraints, {"tests/test_locked.py"});
        workspace_ = std::move(RoleWorkspace::open(folder_.path().string(), std::move(rules).value())).value();
        ToolBridge bridge(agent_, tools_, *workspace_, services_, completion_schema_);
        return bridge.call(tool, json::parse(arguments).as_object(), {"task-1", "green", agent_.role, 1});
    }
    static std::string code(const ToolResult& result) { return result.error ? result.error->code : ""; }

    TemporaryDirectory folder_{"bridge"};
    AgentDefinition agent_;
    std::map<std::string, std::shared_ptr<Tool>, std::less<>> tools_;
    FakeServices services_;
    std::unique_ptr<RoleWorkspace> workspace_;
    json::object completion_schema_{{"type", "object"}, {"properties", {{"summary", {{"type", "string"}}}}}};
};

TEST_F(BridgeTest, runs_an_allowed_tool) {
    const auto result = call("read_file", R"({"path":"a.py"})");
    EXPECT_TRUE(result.success);
    EXPECT_EQ(result.output, R"({"path":"a.py"})");
}
TEST_F(BridgeTest, secrets_are_hidden_in_everything_a_tool_returns) {
    allow({"leak", "Leaks.", {}, ToolEffect::reads, {}}, [](const json::object&, ToolContext&) {
        ToolResult result =
            ToolResult::done("out Zx8Cv5Bn2Mq1We4Rt7", "sum Zx8Cv5Bn2Mq1We4Rt7", {{"data", "Zx8Cv5Bn2Mq1We4Rt7"}});
        result.error = Error{"AF-X-001", "it was Zx8Cv5Bn2Mq1We4Rt7", "", "", ErrorKind::invalid};
        return result;
    });
    const auto result = call("leak", "{}");
    EXPECT_EQ((result.output + result.summary + json::serialize(result.data) + result.error->to_string()).find("Zx8C"),
              std::string::npos);
}
TEST_F(BridgeTest, a_secret_is_hidden_before_the_output_is_cut) {
    allow({"leak", "Leaks.", {}, ToolEffect::reads, {}}, [](const json::object&, ToolContext&) {
        std::string text;
        while (text.size() < 4 * ToolBridge::max_output_bytes) { text += "Zx8Cv5Bn2Mq1We4Rt7 "; }
        return ToolResult::done(text, "s", {});
    });
    EXPECT_EQ(call("leak", "{}").output.find("Zx8C"), std::string::npos);
}
TEST_F(BridgeTest, forbidden_tool_is_refused_with_the_allowed_ones) {
    const auto result = call("create_file", "{}");
    EXPECT_FALSE(result.success);
    EXPECT_EQ(code(result), "AF-TOOL-001");
    EXPECT_EQ(
        result.error->message,
        "Tool 'create_file' is forbidden for software_developer. Allowed tools: read_file, edit_file, run_tests, move_file, missing_tool");
}
TEST_F(BridgeTest, tool_outside_the_list_is_not_available) {
    const auto result = call("read_fil", "{}");
    EXPECT_EQ(code(result), "AF-TOOL-002");
    EXPECT_EQ(result.error->message,
              "Tool 'read_fil' is not available. Allowed tools: read_file, edit_file, run_tests, move_file, missing_tool");
    EXPECT_EQ(result.error->remedy, "Did you mean 'read_file'?");
}
TEST_F(BridgeTest, forbidden_wins_over_allowed) {
    agent_.allowed_tools.push_back("create_file");
    EXPECT_EQ(code(call("create_file", "{}")), "AF-TOOL-001");
}
TEST_F(BridgeTest, allowed_tool_without_a_plugin_says_so) { EXPECT_EQ(code(call("missing_tool", "{}")), "AF-TOOL-003"); }
TEST_F(BridgeTest, offers_what_is_allowed_and_loaded_in_that_order) {
    call("read_file", R"({"path":"a"})");
    const ToolBridge bridge(agent_, tools_, *workspace_, services_, {});
    std::string names;
    for (const auto& spec : bridge.offered()) { names += spec.name + " "; }
    EXPECT_EQ(names, "read_file edit_file run_tests move_file ");
}
TEST_F(BridgeTest, refuses_a_tool_before_checking_arguments) {
    EXPECT_EQ(code(call("create_file", R"({"path":"../x"})")), "AF-TOOL-001");
}
TEST_F(BridgeTest, unknown_argument_is_named_with_the_nearest) {
    const auto result = call("read_file", R"({"path":"a","frist_line":2})");
    EXPECT_EQ(code(result), "AF-TOOL-004");
    EXPECT_NE(result.error->message.find("'frist_line' is not a parameter; did you mean 'first_line'?"), std::string::npos)
        << result.error->message;
    EXPECT_EQ(result.error->remedy, "Parameters of read_file: path (required), first_line.");
}
TEST_F(BridgeTest, every_defect_of_the_arguments_is_named) {
    const auto result = call("read_file", R"({"first_line":0,"x":1})");
    EXPECT_NE(result.error->message.find("'path' is missing"), std::string::npos);
    EXPECT_NE(result.error->message.find("'first_line' must be at least 1; it is 0"), std::string::npos) << result.error->message;
    EXPECT_NE(result.error->message.find("'x' is not a parameter"), std::string::npos);
}
TEST_F(BridgeTest, wrong_type_is_named) {
    EXPECT_NE(call("read_file", R"({"path":["a"]})").error->message.find("'path' must be of type string; it is array"),
              std::string::npos);
    EXPECT_EQ(code(call("run_tests", R"({"paths":["a",1]})")), "AF-TOOL-004");
    EXPECT_EQ(code(call("run_tests", R"({"paths":["a","b","c","d"]})")), "AF-TOOL-004");
}
TEST_F(BridgeTest, whole_number_written_as_a_fraction_is_an_integer) {
    EXPECT_EQ(call("read_file", R"({"path":"a","first_line":3.0})").output, R"({"path":"a","first_line":3})");
    EXPECT_EQ(code(call("read_file", R"({"path":"a","first_line":3.5})")), "AF-TOOL-004");
}
TEST_F(BridgeTest, null_for_an_optional_parameter_counts_as_omitted) {
    EXPECT_EQ(call("read_file", R"({"path":"a","first_line":null})").output, R"({"path":"a"})");
    EXPECT_EQ(code(call("read_file", R"({"path":null})")), "AF-TOOL-004");
}
TEST_F(BridgeTest, file_path_is_an_alias_of_path_and_is_recorded) {
    const auto result = call("read_file", R"({"file_path":"a.py"})");
    EXPECT_TRUE(result.success);
    EXPECT_EQ(result.output, R"({"path":"a.py"})");
    EXPECT_EQ(json::serialize(result.data.at("alias")), R"({"file_path":"path"})");
    EXPECT_EQ(code(call("read_file", R"({"file_path":"a.py","path":"b.py"})")), "AF-TOOL-004");
}
TEST_F(BridgeTest, file_path_does_not_bypass_the_rules) {
    agent_.path_constraints["edit_file"] = "!tests/**/*";
    EXPECT_EQ(code(call("edit_file", R"({"file_path":"tests/a.py"})")), "AF-TOOL-013");
}
TEST_F(BridgeTest, path_outside_the_constraint_is_refused_in_the_words_of_the_specification) {
    agent_.path_constraints["edit_file"] = "!tests/**/*";
    const auto result = call("edit_file", R"({"path":"./tests//a.py"})");
    EXPECT_EQ(code(result), "AF-TOOL-013");
    EXPECT_EQ(result.error->message, "Path 'tests/a.py' is not allowed for software_developer. Constraint: !tests/**/*");
    EXPECT_TRUE(call("edit_file", R"({"path":"src/a.py"})").success);
    EXPECT_TRUE(call("read_file", R"({"path":"tests/a.py"})").success);
}
TEST_F(BridgeTest, constraint_of_one_tool_applies_to_writes_by_all) {
    agent_.path_constraints["create_file"] = "src/**";
    EXPECT_EQ(code(call("move_file", R"({"path":"src/a.py","to":"tests/a.py"})")), "AF-TOOL-013");
    EXPECT_EQ(code(call("move_file", R"({"path":"tests/a.py","to":"src/a.py"})")), "AF-TOOL-013");
    EXPECT_TRUE(call("move_file", R"({"path":"src/a.py","to":"src/b.py"})").success);
}
TEST_F(BridgeTest, constraint_of_a_reading_tool_applies_to_its_paths) {
    agent_.path_constraints["run_tests"] = "tests/**";
    EXPECT_EQ(code(call("run_tests", R"({"paths":["tests/a.py","src/b.py"]})")), "AF-TOOL-013");
}
TEST_F(BridgeTest, locked_test_file_is_refused) {
    EXPECT_EQ(code(call("edit_file", R"({"path":"tests/test_locked.py"})")), "AF-TOOL-015");
}
TEST_F(BridgeTest, path_outside_the_workspace_is_refused_on_every_path_parameter) {
    EXPECT_EQ(code(call("move_file", R"({"path":"a","to":"../b"})")), "AF-TOOL-010");
    EXPECT_EQ(code(call("run_tests", R"({"paths":["/etc"]})")), "AF-TOOL-010");
    const auto result = call("read_file", R"({"path":".git/config"})");
    EXPECT_EQ(code(result), "AF-TOOL-011");
    EXPECT_EQ(result.error->where, "parameter path of read_file");
}
TEST_F(BridgeTest, exception_in_a_tool_is_a_failed_call) {
    allow({"bad", "", {}, ToolEffect::reads, {}},
          [](const json::object&, ToolContext&) -> ToolResult { throw std::runtime_error("boom"); });
    const auto result = call("bad", "{}");
    EXPECT_EQ(code(result), "AF-TOOL-006");
    EXPECT_NE(result.error->message.find("boom"), std::string::npos);
    allow({"odd", "", {}, ToolEffect::reads, {}}, [](const json::object&, ToolContext&) -> ToolResult { throw 42; });
    EXPECT_EQ(code(call("odd", "{}")), "AF-TOOL-006");
}
TEST_F(BridgeTest, undeclared_write_is_refused_even_if_the_tool_claims_success) {
    allow({"sneaky", "", {}, ToolEffect::reads, {}}, [](const json::object&, ToolContext& context) {
        (void)context.workspace().create("x.txt", "x");
        return ToolResult::done("fine", "fine");
    });
    const auto result = call("sneaky", "{}");
    EXPECT_FALSE(result.success);
    EXPECT_EQ(code(result), "AF-TOOL-005");
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "x.txt"));
}
TEST_F(BridgeTest, undeclared_effects_do_not_reach_the_services) {
    allow({"sneaky", "", {}, ToolEffect::none, {}}, [](const json::object&, ToolContext& context) {
        EXPECT_FALSE(context.run_process({}).ok());
        EXPECT_FALSE(context.run_gate({}).ok());
        EXPECT_FALSE(context.complete({}).ok());
        EXPECT_FALSE(context.escalate({}).ok());
        EXPECT_FALSE(context.workspace().read("a").ok());
        return ToolResult::done("fine", "fine");
    });
    EXPECT_EQ(code(call("sneaky", "{}")), "AF-TOOL-005");
    EXPECT_EQ(services_.processes + services_.gates + services_.escalations, 0);
    EXPECT_TRUE(services_.completed.empty());
}
TEST_F(BridgeTest, declared_effects_reach_the_services) {
    allow({"all", "", {}, ToolEffect::reads | ToolEffect::writes | ToolEffect::executes | ToolEffect::escalates, {}},
          [](const json::object&, ToolContext& context) {
              EXPECT_TRUE(context.run_process({}).ok());
              EXPECT_TRUE(context.run_gate({}).ok());
              EXPECT_TRUE(context.escalate({}).ok());
              EXPECT_TRUE(context.workspace().create("x.txt", "x").ok());
              return ToolResult::done("fine", "fine");
          });
    EXPECT_TRUE(call("all", "{}").success);
    EXPECT_EQ(workspace_->take_changes().size(), 1U);
}
FileEdit new_file(std::string path) {
    FileEdit edit;
    edit.kind = FileEditKind::create;
    edit.path = std::move(path);
    return edit;
}
TEST_F(BridgeTest, edits_of_several_files_need_the_write_effect) {
    allow({"sly", "", {}, ToolEffect::reads, {}}, [](const json::object&, ToolContext& context) {
        EXPECT_FALSE(atomic_edits(context.workspace())->apply({new_file("x.txt")}).ok());
        return ToolResult::done("fine", "fine");
    });
    EXPECT_EQ(code(call("sly", "{}")), "AF-TOOL-005");
}
TEST_F(BridgeTest, edits_of_several_files_do_not_bypass_a_forbidden_tool) {
    allow({"patch", "", {}, ToolEffect::writes, {}}, [](const json::object&, ToolContext& context) {
        auto done = atomic_edits(context.workspace())->apply({new_file("x.txt")});
        return done.ok() ? ToolResult::done("fine", "fine") : ToolResult::failed(done.error());
    });
    EXPECT_EQ(code(call("patch", "{}")), "AF-TOOL-001");
    EXPECT_FALSE(workspace_->exists("x.txt"));
    agent_.forbidden_tools.clear();
    EXPECT_TRUE(call("patch", "{}").success);
}
TEST_F(BridgeTest, workspace_writes_are_allowed_again_after_a_call) {
    call("read_file", R"({"path":"a"})");
    EXPECT_TRUE(workspace_->create("x.txt", "x").ok());
}
TEST_F(BridgeTest, complete_is_offered_with_the_contracts_schema_and_gets_raw_arguments) {
    allow({"complete", "", {}, ToolEffect::completes, {}}, [](const json::object& arguments, ToolContext& context) {
        return context.complete(arguments).ok() ? ToolResult::done("ok", "ok") : ToolResult{};
    });
    EXPECT_TRUE(call("complete", R"({"summary":1,"other":true})").success);
    EXPECT_EQ(json::serialize(services_.completed), R"({"summary":1,"other":true})");
    const ToolBridge bridge(agent_, tools_, *workspace_, services_, completion_schema_);
    EXPECT_EQ(bridge.offered().back().parameters, completion_schema_);
}
TEST_F(BridgeTest, output_is_bounded_and_valid_utf8) {
    allow({"loud", "", {}, ToolEffect::reads, {}}, [](const json::object&, ToolContext&) {
        json::object data;
        data["big"] = std::string(100'000, 'x');
        return ToolResult::done(std::string(100'000, 'y') + "\xFF", "two\nlines\xFF", std::move(data));
    });
    const auto result = call("loud", "{}");
    EXPECT_LE(result.output.size(), ToolBridge::max_output_bytes + 100);
    EXPECT_TRUE(is_valid_utf8(result.output));
    EXPECT_EQ(result.summary, "two");
    EXPECT_FALSE(result.data.contains("big"));
    EXPECT_TRUE(result.data.contains("left_out_bytes"));
}
TEST_F(BridgeTest, failure_without_a_reason_gets_a_default_reason) {
    allow({"mute", "", {}, ToolEffect::reads, {}}, [](const json::object&, ToolContext&) { return ToolResult{}; });
    EXPECT_EQ(code(call("mute", "{}")), "AF-TOOL-007");
}
TEST_F(BridgeTest, schema_with_an_unchecked_keyword_is_a_defect_of_the_plugin) {
    allow({"odd", "", json::parse(R"({"type":"object","properties":{"a":{"if":{}}}})").as_object(), ToolEffect::reads, {}},
          [](const json::object&, ToolContext&) { return ToolResult::done("", ""); });
    EXPECT_EQ(code(call("odd", R"({"a":1})")), "AF-TOOL-008");
}
TEST_F(BridgeTest, tool_under_another_name_is_not_offered) {
    agent_.allowed_tools.push_back("alias");
    tools_["alias"] = tools_["read_file"];
    EXPECT_EQ(code(call("alias", "{}")), "AF-TOOL-008");
}

}  // namespace
}  // namespace agentforge::kernel
