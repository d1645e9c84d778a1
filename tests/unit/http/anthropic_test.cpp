// SPDX-License-Identifier: Apache-2.0
#include "anthropic/backend.hpp"

#include "server.hpp"

namespace agentforge::http {
namespace {

using testing::Context;
using testing::Server;

Result<Completion> ask(const Server& server, json::object settings = {}, StreamSink* sink = nullptr,
                       const CompletionRequest& request = testing::request()) {
    settings["base_url"] = server.url();
    anthropic::AnthropicBackend backend(std::move(settings));
    Context context;
    return backend.complete(request, sink, context);
}

Result<Completion> ask_marked(const Server& server, const CompletionRequest& request, const CacheMarks& marks) {
    anthropic::AnthropicBackend backend({{"base_url", server.url()}});
    Context context;
    return backend.complete_marked(request, marks, nullptr, context);
}

std::string event(const std::string& type, const std::string& rest) {
    return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + (rest.empty() ? "" : ",") + rest + "}\n\n";
}
std::string start() {
    return event(
        "message_start",
        R"("message":{"id":"msg_1","model":"claude-x","usage":{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":5,"output_tokens":1}})");
}
std::string open_text(int index) {
    return event("content_block_start", "\"index\":" + std::to_string(index) + R"(,"content_block":{"type":"text","text":""})");
}
std::string text(int index, const std::string& words) {
    return event("content_block_delta",
                 "\"index\":" + std::to_string(index) + R"(,"delta":{"type":"text_delta","text":")" + words + "\"}");
}
std::string open_call(int index, const std::string& name) {
    return event("content_block_start", "\"index\":" + std::to_string(index) + R"(,"content_block":{"type":"tool_use","id":"t)" +
                                            std::to_string(index) + R"(","name":")" + name + R"(","input":{}})");
}
std::string piece(int index, const std::string& json) {
    return event("content_block_delta", "\"index\":" + std::to_string(index) +
                                            R"(,"delta":{"type":"input_json_delta","partial_json":)" +
                                            json::serialize(json::value(json)) + "}");
}
std::string close(int index) { return event("content_block_stop", "\"index\":" + std::to_string(index)); }
std::string end(const std::string& reason) {
    return event("message_delta", R"("delta":{"stop_reason":")" + reason + R"("},"usage":{"output_tokens":25})") +
           event("message_stop", "");
}

std::string one_call() {
    return start() + event("ping", "") + open_text(0) + text(0, "I ") + text(0, "read.") + close(0) + open_call(1, "read_file") +
           piece(1, "") + piece(1, "{\"pa") + piece(1, "th\":\"a.py\"}") + close(1) + end("tool_use");
}

TEST(Anthropic, joins_a_streamed_tool_call) {
    const Server server(testing::stream_response(one_call()));
    const auto answer = ask(server);
    ASSERT_TRUE(answer.ok()) << testing::explain(answer);
    ASSERT_EQ(answer.value().tool_calls.size(), 1U);
    EXPECT_EQ(answer.value().tool_calls[0].name, "read_file");
    EXPECT_EQ(json::serialize(answer.value().tool_calls[0].arguments), R"({"path":"a.py"})");
    EXPECT_EQ(answer.value().stop_reason, StopReason::tool_call);
    EXPECT_EQ(answer.value().text, "I read.");
    EXPECT_EQ(answer.value().model, "claude-x");
}

TEST(Anthropic, tokens_of_the_cache_count_as_input) {
    const Server server(testing::stream_response(one_call()));
    const auto answer = ask(server);
    ASSERT_TRUE(answer.ok()) << testing::explain(answer);
    const Usage& usage = answer.value().usage;
    EXPECT_EQ(usage.input_tokens, 115U);
    EXPECT_EQ(usage.cached_input_tokens, 100U);
    EXPECT_EQ(usage.output_tokens, 25U);
    EXPECT_FALSE(usage.cost_microusd.has_value());
    EXPECT_EQ(answer.value().diagnostics.at("cache_write_input_tokens").to_number<int>(), 5);
}

TEST(Anthropic, streams_text_and_arguments_as_they_arrive) {
    const Server server(testing::stream_response(one_call()));
    testing::Parts parts;
    ASSERT_TRUE(ask(server, {}, &parts).ok());
    EXPECT_EQ(parts.parts, (std::vector<std::string>{"I ", "read.", R"({"pa)", R"(th":"a.py"})"}));
}

