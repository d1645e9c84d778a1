// SPDX-License-Identifier: Apache-2.0
// Sockets whose requests must be whole in time, however slowly their bytes come.
#pragma once

#include <chrono>

#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/ServerSocketImpl.h>
#include <Poco/Net/StreamSocketImpl.h>

namespace agentforge::kernel {

struct SocketLimits {
    std::chrono::milliseconds request_time;
    std::chrono::milliseconds send_time;
    std::chrono::milliseconds answer_time;
};

/// A connection. From the first byte that is received after `begin_request` on, all bytes of the request must come within the request's time, and from the
/// first byte that is sent on, the client must take the answer within the answer's.
class BoundedSocketImpl final : public Poco::Net::StreamSocketImpl {
public:
    BoundedSocketImpl(poco_socket_t descriptor, const SocketLimits& limits);
    int receiveBytes(void* buffer, int length, int flags) override;
    int sendBytes(const void* buffer, int length, int flags) override;
    /// What was received before belongs to a request that is answered.
    void begin_request() noexcept { began_ = answering_ = false; }
    /// The rest is no request: a WebSocket, or a stream of events.
    void end_requests() noexcept { bounded_ = false; }

private:
    SocketLimits limits_;
    std::chrono::steady_clock::time_point deadline_{};
    std::chrono::steady_clock::time_point answered_by_{};
    bool began_ = false;
    bool answering_ = false;
    bool bounded_ = true;
};

/// Accepts such connections.
class BoundedServerSocket final : public Poco::Net::ServerSocket {
public:
    explicit BoundedServerSocket(const SocketLimits& limits);
};

}  // namespace agentforge::kernel
