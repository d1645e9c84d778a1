// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/client.hpp"
#include "base/text.hpp"
#include "unit/backends/fakes.hpp"

namespace agentforge::kernel::testing {
namespace {

using std::chrono::milliseconds;

struct Call {
    FakeContext context;
    std::vector<milliseconds> slept;
    std::shared_ptr<FakeBackend> backend;

    Result<Completion> run(FakeBackend::Answer answer, RetryPolicy policy = {}) {
        backend = std::make_shared<FakeBackend>(std::move(answer));
        const auto client = make_model_client(backend, policy, [this](milliseconds delay) {
            slept.push_back(delay);
            if (on_sleep) { on_sleep(); }
        });
        CompletionRequest request;
        request.system = "system prompt";
        request.user = "context";
        return client->complete(request, context);
    }
    std::function<void()> on_sleep;
};

Error overloaded() { return {"AF-LLM-901", "the server is overloaded", "", "", ErrorKind::transient}; }

TEST(ModelClient, fills_both_hashes) {
    Call call;
    ASSERT_TRUE(call.run([](const CompletionRequest&) { return text_answer("yes"); }).ok());
    EXPECT_EQ(call.backend->requests[0].frame_hash.size(), 64U);
    EXPECT_EQ(call.backend->requests[0].context_hash.size(), 64U);
}

TEST(ModelClient, tries_again_what_is_transient) {
    Call call;
    unsigned asked = 0;
    const auto answer = call.run([&](const CompletionRequest&) -> Result<Completion> {
        if (++asked < 3) { return overloaded(); }
        return text_answer("yes");
    });
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(asked, 3U);
}

TEST(ModelClient, doubles_the_delay_up_to_its_limit) {
    Call call;
    ASSERT_FALSE(call.run([](const CompletionRequest&) -> Result<Completion> { return overloaded(); }, {6, milliseconds(500), milliseconds(3000)}).ok());
    EXPECT_EQ(call.slept, (std::vector<milliseconds>{milliseconds(500), milliseconds(1000), milliseconds(2000), milliseconds(3000), milliseconds(3000)}));
}

TEST(ModelClient, keeps_the_last_error_and_says_how_often_it_tried) {
    Call call;
    const auto answer = call.run([](const CompletionRequest&) -> Result<Completion> { return overloaded(); });
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().to_string(), "AF-LLM-901: the server is overloaded; tried 4 times");
}

class NotRetried : public ::testing::TestWithParam<ErrorKind> {};
TEST_P(NotRetried, is_asked_once) {
    Call call;
    ASSERT_FALSE(call.run([](const CompletionRequest&) -> Result<Completion> { return Error{"AF-LLM-902", "no", "", "", GetParam()}; }).ok());
    EXPECT_EQ(call.backend->requests.size(), 1U);
}
INSTANTIATE_TEST_SUITE_P(Kinds, NotRetried, ::testing::Values(ErrorKind::invalid, ErrorKind::denied, ErrorKind::timeout, ErrorKind::unavailable));

TEST(ModelClient, ends_the_waiting_when_cancelled) {
    Call call;
    call.on_sleep = [&] { call.context.cancel = true; };
    const auto answer = call.run([](const CompletionRequest&) -> Result<Completion> { return overloaded(); });
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(std::pair(answer.error().kind, call.backend->requests.size()), std::pair(ErrorKind::cancelled, std::size_t{1}));
}

TEST(ModelClient, starts_no_attempt_that_would_begin_after_the_deadline) {
    Call call;
    call.context.until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const auto answer = call.run([](const CompletionRequest&) -> Result<Completion> { return overloaded(); }, {4, std::chrono::hours(1), std::chrono::hours(1)});
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-103");
    EXPECT_TRUE(call.slept.empty());
}

TEST(ModelClient, asks_nothing_after_the_deadline) {
    Call call;
    call.context.until = std::chrono::steady_clock::now() - std::chrono::seconds(1);
    ASSERT_FALSE(call.run([](const CompletionRequest&) { return text_answer("yes"); }).ok());
    EXPECT_TRUE(call.backend->requests.empty());
}

TEST(ModelClient, marks_usage_that_it_estimated) {
    Call call;
    const auto answer = call.run([](const CompletionRequest&) {
        Completion completion;
        completion.text = "abcdefg";
        return completion;
    });
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(std::pair(answer.value().usage.estimated, answer.value().usage.output_tokens), std::pair(true, std::uint64_t{2}));
}

TEST(ModelClient, leaves_reported_usage_as_it_is) {
    Call call;
    const auto answer = call.run([](const CompletionRequest&) { return text_answer("yes"); });
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(std::pair(answer.value().usage.estimated, answer.value().usage.input_tokens), std::pair(false, std::uint64_t{100}));
}

TEST(ModelClient, refuses_an_answer_over_one_mebibyte) {
    Call call;
    const auto answer = call.run([](const CompletionRequest&) { return text_answer(std::string((1U << 20U) + 1, 'x')); });
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-101");
}

TEST(ModelClient, refuses_an_empty_answer) {
    Call call;
    const auto answer = call.run([](const CompletionRequest&) { return text_answer(" \n\t"); });
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-102");
}

TEST(ModelClient, takes_a_tool_call_without_text) {
    Call call;
    EXPECT_TRUE(call.run([](const CompletionRequest&) { return tool_answer("x", {}); }).ok());
}

TEST(ModelClient, makes_invalid_utf8_valid_in_text_and_arguments) {
    Call call;
    const auto answer = call.run([](const CompletionRequest&) {
        Completion completion = tool_answer("x", {{"content", json::array{"a\xFF" "b"}}});
        completion.text = "c\xC3";
        return completion;
    });
    ASSERT_TRUE(answer.ok());
    EXPECT_TRUE(is_valid_utf8(answer.value().text));
    EXPECT_TRUE(is_valid_utf8(json::serialize(answer.value().tool_calls[0].arguments)));
}

TEST(ModelClient, turns_an_exception_of_the_backend_into_an_error) {
    Call call;
    const auto answer = call.run([](const CompletionRequest&) -> Result<Completion> { throw std::runtime_error("boom"); });
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-106");
}

}  // namespace
}  // namespace agentforge::kernel::testing
