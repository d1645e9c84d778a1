// SPDX-License-Identifier: Apache-2.0
// Correct servers: names, rights, paths, contents.
#include "unit/servers/place.hpp"

namespace agentforge::kernel::servers_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Servers, tools_are_named_after_their_server) {
    const auto tools = offer(server());
    ASSERT_TRUE(tools.ok()) << tools.error().to_string();
    std::vector<std::string> names;
    for (const auto& one : *tools) { names.push_back(one->spec().name); }
    EXPECT_THAT(names, ElementsAre("fake__echo", "fake__write", "fake__read_file", "fake__show", "fake__fail", "fake__where",
                                   "fake__environment", "fake__trigger"));
}

TEST_F(Servers, a_paged_list_is_read_to_its_end) { EXPECT_EQ(offer(server({"pages"}))->size(), 8U); }
TEST_F(Servers, a_server_without_tools_offers_none) { EXPECT_TRUE(offer(server({"no-tools"}))->empty()); }

TEST_F(Servers, only_allowed_tools_are_offered) {
    auto chosen = server();
    chosen.allowed_tools = {"echo"};
    EXPECT_EQ(offer(chosen)->size(), 1U);
}

TEST_F(Servers, a_missing_allowed_tool_is_named) {
    auto chosen = server();
    chosen.allowed_tools = {"echo", "ecko"};
    ASSERT_TRUE(offer(chosen).ok());
    ASSERT_EQ(pool_.problems(chosen).size(), 1U);
    EXPECT_THAT(pool_.problems(chosen).front().to_string(), AllOf(HasSubstr("AF-MCP-018"), HasSubstr("ecko")));
}

TEST_F(Servers, a_missing_path_parameter_is_named) {
    auto chosen = server();
    chosen.path_parameters["write"] = {"file"};
    ASSERT_TRUE(offer(chosen).ok());
    ASSERT_EQ(pool_.problems(chosen).size(), 1U);
    EXPECT_THAT(pool_.problems(chosen).front().message, HasSubstr("`file`, which is not a parameter"));
}

TEST_F(Servers, tools_with_a_duplicate_name_are_not_offered) {
    const auto twins = server({"twin"});
    const auto tools = offer(twins);
    ASSERT_TRUE(tools.ok());
    for (const auto& one : *tools) { EXPECT_NE(one->spec().name, "fake__read_file"); }
    EXPECT_THAT(pool_.problems(twins).front().message, AllOf(HasSubstr("`readFile`"), HasSubstr("`read_file`")));
}

TEST_F(Servers, rules_that_only_the_server_checks_are_named) {
    const auto odd = server({"odd-schema"});
    ASSERT_TRUE(offer(odd).ok());
    EXPECT_THAT(pool_.problems(odd).front().message, AllOf(HasSubstr("properties.a.if"), HasSubstr("properties.a.pattern")));
}

TEST_F(Servers, a_tool_without_a_schema_is_not_offered) {
    const auto bare = server({"no-schema"});
    EXPECT_EQ(offer(bare)->size(), 8U);
    EXPECT_THAT(pool_.problems(bare).front().message, HasSubstr("`bare`"));
}

TEST_F(Servers, every_kind_of_content_becomes_text) {
    const auto result = call(server(), "fake__show");
    EXPECT_THAT(result.output, AllOf(HasSubstr("words"), HasSubstr("[image, image/png, 4 bytes"), HasSubstr("inside"),
                                     HasSubstr("demo://two, a/b"), HasSubstr("demo://three"), HasSubstr("unknown type `dance`")));
}

TEST_F(Servers, structured_content_is_recorded) {
    EXPECT_EQ(call(server(), "fake__show").data.at("structured_content").at("answer"), 42);
}

TEST_F(Servers, a_failure_reported_by_the_server_is_a_failed_call) {
    const auto result = call(server(), "fake__fail");
    EXPECT_FALSE(result.success);
    EXPECT_THAT(code(result) + " " + message(result), AllOf(HasSubstr("AF-MCP-022"), HasSubstr("no luck today")));
}

