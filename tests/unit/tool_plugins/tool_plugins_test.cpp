// SPDX-License-Identifier: Apache-2.0
#include <agentforge/plugin.hpp>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "tools/tool_bridge.hpp"

namespace agentforge::kernel {
namespace {

const std::vector<std::string> all_tools = {"list_files",         "read_file", "create_file",    "edit_file",
                                            "apply_patch",        "move_file", "delete_file",    "search_codebase",
                                            "read_documentation", "run_tests", "run_type_check", "run_conformance_check",
                                            "escalate_question",  "complete"};

const AgentforgeDescriptor* descriptor(const std::string& name) {
    const auto path = std::string(AGENTFORGE_BINARY_DIR) + "/plugins/tool/" + name + "/" + name + ".so";
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // Stays loaded, as in the host.
    if (library == nullptr) {
        ADD_FAILURE() << ::dlerror();
        return nullptr;
    }
    const auto entry = reinterpret_cast<AgentforgeEntry>(::dlsym(library, entry_symbol));
    return entry == nullptr ? nullptr : entry();
}

std::shared_ptr<Tool> load(const std::string& name) {
    const auto* described = descriptor(name);
    if (described == nullptr || described->factory_count != 1) { return nullptr; }
    const auto& factory = described->factories[0];
    char error[200] = "";
    return {static_cast<Tool*>(factory.create("{}", error, sizeof error)),
            [destroy = factory.destroy](Tool* tool) { destroy(tool); }};
}

class RecordingServices final : public ToolServices {
public:
    [[nodiscard]] Result<ProcessResult> run_process(const ProcessSpec&) override { return ProcessResult{}; }
    [[nodiscard]] Result<GateReport> run_gate(const GateRequest& request) override {
        gate = request;
        if (gate_error) { return *gate_error; }
        return report;
    }
    [[nodiscard]] Result<void> complete(const json::object& artifact) override {
        completed = artifact;
        if (complete_error) { return *complete_error; }
        return {};
    }
    [[nodiscard]] Result<void> escalate(const EscalationRequest& request) override {
        escalation = request;
        return {};
    }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view) override {}
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return {}; }
    [[nodiscard]] bool cancelled() const noexcept override { return false; }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return {}; }
    GateRequest gate;
    GateReport report;
    std::optional<Error> gate_error;
    std::optional<Error> complete_error;
    json::object completed;
    EscalationRequest escalation;
};

class ToolPlugins : public testing::Test {
protected:
    ToolPlugins()
        : workspace_(std::move(RoleWorkspace::open(folder_.path().string(), RolePaths::make("tester", {}).value())).value()) {
        AgentDefinition agent;
        agent.role = "tester";
        agent.allowed_tools = all_tools;
        std::map<std::string, std::shared_ptr<Tool>, std::less<>> tools;
        for (const auto& name : all_tools) { tools[name] = load(name); }
        bridge_ = std::make_unique<ToolBridge>(agent, std::move(tools), *workspace_, services_, json::object{{"type", "object"}});
    }
    ToolResult call(std::string_view tool, const json::object& arguments) {
        return bridge_->call(tool, arguments, {"task-1", "green", "tester", 7});
    }
    void put(const std::string& path, std::string_view bytes) const {
        std::filesystem::create_directories((folder_.path() / path).parent_path());
        ASSERT_TRUE(write_file_atomic(folder_.path() / path, bytes, Durability::cached).ok());
    }
    [[nodiscard]] std::string get(const std::string& path) const { return read_file(folder_.path() / path).value_or("(none)"); }
    static std::string code(const ToolResult& result) { return result.error ? result.error->code : ""; }

    TemporaryDirectory folder_{"tools"};
    std::unique_ptr<RoleWorkspace> workspace_;
    RecordingServices services_;
    std::unique_ptr<ToolBridge> bridge_;
};

