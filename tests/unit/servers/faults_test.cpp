// SPDX-License-Identifier: Apache-2.0
// Servers with one fault: the message names it, the host survives, no process remains (checked after each).
#include "unit/servers/place.hpp"

namespace agentforge::kernel::servers_test {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ServerFaults : public Servers {
protected:
    ToolResult trigger(const std::string& fault) { return call(server({fault}), "fake__trigger"); }
};

// ------------------------------------------------------------------------------------- at the start --

TEST_F(ServerFaults, a_server_that_hangs_at_startup_is_stopped_at_its_deadline) {
    ServerDefinition slow = server({"hang-at-start"});
    slow.startup_timeout = milliseconds(300);
    EXPECT_EQ(offer(slow).error().code, "AF-MCP-006");
}

TEST_F(ServerFaults, a_server_that_dies_at_startup_is_quoted) {
    const auto error = offer(server({"die-at-start"})).error();
    EXPECT_THAT(error.code + " " + error.message,
                AllOf(HasSubstr("AF-MCP-005"), HasSubstr("exit code 3"), HasSubstr("Cannot find module 'left-pad'")));
}

TEST_F(ServerFaults, a_missing_program_is_named) {
    ServerDefinition missing = server();
    missing.command = {"no-such-server"};
    const auto error = offer(missing).error();
    EXPECT_THAT(error.code + " " + error.message, AllOf(HasSubstr("AF-MCP-005"), HasSubstr("no-such-server")));
}

TEST_F(ServerFaults, a_flood_instead_of_a_handshake_is_cut_at_the_limit) {
    ServerDefinition flood = server({"flood-at-start"});
    flood.max_message_bytes = 100'000;
    const auto error = offer(flood).error();
    EXPECT_THAT(error.code + " " + error.message, AllOf(HasSubstr("AF-MCP-009"), HasSubstr("100000 bytes")));
}

TEST_F(ServerFaults, another_protocol_version_is_refused_by_name) {
    const auto error = offer(server({"old-version"})).error();
    EXPECT_THAT(error.code + " " + error.message, AllOf(HasSubstr("AF-MCP-007"), HasSubstr("1999-01-01")));
}

TEST_F(ServerFaults, a_server_that_closes_its_input_is_ended_at_its_deadline) {
    ServerDefinition deaf = server({"closes-input"});
    deaf.startup_timeout = milliseconds(300);
    EXPECT_EQ(offer(deaf).error().code, "AF-MCP-006");
}

TEST_F(ServerFaults, endless_pages_are_cut) { EXPECT_EQ(offer(server({"endless-pages"})).error().code, "AF-MCP-008"); }

TEST_F(ServerFaults, an_invalid_list_is_named) {
    EXPECT_THAT(offer(server({"no-list"})).error().message, HasSubstr("no list of tools"));
}

// --------------------------------------------------------------------------------------- in a call --

TEST_F(ServerFaults, a_call_that_hangs_ends_at_its_deadline) {
    ServerDefinition slow = server({"hang"});
    slow.timeout = milliseconds(200);
    const auto result = call(slow, "fake__trigger");
    EXPECT_THAT(code(result) + " " + message(result),
                AllOf(HasSubstr("AF-MCP-010"), HasSubstr("within 200 ms"), HasSubstr("was stopped")));
}

TEST_F(ServerFaults, a_merely_slow_server_is_kept) {
    ServerDefinition slow = server({"slow"});
    slow.timeout = milliseconds(200);
    EXPECT_THAT(message(call(slow, "fake__trigger")), HasSubstr("it was told to stop"));
    EXPECT_EQ(call(slow, "fake__echo", {{"words", "still here"}}).output, "still here");
}

TEST_F(ServerFaults, a_cancelled_call_ends_soon) {
    const auto hanging = tool(server({"hang"}), "fake__trigger");
    context_.cancel = true;
    EXPECT_EQ(code(hanging->call({}, context_)), "AF-MCP-019");
}

TEST_F(ServerFaults, the_tasks_deadline_binds_a_call) {
    const auto hanging = tool(server({"hang"}), "fake__trigger");
    context_.until = std::chrono::steady_clock::now();
    EXPECT_EQ(code(hanging->call({}, context_)), "AF-MCP-010");
}

TEST_F(ServerFaults, a_flood_without_a_line_end_is_cut_and_the_server_stopped) {
    const auto result = trigger("flood");
    EXPECT_THAT(code(result) + " " + message(result), AllOf(HasSubstr("AF-MCP-009"), HasSubstr("4194304 bytes")));
}

TEST_F(ServerFaults, endless_notifications_are_cut) {
    const auto result = trigger("notifications");
    EXPECT_THAT(code(result) + " " + message(result), AllOf(HasSubstr("AF-MCP-009"), HasSubstr("10000 messages")));
}

TEST_F(ServerFaults, a_flood_on_standard_error_blocks_nothing) { EXPECT_EQ(trigger("stderr").output, "done"); }

TEST_F(ServerFaults, a_server_that_dies_in_a_call_fails_that_call) {
    const auto result = trigger("die");
    EXPECT_THAT(code(result) + " " + message(result),
                AllOf(HasSubstr("AF-MCP-011"), HasSubstr("exit code 7"), HasSubstr("out of luck")));
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->kind, ErrorKind::unavailable) << "the model is told and goes on; `io` would pause the task";
}

