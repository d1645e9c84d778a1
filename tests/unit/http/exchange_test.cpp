// SPDX-License-Identifier: Apache-2.0
// The exchange itself: time, cancellation, names that do not resolve, proxies.
#include <dlfcn.h>
#include <netdb.h>
#include <agentforge_http/exchange.hpp>

#include <condition_variable>

#include "server.hpp"

namespace {

/// Name resolution for these tests: `stuck.test` waits until the program ends, `unknown.test` does not exist.
struct StuckNames {
    std::mutex mutex;
    std::condition_variable changed;
    bool waiting = false;
};
StuckNames& stuck_names() {
    static auto* const names = new StuckNames();  // An abandoned thread may use it until the program ends.
    return *names;
}

}  // namespace

// Receives Poco's own calls, because a program's symbols come before a library's.
extern "C" __attribute__((visibility("default"))) int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                                                                  addrinfo** found) {
    const std::string_view host = name == nullptr ? "" : name;
    if (host == "unknown.test") { return EAI_NONAME; }
    if (host == "stuck.test") {
        StuckNames& names = stuck_names();
        std::unique_lock lock(names.mutex);
        names.waiting = true;
        for (;;) { names.changed.wait(lock); }
    }
    using Real = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
    static const auto real = reinterpret_cast<Real>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    return real(name, service, hints, found);
}

