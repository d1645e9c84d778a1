// SPDX-License-Identifier: Apache-2.0
#include <webhook/handler.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "server.hpp"

namespace agentforge::escalation_webhook {
namespace {

using http::testing::response;
using http::testing::Script;
using http::testing::Server;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::chrono::milliseconds none{0};

Escalation question() {
    Escalation one;
    one.id = "ESC-task-1-green-1";
    one.task_id = "task-1";
    one.stage = "green";
    one.issue = "two ways";
    one.question = "Which <!channel> *encoding*?";
    one.options = {"utf-8", "latin-1"};
    one.created_at = "2026-01-02T00:00:00.000Z";
    one.directory = "/nonexistent";
    return one;
}

class Webhook : public ::testing::Test {
protected:
    [[nodiscard]] WebhookHandler handler(json::object settings = {}) {
        return WebhookHandler(
            settings, [this](const std::string& name) { return variables_[name]; }, std::chrono::milliseconds(1));
    }
    [[nodiscard]] Error failure(json::object settings = {}) {
        const auto notified = handler(std::move(settings)).notify(question(), context_);
        return notified.ok() ? Error{} : notified.error();
    }
    void at(const Server& server, const std::string& path = "/services/T1/B2/sEcReT") {
        variables_["AGENTFORGE_WEBHOOK_URL"] = server.url() + path;
    }

