// SPDX-License-Identifier: Apache-2.0
#include "dashboard/guard.hpp"

#include <algorithm>
#include <array>

#include "dashboard/problem.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t token_digits = 64;

/// Compares in constant time.
bool same_secret(std::string_view one, std::string_view other) {
    if (one.size() != other.size()) { return false; }
    unsigned char difference = 0;
    for (std::size_t index = 0; index < one.size(); ++index) {
        difference |= static_cast<unsigned char>(one[index] ^ other[index]);
    }
    return difference == 0;
}

/// Returns each cookie of this name: a page on another port of this host may have set one too.
std::vector<std::string_view> cookies_of(std::string_view header, std::string_view name) {
    std::vector<std::string_view> values;
    while (!header.empty()) {
        const std::size_t end = std::min(header.find(';'), header.size());
        const std::string_view pair = trimmed(header.substr(0, end));
        const std::size_t equals = pair.find('=');
        if (equals != std::string_view::npos && pair.substr(0, equals) == name) { values.push_back(pair.substr(equals + 1)); }
        header.remove_prefix(std::min(end + 1, header.size()));
    }
    return values;
}

/// Returns the token after `Bearer` (upper or lower case), or empty.
std::string_view bearer_of(const std::string& header) {
    constexpr std::string_view scheme = "bearer ";
    return lower_case(header.substr(0, scheme.size())) == scheme ? trimmed(std::string_view(header).substr(scheme.size()))
                                                                 : std::string_view();
}

HttpResponse refusal(int status, const char* code, const char* message, const char* remedy) {
    return problem_of(Error{code, message, "", remedy, ErrorKind::denied}, status);
}

}  // namespace

Guard::Guard(Rules rules, IdSource& ids)
    : rules_(rules),
      cookie_name_("agentforge_" + std::to_string(rules.port)),
      session_(ids.random_hex(token_digits)),
      token_(ids.random_hex(token_digits)) {
    if (rules_.port == 0) {
        hosts_ = {"localhost"};
        return;
    }
    for (const char* host : {"127.0.0.1", "localhost", "[::1]"}) {
        hosts_.push_back(std::string(host) + ":" + std::to_string(rules_.port));
    }
    constexpr unsigned http = 80;  // Browsers omit this port.
    if (rules_.port == http) { hosts_.insert(hosts_.end(), {"127.0.0.1", "localhost", "[::1]"}); }
}

std::optional<HttpResponse> Guard::check_place(const HttpRequest& request, bool origin_needed) const {
    const std::string host = request.header("host");
    if (std::ranges::find(hosts_, host) == hosts_.end()) {
        return refusal(421, "AF-DASH-001", "The request is for another host",
                       "use the address that `agentforge dashboard` printed");
    }
    const bool by_browser = request.headers.contains("origin") || request.headers.contains("sec-fetch-site");
    if (request.headers.contains("origin") && request.header("origin") != "http://" + host) {
        return refusal(403, "AF-DASH-002", "The request comes from another site's page", "open the dashboard's own address");
    }
    const std::string site = request.header("sec-fetch-site");
    // A link from another site opens the page (the browser then does not send the cookie), and nothing else.
    const bool opens_the_page = request.method == "GET" && request.path == "/";
    if (!site.empty() && site != "same-origin" && site != "none" && !opens_the_page) {
        return refusal(403, "AF-DASH-002", "The request comes from another site's page", "open the dashboard's own address");
    }
    if (origin_needed && !request.headers.contains("origin") && (by_browser || !request.over_unix_socket)) {
        return refusal(403, "AF-DASH-002", "The request does not say which page it comes from",
                       "send `Origin: http://"
                       "HOST:PORT`, as a browser does");
    }
    return std::nullopt;
}

bool Guard::knows(const HttpRequest& request) const {
    if (request.over_unix_socket) { return true; }
    const std::string authorization = request.header("authorization");
    const bool scrapes = request.method == "GET" && request.path == metrics_path && !rules_.metrics_token.empty();
    if (scrapes && same_secret(bearer_of(authorization), rules_.metrics_token)) { return true; }
    const std::string header = request.header("cookie");
    const auto cookies = cookies_of(header, cookie_name_);
    return std::ranges::any_of(cookies, [this](std::string_view cookie) { return same_secret(cookie, session_); });
}

std::optional<HttpResponse> Guard::check(const HttpRequest& request, bool changes, bool origin_needed) {
    if (auto refused = check_place(request, changes || origin_needed)) { return refused; }
    if (!knows(request)) {
        return refusal(
            401, "AF-DASH-003", "The dashboard does not know this browser",
            "open the address that `agentforge dashboard` printed; it works once, and starting the dashboard again prints another");
    }
    if (changes && rules_.read_only) {
        return refusal(403, "AF-DASH-004", "This dashboard is read-only (--read-only)",
                       "use the command line, or start it without --read-only");
    }
    return std::nullopt;
}

std::optional<HttpResponse> Guard::exchange(const HttpRequest& request) {
    if (request.method != "GET" || request.only_head || request.path != "/" || !request.query.contains("token")) {
        return std::nullopt;
    }
    if (auto refused = check_place(request, false)) { return refused; }
    const std::lock_guard lock(mutex_);
    if (exchanged_ || !same_secret(request.parameter("token"), token_)) {
        if (knows(request)) { return HttpResponse{.status = 303, .headers = {{"Location", "/"}}}; }
        return refusal(401, "AF-DASH-003", "This address was already used, or belongs to another dashboard",
                       "start `agentforge dashboard` again: it prints a new one");
    }
    exchanged_ = true;
    return HttpResponse{
        .status = 303,
        .headers = {{"Location", "/"}, {"Set-Cookie", cookie_name_ + "=" + session_ + "; Path=/; HttpOnly; SameSite=Strict"}}};
}

void add_safety_headers(HttpResponse& response) {
    constexpr std::array<std::pair<const char*, const char*>, 8> headers{{
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
         "require-trusted-types-for 'script'; trusted-types 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Permissions-Policy", "camera=(), microphone=(), geolocation=()"},
        {"Vary", "Cookie"},
    }};
    for (const auto& [name, value] : headers) { response.headers.emplace_back(name, value); }
    if (response.header("Cache-Control").empty()) { response.headers.emplace_back("Cache-Control", "no-store"); }
}

}  // namespace agentforge::kernel
