// SPDX-License-Identifier: Apache-2.0
#include "openai/backend.hpp"

#include "server.hpp"

namespace agentforge::http {
namespace {

using testing::Context;
using testing::Server;

Result<Completion> ask(const Server& server, json::object settings = {}, StreamSink* sink = nullptr,
                       const CompletionRequest& request = testing::request()) {
    settings["base_url"] = server.url() + "/v1";
    openai::OpenAiBackend backend(std::move(settings));
    Context context;
    return backend.complete(request, sink, context);
}

std::string chunk(const std::string& delta, const std::string& reason = "") {
    return R"(data: {"id":"c1","object":"chat.completion.chunk","model":"gpt-x","choices":[{"index":0,"delta":)" + delta +
           ",\"finish_reason\":" + (reason.empty() ? "null" : "\"" + reason + "\"") + "}]}\n\n";
}
std::string call(const std::string& index, const std::string& id, const std::string& name, const std::string& arguments) {
    return chunk("{\"tool_calls\":[{" + (index.empty() ? "" : "\"index\":" + index + ",") +
                 (id.empty() ? "" : "\"id\":\"" + id + "\",\"type\":\"function\",") + "\"function\":{" +
                 (name.empty() ? "" : "\"name\":\"" + name + "\",") + "\"arguments\":" + json::serialize(json::value(arguments)) +
                 "}}]}");
}
std::string usage() {
    return "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":9,\"prompt_tokens_details\":{\"cached_tokens\":32}}}\n\n";
}
const std::string done = "data: [DONE]\n\n";

std::string one_call() {
    return ": OPENROUTER PROCESSING\n\n" + chunk(R"({"role":"assistant","content":"I read."})") +
           call("0", "t1", "read_file", "") + call("0", "", "", "{\"pa") + call("0", "", "", "th\":\"a.py\"}") +
           chunk("{}", "tool_calls") + usage() + done;
}

TEST(OpenAi, joins_a_streamed_tool_call) {
    const Server server(testing::stream_response(one_call()));
    const auto answer = ask(server);
    ASSERT_TRUE(answer.ok()) << testing::explain(answer);
    ASSERT_EQ(answer.value().tool_calls.size(), 1U);
    EXPECT_EQ(answer.value().tool_calls[0].name, "read_file");
    EXPECT_EQ(json::serialize(answer.value().tool_calls[0].arguments), R"({"path":"a.py"})");
    EXPECT_EQ(answer.value().stop_reason, StopReason::tool_call);
    EXPECT_EQ(answer.value().text, "I read.");
    EXPECT_EQ(answer.value().model, "gpt-x");
}

TEST(OpenAi, reads_usage_with_cached_tokens) {
    const Server server(testing::stream_response(one_call()));
    const Usage usage = ask(server).value().usage;
    EXPECT_EQ(usage.input_tokens, 50U);
    EXPECT_EQ(usage.cached_input_tokens, 32U);
    EXPECT_EQ(usage.output_tokens, 9U);
}

TEST(OpenAi, reasoning_counted_only_in_the_total_is_output_too) {
    const Server server(testing::json_response(
        R"({"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}],)"
        R"("usage":{"prompt_tokens":50,"completion_tokens":9,"total_tokens":99,"completion_tokens_details":{"reasoning_tokens":40}}})"));
    const auto answer = ask(server);
    ASSERT_TRUE(answer.ok()) << testing::explain(answer);
    EXPECT_EQ(answer.value().usage.output_tokens, 49U);
    EXPECT_EQ(answer.value().diagnostics.at("reasoning_tokens").to_number<int>(), 40);
}

TEST(OpenAi, streams_text_as_it_arrives) {
    const Server server(testing::stream_response(chunk(R"({"content":"a"})") + chunk(R"({"content":"b"})", "stop") + done));
    testing::Parts parts;
    ASSERT_TRUE(ask(server, {}, &parts).ok());
    EXPECT_EQ(parts.parts, (std::vector<std::string>{"a", "b"}));
}

