// SPDX-License-Identifier: Apache-2.0
#include "template_name.cpp"

#include <agentforge/testing/fake_host.hpp>
#include <gtest/gtest.h>

namespace example {

using agentforge::testing::FakeCallContext;
using agentforge::testing::FakeSink;

json::object shell(const char* script) { return {{"command", json::array{"sh", "-c", script}}}; }

CompletionRequest request() {
    CompletionRequest request;
    request.system = "You are brief.";
    request.user = "Say hello.";
    return request;
}

Result<Completion> ask(const json::object& settings, StreamSink* sink = nullptr) {
    FakeCallContext host;
    return TemplateNameBackend(settings).complete(request(), sink, host);
}

TEST(TemplateNameBackend, sends_the_prompt_and_takes_what_is_printed) {
    FakeSink sink;
    const auto answer = ask(shell("cat"), &sink);
    ASSERT_TRUE(answer.ok()) << answer.error().to_string();
    EXPECT_EQ(answer->text, "You are brief.\n\nSay hello.");
    EXPECT_EQ(sink.whole(), answer->text);
    EXPECT_TRUE(answer->usage.estimated);
}

TEST(TemplateNameBackend, says_why_the_program_failed) {
    const auto answer = ask(shell("echo no model is loaded >&2; exit 3"));
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
    EXPECT_NE(answer.error().message.find("code 3: no model is loaded"), std::string::npos);
}

TEST(TemplateNameBackend, calls_an_empty_answer_passing) { EXPECT_EQ(ask(shell("true")).error().kind, ErrorKind::transient); }

TEST(TemplateNameBackend, keeps_the_callers_deadline) {
    FakeCallContext host;
    host.set_deadline(std::chrono::steady_clock::now() - std::chrono::seconds(1));
    EXPECT_EQ(TemplateNameBackend(shell("cat")).complete(request(), nullptr, host).error().kind, ErrorKind::timeout);
}

TEST(TemplateNameBackend, stops_when_it_is_cancelled) {
    FakeCallContext host;
    host.cancel();
    EXPECT_EQ(TemplateNameBackend(shell("exec tail -f /dev/null")).complete(request(), nullptr, host).error().kind, ErrorKind::cancelled);
}

TEST(TemplateNameBackend, checks_that_the_program_is_there) {
    FakeCallContext host;
    EXPECT_TRUE(TemplateNameBackend(shell("true")).check(host).ok());
    EXPECT_FALSE(TemplateNameBackend({{"command", json::array{"no-such-program"}}}).check(host).ok());
}

TEST(TemplateNameBackend, refuses_settings_that_it_does_not_know) {
    EXPECT_FALSE(agentforge::testing::make<TemplateNameBackend>({{"comand", json::array{"cat"}}}).ok());
    EXPECT_FALSE(agentforge::testing::make<TemplateNameBackend>({}).ok());
}

}  // namespace example