TEST_F(ServerFaults, a_server_that_is_killed_is_named_with_its_signal) {
    EXPECT_THAT(message(trigger("killed")), HasSubstr("signal 9"));
}

TEST_F(ServerFaults, a_dead_server_is_started_again_at_the_next_call) {
    const auto dying = server({"die", "counts"});
    EXPECT_EQ(code(call(dying, "fake__trigger")), "AF-MCP-011");
    EXPECT_EQ(call(dying, "fake__echo", {{"words", "back"}}).output, "back");
}

TEST_F(ServerFaults, a_call_that_killed_the_server_is_not_retried) {
    EXPECT_EQ(code(call(server({"die", "counts"}), "fake__trigger")), "AF-MCP-011");
    EXPECT_EQ(fs::file_size(place_.scratch + "/fake_server_starts"), 1U);
}

TEST_F(ServerFaults, a_server_is_not_restarted_forever) {
    auto dying = server({"die"});
    dying.restarts = 2;
    const auto found = tool(dying, "fake__trigger");
    for (int i = 0; i < 3; ++i) { EXPECT_EQ(code(found->call({}, context_)), "AF-MCP-011"); }
    const auto last = found->call({}, context_);
    EXPECT_THAT(code(last) + " " + message(last), AllOf(HasSubstr("AF-MCP-012"), HasSubstr("3 times")));
}

TEST_F(ServerFaults, lines_that_are_not_json_are_logged) {
    EXPECT_EQ(trigger("not-json").output, "done");
    EXPECT_THAT(logged(), HasSubstr("Listening on port 1234"));
}

TEST_F(ServerFaults, lines_that_are_not_json_are_in_the_error_of_the_call) {
    EXPECT_THAT(message(call(server({"not-json", "die"}), "fake__trigger")),
                HasSubstr("not JSON on its standard output: Listening on port 1234"));
}

TEST_F(ServerFaults, answers_with_other_ids_are_ignored_and_logged) {
    EXPECT_EQ(trigger("wrong-id").output, "done");
    EXPECT_THAT(logged(), AllOf(HasSubstr("id 424242"), HasSubstr("does not wait")));
}

TEST_F(ServerFaults, the_first_of_two_answers_wins) {
    const auto twice = server({"twice"});
    EXPECT_EQ(call(twice, "fake__trigger").output, "the first");
    EXPECT_EQ(call(twice, "fake__echo", {{"words", "mine"}}).output, "mine");
}

TEST_F(ServerFaults, an_answer_with_neither_result_nor_error_is_named) {
    EXPECT_THAT(message(trigger("neither")), HasSubstr("neither `result` nor `error`"));
}
TEST_F(ServerFaults, an_error_that_is_not_an_object_is_named) {
    EXPECT_THAT(message(trigger("odd-error")), HasSubstr("just so"));
}
TEST_F(ServerFaults, a_result_that_is_not_an_object_is_named) {
    EXPECT_THAT(message(trigger("odd-result")), HasSubstr("not an object"));
}
TEST_F(ServerFaults, a_result_without_content_is_named) {
    EXPECT_THAT(message(trigger("no-content")), HasSubstr("neither `content`"));
}