TEST_F(ToolPlugins, every_tool_is_offered_with_a_description_and_a_schema) {
    ASSERT_EQ(bridge_->offered().size(), all_tools.size());
    for (const auto& spec : bridge_->offered()) {
        EXPECT_GE(spec.description.size(), 15U) << spec.name;
        EXPECT_EQ(spec.parameters.at("type").as_string(), "object") << spec.name;
        for (const auto& parameter : spec.path_parameters) {
            EXPECT_TRUE(spec.parameters.at("properties").as_object().contains(parameter)) << spec.name;
        }
    }
}
TEST_F(ToolPlugins, descriptor_names_the_tool_and_its_id) {
    for (const auto& name : all_tools) {
        const auto* described = descriptor(name);
        ASSERT_NE(described, nullptr) << name;
        EXPECT_EQ(described->id, "agentforge.tool." + name);
        EXPECT_EQ(described->factories[0].name, name);
        EXPECT_EQ(described->factories[0].kind, static_cast<std::uint32_t>(PluginKind::tool));
    }
}
TEST_F(ToolPlugins, list_files_shows_folders_sizes_and_links) {
    put("src/a.py", "12345");
    std::filesystem::create_symlink("src/a.py", folder_.path() / "link");
    const auto result = call("list_files", {});
    EXPECT_EQ(result.output, "link -> src/a.py 0\nsrc/\nsrc/a.py 5\n");
    EXPECT_EQ(result.summary, "listed . (3 entries)");
    EXPECT_EQ(call("list_files", {{"path", "src"}, {"glob", "*.md"}}).output, "No entry matches '*.md'.\n");
}
TEST_F(ToolPlugins, list_files_says_when_there_is_more) {
    for (int i = 0; i < 310; ++i) { put("f" + std::to_string(i), ""); }
    EXPECT_NE(call("list_files", {}).output.find("more than 300 entries"), std::string::npos);
}
TEST_F(ToolPlugins, read_file_numbers_the_lines) {
    put("a.py", "one\ntwo\nthree\n");
    const auto result = call("read_file", {{"path", "a.py"}});
    EXPECT_EQ(result.output, "1\tone\n2\ttwo\n3\tthree\n");
    EXPECT_EQ(result.summary, "read a.py");
    EXPECT_EQ(result.data.at("total_lines").to_number<int>(), 3);
}
TEST_F(ToolPlugins, read_file_shows_a_range_and_names_it) {
    put("a.py", "one\r\ntwo\r\nthree\r\n");
    const auto result = call("read_file", {{"path", "a.py"}, {"first_line", 2}, {"last_line", 2}});
    EXPECT_EQ(result.output,
              "2\ttwo\n(lines 2-2 of 3; give first_line and last_line for others)\n(lines end in CRLF, and edits keep that)\n");
    EXPECT_EQ(result.summary, "read a.py:2-2");
}
TEST_F(ToolPlugins, read_file_fits_the_output_limit_of_the_bridge) {
    std::string text;
    for (int i = 0; i < 3000; ++i) { text += "0123456789\n"; }
    put("a.py", text);
    const auto result = call("read_file", {{"path", "a.py"}});
    EXPECT_EQ(result.output.find("left out"), std::string::npos);
    EXPECT_NE(result.output.find("of 3000; give first_line"), std::string::npos);
}
/// The actions of a role with these tools and rules, in a task that began with the file `old_test.py`.
class DraftTest : public testing::Test {
protected:
    DraftTest() {
        put("old_test.py", "old\n");
        auto symbols = std::make_shared<PathSymbols>();
        const auto tests = [](std::string_view path) { return path.ends_with("_test.py"); };
        const auto created = [](std::string_view path) { return path != "old_test.py"; };
        symbols->tests = {tests, tests, "*_test.py"};
        symbols->created = {created, created, "files that this task created"};
        symbols_ = std::move(symbols);
        role({"create_file", "delete_file"}, {{"create_file", "@tests"}, {"delete_file", "@created"}});
    }
    void role(const std::vector<std::string>& names, const std::map<std::string, std::string, std::less<>>& rules,
              const std::vector<std::string>& locked = {}) {
        bridge_.reset();
        workspace_ =
            std::move(RoleWorkspace::open(folder_.path().string(), RolePaths::make("tester", rules, locked, symbols_).value()))
                .value();
        AgentDefinition agent;
        agent.role = "tester";
        agent.allowed_tools = names;
        agent.path_constraints = rules;
        std::map<std::string, std::shared_ptr<Tool>, std::less<>> tools;
        for (const auto& name : names) { tools[name] = load(name); }
        bridge_ = std::make_unique<ToolBridge>(agent, std::move(tools), *workspace_, services_, json::object{{"type", "object"}},
                                               all_tools);
    }
    ToolResult call(std::string_view tool, const json::object& arguments) {
        return bridge_->call(tool, arguments, {"task-1", "red", "tester", 7});
    }
    void put(const std::string& path, std::string_view bytes) const {
        ASSERT_TRUE(write_file_atomic(folder_.path() / path, bytes, Durability::cached).ok());
    }
    [[nodiscard]] std::string get(const std::string& path) const { return read_file(folder_.path() / path).value_or("(none)"); }
    static std::string code(const ToolResult& result) { return result.error ? result.error->code : ""; }

