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

TEST_F(ServerFaults, AServerThatHangsAtStartupIsStoppedAtItsDeadline) {
    ServerDefinition slow = server({"hang-at-start"});
    slow.startup_timeout = milliseconds(300);
    EXPECT_EQ(offer(slow).error().code, "AF-MCP-006");
}

TEST_F(ServerFaults, AServerThatDiesAtStartupIsQuoted) {
    const auto error = offer(server({"die-at-start"})).error();
    EXPECT_THAT(error.code + " " + error.message,
                AllOf(HasSubstr("AF-MCP-005"), HasSubstr("exit code 3"), HasSubstr("Cannot find module 'left-pad'")));
}

TEST_F(ServerFaults, AMissingProgramIsNamed) {
    ServerDefinition missing = server();
    missing.command = {"no-such-server"};
    const auto error = offer(missing).error();
    EXPECT_THAT(error.code + " " + error.message, AllOf(HasSubstr("AF-MCP-005"), HasSubstr("no-such-server")));
}

TEST_F(ServerFaults, AFloodInsteadOfAHandshakeIsCutAtTheLimit) {
    ServerDefinition flood = server({"flood-at-start"});
    flood.max_message_bytes = 100'000;
    const auto error = offer(flood).error();
    EXPECT_THAT(error.code + " " + error.message, AllOf(HasSubstr("AF-MCP-009"), HasSubstr("100000 bytes")));
}

TEST_F(ServerFaults, AnotherProtocolVersionIsRefusedByName) {
    const auto error = offer(server({"old-version"})).error();
    EXPECT_THAT(error.code + " " + error.message, AllOf(HasSubstr("AF-MCP-007"), HasSubstr("1999-01-01")));
}

TEST_F(ServerFaults, AServerThatClosesItsInputIsEndedAtItsDeadline) {
    ServerDefinition deaf = server({"closes-input"});
    deaf.startup_timeout = milliseconds(300);
    EXPECT_EQ(offer(deaf).error().code, "AF-MCP-006");
}

TEST_F(ServerFaults, EndlessPagesAreCut) { EXPECT_EQ(offer(server({"endless-pages"})).error().code, "AF-MCP-008"); }

TEST_F(ServerFaults, AnInvalidListIsNamed) {
    EXPECT_THAT(offer(server({"no-list"})).error().message, HasSubstr("no list of tools"));
}

// --------------------------------------------------------------------------------------- in a call --

TEST_F(ServerFaults, ACallThatHangsEndsAtItsDeadline) {
    ServerDefinition slow = server({"hang"});
    slow.timeout = milliseconds(200);
    const auto result = call(slow, "fake__trigger");
    EXPECT_THAT(code(result) + " " + message(result),
                AllOf(HasSubstr("AF-MCP-010"), HasSubstr("within 200 ms"), HasSubstr("was stopped")));
}

TEST_F(ServerFaults, AMerelySlowServerIsKept) {
    ServerDefinition slow = server({"slow"});
    slow.timeout = milliseconds(200);
    EXPECT_THAT(message(call(slow, "fake__trigger")), HasSubstr("it was told to stop"));
    EXPECT_EQ(call(slow, "fake__echo", {{"words", "still here"}}).output, "still here");
}

TEST_F(ServerFaults, ACancelledCallEndsSoon) {
    const auto hanging = tool(server({"hang"}), "fake__trigger");
    context_.cancel = true;
    EXPECT_EQ(code(hanging->call({}, context_)), "AF-MCP-019");
}

TEST_F(ServerFaults, TheTasksDeadlineBindsACall) {
    const auto hanging = tool(server({"hang"}), "fake__trigger");
    context_.until = std::chrono::steady_clock::now();
    EXPECT_EQ(code(hanging->call({}, context_)), "AF-MCP-010");
}

TEST_F(ServerFaults, AFloodWithoutALineEndIsCutAndTheServerStopped) {
    const auto result = trigger("flood");
    EXPECT_THAT(code(result) + " " + message(result), AllOf(HasSubstr("AF-MCP-009"), HasSubstr("4194304 bytes")));
}

