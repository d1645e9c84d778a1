// SPDX-License-Identifier: Apache-2.0
// Who may ask the dashboard for anything. Every request passes here first, the one for a WebSocket too.
//
// 1. `Host` is the address that the server listens on: a name that an attacker's DNS points here (rebinding) is none.
// 2. `Origin` and `Sec-Fetch-Site`, where a browser sends them, are the dashboard's own; what changes something, and a WebSocket,
// needs `Origin`.
// 3. The cookie that the one-time token was exchanged for. The UNIX socket needs none: its file's mode lets only this user
// connect. A collector of metrics has
//    no browser: `/metrics` alone also takes the bearer token of --metrics-token.
// 4. With --read-only nothing is changed.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "dashboard/http.hpp"

namespace agentforge::kernel {

/// Where the figures for Prometheus are.
inline constexpr std::string_view metrics_path = "/metrics";

class Guard {
public:
    struct Rules {
        unsigned port = 0;  ///< 0: a UNIX socket.
        bool read_only = false;
        std::string metrics_token =
            {};  ///< Opens `/metrics` to who sends it as bearer token, and nothing else; empty: none does.
    };
    Guard(Rules rules, IdSource& ids);

    /// Valid for one exchange.
    [[nodiscard]] const std::string& token() const noexcept { return token_; }

    /// The refusal, or nothing where the request may be answered. `changes`: it asks for more than to be told something.
    /// `origin_needed`: for a WebSocket.
    [[nodiscard]] std::optional<HttpResponse> check(const HttpRequest& request, bool changes, bool origin_needed);
    /// `GET /?token=…` becomes a redirection to `/` with the cookie; nothing for another request.
    [[nodiscard]] std::optional<HttpResponse> exchange(const HttpRequest& request);

private:
    [[nodiscard]] std::optional<HttpResponse> check_place(const HttpRequest& request, bool origin_needed) const;
    [[nodiscard]] bool knows(const HttpRequest& request) const;

    Rules rules_;
    std::vector<std::string> hosts_;
    std::string cookie_name_;
    std::string session_;
    std::string token_;
    std::mutex mutex_;
    bool exchanged_ = false;
};

/// On each response: what a page from here may load and do.
void add_safety_headers(HttpResponse& response);

}  // namespace agentforge::kernel
