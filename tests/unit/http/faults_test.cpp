// SPDX-License-Identifier: Apache-2.0
// What each failure of a server becomes, for both backends: the code, whether it is retried, and that no key is shown.
#include <cstdlib>

#include <agentforge_http/refusal.hpp>
#include "anthropic/backend.hpp"
#include "openai/backend.hpp"

#include "server.hpp"

namespace agentforge::http {
namespace {

using namespace std::chrono_literals;
using testing::Context;
using testing::Script;
using testing::Server;

constexpr const char* key = "sk-test-0123456789";

std::unique_ptr<LLMBackend> backend(const std::string& name, const std::string& url, json::object settings = {}) {
    ::setenv("UNIT_HTTP_KEY", key, 1);
    settings["base_url"] = url;
    settings["api_key_env"] = "UNIT_HTTP_KEY";
    if (name == "anthropic") { return std::make_unique<anthropic::AnthropicBackend>(settings); }
    return std::make_unique<openai::OpenAiBackend>(settings);
}

Result<Completion> ask(const std::string& name, const std::string& url, json::object settings = {}) {
    Context context;
    return backend(name, url, std::move(settings))->complete(testing::request(), nullptr, context);
}

struct Fault {
    std::string called;
    std::string answer;
    std::string code;
    ErrorKind kind;
    std::string words;  ///< A part of the message.
};

std::string error_body(const std::string& type, const std::string& message) {
    return R"({"type":"error","error":{"type":")" + type + R"(","message":")" + message + R"("}})";
}

const std::vector<Fault>& faults() {
    using testing::json_response;
    using testing::stream_response;
    static const std::vector<Fault> list{
        {"wrong_key", json_response(error_body("authentication_error", std::string("bad key ") + key), 401), "AF-LLM-401",
         ErrorKind::unavailable, "bad key [key]"},
        {"forbidden", json_response(error_body("permission_error", "not yours"), 403), "AF-LLM-401", ErrorKind::unavailable,
         "not yours"},
        {"bad_request", json_response(error_body("invalid_request_error", "too long"), 400), "AF-LLM-405", ErrorKind::unavailable,
         "too long"},
        {"unknown_model", json_response(error_body("not_found_error", "model: tiny"), 404), "AF-LLM-404", ErrorKind::unavailable,
         "model: tiny"},
        {"request_timeout", json_response("{}", 408), "AF-LLM-407", ErrorKind::transient, "408"},
        {"conflict", json_response("{}", 409), "AF-LLM-407", ErrorKind::transient, "409"},
        {"too_large", json_response("{}", 413), "AF-LLM-405", ErrorKind::unavailable, "413"},
        {"rate_limit", json_response(error_body("rate_limit_error", "slow down"), 429), "AF-LLM-407", ErrorKind::transient,
         "slow down"},
        {"rate_limit_for_an_hour", json_response("{}", 429, "Retry-After: 3600\r\n"), "AF-LLM-406", ErrorKind::unavailable,
         "3600 s"},
        {"quota", json_response(error_body("insufficient_quota", "pay"), 429), "AF-LLM-406", ErrorKind::unavailable, "pay"},
        {"payment", json_response("{}", 402), "AF-LLM-406", ErrorKind::unavailable, "402"},
        {"server_error", json_response("{}", 500), "AF-LLM-407", ErrorKind::transient, "500"},
        {"bad_gateway", testing::response(502, "text/html", "<html><title>Bad\n gateway</title></html>"), "AF-LLM-407",
         ErrorKind::transient, "titled 'Bad gateway'"},
        {"overloaded", json_response(error_body("overloaded_error", "Overloaded"), 529), "AF-LLM-407", ErrorKind::transient,
         "Overloaded"},
        {"told_not_to_retry", json_response("{}", 500, "x-should-retry: false\r\n"), "AF-LLM-406", ErrorKind::unavailable, "500"},
        {"told_to_retry", json_response("{}", 400, "x-should-retry: true\r\n"), "AF-LLM-407", ErrorKind::transient, "400"},
        {"redirection", testing::response(302, "text/html", "", "Location: https://evil.example/\r\n"), "AF-LLM-405",
         ErrorKind::unavailable, "302"},
        {"empty_error", testing::response(500, "text/plain", ""), "AF-LLM-407", ErrorKind::transient, "an empty body"},
        {"html", testing::response(200, "text/html", "<html><title>Log in</title></html>"), "AF-LLM-408", ErrorKind::unavailable,
         "'Log in' instead of JSON"},
        {"html_as_json", json_response("<!doctype html>"), "AF-LLM-408", ErrorKind::unavailable, "an HTML page instead"},
        {"no_json", json_response("hello"), "AF-LLM-408", ErrorKind::transient, "hello"},
        {"other_json", json_response("{\"a\":1}"), "AF-LLM-408", ErrorKind::unavailable, "JSON that is no"},
        {"json_list", json_response("[]"), "AF-LLM-408", ErrorKind::transient, "not a JSON object"},
        {"deep_json", json_response(std::string(100'000, '[')), "AF-LLM-408", ErrorKind::transient, "not a JSON object"},
        {"error_in_200", json_response(error_body("overloaded_error", "busy")), "AF-LLM-407", ErrorKind::transient, "busy"},
        {"error_event", stream_response("event: error\ndata: " + error_body("overloaded_error", "Overloaded") + "\n\n"),
         "AF-LLM-407", ErrorKind::transient, "Overloaded"},
        {"denied_in_stream", stream_response("event: error\ndata: " + error_body("authentication_error", "no") + "\n\n"),
         "AF-LLM-401", ErrorKind::unavailable, "no"},
        {"invalid_in_stream", stream_response("event: error\ndata: " + error_body("invalid_request_error", "no") + "\n\n"),
         "AF-LLM-405", ErrorKind::unavailable, "no"},
        {"event_that_is_no_json", stream_response("data: hello\n\n"), "AF-LLM-408", ErrorKind::transient, "hello"},
        {"empty_stream", stream_response(""), "AF-LLM-409", ErrorKind::transient, "ended before the answer did"},
        {"invalid_utf8_error",
         testing::response(500, "text/plain",
                           "a\xFF"
                           "b"),
         "AF-LLM-407", ErrorKind::transient,
         "a\xEF\xBF\xBD"
         "b"},
    };
    return list;
}

class ExchangeServerFault : public ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {};

TEST_P(ExchangeServerFault, has_its_code_and_kind) {
    const auto& [name, number] = GetParam();
    const Fault& fault = faults().at(number);
    const Server server(fault.answer);
    const auto answer = ask(name, server.url());
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, fault.code) << answer.error().to_string();
    EXPECT_EQ(answer.error().kind, fault.kind) << answer.error().to_string();
    EXPECT_NE(answer.error().message.find(fault.words), std::string::npos) << answer.error().to_string();
    EXPECT_EQ(answer.error().to_string().find(key), std::string::npos);
    EXPECT_FALSE(answer.error().remedy.empty());
}

INSTANTIATE_TEST_SUITE_P(Both, ExchangeServerFault,
                         ::testing::Combine(::testing::Values("anthropic", "openai"), ::testing::Range<std::size_t>(0, 31)),
                         [](const auto& one) {
                             return std::get<0>(one.param) + "_" + faults().at(std::get<1>(one.param)).called;
                         });

class ModelServers : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, ModelServers, ::testing::Values("anthropic", "openai"),
                         [](const auto& one) { return one.param; });

TEST(ExchangeServerFaults, are_all_in_the_table) { EXPECT_EQ(faults().size(), 31U); }

/// Measures the second of two calls. The first is answered by `first` and must not wait.
struct SecondCall {
    SecondCall(const std::string& name, const std::string& first, const std::function<void(Context&)>& prepare = {},
               json::object settings = {})
        : server({{{first}, 0ms, false}, {{testing::json_response("{}", 400)}, 0ms, false}}) {
        Context context;
        const auto made = backend(name, server.url(), std::move(settings));
        EXPECT_FALSE(made->complete(testing::request(), nullptr, context).ok());
        if (prepare) { prepare(context); }
        const auto begin = std::chrono::steady_clock::now();
        const auto answer = made->complete(testing::request(), nullptr, context);
        took = std::chrono::steady_clock::now() - begin;
        code = answer.ok() ? "ok" : answer.error().code;
    }
    Server server;
    std::chrono::steady_clock::duration took{};
    std::string code;
};

TEST_P(ModelServers, the_next_call_waits_as_long_as_requested) {
    const SecondCall second(GetParam(), testing::json_response("{}", 429, "retry-after-ms: 120\r\nRetry-After: 30\r\n"));
    EXPECT_EQ(second.code, "AF-LLM-405");
    EXPECT_GE(second.took, 100ms);
    EXPECT_LT(second.took, 20s);
}

struct Wait {
    const char* called;
    Headers headers;
    std::chrono::milliseconds wait;
};
class RetryAfter : public ::testing::TestWithParam<Wait> {};
TEST_P(RetryAfter, is_understood) { EXPECT_EQ(asked_to_wait(Head{503, "", GetParam().headers}), GetParam().wait); }
constexpr const char* server_time = "Wed, 21 Oct 2015 07:28:00 GMT";
INSTANTIATE_TEST_SUITE_P(
    All, RetryAfter,
    ::testing::Values(Wait{"not", {}, 0ms}, Wait{"seconds", {{"retry-after", "2"}}, 2000ms},
                      Wait{"milliseconds_first", {{"retry-after-ms", "15"}, {"retry-after", "2"}}, 15ms},
                      Wait{"a_minute", {{"retry-after", "60"}}, 60'000ms}, Wait{"longer", {{"retry-after", "61"}}, 0ms},
                      Wait{"negative", {{"retry-after", "-1"}}, 0ms}, Wait{"words", {{"retry-after", "soon"}}, 0ms},
                      Wait{"date", {{"date", server_time}, {"retry-after", "Wed, 21 Oct 2015 07:28:30 GMT"}}, 30'000ms},
                      Wait{
                          "date_that_has_passed", {{"date", server_time}, {"retry-after", "Wed, 21 Oct 2015 07:27:59 GMT"}}, 0ms},
                      Wait{"date_far_away", {{"date", server_time}, {"retry-after", "Wed, 21 Oct 2015 08:28:00 GMT"}}, 0ms},
                      Wait{"date_long_ago_by_our_clock", {{"retry-after", server_time}}, 0ms}),
    [](const auto& one) { return std::string(one.param.called); });

TEST_P(ModelServers, a_wait_until_a_date_an_hour_away_pauses_the_task) {
    const Server server(testing::json_response(
        "{}", 429, "Date: Wed, 21 Oct 2015 07:28:00 GMT\r\nRetry-After: Wed, 21 Oct 2015 08:28:00 GMT\r\n"));
    const auto answer = ask(GetParam(), server.url());
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-406") << answer.error().to_string();
}

TEST_P(ModelServers, does_not_wait_beyond_the_deadline) {
    const SecondCall second(GetParam(), testing::json_response("{}", 429, "Retry-After: 50\r\n"),
                            [](Context& context) { context.until = std::chrono::steady_clock::now() + 40s; });
    EXPECT_EQ(second.code, "AF-LLM-410");
    EXPECT_LT(second.took, 20s);
}

TEST_P(ModelServers, does_not_wait_longer_than_a_call_may_take) {
    const SecondCall second(GetParam(), testing::json_response("{}", 429, "Retry-After: 50\r\n"), {}, {{"timeout_seconds", 40}});
    EXPECT_EQ(second.code, "AF-LLM-407");
    EXPECT_LT(second.took, 20s);
}

TEST_P(ModelServers, stops_waiting_when_cancelled) {
    const SecondCall second(GetParam(), testing::json_response("{}", 429, "Retry-After: 50\r\n"), [](Context& context) {
        context.cancel = [begin = std::chrono::steady_clock::now()] { return std::chrono::steady_clock::now() > begin + 50ms; };
    });
    EXPECT_EQ(second.code, "AF-LLM-411");
    EXPECT_LT(second.took, 20s);
}

TEST_P(ModelServers, an_answer_of_fifty_megabytes_is_refused) {
    const Server server(testing::json_response("{\"a\":\"" + std::string(50'000'000, 'a') + "\"}"));
    const auto answer = ask(GetParam(), server.url());
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-412");
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
}

TEST_P(ModelServers, an_endlessly_repeating_stream_is_refused) {
    const std::string again =
        "data: " +
        (GetParam() == "anthropic"
             ? R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":")" + std::string(1'000'000, 'a') +
                   R"("}})"
             : R"({"choices":[{"index":0,"delta":{"content":")" + std::string(1'000'000, 'a') + R"("}}]})") +
        "\n\n";
    Script script{{"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"}, 0ms, true};
    for (int number = 0; number < 36; ++number) { script.pieces.push_back(again); }
    const Server server({script});
    const auto answer = ask(GetParam(), server.url());
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-412");
}

TEST_P(ModelServers, a_stream_without_line_ends_is_refused) {
    const Server server(testing::stream_response("data: " + std::string(10'000'000, 'a')));
    const auto answer = ask(GetParam(), server.url());
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-412");
}

TEST_P(ModelServers, a_call_timeout_is_retryable) {
    const Server server({Script{{}, 0ms, true}});
    const auto answer = ask(GetParam(), server.url(), {{"timeout_seconds", 1}});
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-410");
    EXPECT_EQ(answer.error().kind, ErrorKind::transient);
}

TEST_P(ModelServers, a_passed_deadline_is_not_retried) {
    const Server server({Script{{}, 0ms, true}});
    Context context;
    context.until = std::chrono::steady_clock::now() + 200ms;
    const auto answer = backend(GetParam(), server.url())->complete(testing::request(), nullptr, context);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().kind, ErrorKind::timeout);
}

TEST_P(ModelServers, a_missing_key_is_named_before_sending_a_request) {
    const Server server("");
    Context context;
    const auto made = backend(GetParam(), server.url(), {});
    ::unsetenv("UNIT_HTTP_NONE");
    json::object settings{{"base_url", server.url()}, {"api_key_env", "UNIT_HTTP_NONE"}, {"model", "m"}};
    const std::unique_ptr<LLMBackend> keyless =
        GetParam() == "anthropic" ? std::unique_ptr<LLMBackend>(std::make_unique<anthropic::AnthropicBackend>(settings))
                                  : std::make_unique<openai::OpenAiBackend>(settings);
    const auto answer = keyless->complete(testing::request(), nullptr, context);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-401");
    EXPECT_NE(answer.error().message.find("UNIT_HTTP_NONE"), std::string::npos);
    EXPECT_EQ(server.received(), 0U);
}

TEST_P(ModelServers, the_default_key_goes_only_to_the_official_address) {
    ::setenv("ANTHROPIC_API_KEY", key, 1);
    ::setenv("OPENAI_API_KEY", key, 1);
    const Server server(testing::json_response("{}", 400));
    json::object settings{{"base_url", server.url()}};
    Context context;
    const std::unique_ptr<LLMBackend> made =
        GetParam() == "anthropic" ? std::unique_ptr<LLMBackend>(std::make_unique<anthropic::AnthropicBackend>(settings))
                                  : std::make_unique<openai::OpenAiBackend>(settings);
    ASSERT_FALSE(made->complete(testing::request(), nullptr, context).ok());
    EXPECT_EQ(server.requests().at(0).find(key), std::string::npos);
}

TEST_P(ModelServers, configured_headers_are_sent_and_hidden_in_errors) {
    const Server server(testing::json_response(error_body("x", "you sent hidden-value"), 400));
    const auto answer = ask(GetParam(), server.url(), {{"headers", {{"X-Team", "hidden-value"}}}});
    ASSERT_FALSE(answer.ok());
    EXPECT_NE(server.requests().at(0).find("X-Team: hidden-value\r\n"), std::string::npos);
    EXPECT_NE(answer.error().message.find("you sent [X-Team]"), std::string::npos) << answer.error().message;
}

TEST_P(ModelServers, a_model_must_be_named) {
    const Server server("");
    CompletionRequest request = testing::request();
    request.model.clear();
    Context context;
    const auto answer = backend(GetParam(), server.url())->complete(request, nullptr, context);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-413");
}

TEST_P(ModelServers, check_counts_the_models) {
    const Server server(testing::json_response(R"({"data":[{"id":"tiny"},{"id":"big"}]})"));
    Context context;
    const auto said = backend(GetParam(), server.url(), {{"model", "tiny"}})->check(context);
    ASSERT_TRUE(said.ok()) << said.error().to_string();
    EXPECT_EQ(said.value(), server.url() + " answers, 2 models; it lists 'tiny'");
}

TEST_P(ModelServers, check_reports_an_unknown_model) {
    const Server server(testing::json_response(R"({"data":[{"id":"big"}]})"));
    Context context;
    EXPECT_EQ(backend(GetParam(), server.url(), {{"model", "tiny"}})->check(context).value(),
              server.url() + " answers, 1 model; it does not list 'tiny' but big");
}

TEST_P(ModelServers, check_names_a_wrong_key) {
    const Server server(testing::json_response(error_body("authentication_error", "bad"), 401));
    Context context;
    const auto said = backend(GetParam(), server.url())->check(context);
    ASSERT_FALSE(said.ok());
    EXPECT_EQ(said.error().code, "AF-LLM-401");
}

class ModelServersRefusedSettings : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(ModelServersRefusedSettings, are_refused_by_name) {
    for (const std::string name : {"anthropic", "openai"}) {
        const json::object settings = json::parse(GetParam().first).as_object();
        try {
            if (name == "anthropic") {
                const anthropic::AnthropicBackend made(settings);
            } else {
                const openai::OpenAiBackend made(settings);
            }
            FAIL() << name;
        } catch (const std::invalid_argument& refused) {
            EXPECT_NE(std::string(refused.what()).find(GetParam().second), std::string::npos) << refused.what();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, ModelServersRefusedSettings,
    ::testing::Values(std::pair{R"({"bas_url":"x"})", "bas_url"}, std::pair{R"({"base_url":"localhost"})", "base_url"},
                      std::pair{R"({"timeout_seconds":0})", "timeout_seconds"}, std::pair{R"({"stream":"yes"})", "stream"},
                      std::pair{R"({"headers":{"a b":"c"}})", "a b"}, std::pair{R"({"headers":{"a":"c\r\nd: e"}})", "headers"},
                      std::pair{R"({"headers":[]})", "headers"},
                      std::pair{R"({"headers":{"Content-length":"5"}})", "Content-length"},
                      std::pair{R"({"max_tokens":-1})", "max_tokens"}, std::pair{R"({"model":7})", "model"}));

}  // namespace
}  // namespace agentforge::http