TEST(OpenAi, a_stream_cut_before_its_finish_reason_is_a_failed_attempt) {
    const std::string events = chunk(R"({"content":"a"})") + call("0", "t", "complete", "{}") + chunk("{}", "tool_calls");
    for (std::size_t cut = 0; cut < events.size() - 1; ++cut) {
        const Server server(testing::stream_response(events.substr(0, cut)));
        const auto answer = ask(server);
        ASSERT_FALSE(answer.ok()) << cut;
        ASSERT_EQ(answer.error().code, "AF-LLM-409") << cut;
    }
}

TEST(OpenAi, a_stream_may_end_without_done_after_its_finish_reason) {
    const Server server(testing::stream_response(chunk(R"({"content":"a"})", "stop")));
    EXPECT_TRUE(ask(server).ok());
}

TEST(OpenAi, a_broken_connection_after_the_finish_reason_is_a_failed_attempt) {
    const std::string whole = testing::stream_response(chunk(R"({"content":"a"})", "stop"));
    const Server server(whole.substr(0, whole.size() - 5));
    const auto answer = ask(server);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-409");
}

TEST(OpenAi, an_error_in_the_stream_is_a_failed_attempt) {
    const Server server(
        testing::stream_response(chunk(R"({"content":"a"})") + "data: {\"error\":{\"message\":\"upstream\",\"code\":502}}\n\n"));
    const auto answer = ask(server);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-407");
    EXPECT_EQ(answer.error().kind, ErrorKind::transient);
}

TEST(OpenAi, reads_an_answer_that_is_not_streamed) {
    const std::string body =
        R"({"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"complete","arguments":"{\"a\":1}"}}]},)"
        R"("finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}})";
    const Server server(testing::json_response(body));
    const auto answer = ask(server, {{"stream", false}});
    ASSERT_TRUE(answer.ok()) << testing::explain(answer);
    EXPECT_EQ(json::serialize(answer.value().tool_calls.at(0).arguments), R"({"a":1})");
    EXPECT_FALSE(server.asked().contains("stream_options"));
}

TEST(OpenAi, accepts_a_server_that_ignores_the_stream_flag) {
    const Server server(testing::json_response(R"({"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]})"));
    EXPECT_EQ(ask(server).value().text, "hello");
}

TEST(OpenAi, arguments_may_be_an_object) {
    const Server server(testing::json_response(
        R"({"choices":[{"message":{"tool_calls":[{"function":{"name":"complete","arguments":{"a":1}}}]},"finish_reason":"stop"}]})"));
    const auto answer = ask(server);
    EXPECT_EQ(json::serialize(answer.value().tool_calls.at(0).arguments), R"({"a":1})");
    EXPECT_EQ(answer.value().stop_reason, StopReason::tool_call);
}

TEST(OpenAi, passes_several_calls_to_the_host_to_refuse) {
    const Server server(
        testing::stream_response(call("0", "t1", "a", "{}") + call("1", "t2", "b", "{}") + chunk("{}", "tool_calls") + done));
    EXPECT_EQ(ask(server).value().tool_calls.size(), 2U);
}

TEST(OpenAi, calls_that_all_have_index_0_are_distinguished_by_id) {
    const Server server(
        testing::stream_response(call("0", "t1", "a", "{}") + call("0", "t2", "b", "{}") + chunk("{}", "tool_calls") + done));
    EXPECT_EQ(ask(server).value().tool_calls.size(), 2U);
}

TEST(OpenAi, parts_without_an_index_belong_to_the_last_call) {
    const Server server(testing::stream_response(call("", "t1", "read_file", "{\"a\"") + call("", "", "", ":1}") +
                                                 chunk("{}", "tool_calls") + done));
    const auto answer = ask(server);
    ASSERT_TRUE(answer.ok()) << testing::explain(answer);
    EXPECT_EQ(json::serialize(answer.value().tool_calls.at(0).arguments), R"({"a":1})");
}

TEST(OpenAi, passes_an_unknown_tool_to_the_host_to_refuse) {
    const Server server(testing::stream_response(call("0", "t1", "format_disk", "{}") + chunk("{}", "tool_calls") + done));
    EXPECT_EQ(ask(server).value().tool_calls.at(0).name, "format_disk");
}

