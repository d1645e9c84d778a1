// SPDX-License-Identifier: Apache-2.0
// The server: sockets, HTTP and WebSocket framing, and limits. What is answered is the application's affair.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include <agentforge/result.hpp>

#include "dashboard/http.hpp"

namespace agentforge::kernel {

struct ServerSettings {
    unsigned port = 8420;  ///< Of 127.0.0.1; 0: one that is free.
    std::string socket;    ///< The path of a UNIX socket in place of a port; it is made with mode 0600.
    std::size_t most_connections = 32;
    std::size_t most_body_bytes = 512UL << 10U;
    std::chrono::milliseconds request_time{10'000};  ///< From a request's first byte to its last.
    std::chrono::milliseconds idle_time{30'000};     ///< Between two requests of a connection.
    std::chrono::milliseconds send_time{10'000};     ///< That a client may take to receive what the socket holds.
    std::chrono::milliseconds answer_time{60'000};   ///< That it may take to receive an answer. Streams of events have no end.
};

/// It answers until it is destroyed, with threads of its own: one that accepts, and one for each connection.
class HttpServer {
public:
    virtual ~HttpServer() = default;
    /// The port that it listens on; 0: a UNIX socket.
    [[nodiscard]] virtual unsigned port() const = 0;
    /// Accepts no more. Streams of events end by their sources (EventHub::close).
    virtual void stop() = 0;
};

/// Begins to listen; nothing is answered before `serve`. `application` is null until then.
/// Errors: `conflict` AF-DASH-030 the port or the socket is in use; `io` AF-DASH-031 the socket cannot be made; `unavailable`
/// AF-DASH-032 the library libagentforge-server.so is missing or another build's.
class HttpListener {
public:
    virtual ~HttpListener() = default;
    [[nodiscard]] virtual unsigned port() const = 0;
    /// `application` must live longer than the server.
    [[nodiscard]] virtual std::unique_ptr<HttpServer> serve(HttpApplication& application) = 0;
};
[[nodiscard]] Result<std::unique_ptr<HttpListener>> listen(const ServerSettings& settings);

/// What the library exports, as `agentforge_server`.
struct ServerLibrary {
    const char* version;
    std::size_t settings_size;
    std::size_t request_size;
    Result<std::unique_ptr<HttpListener>> (*listen)(const ServerSettings& settings);
};

}  // namespace agentforge::kernel

extern "C" const agentforge::kernel::ServerLibrary* agentforge_server();
