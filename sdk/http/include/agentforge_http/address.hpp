// SPDX-License-Identifier: Apache-2.0
// The address of a server, and the proxy that leads to it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::http {

/// The parts of `http://host:port/path` or `https://…`. The path does not end in a slash.
struct Address {
    bool secure = false;
    std::string host;  ///< In lower case. An IPv6 address without brackets.
    std::uint16_t port = 0;
    std::string path;

    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool loopback() const;
};

/// Parses an address. Errors (`invalid`, AF-LLM-413): no scheme or an unknown one, no host, a user or password, a query, an
/// invalid port.
[[nodiscard]] Result<Address> read_address(std::string_view text);

struct Proxy {
    std::string host;
    std::uint16_t port = 0;
    std::string user;
    std::string password;
};

/// Returns the proxy for `target`: from HTTPS_PROXY or HTTP_PROXY (by the scheme), else ALL_PROXY, each read in lower case first.
/// Returns none for loopback addresses and for what NO_PROXY lists (`*`, or a host or domain with everything below it, with or
/// without a port).
/// Errors (`unavailable`, AF-LLM-413): the variable is not of the form `http://[user:password@]host[:port]`. The message omits
/// its value, which may contain a password.
[[nodiscard]] Result<std::optional<Proxy>> proxy_for(const Address& target,
                                                     const std::function<std::string(const std::string&)>& variable);

}  // namespace agentforge::http
