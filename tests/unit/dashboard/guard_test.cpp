// SPDX-License-Identifier: Apache-2.0
#include "unit/dashboard/dashboard_of.hpp"

namespace agentforge::kernel::testing {
namespace {

class DashboardGuard : public DashboardOf {
protected:
    std::string with(const std::string& header, const std::string& value, const std::string& path = "/api/tasks",
                     const std::string& method = "GET") {
        HttpRequest asked = request(method, path);
        asked.headers[header] = value;
        return code_of(dashboard_.answer(asked));
    }
    std::string without(const std::string& header, const std::string& path = "/api/tasks", const std::string& method = "GET") {
        HttpRequest asked = request(method, path);
        asked.headers.erase(header);
        return code_of(dashboard_.answer(asked));
    }
};

TEST_F(DashboardGuard, answers_the_browser_that_exchanged_the_token) { EXPECT_EQ(get("/api/tasks").status, 200); }

TEST_F(DashboardGuard, refuses_a_foreign_host_header) {
    for (const char* host : {"evil.example", "evil.example:8420", "127.0.0.1:8421", "127.0.0.1", "localhost.evil.example:8420",
                             "", "127.0.0.1:8420.evil.example", "0.0.0.0:8420"}) {
        EXPECT_EQ(with("host", host), "421 AF-DASH-001") << host;
    }
    EXPECT_EQ(with("host", "localhost:8420"), "200 ");
    EXPECT_EQ(without("host"), "421 AF-DASH-001");
}

TEST_F(DashboardGuard, refuses_a_request_from_another_site) {
    for (const char* origin :
         {"http://evil.example", "null", "https://127.0.0.1:8420", "http://127.0.0.1:8421", "http://localhost:8420", ""}) {
        EXPECT_EQ(with("origin", origin), "403 AF-DASH-002") << origin;
        EXPECT_EQ(with("origin", origin, "/ws/updates"), "403 AF-DASH-002") << origin;
    }
    EXPECT_EQ(with("sec-fetch-site", "cross-site"), "403 AF-DASH-002");
    EXPECT_EQ(with("sec-fetch-site", "same-site"), "403 AF-DASH-002");
    EXPECT_EQ(with("sec-fetch-site", "same-origin"), "200 ");
}

TEST_F(DashboardGuard, requires_an_origin_for_changes_and_web_sockets) {
    EXPECT_EQ(without("origin", "/api/tasks/" + waiting_.task_id() + "/abort", "POST"), "403 AF-DASH-002");
    EXPECT_EQ(without("origin", "/ws/updates"), "403 AF-DASH-002");
    EXPECT_TRUE(commands_.ran.empty());
}

TEST_F(DashboardGuard, refuses_a_browser_without_the_cookie) {
    EXPECT_EQ(without("cookie"), "401 AF-DASH-003");
    EXPECT_EQ(without("cookie", "/"), "401 AF-DASH-003");
    EXPECT_EQ(without("cookie", "/app.js"), "401 AF-DASH-003");
    EXPECT_EQ(with("cookie", "agentforge_8420=0"), "401 AF-DASH-003");
    EXPECT_EQ(with("cookie", "agentforge_8421=" + cookie_.substr(cookie_.find('=') + 1)), "401 AF-DASH-003");
    EXPECT_EQ(with("cookie", "a=b; agentforge_8420=wrong; " + cookie_), "200 ");
}

TEST_F(DashboardGuard, takes_the_token_once) {
    HttpRequest asked = request("GET", "/");
    asked.headers.erase("cookie");
    asked.query["token"] = guard_.token();
    EXPECT_EQ(code_of(dashboard_.answer(asked)), "401 AF-DASH-003");
    asked.headers["cookie"] = cookie_;
    EXPECT_EQ(dashboard_.answer(asked).status, 303);  // A browser with the cookie is redirected to the page.
}

TEST(DashboardGuardAlone, sets_a_cookie_hidden_from_scripts_and_other_sites) {
    CountingIdSource ids;
    Guard guard({8420, false}, ids);
    HttpRequest asked{
        .method = "GET", .path = "/", .query = {{"token", guard.token()}}, .headers = {{"host", "127.0.0.1:8420"}}, .body = {}};
    asked.headers["host"] = "evil.example";
    EXPECT_EQ(guard.exchange(asked)->status, 421);  // This does not use up the token.
    asked.headers["host"] = "127.0.0.1:8420";
    const auto exchanged = guard.exchange(asked);
    ASSERT_TRUE(exchanged);
    EXPECT_EQ(exchanged->header("Location"), "/");
    const std::string cookie = exchanged->header("Set-Cookie");
    EXPECT_NE(cookie.find("; HttpOnly"), std::string::npos);
    EXPECT_NE(cookie.find("; SameSite=Strict"), std::string::npos);
    EXPECT_EQ(cookie.find(guard.token()), std::string::npos);
}

TEST(DashboardGuardAlone, trusts_its_unix_socket_but_no_browser_on_it) {
    CountingIdSource ids;
    Guard guard({0, false}, ids);
    HttpRequest asked{.method = "POST",
                      .path = "/api/tasks",
                      .query = {},
                      .headers = {{"host", "localhost"}},
                      .body = {},
                      .over_unix_socket = true};
    EXPECT_FALSE(guard.check(asked, true, false));
    asked.headers["origin"] = "http://evil.example";
    EXPECT_EQ(guard.check(asked, true, false)->status, 403);
}

class DashboardReadOnly : public DashboardOf {
protected:
    DashboardReadOnly() : DashboardOf(true) {}
};

TEST_F(DashboardReadOnly, allows_reads_and_refuses_changes) {
    EXPECT_EQ(get("/api/tasks").status, 200);
    EXPECT_EQ(body_of(get("/api/repositories")).at("read_only"), true);
    for (const Route& route : dashboard_.routes()) {
        if (route.method == "GET") { continue; }
        EXPECT_EQ(code_of(post(route.path, {})), "403 AF-DASH-004") << route.path;
    }
    EXPECT_TRUE(commands_.ran.empty());
}

TEST_F(DashboardGuard, every_answer_has_security_headers) {
    for (const HttpResponse& response : {get("/"), get("/api/tasks"), get("/nothing")}) {
        const std::string policy = response.header("Content-Security-Policy");
        EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
        EXPECT_EQ(policy.find("unsafe"), std::string::npos);
        EXPECT_EQ(response.header("X-Content-Type-Options"), "nosniff");
        EXPECT_EQ(response.header("Referrer-Policy"), "no-referrer");
        EXPECT_EQ(response.header("Access-Control-Allow-Origin"), "");
    }
}

TEST_F(DashboardGuard, refuses_a_bearer_token_if_none_is_set) {
    HttpRequest asked = request("GET", "/metrics");
    asked.headers.erase("cookie");
    for (const char* token : {"Bearer ", "Bearer", ""}) {
        asked.headers["authorization"] = token;
        EXPECT_EQ(code_of(dashboard_.answer(asked)), "401 AF-DASH-003") << token;
    }
}

class DashboardGuardWithMetricsToken : public DashboardOf {
protected:
    std::string scrape(const std::string& path, const std::string& token, const std::string& host = "127.0.0.1:8420") {
        Guard guard({port, false, "a-token-of-a-file"}, ids_);
        Dashboard dashboard({tasks_, events_, guard, commands_});
        HttpRequest asked = request("GET", path);
        asked.headers = {{"host", host}, {"authorization", token}};
        return code_of(dashboard.answer(asked));
    }
};

TEST_F(DashboardGuardWithMetricsToken, allows_the_metrics) { EXPECT_EQ(scrape("/metrics", "Bearer a-token-of-a-file"), "200 "); }
TEST_F(DashboardGuardWithMetricsToken, refuses_another_token) {
    EXPECT_EQ(scrape("/metrics", "Bearer a-token-of-a-filf"), "401 AF-DASH-003");
}
TEST_F(DashboardGuardWithMetricsToken, allows_nothing_else) {
    for (const char* path : {"/", "/api/tasks", "/api/stats", "/ws/updates", "/metrics/", "/api/events"}) {
        EXPECT_NE(scrape(path, "Bearer a-token-of-a-file").substr(0, 3), "200") << path;
    }
}
TEST_F(DashboardGuardWithMetricsToken, refuses_another_host) {
    EXPECT_EQ(scrape("/metrics", "Bearer a-token-of-a-file", "evil.example"), "421 AF-DASH-001");
}

}  // namespace
}  // namespace agentforge::kernel::testing
