// SPDX-License-Identifier: Apache-2.0
#include "dashboard/server/bounded_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>

#include <Poco/Exception.h>
#include <Poco/Net/SocketAddress.h>

namespace agentforge::kernel {

namespace {

class BoundedServerSocketImpl final : public Poco::Net::ServerSocketImpl {
public:
    explicit BoundedServerSocketImpl(const SocketLimits& limits) : limits_(limits) {}
    Poco::Net::SocketImpl* acceptConnection(Poco::Net::SocketAddress& client) override {
        sockaddr_storage address{};
        socklen_t length = sizeof address;
        int descriptor = -1;
        do { descriptor = ::accept4(sockfd(), reinterpret_cast<sockaddr*>(&address), &length, SOCK_CLOEXEC); } while (descriptor < 0 && errno == EINTR);
        if (descriptor < 0) { error(); }
        client = address.ss_family == AF_UNIX ? Poco::Net::SocketAddress() : Poco::Net::SocketAddress(reinterpret_cast<sockaddr*>(&address), length);
        return new BoundedSocketImpl(descriptor, limits_);      // NOLINT: counted by the socket that holds it.
    }

private:
    SocketLimits limits_;
};

}  // namespace

BoundedSocketImpl::BoundedSocketImpl(poco_socket_t descriptor, const SocketLimits& limits) : StreamSocketImpl(descriptor), limits_(limits) {
    setSendTimeout(Poco::Timespan(limits_.send_time.count() * 1000));
}

int BoundedSocketImpl::receiveBytes(void* buffer, int length, int flags) {
    if (!bounded_) { return StreamSocketImpl::receiveBytes(buffer, length, flags); }
    const auto now = std::chrono::steady_clock::now();
    if (!began_) { deadline_ = now + limits_.request_time; }
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline_ - now);
    if (left.count() <= 0 || !poll(Poco::Timespan(left.count()), SELECT_READ)) { throw Poco::TimeoutException("the request takes too long"); }
    began_ = true;
    return StreamSocketImpl::receiveBytes(buffer, length, flags);
}

int BoundedSocketImpl::sendBytes(const void* buffer, int length, int flags) {
    if (!bounded_) { return StreamSocketImpl::sendBytes(buffer, length, flags); }
    const auto now = std::chrono::steady_clock::now();
    if (!answering_) { answered_by_ = now + limits_.answer_time; }
    answering_ = true;
    if (now >= answered_by_) { throw Poco::TimeoutException("the client takes the answer too slowly"); }
    return StreamSocketImpl::sendBytes(buffer, length, flags);
}

BoundedServerSocket::BoundedServerSocket(const SocketLimits& limits) : ServerSocket(new BoundedServerSocketImpl(limits), true) {}

}  // namespace agentforge::kernel
