// SPDX-License-Identifier: Apache-2.0
// Sockets that limit the time of a whole request, however slowly its bytes arrive.
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

/// Returns the complete answer, head and body, that refuses a request.
using Refusal = std::function<std::string(int status, const Error& problem)>;

struct SocketLimits {
    std::chrono::milliseconds request_time;
    std::chrono::milliseconds send_time;
    std::chrono::milliseconds answer_time;
    std::shared_ptr<Refusal> refusal;  ///< Set before the first connection is accepted.
};

/// The reason why the head of a request is refused. Reasons: the first line is not method, address and version; a line is not a
/// header, or holds a control character; a line or the whole head is too long, or there are too many lines; the length of the
/// body is not a number; the empty line at the end is missing. The parser behind this check would refuse without a reason, or see
/// another request.
struct UnreadableHead {
    int status = 400;
    Error problem;
};
[[nodiscard]] std::optional<UnreadableHead> unreadable_head(std::string_view head);

/// A connection. All bytes of a request must arrive within the request time, counted from the first byte received after
/// `begin_request`. The client must take the answer within the answer time, counted from the first byte sent. The head of each
/// request is checked before the parser sees it. A head that cannot be read, or comes too late, is answered with a problem
/// document, and nothing more is read from the connection.
class BoundedSocketImpl final : public Poco::Net::StreamSocketImpl {
public:
    BoundedSocketImpl(poco_socket_t descriptor, const SocketLimits& limits);
    int receiveBytes(void* buffer, int length, int flags) override;
    int sendBytes(const void* buffer, int length, int flags) override;
    bool poll(const Poco::Timespan& timeout, int mode) override;
    /// Call when the previous request is answered.
    void begin_request() noexcept { began_ = answering_ = has_head_ = false; }
    /// Reads and discards the rest of a refused request. Closing the connection earlier would reset it before the client reads
    /// the refusal.
    void drain() const;
    /// Lifts the limits: the rest is not a request but a WebSocket or a stream of events.
    void end_requests() noexcept { bounded_ = false; }

private:
    int receive_in_time(void* buffer, int length, int flags);
    /// Reads the head, and the bytes that arrived with it. False if it was refused or the client has left.
    bool take_head();
    void refuse(const UnreadableHead& head);
    int take_from_received(void* buffer, int length);

    SocketLimits limits_;
    std::string received_;  ///< Received, but not yet passed on.
    bool has_head_ = false;
    bool refused_ = false;
    std::chrono::steady_clock::time_point deadline_{};
    std::chrono::steady_clock::time_point answered_by_{};
    bool began_ = false;
    bool answering_ = false;
    bool bounded_ = true;
};

/// Accepts connections with these limits.
class BoundedServerSocket final : public Poco::Net::ServerSocket {
public:
    explicit BoundedServerSocket(const SocketLimits& limits);
};

}  // namespace agentforge::kernel