TEST(Anthropic, a_stream_cut_at_every_byte_is_a_failed_attempt) {
    const std::string events = one_call();
    // The whole line of the last event is needed. The empty line after it ends the event.
    for (std::size_t cut = 0; cut < events.size() - 1; cut += 1) {
        const Server server(testing::stream_response(events.substr(0, cut)));
        const auto answer = ask(server);
        ASSERT_FALSE(answer.ok()) << cut;
        ASSERT_EQ(answer.error().code, "AF-LLM-409") << cut;
        ASSERT_EQ(answer.error().kind, ErrorKind::transient) << cut;
    }
}

TEST(Anthropic, an_error_after_half_an_answer_is_a_failed_attempt) {
    const Server server(
        testing::stream_response(start() + open_text(0) + text(0, "half") +
                                 event("error", R"("error":{"type":"overloaded_error","message":"Overloaded"})")));
    const auto answer = ask(server);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-407");
}

TEST(Anthropic, reads_an_answer_that_is_not_streamed) {
    const std::string body =
        R"({"id":"msg","model":"m","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ok"},{"type":"tool_use","id":"t","name":"complete","input":{"a":[1]}}],)"
        R"("stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":4}})";
    const Server server(testing::json_response(body));
    const auto answer = ask(server, {{"stream", false}});
    ASSERT_TRUE(answer.ok()) << testing::explain(answer);
    EXPECT_EQ(answer.value().text, "ok");
    EXPECT_EQ(json::serialize(answer.value().tool_calls.at(0).arguments), R"({"a":[1]})");
    EXPECT_EQ(answer.value().usage.input_tokens, 3U);
    EXPECT_FALSE(server.asked().at("stream").as_bool());
}

TEST(Anthropic, passes_several_calls_to_the_host_to_refuse) {
    const Server server(
        testing::stream_response(start() + open_call(0, "a") + close(0) + open_call(1, "b") + close(1) + end("tool_use")));
    EXPECT_EQ(ask(server).value().tool_calls.size(), 2U);
}

TEST(Anthropic, an_answer_without_a_call_is_text) {
    const Server server(testing::stream_response(start() + open_text(0) + text(0, "no") + close(0) + end("end_turn")));
    const auto answer = ask(server);
    EXPECT_TRUE(answer.value().tool_calls.empty());
    EXPECT_EQ(answer.value().stop_reason, StopReason::finished);
}

TEST(Anthropic, reports_malformed_arguments_to_the_model) {
    const Server server(
        testing::stream_response(start() + open_call(0, "read_file") + piece(0, "{\"path\": ") + close(0) + end("tool_use")));
    const auto answer = ask(server);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "AF-LLM-105");
    EXPECT_EQ(answer.error().kind, ErrorKind::invalid);
}

TEST(Anthropic, arguments_cut_at_the_limit_are_a_length_stop) {
    const Server server(
        testing::stream_response(start() + open_call(0, "read_file") + piece(0, "{\"path\": ") + end("max_tokens")));
    const auto answer = ask(server);
    ASSERT_TRUE(answer.ok()) << testing::explain(answer);
    EXPECT_EQ(answer.value().stop_reason, StopReason::length);
}

TEST(Anthropic, keeps_an_answer_with_invalid_utf8) {
    const Server server(testing::stream_response(start() + open_text(0) + text(0, "a\xFFz") + end("end_turn")));
    EXPECT_TRUE(ask(server).ok());
}

class AnthropicStopReasons : public ::testing::TestWithParam<std::pair<std::string, StopReason>> {};
TEST_P(AnthropicStopReasons, are_translated) {
    const Server server(testing::stream_response(start() + open_text(0) + text(0, "x") + end(GetParam().first)));
    EXPECT_EQ(ask(server).value().stop_reason, GetParam().second);
}
INSTANTIATE_TEST_SUITE_P(
    Anthropic, AnthropicStopReasons,
    ::testing::Values(std::pair{"end_turn", StopReason::finished}, std::pair{"stop_sequence", StopReason::finished},
                      std::pair{"max_tokens", StopReason::length}, std::pair{"model_context_window_exceeded", StopReason::length},
                      std::pair{"tool_use", StopReason::tool_call}, std::pair{"refusal", StopReason::refused},
                      std::pair{"pause_turn", StopReason::other}, std::pair{"something_new", StopReason::other}));