TEST(OpenAi, reports_malformed_arguments_to_the_model) {
    const Server server(
        testing::stream_response(call("0", "t1", "read_file", "{\"path\": \"a\nb\"}") + chunk("{}", "tool_calls") + done));
    const auto answer = ask(server);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-105");
    EXPECT_NE(answer.error().message.find("read_file"), std::string::npos);
}

TEST(OpenAi, maps_a_refusal_to_refused) {
    const Server server(testing::stream_response(chunk(R"({"refusal":"I can not."})") + chunk("{}", "stop") + done));
    const auto answer = ask(server);
    EXPECT_EQ(answer.value().stop_reason, StopReason::refused);
    EXPECT_EQ(answer.value().text, "I can not.");
}

class OpenAiFinishReasons : public ::testing::TestWithParam<std::pair<std::string, StopReason>> {};
TEST_P(OpenAiFinishReasons, are_translated) {
    const Server server(testing::stream_response(chunk(R"({"content":"x"})", GetParam().first) + done));
    EXPECT_EQ(ask(server).value().stop_reason, GetParam().second);
}
INSTANTIATE_TEST_SUITE_P(OpenAi, OpenAiFinishReasons,
                         ::testing::Values(std::pair{"stop", StopReason::finished}, std::pair{"length", StopReason::length},
                                           std::pair{"tool_calls", StopReason::tool_call},
                                           std::pair{"content_filter", StopReason::refused},
                                           std::pair{"new_reason", StopReason::other}));

TEST(OpenAi, requests_one_tool_call_and_usage) {
    const Server server(testing::stream_response(one_call()));
    ASSERT_TRUE(ask(server).ok());
    const json::object asked = server.asked();
    EXPECT_EQ(asked.at("tool_choice").as_string(), "required");
    EXPECT_FALSE(asked.at("parallel_tool_calls").as_bool());
    EXPECT_TRUE(asked.at("stream_options").at("include_usage").as_bool());
    EXPECT_EQ(asked.at("tools").at(0).at("function").at("name").as_string(), "read_file");
    EXPECT_EQ(json::serialize(asked.at("messages")),
              R"([{"role":"system","content":"You are a tester."},{"role":"user","content":"What now?"}])");
    EXPECT_EQ(asked.at("max_tokens").to_number<int>(), 77);
    EXPECT_TRUE(server.requests().at(0).starts_with("POST /v1/chat/completions HTTP/1.1\r\n"));
}

TEST(OpenAi, the_settings_choose_the_field_names_a_server_knows) {
    const Server server(testing::stream_response(one_call()));
    ASSERT_TRUE(ask(server, {{"tool_choice", "auto"}, {"max_tokens_field", "max_completion_tokens"}, {"max_tokens", 5}}).ok());
    EXPECT_EQ(server.asked().at("tool_choice").as_string(), "auto");
    EXPECT_EQ(server.asked().at("max_completion_tokens").to_number<int>(), 5);
    EXPECT_FALSE(server.asked().contains("max_tokens"));
}

TEST(OpenAi, another_address_needs_no_key) {
    const Server server(testing::stream_response(one_call()));
    ASSERT_TRUE(ask(server).ok());
    EXPECT_EQ(server.requests().at(0).find("Authorization"), std::string::npos);
}

TEST(OpenAi, sends_the_key_as_a_bearer_token) {
    ::setenv("UNIT_HTTP_KEY", "sk-1234567", 1);
    const Server server(testing::stream_response(one_call()));
    ASSERT_TRUE(ask(server, {{"api_key_env", "UNIT_HTTP_KEY"}}).ok());
    EXPECT_NE(server.requests().at(0).find("Authorization: Bearer sk-1234567\r\n"), std::string::npos);
}

TEST(OpenAi, the_official_address_needs_a_key) {
    ::unsetenv("OPENAI_API_KEY");
    openai::OpenAiBackend backend({{"model", "m"}});
    Context context;
    const auto answer = backend.complete(testing::request(), nullptr, context);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-401");
}

}  // namespace
}  // namespace agentforge::http
