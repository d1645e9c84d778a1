// SPDX-License-Identifier: Apache-2.0
// One HTTP exchange: a request, and its answer as it comes.
//
// The network is left to a thread of its own, so that nothing on it (name resolution, a handshake, a server that says
// nothing or a byte a second) keeps the caller longer than its deadline, or than 50 ms once it is cancelled. A thread that is
// not wanted any more is ended by shutting its connection down; one that is stuck where there is none yet is left behind.
//
// What speaks to the network (Poco's Net and NetSSL, OpenSSL) stands in a library of its own, `libagentforge-net.so` beside
// `libagentforge-abi.so`. The first exchange loads it: a backend that is only made, listed or checked does not wait for some
// five thousand symbols that it does not use.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agentforge_http/address.hpp>

namespace agentforge::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// Connections that stay open from one exchange to the next, each for the server, proxy and certificates that it was made for.
///
/// One that was idle for 30 s, that the server closed meanwhile or that has something to say unasked is not used. One that turns
/// out to be closed before a byte of the answer came costs a fresh connection, not the exchange (RFC 9112, section 9.3.1).
/// Threads: any. An exchange that is left behind may outlive the last owner elsewhere.
class Connections {
public:
    Connections() = default;
    Connections(const Connections&) = delete;
    Connections& operator=(const Connections&) = delete;

    /// Only for `exchange`, which makes the state when it first needs one.
    template <class State>
    [[nodiscard]] State& state() {
        std::call_once(made_, [this] { state_ = std::make_shared<State>(); });
        return *static_cast<State*>(state_.get());
    }

private:
    std::once_flag made_;
    std::shared_ptr<void> state_;
};

struct Call {
    Address server;
    std::string method = "POST";
    std::string path;  ///< Whole, the server's own path included.
    Headers headers;
    std::string body;     ///< JSON, or empty.
    std::string ca_file;  ///< PEM, trusted besides the system's own certificates; may be empty.
    std::optional<Proxy> proxy;
    std::chrono::steady_clock::time_point deadline;  ///< Of the whole exchange.
    std::chrono::milliseconds connect_timeout{10'000};
    std::size_t max_body_bytes = 32UL << 20U;
    std::shared_ptr<Connections> connections;  ///< Null: a connection of its own, closed afterwards.
};

struct Head {
    int status = 0;
    std::string reason;
    Headers headers;  ///< Names in lower case.

    /// The first header of that name (in lower case), or empty.
    [[nodiscard]] std::string header(std::string_view name) const {
        for (const auto& [found, value] : headers) {
            if (found == name) { return value; }
        }
        return {};
    }
};

/// Takes a part of the body, in the caller's thread. False: enough; the rest is waited for no longer than 50 ms, so that a
/// connection whose answer ends at once can be kept.
using Take = std::function<Result<bool>(const Head& head, std::string_view part)>;

/// Certificates are checked against the server's name, always. Redirections are answers like others: nothing is sent elsewhere.
/// Errors: those of `take`; AF-LLM-402 `transient` no connection (name, refused, unreachable, proxy); AF-LLM-403 `unavailable`
/// TLS; AF-LLM-409 `transient` the connection ended before the answer did; AF-LLM-410 `timeout` the deadline passed;
/// AF-LLM-411 `cancelled`; AF-LLM-412 `unavailable` the body is longer than the bound; AF-LLM-415 `unavailable` the library of
/// the network is missing or another build's.
[[nodiscard]] Result<Head> exchange(const Call& call, const std::function<bool()>& cancelled, const Take& take);

}  // namespace agentforge::http