TEST(Anthropic, requires_a_tool_call_and_marks_stable_parts_for_caching) {
    const Server server(testing::stream_response(one_call()));
    ASSERT_TRUE(ask(server).ok());
    const json::object asked = server.asked();
    EXPECT_EQ(json::serialize(asked.at("tool_choice")), R"({"type":"any","disable_parallel_tool_use":true})");
    EXPECT_EQ(asked.at("tools").as_array().size(), 2U);
    EXPECT_FALSE(asked.at("tools").at(0).as_object().contains("cache_control"));
    EXPECT_EQ(json::serialize(asked.at("tools").at(1).at("cache_control")), R"({"type":"ephemeral"})");
    EXPECT_EQ(json::serialize(asked.at("system")),
              R"([{"type":"text","text":"You are a tester.","cache_control":{"type":"ephemeral"}}])");
    EXPECT_EQ(json::serialize(asked.at("messages")), R"([{"role":"user","content":[{"type":"text","text":"What now?"}]}])");
    EXPECT_EQ(asked.at("max_tokens").to_number<int>(), 77);
    EXPECT_TRUE(asked.at("stream").as_bool());
}

TEST(Anthropic, splits_the_context_at_cache_marks) {
    const Server server(testing::stream_response(one_call()));
    CompletionRequest request = testing::request();
    request.user = "frame\nstate\nfile one\nfile two\nlast result\n";
    ASSERT_TRUE(ask_marked(server, request, {{12, 21, 30}}).ok());
    const json::array blocks = server.asked().at("messages").at(0).at("content").as_array();
    ASSERT_EQ(blocks.size(), 4U);
    std::string together;
    for (const json::value& block : blocks) { together += block.at("text").as_string(); }
    EXPECT_EQ(together, request.user);
    EXPECT_EQ(json::serialize(blocks[0]), R"({"type":"text","text":"frame\nstate\n","cache_control":{"type":"ephemeral"}})");
    EXPECT_FALSE(blocks[1].as_object().contains("cache_control"))
        << "the API takes four marks, and tools and system prompt have two";
    EXPECT_TRUE(blocks[2].as_object().contains("cache_control"));
    EXPECT_FALSE(blocks[3].as_object().contains("cache_control"));
}

TEST(Anthropic, ignores_marks_beyond_the_context_or_out_of_order) {
    const Server server(testing::stream_response(one_call()));
    ASSERT_TRUE(ask_marked(server, testing::request(), {{0, 9, 3, 100}}).ok());
    const json::array blocks = server.asked().at("messages").at(0).at("content").as_array();
    ASSERT_EQ(blocks.size(), 1U);
    EXPECT_EQ(blocks[0].at("text").as_string(), "What now?");
}

TEST(Anthropic, the_prefix_is_byte_identical_across_requests) {
    const Server server(testing::stream_response(one_call()));
    CompletionRequest second = testing::request();
    second.user = "And now?";
    second.place.step = 2;
    ASSERT_TRUE(ask(server).ok());
    ASSERT_TRUE(ask(server, {}, nullptr, second).ok());
    const auto prefix = [&server](std::size_t number) {
        const std::string request = server.requests().at(number);
        const std::size_t begin = request.find("\r\n\r\n");
        return request.substr(begin, request.find("\"messages\"") - begin);
    };
    EXPECT_EQ(prefix(0), prefix(1));
}

TEST(Anthropic, a_request_without_tools_sets_no_tool_choice) {
    const Server server(testing::stream_response(one_call()));
    CompletionRequest request = testing::request();
    request.tools.clear();
    ASSERT_TRUE(ask(server, {}, nullptr, request).ok());
    EXPECT_FALSE(server.asked().contains("tool_choice"));
}

TEST(Anthropic, sends_version_and_key) {
    ::setenv("UNIT_HTTP_KEY", "sk-1234567", 1);
    const Server server(testing::stream_response(one_call()));
    ASSERT_TRUE(ask(server, {{"api_key_env", "UNIT_HTTP_KEY"}}).ok());
    const std::string asked = server.requests().at(0);
    EXPECT_TRUE(asked.starts_with("POST /v1/messages HTTP/1.1\r\n")) << asked;
    EXPECT_NE(asked.find("anthropic-version: 2023-06-01\r\n"), std::string::npos);
    EXPECT_NE(asked.find("x-api-key: sk-1234567\r\n"), std::string::npos);
}

TEST(Anthropic, a_base_url_with_v1_means_the_same) {
    const Server server(testing::stream_response(one_call()));
    anthropic::AnthropicBackend backend({{"base_url", server.url() + "/v1/"}});
    Context context;
    ASSERT_TRUE(backend.complete(testing::request(), nullptr, context).ok());
    EXPECT_TRUE(server.requests().at(0).starts_with("POST /v1/messages HTTP/1.1\r\n"));
}

}  // namespace
}  // namespace agentforge::http
