// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/model_client.hpp"
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

/// Keeps failed attempts, as a journal would.
class KeepingContext final : public ModelCallContext {
public:
    [[nodiscard]] bool cancelled() const noexcept override { return false; }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return {}; }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view) override {}
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return {}; }
    [[nodiscard]] SpentAttempts spent() override { return known; }
    [[nodiscard]] Result<void> attempt_failed(unsigned attempt, const Error& error) override {
        if (unwritable) { return Error{"AF-JRNL-999", "disk full", "", "", ErrorKind::io}; }
        kept.push_back(std::to_string(attempt) + " " + error.code);
        return {};
    }
    void answering(std::string_view part) override { heard += part; }

    SpentAttempts known;
    std::vector<std::string> kept;
    std::string heard;
    bool unwritable = false;
};

struct KeptCall {
    KeepingContext context;
    unsigned asked = 0;
    std::vector<milliseconds> slept;
    std::shared_ptr<CircuitBreaker> breaker;

    Result<Completion> run(FakeBackend::Answer answer) {
        const auto client = make_model_client(
            std::make_shared<FakeBackend>([this, answer = std::move(answer)](const CompletionRequest& request) {
                ++asked;
                return answer(request);
            }),
            {}, [this](milliseconds delay) { slept.push_back(delay); }, breaker);
        return client->complete({}, context);
    }
};

Error overloaded() { return {"AF-LLM-901", "the server is overloaded", "", "", ErrorKind::transient}; }

TEST(ModelClient, fills_both_hashes) {
    Call call;
    ASSERT_TRUE(call.run([](const CompletionRequest&) { return text_answer("yes"); }).ok());
    EXPECT_EQ(call.backend->requests[0].frame_hash.size(), 64U);
    EXPECT_EQ(call.backend->requests[0].context_hash.size(), 64U);
}

TEST(ModelClient, retries_transient_errors) {
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
    ASSERT_FALSE(call.run([](const CompletionRequest&) -> Result<Completion> { return overloaded(); },
                          {6, milliseconds(500), milliseconds(3000)})
                     .ok());
    EXPECT_EQ(call.slept, (std::vector<milliseconds>{milliseconds(500), milliseconds(1000), milliseconds(2000),
                                                     milliseconds(3000), milliseconds(3000)}));
}

TEST(ModelClient, does_not_wait_if_offline) {
    unsigned slept = 0;
    unsigned asked = 0;
    const auto backend = std::make_shared<FakeBackend>(
        [&asked](const CompletionRequest&) -> Result<Completion> {
            if (++asked < 3) { return overloaded(); }
            return text_answer("x");
        },
        true, true);
    FakeContext context;
    ASSERT_TRUE(make_model_client(backend, {}, [&slept](milliseconds) { ++slept; })->complete({}, context).ok());
    EXPECT_EQ(asked, 3U);
    EXPECT_EQ(slept, 0U);
}

TEST(ModelClient, keeps_the_last_error_and_names_the_number_of_attempts) {
    Call call;
    const auto answer = call.run([](const CompletionRequest&) -> Result<Completion> { return overloaded(); });
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().to_string(), "AF-LLM-901: the server is overloaded; tried 4 times");
}

class ModelClientNotRetried : public ::testing::TestWithParam<ErrorKind> {};
TEST_P(ModelClientNotRetried, is_asked_once) {
    Call call;
    ASSERT_FALSE(call.run([](const CompletionRequest&) -> Result<Completion> {
                         return Error{"AF-LLM-902", "no", "", "", GetParam()};
                     })
                     .ok());
    EXPECT_EQ(call.backend->requests.size(), 1U);
}
INSTANTIATE_TEST_SUITE_P(Kinds, ModelClientNotRetried,
                         ::testing::Values(ErrorKind::invalid, ErrorKind::denied, ErrorKind::timeout, ErrorKind::unavailable));

TEST(ModelClient, stops_waiting_when_cancelled) {
    Call call;
    call.on_sleep = [&] { call.context.cancel = true; };
    const auto answer = call.run([](const CompletionRequest&) -> Result<Completion> { return overloaded(); });
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(std::pair(answer.error().kind, call.backend->requests.size()), std::pair(ErrorKind::cancelled, std::size_t{1}));
}

