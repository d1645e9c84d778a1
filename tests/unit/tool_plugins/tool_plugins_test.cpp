// SPDX-License-Identifier: Apache-2.0
#include <agentforge/plugin.hpp>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "tools/bridge.hpp"

namespace agentforge::kernel {
namespace {

const std::vector<std::string> all_tools = {"list_files", "read_file", "create_file", "edit_file", "move_file", "delete_file", "search_codebase", "read_documentation",
                                            "run_tests", "run_type_check", "run_conformance_check", "escalate_question", "complete"};

const AgentforgeDescriptor* descriptor(const std::string& name) {
    const auto path = std::string(AGENTFORGE_BINARY_DIR) + "/plugins/tool/" + name + "/" + name + ".so";
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);      // Resident, as in the host.
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
    return {static_cast<Tool*>(factory.create("{}", error, sizeof error)), [destroy = factory.destroy](Tool* tool) { destroy(tool); }};
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
    [[nodiscard]] Result<void> escalate(const EscalationRequest& request) override { escalation = request; return {}; }
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
    ToolPlugins() : workspace_(std::move(RoleWorkspace::open(folder_.path().string(), RolePaths::make("tester", {}).value())).value()) {
        AgentDefinition agent;
        agent.role = "tester";
        agent.allowed_tools = all_tools;
        std::map<std::string, std::shared_ptr<Tool>, std::less<>> tools;
        for (const auto& name : all_tools) { tools[name] = load(name); }
        bridge_ = std::make_unique<ToolBridge>(agent, std::move(tools), *workspace_, services_, json::object{{"type", "object"}});
    }
    ToolResult call(std::string_view tool, const json::object& arguments) { return bridge_->call(tool, arguments, {"task-1", "green", "tester", 7}); }
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
        for (const auto& parameter : spec.path_parameters) { EXPECT_TRUE(spec.parameters.at("properties").as_object().contains(parameter)) << spec.name; }
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
    EXPECT_EQ(call("list_files", {{"path", "src"}, {"glob", "*.md"}}).output, "Nothing is there that matches '*.md'.\n");
}
TEST_F(ToolPlugins, list_files_says_when_there_is_more) {
    for (int i = 0; i < 310; ++i) { put("f" + std::to_string(i), ""); }
    EXPECT_NE(call("list_files", {}).output.find("there is more than these 300 entries"), std::string::npos);
}
TEST_F(ToolPlugins, read_file_numbers_the_lines) {
    put("a.py", "one\ntwo\nthree\n");
    const auto result = call("read_file", {{"path", "a.py"}});
    EXPECT_EQ(result.output, "1\tone\n2\ttwo\n3\tthree\n");
    EXPECT_EQ(result.summary, "read a.py");
    EXPECT_EQ(result.data.at("total_lines").to_number<int>(), 3);
}
TEST_F(ToolPlugins, read_file_shows_a_range_and_says_so) {
    put("a.py", "one\r\ntwo\r\nthree\r\n");
    const auto result = call("read_file", {{"path", "a.py"}, {"first_line", 2}, {"last_line", 2}});
    EXPECT_EQ(result.output, "2\ttwo\n(lines 2-2 of 3; give first_line and last_line for others)\n(lines end in CRLF; edit_file keeps that)\n");
    EXPECT_EQ(result.summary, "read a.py:2-2");
}
TEST_F(ToolPlugins, read_file_fits_the_bridges_bound) {
    std::string text;
    for (int i = 0; i < 3000; ++i) { text += "0123456789\n"; }
    put("a.py", text);
    const auto result = call("read_file", {{"path", "a.py"}});
    EXPECT_EQ(result.output.find("left out"), std::string::npos);
    EXPECT_NE(result.output.find("of 3000; give first_line"), std::string::npos);
}
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
TEST_F(ToolPlugins, delete_file_deletes) {
    put("a.py", "x\n");
    EXPECT_EQ(call("delete_file", {{"path", "a.py"}}).summary, "deleted a.py (+0 −1)");
    EXPECT_EQ(code(call("delete_file", {{"path", "a.py"}})), "AF-TOOL-031");
}
TEST_F(ToolPlugins, search_codebase_shows_path_line_and_text) {
    put("src/a.py", "import os\ndef Slug():\n    pass\n");
    put("b.txt", "slug\n");
    EXPECT_EQ(call("search_codebase", {{"pattern", "slug"}, {"ignore_case", true}}).output, "b.txt:1: slug\nsrc/a.py:2: def Slug():\n");
    EXPECT_EQ(call("search_codebase", {{"pattern", "slug"}, {"glob", "*.py"}}).output, "Nothing matches 'slug' in files like '*.py'.\n");
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
    EXPECT_EQ(call("read_documentation", {}).output,
              "README.md\n  1  Textkit\n  8  Use\ndocs/guide.rst\n  1  Guide\n  4  Configuration\nGive a topic to see sections, or read a document with read_file.\n");
}
TEST_F(ToolPlugins, read_documentation_shows_the_best_section_for_a_topic) {
    put("README.md", "# Textkit\nIt has a configuration somewhere.\n");
    put("docs/guide.rst", "Guide\n=====\n\nConfiguration file\n------------------\nSet it in setup.cfg.\n");
    const auto result = call("read_documentation", {{"topic", "configuration file"}});
    EXPECT_TRUE(result.output.starts_with("== docs/guide.rst:4\nConfiguration file\n")) << result.output;
    EXPECT_NE(call("read_documentation", {{"topic", "zebra"}}).output.find("None of the 2 documents"), std::string::npos);
}
TEST_F(ToolPlugins, read_documentation_says_when_there_is_none) { EXPECT_EQ(call("read_documentation", {}).summary, "no documentation"); }
TEST_F(ToolPlugins, run_tests_reports_counts_and_failures) {
    services_.report.gate = "tests";
    services_.report.tests = {{"tests/t.py::a", "a", "tests/t.py", 3, TestStatus::passed, ""},
                              {"tests/t.py::b", "b", "tests/t.py", 9, TestStatus::failed_assertion, "assert 1 == 2"}};
    const auto result = call("run_tests", {{"paths", {"./tests//t.py"}}});
    EXPECT_TRUE(result.success);
    EXPECT_EQ(services_.gate.gate, "tests");
    EXPECT_EQ(services_.gate.paths, std::vector<std::string>{"tests/t.py"});
    EXPECT_EQ(result.summary, "tests: 1 passed, 1 failed");
    EXPECT_EQ(result.output, "tests: NOT passed\n1 passed, 1 failed\nfailed  tests/t.py::b  at tests/t.py:9\n    assert 1 == 2\n");
    EXPECT_EQ(result.data.at("passed").as_bool(), false);
}
TEST_F(ToolPlugins, run_tests_shows_the_first_failures_only) {
    services_.report.gate = "tests";
    for (int i = 0; i < 30; ++i) { services_.report.tests.push_back({"t" + std::to_string(i), "", "", 0, TestStatus::error, std::string(500, 'x')}); }
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
    services_.report.violations = {{"style-1", "style", "minor", "a.py", 4, "long line", ""}, {"sec-1", "security", "critical", "b.py", 2, "eval is used", "parse it"}};
    const auto result = call("run_conformance_check", {});
    EXPECT_EQ(services_.gate.gate, "conformance");
    EXPECT_EQ(result.summary, "conformance: not passed, 2 issues");
    EXPECT_EQ(result.output, "conformance: NOT passed\nb.py:2  critical  sec-1: eval is used\n    fix: parse it\na.py:4  minor  style-1: long line\n");
}
TEST_F(ToolPlugins, gate_that_cannot_run_is_a_failed_call) {
    services_.gate_error = Error{"AF-GATE-001", "no runner", "", "", ErrorKind::unavailable};
    for (const char* tool : {"run_tests", "run_type_check", "run_conformance_check"}) { EXPECT_EQ(code(call(tool, {})), "AF-GATE-001") << tool; }
}
TEST_F(ToolPlugins, escalate_question_hands_over_question_reason_and_options) {
    const auto result = call("escalate_question", {{"question", "Which?"}, {"reason", "Both fit."}, {"options", {"a", "b"}}});
    EXPECT_TRUE(result.success);
    EXPECT_EQ(services_.escalation.question, "Which?");
    EXPECT_EQ(services_.escalation.reason, "Both fit.");
    EXPECT_EQ(services_.escalation.options, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(services_.escalation.context.at("role").as_string(), "tester");
    EXPECT_EQ(code(call("escalate_question", {{"question", ""}, {"reason", "x"}})), "AF-TOOL-004");
}
TEST_F(ToolPlugins, complete_hands_in_its_arguments) {
    EXPECT_TRUE(call("complete", {{"summary", "done"}, {"file_notes", {{"a.py", "x"}}}}).success);
    EXPECT_EQ(json::serialize(services_.completed), R"({"summary":"done","file_notes":{"a.py":"x"}})");
    services_.complete_error = Error{"AF-CONT-010", "title is missing", "", "", ErrorKind::invalid};
    EXPECT_EQ(code(call("complete", {{"summary", "done"}})), "AF-CONT-010");
}

}  // namespace
}  // namespace agentforge::kernel
