// SPDX-License-Identifier: Apache-2.0
// Decides who may use the dashboard. Every request is checked here first, including the one for a WebSocket.
//
// 1. `Host` must be the address that the server listens on. This stops DNS rebinding, where an attacker's name resolves to this
// host.
// 2. `Origin` and `Sec-Fetch-Site`, if the browser sends them, must be the dashboard's own. A change or a WebSocket needs
// `Origin`.
// 3. A request needs the cookie that the one-time token was exchanged for. The UNIX socket needs none: its file's mode admits
// only this user. A collector of metrics has no browser: `/metrics` alone also accepts the bearer token of --metrics-token.
// 4. With --read-only nothing can be changed.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "dashboard/http.hpp"

namespace agentforge::kernel {

/// The path of the figures for Prometheus.
inline constexpr std::string_view metrics_path = "/metrics";

class Guard {
public:
    struct Rules {
        unsigned port = 0;  ///< 0: a UNIX socket.
        bool read_only = false;
        /// The bearer token that opens `/metrics`, and nothing else. Empty: no token opens it.
        std::string metrics_token = {};
    };
    Guard(Rules rules, IdSource& ids);

    /// Returns the one-time token. It can be exchanged once.
    [[nodiscard]] const std::string& token() const noexcept { return token_; }

    [[nodiscard]] bool read_only() const noexcept { return rules_.read_only; }
    /// Returns the refusal, or nothing if the request is allowed. `changes`: the request is not read-only. `origin_needed`: for a
    /// WebSocket.
    [[nodiscard]] std::optional<HttpResponse> check(const HttpRequest& request, bool changes, bool origin_needed);
    /// Answers `GET /?token=…` with a redirection to `/` that sets the cookie. Returns nothing for other requests.
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

/// Adds the headers that restrict what a page from here may load and do.
void add_safety_headers(HttpResponse& response);

}  // namespace agentforge::kernel
