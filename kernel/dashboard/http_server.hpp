// SPDX-License-Identifier: Apache-2.0
// The server: sockets, HTTP and WebSocket framing, and limits. The application decides the answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include <agentforge/result.hpp>

#include "dashboard/http.hpp"

namespace agentforge::kernel {

struct ServerSettings {
    unsigned port = 8420;  ///< Port of 127.0.0.1. 0: any free port.
    std::string socket;    ///< Path of a UNIX socket to use instead of a port. Created with mode 0600.
    std::size_t most_connections = 32;
    std::size_t most_body_bytes = 512UL << 10U;
    std::chrono::milliseconds request_time{10'000};  ///< From the first byte of a request to its last.
    std::chrono::milliseconds idle_time{30'000};     ///< Between two requests of a connection.
    std::chrono::milliseconds send_time{10'000};     ///< For a client to receive what the socket's buffer holds.
    /// The time for a client to receive a whole answer. Does not apply to streams of events.
    std::chrono::milliseconds answer_time{60'000};
};

/// Answers requests until it is destroyed. It has its own threads: one that accepts, and one for each connection.
class HttpServer {
public:
    virtual ~HttpServer() = default;
    /// Returns the port that it listens on, or 0 for a UNIX socket.
    [[nodiscard]] virtual unsigned port() const = 0;
    /// Stops accepting connections. Streams of events are ended by their sources (EventHub::close).
    virtual void stop() = 0;
};

/// A listening socket; nothing is answered before `serve`. Errors of `listen`: `conflict` AF-DASH-030 the port or the socket is
/// in use; `io` AF-DASH-031 the socket cannot be created; `unavailable` AF-DASH-032 the library libagentforge-server.so is
/// missing or from another build.
class HttpListener {
public:
    virtual ~HttpListener() = default;
    [[nodiscard]] virtual unsigned port() const = 0;
    /// `application` must outlive the server.
    [[nodiscard]] virtual std::unique_ptr<HttpServer> serve(HttpApplication& application) = 0;
};
[[nodiscard]] Result<std::unique_ptr<HttpListener>> listen(const ServerSettings& settings);

/// The library's export, as `agentforge_server`.
struct ServerLibrary {
    const char* version;
    std::size_t settings_size;
    std::size_t request_size;
    Result<std::unique_ptr<HttpListener>> (*listen)(const ServerSettings& settings);
};

}  // namespace agentforge::kernel

extern "C" const agentforge::kernel::ServerLibrary* agentforge_server();