namespace agentforge::http {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing::Script;
using testing::Server;

Call call_of(const std::string& url) {
    Call call;
    call.server = read_address(url).value();
    call.path = "/x";
    call.body = "{}";
    call.deadline = steady_clock::now() + 60s;
    return call;
}

struct Outcome {
    Result<Head> head;
    std::string body;
};

Outcome run(
    const Call& call, const std::function<bool()>& cancelled = [] { return false; }) {
    std::string body;
    auto head = exchange(call, cancelled, [&body](const Head&, std::string_view part) -> Result<bool> {
        body += part;
        return true;
    });
    return {std::move(head), std::move(body)};
}

std::string code(const Outcome& outcome) { return outcome.head.ok() ? "ok" : outcome.head.error().code; }

TEST(Exchange, returns_status_headers_and_body) {
    const Server server(testing::response(201, "text/plain", "hello", "X-Thing: 7\r\n"));
    const Outcome outcome = run(call_of(server.url()));
    ASSERT_TRUE(outcome.head.ok()) << outcome.head.error().to_string();
    EXPECT_EQ(outcome.head.value().status, 201);
    EXPECT_EQ(outcome.head.value().header("x-thing"), "7");
    EXPECT_EQ(outcome.body, "hello");
}

TEST(Exchange, sends_method_path_headers_and_body) {
    const Server server(testing::response(200, "text/plain", ""));
    Call call = call_of(server.url());
    call.headers = {{"X-Mine", "yes"}};
    call.body = R"({"a":1})";
    ASSERT_EQ(code(run(call)), "ok");
    const std::string asked = server.requests().at(0);
    EXPECT_TRUE(asked.starts_with("POST /x HTTP/1.1\r\n")) << asked;
    EXPECT_NE(asked.find("X-Mine: yes\r\n"), std::string::npos) << asked;
    EXPECT_TRUE(asked.ends_with("\r\n\r\n{\"a\":1}")) << asked;
}

TEST(Exchange, a_body_without_a_length_ends_with_the_connection) {
    const Server server("HTTP/1.1 200 OK\r\n\r\nhello");
    EXPECT_EQ(run(call_of(server.url())).body, "hello");
}

TEST(Exchange, an_answer_cut_at_every_byte_is_a_failed_attempt) {
    const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    for (const std::string& whole : {testing::response(200, "text/plain", "hello"), chunked}) {
        for (std::size_t cut = 0; cut < whole.size(); ++cut) {
            const Server server(whole.substr(0, cut));
            const Outcome outcome = run(call_of(server.url()));
            ASSERT_FALSE(outcome.head.ok()) << cut;
            ASSERT_EQ(outcome.head.error().code, "AF-LLM-409") << cut << ": " << outcome.head.error().to_string();
            ASSERT_EQ(outcome.head.error().kind, ErrorKind::transient) << cut;
        }
    }
}

TEST(Exchange, a_refused_connection_is_retryable) {
    std::uint16_t port = 0;
    { port = Server("").port(); }
    const Outcome outcome = run(call_of("http://127.0.0.1:" + std::to_string(port)));
    EXPECT_EQ(code(outcome), "AF-LLM-402");
    EXPECT_EQ(outcome.head.error().kind, ErrorKind::transient);
}

TEST(Exchange, names_an_unknown_host) {
    const Outcome outcome = run(call_of("http://unknown.test"));
    ASSERT_EQ(code(outcome), "AF-LLM-402");
    EXPECT_NE(outcome.head.error().message.find("unknown.test"), std::string::npos);
}

TEST(Exchange, stops_at_the_deadline_if_the_server_is_silent) {
    const Server server({Script{{}, 0ms, true}});
    Call call = call_of(server.url());
    call.deadline = steady_clock::now() + 150ms;
    const auto begin = steady_clock::now();
    const Outcome outcome = run(call);
    EXPECT_EQ(code(outcome), "AF-LLM-410");
    EXPECT_LT(steady_clock::now() - begin, 5s);
}

TEST(Exchange, stops_at_the_deadline_if_the_server_is_too_slow) {
    std::vector<std::string> bytes;
    for (const char c : testing::response(200, "text/plain", std::string(5'000, 'a'))) { bytes.emplace_back(1, c); }
    const Server server({Script{bytes, 10ms, false}});
    Call call = call_of(server.url());
    call.deadline = steady_clock::now() + 300ms;
    EXPECT_EQ(code(run(call)), "AF-LLM-410");
}

/// Cancels the call once `begun` returns true. Returns the shortest time from then to the call's end in a few tries, because a
/// busy machine may lengthen any of them.
template <class Try>
steady_clock::duration fastest(Try&& attempt) {
    auto best = steady_clock::duration::max();
    for (int round = 0; round < 4; ++round) { best = std::min(best, attempt()); }
    return best;
}

/// Returns how long a call continues after it is cancelled, as soon as `begun`.
steady_clock::duration time_to_end(const Call& call, const std::function<bool()>& begun) {
    std::optional<steady_clock::time_point> since;
    const Outcome outcome = run(call, [&] {
        if (!since && begun()) { since = steady_clock::now(); }
        return since.has_value();
    });
    EXPECT_EQ(code(outcome), "AF-LLM-411");
    return steady_clock::now() - *since;
}

TEST(Exchange, ends_within_200_ms_of_being_cancelled) {
    const auto took = fastest([] {
        const Server server({Script{{"HTTP/1.1 200 OK\r\n"}, 0ms, true}});
        return time_to_end(call_of(server.url()), [&server] { return server.received() > 0; });
    });
    EXPECT_LT(took, 200ms);
}

TEST(Exchange, ends_within_200_ms_of_being_cancelled_during_an_answer) {
    const auto took = fastest([] {
        const Server server({Script{std::vector<std::string>(100'000, "HTTP/1.1 200 OK\r\n\r\nabc"), 1ms, false}});
        return time_to_end(call_of(server.url()), [&server] { return server.received() > 0; });
    });
    EXPECT_LT(took, 200ms);
}

TEST(Exchange, abandons_a_worker_stuck_in_name_resolution_within_200_ms) {
    const auto took = fastest([] {
        {
            const std::lock_guard lock(stuck_names().mutex);
            stuck_names().waiting = false;
        }
        return time_to_end(call_of("http://stuck.test"), [] {
            const std::lock_guard lock(stuck_names().mutex);
            return stuck_names().waiting;
        });
    });
    EXPECT_LT(took, 200ms);
}

TEST(Exchange, abandons_a_worker_stuck_in_name_resolution_at_the_deadline) {
    Call call = call_of("http://stuck.test");
    call.deadline = steady_clock::now() + 100ms;
    EXPECT_EQ(code(run(call)), "AF-LLM-410");
}

TEST(Exchange, refuses_an_answer_over_the_limit) {
    const Server server(testing::response(200, "text/plain", std::string(100'001, 'a')));
    Call call = call_of(server.url());
    call.max_body_bytes = 100'000;
    EXPECT_EQ(code(run(call)), "AF-LLM-412");
}

TEST(Exchange, does_not_wait_for_an_unwanted_rest) {
    const Server server({Script{{"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"}, 0ms, true}});
    const auto head = exchange(
        call_of(server.url()), [] { return false; }, [](const Head&, std::string_view) -> Result<bool> { return false; });
    EXPECT_TRUE(head.ok());
}

Script kept(const std::string& answer) { return Script{{answer}, 0ms, false, true}; }

/// Sends requests to a server repeatedly over the same connections.
struct Talk {
    explicit Talk(const std::string& url) : call(call_of(url)) { call.connections = std::make_shared<Connections>(); }
    Outcome ask() const { return run(call); }
    Call call;
};

TEST(ExchangeKeptConnection, serves_the_next_exchange) {
    const Server server({kept(testing::response(200, "text/plain", "one")), kept(testing::response(200, "text/plain", "two"))});
    const Talk talk(server.url());
    EXPECT_EQ(talk.ask().body, "one");
    EXPECT_EQ(talk.ask().body, "two");
    EXPECT_EQ(server.connections(), 1U);
}

TEST(ExchangeKeptConnection, is_kept_after_a_stream_with_an_unread_end) {
    const Server server({kept(testing::stream_response("data: last\n\n"))});
    const Talk talk(server.url());
    for (int round = 0; round < 3; ++round) {
        ASSERT_TRUE(exchange(
                        talk.call, [] { return false; }, [](const Head&, std::string_view) -> Result<bool> { return false; })
                        .ok());
    }
    EXPECT_EQ(std::pair(server.received(), server.connections()), std::pair(3U, 1U));
}

TEST(ExchangeKeptConnection, is_not_used_if_the_server_closed_it) {
    const Server server(testing::response(200, "text/plain", "hello"));  // It closes the connection without announcing it.
    const Talk talk(server.url());
    for (int round = 0; round < 20; ++round) { ASSERT_EQ(talk.ask().body, "hello") << round; }
    EXPECT_EQ(server.connections(), 20U);
}

TEST(ExchangeKeptConnection, is_replaced_without_an_attempt_if_closed_before_an_answer) {
    const Server server(
        {kept(testing::response(200, "text/plain", "one")), Script{}, kept(testing::response(200, "text/plain", "two"))});
    const Talk talk(server.url());
    ASSERT_EQ(talk.ask().body, "one");
    EXPECT_EQ(talk.ask().body, "two");
    EXPECT_EQ(server.connections(), 2U);
}

TEST(ExchangeKeptConnection, is_a_failed_attempt_if_the_new_connection_closes_too) {
    const Server server({kept(testing::response(200, "text/plain", "one")), Script{}});
    const Talk talk(server.url());
    ASSERT_EQ(talk.ask().body, "one");
    EXPECT_EQ(code(talk.ask()), "AF-LLM-409");
    EXPECT_EQ(server.received(), 3U);
}

TEST(ExchangeKeptConnection, is_a_failed_attempt_if_closed_inside_an_answer) {
    for (const char* part : {"HTTP/1.1 200 O", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal"}) {
        const Server server({kept(testing::response(200, "text/plain", "one")), Script{{part}, 0ms, false}});
        const Talk talk(server.url());
        ASSERT_EQ(talk.ask().body, "one");
        EXPECT_EQ(code(talk.ask()), "AF-LLM-409") << part;
        EXPECT_EQ(server.received(), 2U) << part;
    }
}

TEST(ExchangeKeptConnection, is_closed_if_the_server_says_so) {
    const Server server(testing::response(200, "text/plain", "hello", "Connection: close\r\n"));
    const Talk talk(server.url());
    ASSERT_EQ(talk.ask().body, "hello");
    EXPECT_EQ(talk.ask().body, "hello");
    EXPECT_EQ(server.connections(), 2U);
}

TEST(ExchangeKeptConnection, is_closed_after_bytes_beyond_the_answer) {
    const Server server({kept(testing::response(200, "text/plain", "one") + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"),
                         kept(testing::response(200, "text/plain", "two"))});
    const Talk talk(server.url());
    ASSERT_EQ(talk.ask().body, "one");
    EXPECT_EQ(talk.ask().body, "two");
}

TEST(ExchangeKeptConnection, is_not_used_for_another_server) {
    const Server one({kept(testing::response(200, "text/plain", "one"))});
    const Server two({kept(testing::response(200, "text/plain", "two"))});
    Talk talk(one.url());
    ASSERT_EQ(talk.ask().body, "one");
    talk.call.server = read_address(two.url()).value();
    EXPECT_EQ(talk.ask().body, "two");
}

TEST(ExchangeKeptConnection, ends_soon_after_it_is_cancelled) {
    const Server server({kept(testing::response(200, "text/plain", "one")), Script{{}, 0ms, true}});
    const Talk talk(server.url());
    ASSERT_EQ(talk.ask().body, "one");
    std::optional<steady_clock::time_point> since;
    const Outcome outcome = run(talk.call, [&] {
        if (!since && server.received() > 1) { since = steady_clock::now(); }
        return since.has_value();
    });
    EXPECT_EQ(code(outcome), "AF-LLM-411");
}

TEST(ExchangeKeptConnection, is_shared_by_several_threads) {
    const Server server(testing::response(200, "text/plain", "hello"));
    const Talk talk(server.url());
    std::atomic<unsigned> good = 0;
    {
        std::vector<std::jthread> threads;
        for (int number = 0; number < 4; ++number) {
            threads.emplace_back([&] {
                for (int round = 0; round < 5; ++round) { good += talk.ask().body == "hello" ? 1U : 0U; }
            });
        }
    }
    EXPECT_EQ(good, 20U);
}

TEST(Exchange, goes_through_the_proxy) {
    const Server proxy(testing::response(200, "text/plain", "by proxy"));
    Call call = call_of("http://unknown.test");
    call.proxy = Proxy{"127.0.0.1", proxy.port(), "user", "secret"};
    const Outcome outcome = run(call);
    ASSERT_EQ(code(outcome), "ok");
    EXPECT_TRUE(proxy.requests().at(0).starts_with("POST http://unknown.test:80/x HTTP/1.1") ||
                proxy.requests().at(0).starts_with("POST http://unknown.test/x HTTP/1.1"))
        << proxy.requests().at(0);
    EXPECT_NE(proxy.requests().at(0).find("Proxy-Authorization: Basic dXNlcjpzZWNyZXQ="), std::string::npos);
}

TEST(Exchange, asks_the_proxy_for_a_tunnel_to_a_secure_server) {
    const Server proxy(testing::response(407, "text/plain", ""));
    Call call = call_of("https://unknown.test");
    call.proxy = Proxy{"127.0.0.1", proxy.port(), "", ""};
    const Outcome outcome = run(call);
    EXPECT_EQ(code(outcome), "AF-LLM-402");
    EXPECT_TRUE(proxy.requests().at(0).starts_with("CONNECT unknown.test:443")) << proxy.requests().at(0);
}

TEST(Exchange, a_response_that_is_not_http_is_a_failed_attempt) {
    const Server server("SSH-2.0-OpenSSH_9.2\r\n");
    EXPECT_EQ(code(run(call_of(server.url()))), "AF-LLM-409");
}

TEST(Exchange, an_invalid_length_is_a_failed_attempt) {
    const Server server("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nabc");
    EXPECT_EQ(code(run(call_of(server.url()))), "AF-LLM-409");
}

}  // namespace
}  // namespace agentforge::http
