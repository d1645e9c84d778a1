// SPDX-License-Identifier: Apache-2.0
// Where a server is, and which proxy leads there.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::http {

/// `http://host:port/path` or `https://…`, taken apart. The path has no slash at its end.
struct Address {
    bool secure = false;
    std::string host;  ///< Lower case; an IPv6 address without brackets.
    std::uint16_t port = 0;
    std::string path;

    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool loopback() const;
};

/// Errors (`invalid`, AF-LLM-413): no scheme or another one, no host, a user or password, a query, a port that is none.
[[nodiscard]] Result<Address> read_address(std::string_view text);

struct Proxy {
    std::string host;
    std::uint16_t port = 0;
    std::string user;
    std::string password;
};

/// The proxy for `target` as HTTPS_PROXY or HTTP_PROXY (by the scheme), else ALL_PROXY, name it, in lower case first; none for
/// loopback addresses and what NO_PROXY lists (`*`, a host, a domain with all below it, each with or without a port).
/// Errors (`unavailable`, AF-LLM-413): the variable holds something else than `http://[user:password@]host[:port]`; what it
/// holds is not shown, since it may contain a password.
[[nodiscard]] Result<std::optional<Proxy>> proxy_for(const Address& target,
                                                     const std::function<std::string(const std::string&)>& variable);

}  // namespace agentforge::http