TEST_F(ServerFaults, a_huge_answer_within_the_limit_arrives_complete) { EXPECT_EQ(trigger("huge").output.size(), 3U << 20U); }

TEST_F(ServerFaults, a_huge_answer_beyond_the_limit_ends_the_server) {
    auto small = server({"huge"});
    small.max_message_bytes = 1U << 20U;
    EXPECT_EQ(code(call(small, "fake__trigger")), "AF-MCP-009");
}

TEST_F(ServerFaults, invalid_utf8_is_replaced) {
    EXPECT_EQ(trigger("bytes").output, "caf\xEF\xBF\xBD \xEF\xBF\xBD");
    EXPECT_THAT(logged(), HasSubstr("no UTF-8"));
}

TEST_F(ServerFaults, a_batch_is_read_message_by_message) { EXPECT_EQ(trigger("batch").output, "in a batch"); }

TEST_F(ServerFaults, a_request_for_the_model_is_refused) {
    EXPECT_THAT(trigger("asks").output, AllOf(HasSubstr("-32601"), HasSubstr("mine")));
}

// ----------------------------------------------------------------------------------------- tools that change --

TEST_F(ServerFaults, a_tool_that_vanishes_gives_a_clear_error) {
    const auto fickle = server({"change-vanish"});
    EXPECT_TRUE(call(fickle, "fake__trigger").success);
    const auto result = call(fickle, "fake__echo", {{"words", "x"}});
    EXPECT_THAT(code(result) + " " + message(result), AllOf(HasSubstr("AF-MCP-014"), HasSubstr("no tool `echo` any more")));
}

TEST_F(ServerFaults, a_tool_that_appears_is_offered_from_the_next_stage_on) {
    const auto fickle = server({"change-appear"});
    const auto before = offer(fickle)->size();
    EXPECT_TRUE(call(fickle, "fake__trigger").success);
    EXPECT_TRUE(call(fickle, "fake__echo", {{"words", "x"}}).success);
    EXPECT_EQ(offer(fickle)->size(), before);
    EXPECT_THAT(logged(), HasSubstr("new tool `fresh`"));
}

TEST_F(ServerFaults, a_tool_whose_schema_changes_is_refused) {
    const auto fickle = server({"change-schema"});
    EXPECT_TRUE(call(fickle, "fake__trigger").success);
    EXPECT_EQ(code(call(fickle, "fake__echo", {{"words", "x"}})), "AF-MCP-015");
}

TEST_F(ServerFaults, a_tool_that_changed_across_a_restart_is_refused) {
    const auto fickle = server({"die", "schema-at-restart"});
    EXPECT_EQ(code(call(fickle, "fake__trigger")), "AF-MCP-011");
    EXPECT_EQ(code(call(fickle, "fake__echo", {{"words", "x"}})), "AF-MCP-015");
}

TEST_F(ServerFaults, a_tool_that_differs_from_its_pin_is_not_described_to_the_model) {
    ServerOffer how;
    how.pin = [](const std::string& name, const ListedTool&) -> Result<std::optional<std::string>> {
        return name == "fake__echo" ? std::optional<std::string>(std::string(64, 'a')) : std::nullopt;
    };
    const auto found = tool(server(), "fake__echo", how);
    EXPECT_THAT(found->spec().description, Not(HasSubstr("Gives back")));
    EXPECT_THAT(message(found->call({{"words", "x"}}, context_)), HasSubstr("aaaaaaaaaaaa"));
}

// --------------------------------------------------------------------------------------------- processes --

TEST_F(ServerFaults, a_daemon_that_keeps_the_pipe_is_stopped_with_its_server) {
    EXPECT_EQ(code(trigger("daemon")), "AF-MCP-011");
    EXPECT_EQ(count_processes(mark_), 0);
}

TEST_F(ServerFaults, a_server_that_ignores_term_is_killed) {
    EXPECT_TRUE(offer(server({"ignores-term"})).ok());
    pool_.end();
    EXPECT_EQ(count_processes(mark_), 0);
}

TEST_F(ServerFaults, children_of_a_server_end_with_it) {
    EXPECT_TRUE(offer(server({"child"})).ok());
    EXPECT_GE(count_processes(mark_), 3) << "helper, server and what the server started";
    pool_.end();
    EXPECT_EQ(count_processes(mark_), 0);
}

}  // namespace
}  // namespace agentforge::kernel::servers_test