    TemporaryDirectory folder_{"drafts"};
    std::shared_ptr<const PathSymbols> symbols_;
    std::unique_ptr<RoleWorkspace> workspace_;
    RecordingServices services_;
    std::unique_ptr<ToolBridge> bridge_;
};

TEST_F(DraftTest, create_file_replaces_a_file_that_the_task_created) {
    EXPECT_EQ(call("create_file", {{"path", "new_test.py"}, {"content", "draft\n"}}).summary, "created new_test.py (+1 −0)");
    EXPECT_EQ(call("create_file", {{"path", "new_test.py"}, {"content", "better\n"}}).summary, "replaced new_test.py (+1 −1)");
    EXPECT_EQ(get("new_test.py"), "better\n");
    const auto changes = workspace_->take_changes();
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_FALSE(changes[1].created);
}
TEST_F(DraftTest, delete_file_deletes_a_file_that_the_task_created) {
    put("new_test.py", "draft\n");
    EXPECT_EQ(call("delete_file", {{"path", "new_test.py"}}).summary, "deleted new_test.py (+0 −1)");
}
TEST_F(DraftTest, existing_files_cannot_be_replaced_or_deleted) {
    EXPECT_EQ(code(call("create_file", {{"path", "old_test.py"}, {"content", "mine\n"}})), "AF-TOOL-035");
    EXPECT_EQ(code(call("delete_file", {{"path", "old_test.py"}})), "AF-TOOL-013");
    EXPECT_EQ(get("old_test.py"), "old\n");
}
TEST_F(DraftTest, the_roles_path_rules_and_locks_apply_to_created_files_too) {
    put("code.py", "x\n");
    EXPECT_EQ(code(call("delete_file", {{"path", "code.py"}})), "AF-TOOL-013");
    EXPECT_EQ(code(call("create_file", {{"path", "code.py"}, {"content", "y\n"}})), "AF-TOOL-013");
    put("new_test.py", "locked\n");
    role({"create_file", "delete_file"}, {}, {"new_test.py"});
    EXPECT_EQ(code(call("create_file", {{"path", "new_test.py"}, {"content", "y\n"}})), "AF-TOOL-015");
    EXPECT_EQ(code(call("delete_file", {{"path", "new_test.py"}})), "AF-TOOL-015");
}
TEST_F(DraftTest, a_rule_of_delete_file_applies_to_deletions_by_a_patch) {
    role({"apply_patch", "delete_file"}, {{"delete_file", "@created"}});
    EXPECT_EQ(code(call("apply_patch", {{"patch", "*** Begin Patch\n*** Delete File: old_test.py\n*** End Patch"}})),
              "AF-TOOL-013");
    EXPECT_TRUE(
        call("apply_patch", {{"patch", "*** Begin Patch\n*** Update File: old_test.py\n-old\n+new\n*** End Patch"}}).success);
}

/// Tests every tool alone: its errors suggest nothing that needs another tool.
class ToolPluginsAdvice : public DraftTest, public testing::WithParamInterface<std::string> {};