TEST(ModelClient, starts_no_attempt_that_would_begin_after_the_deadline) {
    Call call;
    call.context.until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const auto answer = call.run([](const CompletionRequest&) -> Result<Completion> { return overloaded(); },
                                 {4, std::chrono::hours(1), std::chrono::hours(1)});
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

TEST(ModelClient, marks_estimated_usage) {
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

TEST(ModelClient, accepts_a_tool_call_without_text) {
    Call call;
    EXPECT_TRUE(call.run([](const CompletionRequest&) { return tool_answer("x", {}); }).ok());
}

TEST(ModelClient, makes_invalid_utf8_valid_in_text_and_arguments) {
    Call call;
    const auto answer = call.run([](const CompletionRequest&) {
        Completion completion = tool_answer("x", {{"content", json::array{"a\xFF"
                                                                          "b"}}});
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

Result<Completion> always_overloaded(const CompletionRequest&) { return overloaded(); }

TEST(ModelClient, shortens_a_delay_by_up_to_a_quarter) {
    Call call;
    RetryPolicy policy;
    policy.attempts = 3;
    policy.random = [] { return 1.0; };
    ASSERT_FALSE(call.run(always_overloaded, policy).ok());
    EXPECT_EQ(call.slept, (std::vector<milliseconds>{milliseconds(375), milliseconds(750)}));
}

TEST(AttemptBudget, records_every_failed_attempt_before_the_next) {
    KeptCall call;
    ASSERT_FALSE(call.run(always_overloaded).ok());
    EXPECT_EQ(call.context.kept, (std::vector<std::string>{"1 AF-LLM-901", "2 AF-LLM-901", "3 AF-LLM-901", "4 AF-LLM-901"}));
}

TEST(AttemptBudget, attempts_before_a_crash_count) {
    KeptCall call;
    call.context.known = {2, 2, overloaded()};
    const auto answer = call.run(always_overloaded);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(call.asked, 2U);
    EXPECT_NE(answer.error().message.find("tried 4 times"), std::string::npos);
}

TEST(AttemptBudget, the_delay_continues_from_before_a_crash) {
    KeptCall call;
    call.context.known = {2, 2, overloaded()};
    ASSERT_FALSE(call.run(always_overloaded).ok());
    EXPECT_EQ(call.slept, (std::vector<milliseconds>{milliseconds(2000)}));
}

TEST(AttemptBudget, makes_no_request_if_used_up_before_a_crash) {
    KeptCall call;
    call.context.known = {4, 4, overloaded()};
    const auto answer = call.run([](const CompletionRequest&) { return text_answer("yes"); });
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(std::pair(call.asked, answer.error().code), std::pair(0U, std::string("AF-LLM-901")));
}

TEST(AttemptBudget, stops_retrying_after_too_many_failures_in_a_task) {
    KeptCall call;
    call.context.known.of_task = SpentAttempts::most_of_task;
    const auto answer = call.run(always_overloaded);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(std::pair(call.asked, answer.error().code), std::pair(1U, std::string("AF-LLM-109")));
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
}

TEST(AttemptBudget, does_not_retry_if_the_attempt_cannot_be_recorded) {
    KeptCall call;
    call.context.unwritable = true;
    const auto answer = call.run(always_overloaded);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(std::pair(call.asked, answer.error().code), std::pair(1U, std::string("AF-JRNL-999")));
}

struct Circuit {
    std::chrono::steady_clock::time_point now{};
    std::shared_ptr<CircuitBreaker> breaker = std::make_shared<CircuitBreaker>([this] { return now; });

    KeptCall call(FakeBackend::Answer answer, Result<Completion>* outcome = nullptr) const {
        KeptCall made;
        made.breaker = breaker;
        auto said = made.run(std::move(answer));
        if (outcome != nullptr) { *outcome = std::move(said); }
        return made;
    }
    void open() const {
        call(always_overloaded);
        call(always_overloaded);
    }
};

TEST(CircuitBreaker, opens_at_the_fifth_failure_in_a_row) {
    const Circuit circuit;
    Result<Completion> outcome = Completion{};
    EXPECT_EQ(circuit.call(always_overloaded).asked, 4U);
    EXPECT_EQ(circuit.call(always_overloaded, &outcome).asked, 1U);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(std::pair(outcome.error().code, outcome.error().kind),
              std::pair(std::string("AF-LLM-108"), ErrorKind::unavailable));
    EXPECT_NE(outcome.error().message.find("the server is overloaded"), std::string::npos);
}

TEST(CircuitBreaker, makes_no_request_while_open) {
    const Circuit circuit;
    circuit.open();
    EXPECT_EQ(circuit.call(always_overloaded).asked, 0U);
}

TEST(CircuitBreaker, lets_one_call_through_after_a_pause_and_reopens_if_it_fails) {
    Circuit circuit;
    circuit.open();
    circuit.now += CircuitBreaker::rest;
    EXPECT_EQ(circuit.call(always_overloaded).asked, 1U);
    EXPECT_EQ(circuit.call(always_overloaded).asked, 0U);
}

TEST(CircuitBreaker, closes_if_that_call_succeeds) {
    Circuit circuit;
    circuit.open();
    circuit.now += CircuitBreaker::rest;
    EXPECT_EQ(circuit.call([](const CompletionRequest&) { return text_answer("yes"); }).asked, 1U);
    EXPECT_EQ(circuit.call(always_overloaded).asked, 4U);
}

TEST(CircuitBreaker, lets_only_one_through_at_a_time) {
    Circuit circuit;
    circuit.open();
    circuit.now += CircuitBreaker::rest;
    ASSERT_TRUE(circuit.breaker->admit().ok());
    EXPECT_FALSE(circuit.breaker->admit().ok());
}

TEST(CircuitBreaker, a_cancelled_call_does_not_block_others) {
    Circuit circuit;
    circuit.open();
    circuit.now += CircuitBreaker::rest;
    circuit.call([](const CompletionRequest&) -> Result<Completion> {
        return Error{"AF-LLM-411", "cancelled", "", "", ErrorKind::cancelled};
    });
    EXPECT_EQ(circuit.call([](const CompletionRequest&) { return text_answer("yes"); }).asked, 1U);
}

}  // namespace
}  // namespace agentforge::kernel::testing
