// SPDX-License-Identifier: Apache-2.0
// Sockets whose requests must be whole in time, however slowly their bytes come.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/ServerSocketImpl.h>
#include <Poco/Net/StreamSocketImpl.h>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// The whole answer, head and body, that refuses a request.
using Refusal = std::function<std::string(int status, const Error& problem)>;

struct SocketLimits {
    std::chrono::milliseconds request_time;
    std::chrono::milliseconds send_time;
    std::chrono::milliseconds answer_time;
    std::shared_ptr<Refusal> refusal;  ///< Set before the first connection is accepted.
};

/// What is wrong with the head of a request, so that no reader can be sure where it ends: a line or all of it is too long, there
/// are too many lines, or the length of the body is no number.
struct UnreadableHead {
    int status = 400;
    Error problem;
};
[[nodiscard]] std::optional<UnreadableHead> unreadable_head(std::string_view head);

/// A connection. From the first byte that is received after `begin_request` on, all bytes of the request must come within the
/// request's time, and from the first byte that is sent on, the client must take the answer within the answer's. The head of each
/// request is looked at before anybody reads it: one that cannot be read is answered with a problem document, and the connection
/// has nothing more to read.
class BoundedSocketImpl final : public Poco::Net::StreamSocketImpl {
public:
    BoundedSocketImpl(poco_socket_t descriptor, const SocketLimits& limits);
    int receiveBytes(void* buffer, int length, int flags) override;
    int sendBytes(const void* buffer, int length, int flags) override;
    bool poll(const Poco::Timespan& timeout, int mode) override;
    /// What was received before belongs to a request that is answered.
    void begin_request() noexcept { began_ = answering_ = has_head_ = false; }
    /// Takes what the client still sends of a refused request. If the connection were closed before, the client would find it
    /// broken and not read the refusal.
    void drain() const;
    /// The rest is no request: a WebSocket, or a stream of events.
    void end_requests() noexcept { bounded_ = false; }

private:
    int receive_in_time(void* buffer, int length, int flags);
    /// Takes the head, and what came with it. False: it was refused, or the client has left.
    bool take_head();
    void refuse(const UnreadableHead& head);
    int take_from_received(void* buffer, int length);

    SocketLimits limits_;
    std::string received_;  ///< Not yet handed on.
    bool has_head_ = false;
    bool refused_ = false;
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