TEST_P(ToolPluginsAdvice, names_no_tool_that_the_role_lacks) {
    const std::string own = GetParam();
    role({own}, {});
    std::filesystem::create_directory(folder_.path() / "folder");
    put("binary", std::string_view("a\0b", 3));
    put("empty", "");
    workspace_->pin({"sub"});
    std::vector<std::string> texts{bridge_->offered().front().description,
                                   json::serialize(bridge_->offered().front().parameters)};
    const json::object everything{{"search", "nowhere"}, {"replace", "x"}, {"content", "x\n"}, {"to", "old_test.py"}};
    const json::object* const properties = bridge_->offered().front().parameters.if_contains("properties")
                                               ? &bridge_->offered().front().parameters.at("properties").as_object()
                                               : nullptr;
    for (const char* path : {"none", "folder", "binary", "empty", "old_test.py", "old_test.py/x", "sub/x", "../x", ".git/x"}) {
        for (const std::string_view given : {"none", "search", "empty_search", "content"}) {
            json::object arguments{{"path", path}};
            for (const auto& [name, value] : everything) {
                const bool piece = name == "search" || name == "replace";
                if (piece != (given == "search" || given == "empty_search") &&
                    (piece || (name == "content" && given != "content" && own == "edit_file"))) {
                    continue;
                }
                if (properties != nullptr && properties->contains(name)) { arguments[name] = value; }
            }
            if (given == "empty_search" && arguments.contains("search")) { arguments["search"] = ""; }
            if (own == "apply_patch") {
                arguments = {{"patch", "*** Begin Patch\n*** " + std::string(given == "content" ? "Delete" : "Update") +
                                           " File: " + path + "\n" + (given == "content" ? "" : "@@\n-a\n+b\n") +
                                           "*** End Patch"}};
            }
            const ToolResult result = call(own, arguments);
            texts.push_back(result.output);
            if (result.error) { texts.push_back(result.error->to_string()); }
        }
    }
    for (const std::string& text : texts) {
        for (const std::string& tool : all_tools) {
            if (tool != own && tool != "complete") {
                EXPECT_EQ(text.find(tool), std::string::npos) << own << " names " << tool << ": " << text;
            }
        }
    }
}
INSTANTIATE_TEST_SUITE_P(OfEvery, ToolPluginsAdvice, testing::ValuesIn(all_tools), [](const auto& tool) { return tool.param; });

TEST_F(ToolPlugins, create_file_creates_and_never_overwrites) {
    const auto result = call("create_file", {{"path", "a/b.py"}, {"content", "x\ny\n"}});
    EXPECT_TRUE(result.success);
    EXPECT_EQ(result.summary, "created a/b.py (+2 −0)");
    EXPECT_EQ(get("a/b.py"), "x\ny\n");
    EXPECT_EQ(code(call("create_file", {{"path", "a/b.py"}, {"content", "z"}})), "AF-TOOL-035");
}
TEST_F(ToolPlugins, edit_file_replaces_and_counts) {
    put("textkit/slug.py", "a\nb\nc\n");
    const auto result = call("edit_file", {{"path", "textkit/slug.py"}, {"search", "b\n"}, {"replace", "x\ny\nz\n"}});
    EXPECT_EQ(result.summary, "edited textkit/slug.py (+3 −1)");
    EXPECT_EQ(get("textkit/slug.py"), "a\nx\ny\nz\nc\n");
    const auto refused = call("edit_file", {{"path", "textkit/slug.py"}, {"search", "nowhere"}, {"replace", ""}});
    EXPECT_EQ(code(refused), "AF-TOOL-040");
    EXPECT_NE(refused.output.find("AF-TOOL-040"), std::string::npos);
}
TEST_F(ToolPlugins, move_file_moves) {
    put("a.py", "x");
    EXPECT_EQ(call("move_file", {{"path", "a.py"}, {"to", "b/c.py"}}).summary, "moved a.py to b/c.py");
    EXPECT_EQ(get("b/c.py"), "x");
}
TEST_F(ToolPlugins, edit_file_replaces_several_pieces_or_none) {
    put("a.py", "a\nb\nc\n");
    EXPECT_TRUE(call("edit_file",
                     {{"path", "a.py"}, {"edits", {{{"search", "a"}, {"replace", "A"}}, {{"search", "c"}, {"replace", "C"}}}}})
                    .success);
    EXPECT_EQ(get("a.py"), "A\nb\nC\n");
    const auto refused = call(
        "edit_file", {{"path", "a.py"}, {"edits", {{{"search", "A"}, {"replace", "x"}}, {{"search", "q"}, {"replace", "y"}}}}});
    EXPECT_EQ(refused.error->message.find("Edit 2: the text to replace is not in a.py."), 0U) << refused.error->message;
    EXPECT_EQ(get("a.py"), "A\nb\nC\n");
}
TEST_F(ToolPlugins, edit_file_replaces_a_whole_file_that_was_seen) {
    put("a.py", "a\r\nb\r\n");
    bridge_->expect({});
    EXPECT_EQ(code(call("edit_file", {{"path", "a.py"}, {"content", "x\ny\n"}})), "AF-TOOL-047");
    bridge_->expect({{"a.py", call("read_file", {{"path", "a.py"}}).data.at("sha256").as_string().c_str()}});
    EXPECT_EQ(call("edit_file", {{"path", "a.py"}, {"content", "x\ny\n"}}).summary, "edited a.py (+2 −2)");
    EXPECT_EQ(get("a.py"), "x\r\ny\r\n");
    EXPECT_EQ(code(call("edit_file", {{"path", "none.py"}, {"content", "x\n"}})), "AF-TOOL-031");
}
TEST_F(ToolPlugins, edit_file_requires_exactly_one_form) {
    put("a.py", "a\n");
    const auto message = [&](const json::object& arguments) {
        const auto result = call("edit_file", arguments);
        return result.error ? result.error->code + " " + result.error->message : "";
    };
    EXPECT_NE(message({{"path", "a.py"}})
                  .find("AF-TOOL-052 'edit_file' needs either 'search' and 'replace', or 'edits', or 'content'; none"),
              std::string::npos);
    EXPECT_NE(message({{"path", "a.py"}, {"search", "a"}}).find("'replace' is missing"), std::string::npos);
    EXPECT_NE(message({{"path", "a.py"}, {"search", "a"}, {"replace", "b"}, {"content", "c"}}).find("more than one"),
              std::string::npos);
    EXPECT_NE(message({{"path", "a.py"}, {"search", ""}, {"replace", "b"}}).find("AF-TOOL-042"), std::string::npos);
    EXPECT_EQ(get("a.py"), "a\n");
}
TEST_F(ToolPlugins, edit_file_shows_the_result_of_a_tolerant_match) {
    put("a.py", "if x:\n    a()\n    b()\n");
    const auto result = call("edit_file", {{"path", "a.py"}, {"search", "a()\nb()\n"}, {"replace", "a()\nc()\n"}});
    EXPECT_EQ(get("a.py"), "if x:\n    a()\n    c()\n");
    EXPECT_EQ(result.data.at("views").at(0).at("content").as_string(), "if x:\n    a()\n    c()\n");
}