TEST_F(ServerFaults, EndlessNotificationsAreCut) {
    const auto result = trigger("notifications");
    EXPECT_THAT(code(result) + " " + message(result), AllOf(HasSubstr("AF-MCP-009"), HasSubstr("10000 messages")));
}

TEST_F(ServerFaults, AFloodOnStandardErrorBlocksNothing) { EXPECT_EQ(trigger("stderr").output, "done"); }

TEST_F(ServerFaults, AServerThatDiesInACallFailsThatCall) {
    const auto result = trigger("die");
    EXPECT_THAT(code(result) + " " + message(result),
                AllOf(HasSubstr("AF-MCP-011"), HasSubstr("exit code 7"), HasSubstr("out of luck")));
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->kind, ErrorKind::unavailable) << "the model is told and goes on; `io` would pause the task";
}

TEST_F(ServerFaults, AServerThatIsKilledIsNamedWithItsSignal) { EXPECT_THAT(message(trigger("killed")), HasSubstr("signal 9")); }

TEST_F(ServerFaults, ADeadServerIsStartedAgainAtTheNextCall) {
    const auto dying = server({"die", "counts"});
    EXPECT_EQ(code(call(dying, "fake__trigger")), "AF-MCP-011");
    EXPECT_EQ(call(dying, "fake__echo", {{"words", "back"}}).output, "back");
}

TEST_F(ServerFaults, ACallThatKilledTheServerIsNotRetried) {
    EXPECT_EQ(code(call(server({"die", "counts"}), "fake__trigger")), "AF-MCP-011");
    EXPECT_EQ(fs::file_size(place_.scratch + "/fake_server_starts"), 1U);
}

TEST_F(ServerFaults, AServerIsNotRestartedForever) {
    auto dying = server({"die"});
    dying.restarts = 2;
    const auto found = tool(dying, "fake__trigger");
    for (int i = 0; i < 3; ++i) { EXPECT_EQ(code(found->call({}, context_)), "AF-MCP-011"); }
    const auto last = found->call({}, context_);
    EXPECT_THAT(code(last) + " " + message(last), AllOf(HasSubstr("AF-MCP-012"), HasSubstr("3 times")));
}

TEST_F(ServerFaults, LinesThatAreNotJsonAreLogged) {
    EXPECT_EQ(trigger("not-json").output, "done");
    EXPECT_THAT(logged(), HasSubstr("Listening on port 1234"));
}

TEST_F(ServerFaults, LinesThatAreNotJsonAreInTheErrorOfTheCall) {
    EXPECT_THAT(message(call(server({"not-json", "die"}), "fake__trigger")),
                HasSubstr("not JSON on its standard output: Listening on port 1234"));
}

TEST_F(ServerFaults, AnswersWithOtherIdsAreIgnoredAndLogged) {
    EXPECT_EQ(trigger("wrong-id").output, "done");
    EXPECT_THAT(logged(), AllOf(HasSubstr("id 424242"), HasSubstr("does not wait")));
}

TEST_F(ServerFaults, TheFirstOfTwoAnswersWins) {
    const auto twice = server({"twice"});
    EXPECT_EQ(call(twice, "fake__trigger").output, "the first");
    EXPECT_EQ(call(twice, "fake__echo", {{"words", "mine"}}).output, "mine");
}

TEST_F(ServerFaults, AnAnswerWithNeitherResultNorErrorIsNamed) {
    EXPECT_THAT(message(trigger("neither")), HasSubstr("neither `result` nor `error`"));
}
TEST_F(ServerFaults, AnErrorThatIsNotAnObjectIsNamed) { EXPECT_THAT(message(trigger("odd-error")), HasSubstr("just so")); }
TEST_F(ServerFaults, AResultThatIsNotAnObjectIsNamed) { EXPECT_THAT(message(trigger("odd-result")), HasSubstr("not an object")); }
TEST_F(ServerFaults, AResultWithoutContentIsNamed) {
    EXPECT_THAT(message(trigger("no-content")), HasSubstr("neither `content`"));
}

TEST_F(ServerFaults, AHugeAnswerWithinTheLimitArrivesComplete) { EXPECT_EQ(trigger("huge").output.size(), 3U << 20U); }