    std::map<std::string, std::string> variables_;
    http::testing::Context context_;
};

std::string header_of(const std::string& request, const std::string& name) {
    const std::size_t begin = request.find("\r\n" + name + ": ");
    if (begin == std::string::npos) { return "(none)"; }
    const std::size_t from = begin + name.size() + 4;
    return request.substr(from, request.find("\r\n", from) - from);
}

TEST_F(Webhook, notifies_slack_in_one_request) {
    const Server server(response(200, "text/plain", "ok"));
    at(server);
    ASSERT_TRUE(handler().notify(question(), context_).ok());
    ASSERT_EQ(server.requests().size(), 1U);
    EXPECT_THAT(server.requests()[0], ::testing::StartsWith("POST /services/T1/B2/sEcReT HTTP/1.1\r\n"));
    EXPECT_EQ(header_of(server.requests()[0], "Content-Type"), "application/json");
    const json::object body = server.asked();
    EXPECT_EQ(body.size(), 2U);
    EXPECT_EQ(body.at("text"), "AgentForge, stage green has a question: Which &lt;!channel&gt; *encoding*?");
    const std::string blocks = json::serialize(body.at("blocks"));
    EXPECT_THAT(blocks, HasSubstr(R"({"type":"plain_text","text":"two ways\nWhich <!channel> *encoding*?"})"));
    EXPECT_THAT(blocks, HasSubstr("1) utf-8\\n2) latin-1"));
    EXPECT_THAT(blocks, HasSubstr("`agentforge resolve ESC-task-1-green-1 \\\"…\\\"`"));
}

TEST_F(Webhook, signs_timestamp_and_body) {
    const Server server(response(200, "text/plain", "ok"));
    at(server);
    variables_["AGENTFORGE_WEBHOOK_SECRET"] = "a key of some length";
    ASSERT_TRUE(handler().notify(question(), context_).ok());
    const std::string request = server.requests()[0];
    const std::string timestamp = header_of(request, "X-AgentForge-Timestamp");
    EXPECT_EQ(header_of(request, "X-AgentForge-Signature"),
              signature("a key of some length", timestamp, request.substr(request.find("\r\n\r\n") + 4)));
    EXPECT_NEAR(std::stod(timestamp), static_cast<double>(::time(nullptr)), 60.0);
}

/// From `printf 'v1:1700000000:{"a":1}' | openssl dgst -sha256 -hmac topsecret`.
TEST(WebhookSignature, matches_a_known_signature) {
    EXPECT_EQ(signature("topsecret", "1700000000", R"({"a":1})"),
              "v1=d20dbd311ee1656bcc5b383fbc88cdd23d89eaecb35e9144ed1373452092caca");
}

TEST_F(Webhook, signs_nothing_without_a_key) {
    const Server server(response(200, "text/plain", "ok"));
    at(server);
    ASSERT_TRUE(handler().notify(question(), context_).ok());
    EXPECT_EQ(header_of(server.requests()[0], "X-AgentForge-Signature"), "(none)");
}

TEST_F(Webhook, retries_with_the_same_idempotency_key_until_accepted) {
    const Server server({Script{{response(503, "text/plain", "busy")}, none},
                         Script{{response(429, "text/plain", "slow down")}, none}, Script{{}, none},
                         Script{{response(204, "text/plain", "")}, none}});
    at(server);
    ASSERT_TRUE(handler().notify(question(), context_).ok());
    ASSERT_EQ(server.requests().size(), 4U);
    for (const std::string& request : server.requests()) {
        EXPECT_EQ(header_of(request, "Idempotency-Key"), "ESC-task-1-green-1/0");
    }
}

TEST_F(Webhook, does_not_retry_a_refused_request) {
    const Server server(response(404, "text/plain", "no_service"));
    at(server);
    const Error error = failure();
    EXPECT_EQ(error.code, "AF-ESC-054");
    EXPECT_THAT(error.message, HasSubstr("answered 404: no_service"));
    EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(Webhook, does_not_follow_a_redirect) {
    const Server elsewhere(response(200, "text/plain", "ok"));
    const Server server(response(302, "text/plain", "", "Location: " + elsewhere.url() + "/\r\n"));
    at(server);
    EXPECT_EQ(failure().code, "AF-ESC-054");
    EXPECT_TRUE(elsewhere.requests().empty());
}

TEST_F(Webhook, gives_up_for_now_on_a_busy_server) {
    const Server server(response(500, "text/plain", "broken"));
    at(server);
    context_.until = std::chrono::steady_clock::now() + std::chrono::milliseconds(150);
    const Error error = failure();
    EXPECT_EQ(error.code, "AF-ESC-053");
    EXPECT_EQ(error.kind, ErrorKind::transient);
    EXPECT_GT(server.requests().size(), 1U);
}

TEST_F(Webhook, does_not_wait_beyond_the_deadline) {
    const Server server(response(429, "text/plain", "later", "Retry-After: 30\r\n"));
    at(server);
    EXPECT_EQ(failure().code, "AF-ESC-053");
    EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(Webhook, stops_retrying_when_cancelled) {
    const Server server(response(500, "text/plain", "broken"));
    at(server);
    context_.cancel = [&server] { return server.received() > 0; };
    EXPECT_EQ(failure().kind, ErrorKind::cancelled);
}

TEST_F(Webhook, no_error_contains_the_address_or_the_key) {
    variables_["AGENTFORGE_WEBHOOK_SECRET"] = "a key of some length";
    for (const int status : {404, 500}) {
        const Server server(response(status, "text/plain", "no"));
        at(server);
        context_.until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
        const std::string text = failure().to_string();
        EXPECT_THAT(text, Not(HasSubstr("sEcReT")));
        EXPECT_THAT(text, Not(HasSubstr("a key")));
    }
    variables_["AGENTFORGE_WEBHOOK_URL"] = "https://user:sEcReT@example.com/x y";
    EXPECT_THAT(failure().to_string(), Not(HasSubstr("sEcReT")));
}

TEST_F(Webhook, names_the_variable_of_a_missing_address) {
    EXPECT_EQ(failure().code, "AF-ESC-051");
    EXPECT_EQ(failure().where, "AGENTFORGE_WEBHOOK_URL");
    EXPECT_EQ(failure({{"url_env", "MY_HOOK"}}).where, "MY_HOOK");
}

TEST_F(Webhook, refuses_an_invalid_address_with_a_reason) {
    for (const auto& [address, reason] : {std::pair("ftp://x", "must begin with http:// or https://"),
                                          {"not a url", "must begin with http:// or https://"},
                                          {"https://u:p@example.com/x", "must not contain a user or password"},
                                          {"https://example.com:99999/x", "names no host and port"},
                                          {"https://example.com/x?a#b", "must not contain a fragment"}}) {
        variables_["AGENTFORGE_WEBHOOK_URL"] = address;
        EXPECT_EQ(failure().message, "the webhook has no address: AGENTFORGE_WEBHOOK_URL " + std::string(reason));
    }
}

TEST_F(Webhook, sends_nothing_once_cancelled_but_still_names_a_missing_address) {
    context_.cancel = [] { return true; };
    EXPECT_EQ(failure().code, "AF-ESC-051");
    const Server server(response(200, "text/plain", "ok"));
    at(server);
    EXPECT_EQ(failure().kind, ErrorKind::cancelled);
    EXPECT_TRUE(server.requests().empty());
}

TEST_F(Webhook, allows_plain_http_only_to_this_machine) {
    variables_["AGENTFORGE_WEBHOOK_URL"] = "http://hooks.example.com/services/x";
    const Error error = failure();
    EXPECT_EQ(error.code, "AF-ESC-051");
    EXPECT_THAT(error.message, HasSubstr("https://"));
}

TEST_F(Webhook, requires_the_configured_key) {
    const Server server(response(200, "text/plain", "ok"));
    at(server);
    EXPECT_EQ(failure({{"secret_env", "HOOK_KEY"}}).code, "AF-ESC-052");
    variables_["HOOK_KEY"] = "short";
    EXPECT_EQ(failure({{"secret_env", "HOOK_KEY"}}).code, "AF-ESC-052");
    EXPECT_TRUE(server.requests().empty());
}

TEST_F(Webhook, the_query_of_an_address_is_kept) {
    const Server server(response(200, "text/plain", "ok"));
    at(server, "/flow/?sig=a%2Fb&v=1");
    ASSERT_TRUE(handler().notify(question(), context_).ok());
    EXPECT_THAT(server.requests()[0], ::testing::StartsWith("POST /flow/?sig=a%2Fb&v=1 HTTP/1.1\r\n"));
    at(server, "?v=1");
    ASSERT_TRUE(handler().notify(question(), context_).ok());
    EXPECT_THAT(server.requests()[1], ::testing::StartsWith("POST /?v=1 HTTP/1.1\r\n"));
}

TEST_F(Webhook, sends_programs_one_flat_object) {
    const Server server(response(200, "application/json", "{}"));
    at(server);
    ASSERT_TRUE(handler({{"format", "json"}}).notify(question(), context_).ok());
    const json::object body = server.asked();
    EXPECT_EQ(body.at("version"), 1);
    EXPECT_EQ(body.at("event"), "question");
    EXPECT_EQ(body.at("key"), "ESC-task-1-green-1/0");
    EXPECT_EQ(body.at("question"), "Which <!channel> *encoding*?");
    EXPECT_EQ(body.at("options"), (json::array{"utf-8", "latin-1"}));
}

TEST_F(Webhook, a_reference_does_not_contain_the_question) {
    const Server server(response(200, "text/plain", "ok"));
    at(server);
    for (const char* format : {"slack", "json"}) {
        ASSERT_TRUE(handler({{"format", format}, {"content", "reference"}}).notify(question(), context_).ok());
        const std::string request = server.requests().back();
        EXPECT_THAT(request, HasSubstr("ESC-task-1-green-1"));
        EXPECT_THAT(request, Not(HasSubstr("encoding")));
        EXPECT_THAT(request, Not(HasSubstr("utf-8")));
    }
}

TEST_F(Webhook, an_approval_says_how_to_decide) {
    const Server server(response(200, "text/plain", "ok"));
    at(server);
    ApprovalRequest request;
    request.id = "APR-task-1-spec-1";
    request.task_id = "task-1";
    request.stage = "spec";
    request.artifact = {{"title", "Slugs"}};
    ASSERT_TRUE(handler().notify_approval(request, context_).ok());
    const std::string sent = server.requests()[0];
    EXPECT_THAT(sent, HasSubstr("waits for approval"));
    EXPECT_THAT(sent, HasSubstr("agentforge feedback task-1"));
    EXPECT_THAT(sent, HasSubstr("Slugs"));
}

TEST_F(Webhook, a_reminder_has_its_own_key_and_names_the_deadline) {
    const Server server(response(200, "text/plain", "ok"));
    at(server);
    const std::string folder = ::testing::TempDir() + "webhook-" + std::to_string(::getpid());
    std::filesystem::create_directories(folder + "/.told");
    std::ofstream(folder + "/.told/ESC-task-1-green-1.json")
        << R"({"reminder": 2, "deadline": "2026-01-03T00:00:00.000Z", "at_deadline": "default", "default_answer": "utf-8"})";
    Escalation one = question();
    one.directory = folder;
    ASSERT_TRUE(handler().notify(one, context_).ok());
    std::filesystem::remove_all(folder);
    const std::string sent = server.requests()[0];
    EXPECT_EQ(header_of(sent, "Idempotency-Key"), "ESC-task-1-green-1/2");
    EXPECT_THAT(sent, HasSubstr("Reminder 2: AgentForge"));
    EXPECT_THAT(sent, HasSubstr("Until 2026-01-03T00:00:00.000Z; then the answer is: utf-8."));
}

TEST(WebhookMessage, cuts_a_long_text_between_characters) {
    Message message;
    message.event = "question";
    message.id = "ESC-1";
    for (int i = 0; i < 3'000; ++i) { message.question += "ä\x1b"; }
    message.options.assign(40, std::string(1'000, 'x'));
    const json::value body = json::parse(slack_body(message, false));
    for (const json::value& block : body.at("blocks").as_array()) {
        const auto& text = block.at("text").at("text").as_string();
        EXPECT_LE(text.size(), 3'000U);
        EXPECT_EQ(std::string_view(text).find('\x1b'), std::string_view::npos);
    }
}

TEST_F(Webhook, an_unknown_setting_is_named) {
    for (const auto& [key, value] :
         json::object{{"url", "https://x"}, {"format", "xml"}, {"content", 3}, {"timeout_seconds", 0}}) {
        const std::string name(key);
        EXPECT_THAT(
            [&] {
                static_cast<void>(WebhookHandler(json::object{{key, value}}));
            },
            ::testing::ThrowsMessage<std::invalid_argument>(HasSubstr("`" + name + "`")));
    }
}

}  // namespace
}  // namespace agentforge::escalation_webhook
