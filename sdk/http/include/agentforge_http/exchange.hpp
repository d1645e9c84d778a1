// SPDX-License-Identifier: Apache-2.0
// One HTTP exchange: sends a request and reads the answer as it arrives.
//
// A separate thread handles the network. Name resolution, a handshake or a server that is silent or sends a byte a second
// therefore cannot keep the caller past its deadline, or for more than 50 ms after a cancel. To end a thread that is no longer
// needed, its connection is shut down. A thread that is stuck before it has a connection is left behind.
//
// The network code (Poco's Net and NetSSL, OpenSSL) is in its own library, `libagentforge-net.so`, beside `libagentforge-abi.so`.
// The first exchange loads it. A backend that is only created, listed or checked does not wait for some five thousand symbols
// that it does not use.
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

/// Connections kept open between exchanges, each for one server, proxy and set of certificates.
///
/// A connection is not reused if it was idle for 30 s, if the server closed it, or if unrequested data has arrived. If a reused
/// connection closes before the first byte of the answer, the exchange opens a new one and goes on (RFC 9112, section 9.3.1).
/// Threads: any. An exchange that was left behind may be the last owner.
class Connections {
public:
    Connections() = default;
    Connections(const Connections&) = delete;
    Connections& operator=(const Connections&) = delete;

    /// Only for `exchange`, which creates the state when it first needs it.
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
    std::string path;  ///< The complete path, including the server's own.
    Headers headers;
    std::string body;     ///< JSON, or empty.
    std::string ca_file;  ///< PEM certificates to trust in addition to the system's. May be empty.
    std::optional<Proxy> proxy;
    std::chrono::steady_clock::time_point deadline;  ///< Deadline of the whole exchange.
    std::chrono::milliseconds connect_timeout{10'000};
    std::size_t max_body_bytes = 32UL << 20U;
    std::shared_ptr<Connections> connections;  ///< Null: uses a new connection and closes it afterwards.
};

struct Head {
    int status = 0;
    std::string reason;
    Headers headers;  ///< Names are in lower case.

    /// Returns the first header of that name (in lower case), or empty.
    [[nodiscard]] std::string header(std::string_view name) const {
        for (const auto& [found, value] : headers) {
            if (found == name) { return value; }
        }
        return {};
    }
};

/// Receives a part of the body, in the caller's thread. Returns false to stop: the rest is then read for at most 50 ms, to keep a
/// connection whose answer ends soon.
using Take = std::function<Result<bool>(const Head& head, std::string_view part)>;

/// Always checks certificates against the server's name. Returns redirections like other answers and follows none. Errors: those
/// of `take`; AF-LLM-402 `transient` no connection (name, refused, unreachable, proxy); AF-LLM-403 `unavailable` TLS; AF-LLM-409
/// `transient` the connection ended before the answer did; AF-LLM-410 `timeout` the deadline passed; AF-LLM-411 `cancelled`;
/// AF-LLM-412 `unavailable` the body exceeds the bound; AF-LLM-415 `unavailable` the network library is missing or from another
/// build.
[[nodiscard]] Result<Head> exchange(const Call& call, const std::function<bool()>& cancelled, const Take& take);

}  // namespace agentforge::http