TEST_F(Servers, the_workspace_is_working_directory_and_root) {
    EXPECT_EQ(call(server(), "fake__where").output, place_.workspace + " file://" + place_.workspace);
}

TEST_F(Servers, secrets_of_the_environment_are_not_passed) {
    auto with = server();
    with.environment["DECLARED"] = "${AGENTFORGE_WORKSPACE}/x";
    EXPECT_THAT(call(with, "fake__environment").output,
                AllOf(Not(HasSubstr("secret")), HasSubstr("\"DECLARED\": \"" + place_.workspace + "/x\"")));
}

TEST_F(Servers, a_server_writes_where_the_role_may) {
    EXPECT_TRUE(call(server(), "fake__write", {{"path", "src/a.txt"}}).success);
    EXPECT_TRUE(fs::exists(place_.workspace + "/src/a.txt"));
}

/// The system's message in full mode, or in Landlock mode.
auto refused_by_the_sandbox() { return testing::AnyOf(HasSubstr("Read-only file system"), HasSubstr("Permission denied")); }

TEST_F(Servers, a_server_cannot_write_where_the_role_may_not) {
    const auto result = call(server(), "fake__write", {{"path", "docs/a.txt"}});
    EXPECT_THAT(message(result), refused_by_the_sandbox());
    EXPECT_FALSE(fs::exists(place_.workspace + "/docs/a.txt"));
}

TEST_F(Servers, a_read_only_server_cannot_write_anywhere) {
    auto reader = server();
    reader.writes = false;
    EXPECT_THAT(message(call(reader, "fake__write", {{"path", "src/a.txt"}})), refused_by_the_sandbox());
}

TEST_F(Servers, a_server_with_only_read_tools_allowed_cannot_write) {
    auto careful = server();
    careful.read_only_tools = {"echo", "write"};  // So the settings claim; what the tool does may differ.
    ServerOffer how;
    how.wanted = [](const std::string& name) { return name == "fake__write"; };
    EXPECT_THAT(message(tool(careful, "fake__write", how)->call({{"path", "src/a.txt"}}, context_)), refused_by_the_sandbox());
    EXPECT_FALSE(fs::exists(place_.workspace + "/src/a.txt"));
}

TEST_F(Servers, a_process_with_only_read_tools_cannot_write) {
    ServerOffer how;
    how.trust_hints = true;
    EXPECT_THAT(message(tool(server({"says-read-only"}), "fake__write", how)->call({{"path", "src/a.txt"}}, context_)),
                refused_by_the_sandbox());
    EXPECT_FALSE(fs::exists(place_.workspace + "/src/a.txt"));
    auto silent = server();
    silent.where = "elsewhere.yaml:1:1";
    EXPECT_TRUE(tool(silent, "fake__write", how)->call({{"path", "src/b.txt"}}, context_).success)
        << "one that says nothing writes";
}

TEST_F(Servers, every_call_of_a_writing_server_is_checked) {
    int judged = 0;
    ServerOffer how;
    how.record_writes = [&judged]() -> Result<void> {
        ++judged;
        return Error{"AF-ORCH-026", "taken back", "", "", ErrorKind::denied};
    };
    EXPECT_EQ(code(tool(server(), "fake__echo", how)->call({{"words", "x"}}, context_)), "AF-ORCH-026");
    EXPECT_EQ(judged, 1);
}

TEST_F(Servers, a_writing_tool_declares_that_it_writes) {
    const auto effects = tool(server(), "fake__write")->spec().effects;
    EXPECT_TRUE(has(effects, ToolEffect::writes));
}

TEST_F(Servers, a_tool_declared_read_only_does_not_declare_that_it_writes) {
    auto careful = server();
    careful.read_only_tools = {"readFile"};
    EXPECT_FALSE(has(tool(careful, "fake__read_file")->spec().effects, ToolEffect::writes));
}