json::object patch_of(const std::string& body) { return {{"patch", "*** Begin Patch\n" + body + "*** End Patch\n"}}; }

TEST_F(ToolPlugins, apply_patch_changes_adds_deletes_and_moves) {
    put("a.py", "def f():\n    return 1\n\ndef g():\n    return 1\n");
    put("b.py", "b\r\nc\r\nd");
    put("old.py", "o\n");
    const auto result =
        call("apply_patch", patch_of("*** Update File: a.py\n@@ def g():\n-    return 1\n+    return 2\n"
                                     "*** Update File: b.py\n*** Move to: sub/c.py\n@@\n b\n-c\n+C\n d\n*** End of File\n"
                                     "*** Add File: new.py\n+x\n+\n+y\n\n*** Delete File: old.py\n"));
    ASSERT_TRUE(result.success) << result.output;
    EXPECT_EQ(get("a.py"), "def f():\n    return 1\n\ndef g():\n    return 2\n");
    EXPECT_EQ(get("sub/c.py"), "b\r\nC\r\nd");
    EXPECT_EQ(get("new.py"), "x\n\ny\n");
    EXPECT_EQ(get("b.py") + get("old.py"), "(none)(none)");
    EXPECT_EQ(
        result.output,
        "The patch was applied:\nchanged a.py (+1 −1)\nmoved b.py to sub/c.py (+1 −1)\ncreated new.py (+3 −0)\ndeleted old.py (+0 −1)\n");
    EXPECT_EQ(result.data.at("views").as_array().size(), 3U);
    EXPECT_EQ(result.data.at("views").at(1).at("content").as_string(), "b\nC\nd");
}
TEST_F(ToolPlugins, apply_patch_changes_several_places_of_one_file) {
    put("a.py", "1\n2\n3\n4\n5\n6\n");
    EXPECT_TRUE(call("apply_patch", patch_of("*** Update File: a.py\n 1\n-2\n+two\n@@\n 4\n-5\n 6\n+seven\n")).success);
    EXPECT_EQ(get("a.py"), "1\ntwo\n3\n4\n6\nseven\n");
}
TEST_F(ToolPlugins, apply_patch_writes_nothing_if_one_hunk_does_not_match) {
    put("a.py", "a\n");
    put("b.py", "one = 1\ntwo = 2\n");
    const auto refused = call(
        "apply_patch",
        patch_of(
            "*** Update File: a.py\n-a\n+A\n*** Add File: c.py\n+c\n*** Update File: b.py\n@@\n one = 1\n-two = 3\n+two = 4\n"));
    EXPECT_EQ(code(refused), "AF-TOOL-040");
    EXPECT_EQ(
        refused.error->message,
        "Hunk 1 (line 8 of the patch): the text to replace is not in b.py. Nothing was changed. Nearest lines:\n1\tone = 1\n2\ttwo = 2");
    EXPECT_EQ(get("a.py") + get("b.py") + get("c.py"), "a\none = 1\ntwo = 2\n(none)");
}
TEST_F(ToolPlugins, apply_patch_shows_only_the_changed_lines_of_a_large_file) {
    std::string text;
    for (int i = 1; i <= 3000; ++i) { text += "line " + std::to_string(i) + "\n"; }
    put("a.py", text);
    const auto result = call("apply_patch", patch_of("*** Update File: a.py\n@@\n-line 1500\n+line fifteen hundred\n"));
    ASSERT_EQ(result.data.at("views").as_array().size(), 1U);
    EXPECT_EQ(result.data.at("views").at(0).at("first_line").to_number<int>(), 1497);
    EXPECT_EQ(result.data.at("views").at(0).at("content").as_string(),
              "line 1497\nline 1498\nline 1499\nline fifteen hundred\nline 1501\nline 1502\nline 1503\n");
}
TEST_F(ToolPlugins, apply_patch_ignores_text_around_a_patch) {
    for (const char* text : {"```\n*** Begin Patch\n*** Add File: %.py\n+x\n*** End Patch\n```\n",
                             "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: %.py\n+x\n*** End Patch\nEOF\n",
                             "\n  *** Begin Patch  \n *** Add File: %.py \n+x\n\n*** End Patch",
                             "*** Begin Patch\r\n*** Add File: %.py\r\n+x\r\n*** End Patch\r\n"}) {
        static int number = 0;
        std::string patch = text;
        const std::string name = "f" + std::to_string(++number);
        patch.replace(patch.find('%'), 1, name);
        EXPECT_TRUE(call("apply_patch", {{"patch", patch}}).success) << text;
        EXPECT_EQ(get(name + ".py"), "x\n") << text;
    }
}
TEST_F(ToolPlugins, apply_patch_accepts_hunks_as_models_write_them) {
    const auto hunk = [&](const std::string& content, const std::string& hunks) {
        put("a.py", content);
        const auto result = call("apply_patch", patch_of("*** Update File: a.py\n" + hunks));
        return result.success ? get("a.py") : result.output;
    };
    EXPECT_EQ(hunk("a\n\nb\n", " a\n\n-b\n+c\n"), "a\n\nc\n");                     // An empty line for an empty kept one.
    EXPECT_EQ(hunk("a\nb\n", "@@ -1,2 +1,2 @@ heading\n a\n-b\n+c\n"), "a\nc\n");  // Line numbers.
    EXPECT_EQ(hunk("a\nb\n", "@@ a @@\n-b\n+c\n"), "a\nc\n");
    EXPECT_EQ(hunk("a\nb\n", "@@ a\n a\n-b\n+c\n"), "a\nc\n");  // The heading line is in the hunk too.
    EXPECT_EQ(hunk("a\nb\n", "@@\n-b\n+c\n\n"), "a\nc\n");      // A blank line before the next mark.
    EXPECT_EQ(hunk("a\nb\n", "@@\n+c\n"), "a\nb\nc\n");
    EXPECT_EQ(hunk("a\nb\n", "@@\n-a\n-b\n"), "");
    EXPECT_EQ(hunk("x = “1”\n", "-x = \"1\"\n+x = \"2\"\n"), "x = \"2\"\n");
}
TEST_F(ToolPlugins, apply_patch_names_a_malformed_line) {
    const auto message = [&](const std::string& patch) {
        const auto result = call("apply_patch", {{"patch", patch}});
        return code(result) == "AF-TOOL-050" ? result.error->message : result.output;
    };
    EXPECT_NE(message("").find("ends after line 0; expected there: `*** Begin Patch`"), std::string::npos);
    EXPECT_NE(message("--- a/x\n+++ b/x\n").find("Line 1 of the patch is `--- a/x`; expected there: `*** Begin Patch`"),
              std::string::npos);
    EXPECT_NE(message("*** Begin Patch\n*** End Patch\n").find("names no file"), std::string::npos);
    EXPECT_NE(message("*** Begin Patch\n*** Add File: a\n+x\n").find("ends after line 3; expected there: `*** End Patch`"),
              std::string::npos);
    EXPECT_NE(message("*** Begin Patch\n*** Rename File: a\n*** End Patch").find("Line 2 of the patch is `*** Rename File: a`"),
              std::string::npos);
    EXPECT_NE(message("*** Begin Patch\n*** Add File:\n+x\n*** End Patch").find("a path after the colon"), std::string::npos);
    EXPECT_NE(message("*** Begin Patch\n*** Add File: a\nx\n*** End Patch").find("a line of the new file, with `+` before it"),
              std::string::npos);
    EXPECT_NE(message("*** Begin Patch\n*** Update File: a\n*** End Patch")
                  .find("Line 3 of the patch is `*** End Patch`; expected there: `@@`"),
              std::string::npos);
    EXPECT_NE(message("*** Begin Patch\n*** Update File: a\n@@ x\n*** End Patch").find("lines of the hunk"), std::string::npos);
    EXPECT_NE(message("*** Begin Patch\n*** Update File: a\n@@\n a\nb\n*** End Patch").find("Line 5 of the patch is `b`"),
              std::string::npos);
    EXPECT_NE(message("*** Begin Patch\n*** Update File: a\n*** Move to:\n a\n*** End Patch").find("a path after the colon"),
              std::string::npos);
    EXPECT_NE(message("*** Begin Patch\n*** Delete File: a\n*** End Patch\nand more\n").find("nothing more after"),
              std::string::npos);
    EXPECT_NE(message("*** Begin Patch\n*** Update File: a\n-a\n\\ No newline at end of file\n*** End Patch").find("Line 4"),
              std::string::npos);
}
TEST_F(ToolPlugins, delete_file_deletes) {
    put("a.py", "x\n");
    EXPECT_EQ(call("delete_file", {{"path", "a.py"}}).summary, "deleted a.py (+0 −1)");
    EXPECT_EQ(code(call("delete_file", {{"path", "a.py"}})), "AF-TOOL-031");
}
TEST_F(ToolPlugins, search_codebase_shows_path_line_and_text) {
    put("src/a.py", "import os\ndef Slug():\n    pass\n");
    put("b.txt", "slug\n");
    EXPECT_EQ(call("search_codebase", {{"pattern", "slug"}, {"ignore_case", true}}).output,
              "b.txt:1: slug\nsrc/a.py:2: def Slug():\n");
    EXPECT_EQ(call("search_codebase", {{"pattern", "slug"}, {"glob", "*.py"}}).output,
              "Nothing matches 'slug' in files like '*.py'.\n");
    EXPECT_EQ(code(call("search_codebase", {{"pattern", "a("}})), "AF-TOOL-021");
}
TEST_F(ToolPlugins, search_codebase_says_when_there_are_more_hits) {
    std::string text;
    for (int i = 0; i < 100; ++i) { text += "x\n"; }
    put("a.txt", text);
    const auto result = call("search_codebase", {{"pattern", "x"}});
    EXPECT_NE(result.output.find("more hits than these 60"), std::string::npos);
    EXPECT_EQ(result.summary, "searched 'x': 60+ hits in 1 files");
}
TEST_F(ToolPlugins, read_documentation_lists_documents_and_headings) {
    put("README.md", "# Textkit\n\nIntro.\n\n```\n# no heading\n```\n## Use\n");
    put("docs/guide.rst", "Guide\n=====\n\nConfiguration\n-------------\nSet it.\n");
    put("src/a.py", "# not a document\n");
    EXPECT_EQ(
        call("read_documentation", {}).output,
        "README.md\n  1  Textkit\n  8  Use\ndocs/guide.rst\n  1  Guide\n  4  Configuration\nGive a topic to see sections.\n");
}
TEST_F(ToolPlugins, read_documentation_shows_the_best_section_for_a_topic) {
    put("README.md", "# Textkit\nIt has a configuration somewhere.\n");
    put("docs/guide.rst", "Guide\n=====\n\nConfiguration file\n------------------\nSet it in setup.cfg.\n");
    const auto result = call("read_documentation", {{"topic", "configuration file"}});
    EXPECT_TRUE(result.output.starts_with("== docs/guide.rst:4\nConfiguration file\n")) << result.output;
    EXPECT_NE(call("read_documentation", {{"topic", "zebra"}}).output.find("None of the 2 documents"), std::string::npos);
}
TEST_F(ToolPlugins, read_documentation_says_when_there_is_none) {
    EXPECT_EQ(call("read_documentation", {}).summary, "no documentation");
}
TEST_F(ToolPlugins, run_tests_reports_counts_and_failures) {
    services_.report.gate = "tests";
    services_.report.tests = {{"tests/t.py::a", "a", "tests/t.py", 3, TestStatus::passed, ""},
                              {"tests/t.py::b", "b", "tests/t.py", 9, TestStatus::failed_assertion, "assert 1 == 2"}};
    const auto result = call("run_tests", {{"paths", {"./tests//t.py"}}});
    EXPECT_TRUE(result.success);
    EXPECT_EQ(services_.gate.gate, "tests");
    EXPECT_EQ(services_.gate.paths, std::vector<std::string>{"tests/t.py"});
    EXPECT_EQ(result.summary, "tests: 1 passed, 1 failed");
    EXPECT_EQ(result.output,
              "tests: NOT passed\n1 passed, 1 failed\nfailed  tests/t.py::b  at tests/t.py:9\n    assert 1 == 2\n");
    EXPECT_EQ(result.data.at("passed").as_bool(), false);
}
TEST_F(ToolPlugins, run_tests_shows_the_first_failures_only) {
    services_.report.gate = "tests";
    for (int i = 0; i < 30; ++i) {
        services_.report.tests.push_back({"t" + std::to_string(i), "", "", 0, TestStatus::error, std::string(500, 'x')});
    }
    EXPECT_NE(call("run_tests", {}).output.find("… and 20 more tests that did not pass"), std::string::npos);
}
TEST_F(ToolPlugins, run_type_check_runs_its_gate) {
    services_.report.gate = "types";
    services_.report.passed = true;
    EXPECT_EQ(call("run_type_check", {}).summary, "type check: passed");
    EXPECT_EQ(services_.gate.gate, "types");
}
TEST_F(ToolPlugins, run_conformance_check_shows_critical_violations_first_with_hints) {
    services_.report.gate = "conformance";
    services_.report.violations = {{"style-1", "style", "minor", "a.py", 4, "long line", ""},
                                   {"sec-1", "security", "critical", "b.py", 2, "eval is used", "parse it"}};
    const auto result = call("run_conformance_check", {});
    EXPECT_EQ(services_.gate.gate, "conformance");
    EXPECT_EQ(result.summary, "conformance: not passed, 2 issues");
    EXPECT_EQ(
        result.output,
        "conformance: NOT passed\nb.py:2  critical  sec-1: eval is used\n    fix: parse it\na.py:4  minor  style-1: long line\n");
}
TEST_F(ToolPlugins, a_gate_that_cannot_run_is_a_failed_call) {
    services_.gate_error = Error{"AF-GATE-001", "no runner", "", "", ErrorKind::unavailable};
    for (const char* tool : {"run_tests", "run_type_check", "run_conformance_check"}) {
        EXPECT_EQ(code(call(tool, {})), "AF-GATE-001") << tool;
    }
}
TEST_F(ToolPlugins, escalate_question_passes_question_reason_and_options) {
    const auto result = call("escalate_question", {{"question", "Which?"}, {"reason", "Both fit."}, {"options", {"a", "b"}}});
    EXPECT_TRUE(result.success);
    EXPECT_EQ(services_.escalation.question, "Which?");
    EXPECT_EQ(services_.escalation.reason, "Both fit.");
    EXPECT_EQ(services_.escalation.options, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(services_.escalation.context.at("role").as_string(), "tester");
    EXPECT_EQ(code(call("escalate_question", {{"question", ""}, {"reason", "x"}})), "AF-TOOL-004");
}
TEST_F(ToolPlugins, complete_submits_its_arguments) {
    EXPECT_TRUE(call("complete", {{"summary", "done"}, {"file_notes", {{"a.py", "x"}}}}).success);
    EXPECT_EQ(json::serialize(services_.completed), R"({"summary":"done","file_notes":{"a.py":"x"}})");
    services_.complete_error = Error{"AF-CONT-010", "title is missing", "", "", ErrorKind::invalid};
    EXPECT_EQ(code(call("complete", {{"summary", "done"}})), "AF-CONT-010");
}

}  // namespace
}  // namespace agentforge::kernel
