// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/model_client.hpp"
#include "backends/redacting_client.hpp"
#include "base/files.hpp"
#include "secrets/redactor.hpp"
#include "unit/backends/fakes.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string secret = "Zx8Cv5Bn2Mq1We4Rt7";

struct Asked {
    FakeContext context;
    Redactor redactor{{{"SHOP_KEY", secret}}, {}, "k"};
    std::shared_ptr<FakeBackend> backend;

    Result<Completion> run(FakeBackend::Answer answer) {
        backend = std::make_shared<FakeBackend>(std::move(answer));
        const auto client = make_redacting_client(make_model_client(backend, {}, [](std::chrono::milliseconds) {}), redactor);
        CompletionRequest request;
        request.system = "system " + secret;
        request.user = "user " + secret;
        request.tools = {{"t", "description " + secret, {{"default", secret}}}};
        return client->complete(request, context);
    }
};

TEST(RedactingClient, sends_no_secret) {
    Asked asked;
    ASSERT_TRUE(asked.run([](const CompletionRequest&) { return text_answer("yes"); }).ok());
    const CompletionRequest& sent = asked.backend->requests.at(0);
    EXPECT_THAT(sent.system + sent.user + sent.tools.at(0).description + json::serialize(sent.tools.at(0).parameters),
                Not(HasSubstr(secret)));
}

TEST(RedactingClient, moves_cache_marks_with_the_placeholder) {
    Asked asked;
    const auto backend = std::make_shared<FakeBackend>([](const CompletionRequest&) { return text_answer("yes"); });
    const auto client = make_redacting_client(make_model_client(backend, {}, [](std::chrono::milliseconds) {}), asked.redactor);
    ModelRequest request;
    request.user = "a\n" + secret + "\nb\nc\n";
    request.marks.user_ends = {2, 10, request.user.size() - 2};
    ASSERT_TRUE(client->complete(request, asked.context).ok());
    const std::string& sent = backend->requests.at(0).user;
    ASSERT_THAT(sent, Not(HasSubstr(secret)));
    const std::vector<std::size_t>& ends = backend->marks.at(0);
    ASSERT_EQ(ends.size(), 2U) << "one was inside of the secret";
    EXPECT_EQ(sent.substr(0, ends[0]), "a\n");
    EXPECT_EQ(sent.substr(ends[1]), "c\n");
}

TEST(RedactingClient, returns_no_secret_in_an_answer) {
    Asked asked;
    const auto answer = asked.run([](const CompletionRequest&) {
        Completion completion = text_answer("text " + secret);
        completion.tool_calls = {{"t", {{"a", secret}}}};
        completion.diagnostics = {{"stderr", secret}};
        return completion;
    });
    ASSERT_TRUE(answer.ok());
    EXPECT_THAT(answer->text + json::serialize(answer->tool_calls.at(0).arguments) + json::serialize(answer->diagnostics),
                Not(HasSubstr(secret)));
}

TEST(RedactingClient, returns_no_secret_in_an_error) {
    Asked asked;
    const auto answer = asked.run([](const CompletionRequest&) -> Result<Completion> {
        return Error{"AF-LLM-902", "key " + secret + " is wrong", "at " + secret, "not " + secret, ErrorKind::unavailable};
    });
    ASSERT_FALSE(answer.ok());
    EXPECT_THAT(answer.error().to_string(), Not(HasSubstr(secret)));
}

TEST(RedactingClient, records_a_failed_attempt_without_secrets) {
    const TemporaryDirectory folder{"redacting"};
    const std::string file = (folder.path() / "transcript.yaml").string();
    const Redactor redactor{{{"SHOP_KEY", secret}}, {}, "k"};
    unsigned calls = 0;
    const auto backend = std::make_shared<FakeBackend>([&calls](const CompletionRequest&) -> Result<Completion> {
        if (++calls == 1) { return Error{"AF-LLM-409", "busy with " + secret, "", "", ErrorKind::transient}; }
        return text_answer("yes");
    });
    const auto client = make_recorder(
        make_redacting_client(make_model_client(backend, {}, [](std::chrono::milliseconds) {}), redactor), make_recording(file));
    FakeContext context;
    ASSERT_TRUE(client->complete({}, context).ok());
    EXPECT_THAT(read_file(file).value(), AllOf(HasSubstr("busy with"), Not(HasSubstr(secret))));
}

TEST(RedactingClient, sends_the_same_bytes_for_the_same_prompt) {
    Asked one;
    Asked two;
    ASSERT_TRUE(one.run([](const CompletionRequest&) { return text_answer("yes"); }).ok());
    ASSERT_TRUE(two.run([](const CompletionRequest&) { return text_answer("yes"); }).ok());
    EXPECT_EQ(one.backend->requests.at(0).user, two.backend->requests.at(0).user);
}

}  // namespace
}  // namespace agentforge::kernel::testing