TEST_F(Servers, a_path_format_makes_a_path_parameter) {
    EXPECT_THAT(tool(server(), "fake__read_file")->spec().path_parameters, ElementsAre("path"));
}

TEST_F(Servers, paths_are_made_absolute_for_a_server_that_needs_them) {
    auto absolute = server();
    absolute.absolute_paths = true;
    absolute.path_parameters["echo"] = {"words"};
    const auto found = tool(absolute, "fake__echo");
    EXPECT_EQ(found->call({{"words", "src/a.txt"}}, context_).output, "src/a.txt")
        << "and the workspace's own place is not shown to the model";
    EXPECT_EQ(found->call({{"words", "."}}, context_).output, ".");
}

TEST_F(Servers, one_server_runs_per_set_of_permissions) {
    const auto one = server();
    ASSERT_TRUE(offer(one).ok());
    ASSERT_TRUE(offer(one).ok());
    const int once = count_processes(mark_);  // The server and the helper above it.
    place_.writable = {place_.workspace + "/docs"};
    ASSERT_TRUE(offer(one).ok());
    EXPECT_EQ(count_processes(mark_), 2 * once);
}

// ------------------------------------------------------------------------------------------------ names --

TEST(ServerNames, are_mapped_to_valid_tool_names) {
    EXPECT_EQ(mapped_name("getTinyImage"), "get_tiny_image");
    EXPECT_EQ(mapped_name("list-files.v2"), "list_files_v2");
    EXPECT_EQ(mapped_name("2fa"), "x_2fa");
    EXPECT_EQ(mapped_name("URLParse"), "urlparse");
}

TEST(ServerNames, a_prefix_contains_no_separator) {
    EXPECT_EQ(tool_prefix("a__b_"), "a_b");
    EXPECT_EQ(server_tool_name("a_b", "_x"), "a_b___x");
    EXPECT_EQ(prefix_of("a_b___x"), "a_b");
    EXPECT_EQ(prefix_of("read_file"), "");
}

// ------------------------------------------------------------------------------------------ declarations --

class ServerDeclarations : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = "/tmp/agentforge-servers-XXXXXX";
        folder_ = mkdtemp(name.data());
        sources_.mcp_json = folder_ / ".mcp.json";
        sources_.environment = {{"HOME", "/home/me"}, {"EMPTY", ""}};
        sources_.where = [](const std::string& server) { return "settings.yaml: " + server; };
    }
    void TearDown() override { fs::remove_all(folder_); }
    ServerSet file(const std::string& text) {
        std::ofstream(sources_.mcp_json) << text;
        return read_servers(sources_);
    }
    static std::string problem(const ServerSet& set) { return set.problems.empty() ? "none" : set.problems.front().to_string(); }

    fs::path folder_;
    ServerSources sources_;
};

TEST_F(ServerDeclarations, a_server_of_mcp_json_is_read) {
    const auto set = file(
        R"({"mcpServers": {"My Files": {"type": "stdio", "command": "node", "args": ["${HOME}/x.js", "${NONE:-y}"], "env": {"A": "b"}}}})");
    ASSERT_EQ(set.servers.size(), 1U) << problem(set);
    EXPECT_EQ(set.servers[0].prefix, "my_files");
    EXPECT_THAT(set.servers[0].command, ElementsAre("node", "/home/me/x.js", "y"));
}

TEST_F(ServerDeclarations, an_unknown_field_is_named_with_its_line) {
    const auto set = file("{\n \"mcpServers\": {\n  \"a\": {\"command\": \"x\",\n   \"arg\": []}}}");
    EXPECT_THAT(problem(set), AllOf(HasSubstr("AF-MCP-002"), HasSubstr(".mcp.json:4:"), HasSubstr("`args`")));
}