TEST_F(ServerFaults, AHugeAnswerBeyondTheLimitEndsTheServer) {
    auto small = server({"huge"});
    small.max_message_bytes = 1U << 20U;
    EXPECT_EQ(code(call(small, "fake__trigger")), "AF-MCP-009");
}

TEST_F(ServerFaults, InvalidUtf8IsReplaced) {
    EXPECT_EQ(trigger("bytes").output, "caf\xEF\xBF\xBD \xEF\xBF\xBD");
    EXPECT_THAT(logged(), HasSubstr("no UTF-8"));
}

TEST_F(ServerFaults, ABatchIsReadMessageByMessage) { EXPECT_EQ(trigger("batch").output, "in a batch"); }

TEST_F(ServerFaults, ARequestForTheModelIsRefused) {
    EXPECT_THAT(trigger("asks").output, AllOf(HasSubstr("-32601"), HasSubstr("mine")));
}

// ----------------------------------------------------------------------------------------- tools that change --

TEST_F(ServerFaults, AToolThatVanishesGivesAClearError) {
    const auto fickle = server({"change-vanish"});
    EXPECT_TRUE(call(fickle, "fake__trigger").success);
    const auto result = call(fickle, "fake__echo", {{"words", "x"}});
    EXPECT_THAT(code(result) + " " + message(result), AllOf(HasSubstr("AF-MCP-014"), HasSubstr("no tool `echo` any more")));
}

TEST_F(ServerFaults, AToolThatAppearsIsOfferedFromTheNextStageOn) {
    const auto fickle = server({"change-appear"});
    const auto before = offer(fickle)->size();
    EXPECT_TRUE(call(fickle, "fake__trigger").success);
    EXPECT_TRUE(call(fickle, "fake__echo", {{"words", "x"}}).success);
    EXPECT_EQ(offer(fickle)->size(), before);
    EXPECT_THAT(logged(), HasSubstr("new tool `fresh`"));
}

TEST_F(ServerFaults, AToolWhoseSchemaChangesIsRefused) {
    const auto fickle = server({"change-schema"});
    EXPECT_TRUE(call(fickle, "fake__trigger").success);
    EXPECT_EQ(code(call(fickle, "fake__echo", {{"words", "x"}})), "AF-MCP-015");
}

TEST_F(ServerFaults, AToolThatChangedAcrossARestartIsRefused) {
    const auto fickle = server({"die", "schema-at-restart"});
    EXPECT_EQ(code(call(fickle, "fake__trigger")), "AF-MCP-011");
    EXPECT_EQ(code(call(fickle, "fake__echo", {{"words", "x"}})), "AF-MCP-015");
}

TEST_F(ServerFaults, AToolThatDiffersFromItsPinIsNotDescribedToTheModel) {
    ServerOffer how;
    how.pin = [](const std::string& name, const ListedTool&) -> Result<std::optional<std::string>> {
        return name == "fake__echo" ? std::optional<std::string>(std::string(64, 'a')) : std::nullopt;
    };
    const auto found = tool(server(), "fake__echo", how);
    EXPECT_THAT(found->spec().description, Not(HasSubstr("Gives back")));
    EXPECT_THAT(message(found->call({{"words", "x"}}, context_)), HasSubstr("aaaaaaaaaaaa"));
}

// --------------------------------------------------------------------------------------------- processes --

TEST_F(ServerFaults, ADaemonThatKeepsThePipeIsStoppedWithItsServer) {
    EXPECT_EQ(code(trigger("daemon")), "AF-MCP-011");
    EXPECT_EQ(count_processes(mark_), 0);
}

TEST_F(ServerFaults, AServerThatIgnoresTermIsKilled) {
    EXPECT_TRUE(offer(server({"ignores-term"})).ok());
    pool_.end();
    EXPECT_EQ(count_processes(mark_), 0);
}

TEST_F(ServerFaults, ChildrenOfAServerEndWithIt) {
    EXPECT_TRUE(offer(server({"child"})).ok());
    EXPECT_GE(count_processes(mark_), 3) << "helper, server and what the server started";
    pool_.end();
    EXPECT_EQ(count_processes(mark_), 0);
}

}  // namespace
}  // namespace agentforge::kernel::servers_test