TEST_F(ServerDeclarations, an_unknown_field_beside_the_servers_is_named) {
    EXPECT_THAT(problem(file(R"({"servers": {}})")), HasSubstr("unknown field `servers`"));
}
TEST_F(ServerDeclarations, a_text_that_is_not_json_is_named) {
    EXPECT_THAT(problem(file("{")), AllOf(HasSubstr("AF-MCP-002"), HasSubstr("not JSON")));
}

TEST_F(ServerDeclarations, a_remote_server_is_refused) {
    EXPECT_THAT(problem(file(R"({"mcpServers": {"a": {"type": "http", "url": "http://x"}}})")),
                AllOf(HasSubstr("AF-MCP-003"), HasSubstr("stdio only")));
}

TEST_F(ServerDeclarations, a_broken_server_does_not_hide_another) {
    const auto set = file(R"({"mcpServers": {"a": {"type": "sse"}, "b": {"command": "x"}}})");
    EXPECT_EQ(set.servers.size(), 1U);
    EXPECT_TRUE(set.refused.contains("a"));
}

TEST_F(ServerDeclarations, a_variable_that_is_not_set_is_named) {
    EXPECT_THAT(problem(file(R"({"mcpServers": {"a": {"command": "${NOPE}"}}})")),
                AllOf(HasSubstr("AF-MCP-021"), HasSubstr("NOPE")));
}

TEST_F(ServerDeclarations, an_empty_variable_takes_its_default) {
    EXPECT_EQ(file(R"({"mcpServers": {"a": {"command": "${EMPTY:-x}"}}})").servers.at(0).command.at(0), "x");
}

TEST_F(ServerDeclarations, servers_of_the_repository_need_trust) {
    sources_.trusted = false;
    const auto set = file(R"({"mcpServers": {"a": {"command": "x"}}})");
    EXPECT_TRUE(set.servers.empty());
    EXPECT_THAT(set.refused.at("a").to_string(), AllOf(HasSubstr("AF-MCP-004"), HasSubstr("not trusted")));
}

TEST_F(ServerDeclarations, settings_extend_a_server_of_the_repository) {
    sources_.settings = {{"a", json::object{{"timeout_seconds", 5}, {"paths", "absolute"}}}};
    const auto set = file(R"({"mcpServers": {"a": {"command": "x"}}})");
    ASSERT_EQ(set.servers.size(), 1U) << problem(set);
    EXPECT_TRUE(set.servers[0].absolute_paths);
    EXPECT_EQ(set.servers[0].command.at(0), "x");
}

TEST_F(ServerDeclarations, a_server_without_a_command_is_named) {
    sources_.settings = {{"a", json::object{{"timeout_seconds", 5}}}};
    EXPECT_THAT(problem(read_servers(sources_)), HasSubstr("has no `command`"));
}

TEST_F(ServerDeclarations, two_names_with_one_prefix_are_named) {
    const auto set = file(R"({"mcpServers": {"my-files": {"command": "x"}, "my_files": {"command": "y"}}})");
    EXPECT_THAT(problem(set), AllOf(HasSubstr("AF-MCP-016"), HasSubstr("`my-files`"), HasSubstr("`my_files`")));
}

TEST_F(ServerDeclarations, network_access_needs_the_users_permission) {
    sources_.settings = {{"a", json::object{{"command", "x"}, {"network", true}}}};
    EXPECT_THAT(problem(read_servers(sources_)), AllOf(HasSubstr("AF-MCP-004"), HasSubstr("network")));
    sources_.network_allowed = true;
    EXPECT_EQ(read_servers(sources_).servers.size(), 1U);
}

TEST_F(ServerDeclarations, a_disabled_server_is_not_started) {
    sources_.settings = {{"a", json::object{{"command", "x"}, {"enabled", false}}}};
    const auto set = read_servers(sources_);
    EXPECT_TRUE(set.servers.empty());
    EXPECT_TRUE(set.problems.empty());
}

}  // namespace
}  // namespace agentforge::kernel::servers_test
