// SPDX-License-Identifier: Apache-2.0
#include "dashboard/server/bounded_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>

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
        do {
            descriptor = ::accept4(sockfd(), reinterpret_cast<sockaddr*>(&address), &length, SOCK_CLOEXEC);
        } while (descriptor < 0 && errno == EINTR);
        if (descriptor < 0) { error(); }
        client = address.ss_family == AF_UNIX ? Poco::Net::SocketAddress()
                                              : Poco::Net::SocketAddress(reinterpret_cast<sockaddr*>(&address), length);
        return new BoundedSocketImpl(descriptor, limits_);  // NOLINT: reference-counted by the socket that holds it.
    }

private:
    SocketLimits limits_;
};

constexpr std::size_t most_head_bytes = 64UL << 10U;
constexpr std::size_t most_line_bytes = 8000;  // The limit of the parser that reads after this check.
constexpr std::size_t most_name_bytes = 256;
constexpr std::size_t most_method_bytes = 32;
constexpr std::size_t most_lines = 100;

UnreadableHead too_large(const char* what) {
    return {431, Error{"AF-DASH-041", std::string("The request's head is too large: ") + what, "",
                       "send a shorter address and fewer, shorter headers", ErrorKind::invalid}};
}
UnreadableHead broken(const char* what, const char* where, const char* remedy, int status = 400) {
    return {status, Error{"AF-DASH-040", what, where, remedy, ErrorKind::invalid}};
}

std::string_view without_blanks(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    return begin == std::string_view::npos ? std::string_view() : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool is_named(std::string_view name, std::string_view wanted) {
    return name.size() == wanted.size() && std::equal(name.begin(), name.end(), wanted.begin(), [](char one, char other) {
               return std::tolower(static_cast<unsigned char>(one)) == other;
           });
}

/// True for a `token` of RFC 9110: a method, or the name of a header.
bool is_token(std::string_view text) {
    constexpr std::string_view letters = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    return !text.empty() && text.find_first_not_of(letters) == std::string_view::npos;
}

/// The first line: method, address and version, each after one space.
std::optional<UnreadableHead> unreadable_request_line(std::string_view line) {
    const auto first = line.find(' ');
    const auto last = line.rfind(' ');
    const char* const remedy = "send `GET /path HTTP/1.1`";
    if (first == std::string_view::npos || first == last) {
        return broken("The request's first line is not a method, an address and a version", "", remedy);
    }
    if (!is_token(line.substr(0, first)) || first > most_method_bytes) {
        return broken("The request's first line does not begin with a method", "", remedy);
    }
    const std::string_view address = line.substr(first + 1, last - first - 1);
    const bool is_plain = std::ranges::all_of(address, [](char letter) { return letter > ' ' && letter < 0x7f; });
    if (address.empty() || !is_plain) { return broken("The request's address cannot be read", "", "encode it as RFC 3986 says"); }
    const std::string_view version = line.substr(last + 1);
    if (version == "HTTP/1.1" || version == "HTTP/1.0") { return std::nullopt; }
    return broken("The request is not of HTTP/1.1", "", "speak HTTP/1.1", 505);
}

std::optional<UnreadableHead> unreadable_header(std::string_view line) {
    const auto colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    if (colon == std::string_view::npos || !is_token(name)) {
        return broken("A line of the request's head is not a header", "", "send `Name: value`");
    }
    if (name.size() > most_name_bytes) { return too_large("a header's name"); }
    const auto is_control = [](unsigned char letter) { return (letter < ' ' && letter != '\t') || letter == 0x7f; };
    if (std::ranges::any_of(line, is_control)) {
        return broken("A header contains a control character", "", "send text in one line");
    }
    if (!is_named(name, "content-length")) { return std::nullopt; }
    const std::string_view length = without_blanks(line.substr(colon + 1));
    const bool is_number =
        !length.empty() && length.size() <= 18 && length.find_first_not_of("0123456789") == std::string_view::npos;
    return is_number
               ? std::nullopt
               : std::optional(broken("The body's length is not a number", "Content-Length", "send the number of its bytes"));
}

}  // namespace

std::optional<UnreadableHead> unreadable_head(std::string_view head) {
    std::size_t lines = 0;
    std::size_t begin = 0;
    while (begin < head.size()) {
        const auto end = head.find('\n', begin);
        std::string_view line = head.substr(begin, end == std::string_view::npos ? end : end - begin);
        if (line.ends_with('\r')) { line.remove_suffix(1); }
        if (line.empty() && lines > 0) { return std::nullopt; }
        if (line.size() > most_line_bytes) { return too_large(lines == 0 ? "its address" : "a header"); }
        if (end == std::string_view::npos) { break; }
        if (auto wrong = lines == 0 ? unreadable_request_line(line) : unreadable_header(line)) { return wrong; }
        if (++lines > most_lines) { return too_large("too many headers"); }
        begin = end + 1;
    }
    if (head.size() > most_head_bytes) { return too_large("all of it"); }
    return broken("The request's head is cut off", "", "send all of it, and an empty line");
}

BoundedSocketImpl::BoundedSocketImpl(poco_socket_t descriptor, const SocketLimits& limits)
    : StreamSocketImpl(descriptor), limits_(limits) {
    setSendTimeout(Poco::Timespan(limits_.send_time.count() * 1000));
}

int BoundedSocketImpl::receiveBytes(void* buffer, int length, int flags) {
    if (bounded_ && !has_head_ && (flags & MSG_PEEK) == 0 && !take_head()) { return 0; }
    if (!received_.empty() && (flags & MSG_PEEK) == 0) { return take_from_received(buffer, length); }
    return bounded_ ? receive_in_time(buffer, length, flags) : StreamSocketImpl::receiveBytes(buffer, length, flags);
}

int BoundedSocketImpl::take_from_received(void* buffer, int length) {
    const std::size_t count = std::min(received_.size(), static_cast<std::size_t>(length));
    std::memcpy(buffer, received_.data(), count);
    received_.erase(0, count);
    return static_cast<int>(count);
}

bool BoundedSocketImpl::poll(const Poco::Timespan& timeout, int mode) {
    return ((mode & SELECT_READ) != 0 && !received_.empty()) || StreamSocketImpl::poll(timeout, mode);
}

bool BoundedSocketImpl::take_head() {
    if (refused_) { return false; }
    std::array<char, 4096> part{};
    try {
        while (received_.find("\n\r\n") == std::string::npos && received_.find("\n\n") == std::string::npos &&
               received_.size() <= most_head_bytes) {
            const int count = receive_in_time(part.data(), static_cast<int>(part.size()), 0);
            if (count <= 0) { break; }  // Reads what has arrived, and no more.
            received_.append(part.data(), static_cast<std::size_t>(count));
        }
    } catch (const Poco::TimeoutException&) {
        if (received_.empty()) { throw; }
        refuse(broken("The request's head came too late", "", "send the whole head at once", 408));
        return false;
    }
    has_head_ = true;
    if (received_.empty()) { return false; }
    if (const auto wrong = unreadable_head(received_)) {
        refuse(*wrong);
        return false;
    }
    return true;
}

void BoundedSocketImpl::refuse(const UnreadableHead& head) {
    refused_ = true;
    received_.clear();
    if (!limits_.refusal || !*limits_.refusal) { return; }
    const std::string answer = (*limits_.refusal)(head.status, head.problem);
    sendBytes(answer.data(), static_cast<int>(answer.size()), MSG_NOSIGNAL);
    drain();
}

void BoundedSocketImpl::drain() const {
    constexpr std::size_t most_bytes = 8UL << 20U;
    constexpr std::chrono::seconds most_time{2};
    ::shutdown(sockfd(), SHUT_WR);
    std::array<char, 16384> part{};
    const auto until = std::chrono::steady_clock::now() + most_time;
    for (std::size_t bytes = 0; bytes < most_bytes;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        pollfd watched{sockfd(), POLLIN, 0};
        if (left.count() <= 0 || ::poll(&watched, 1, static_cast<int>(left.count())) <= 0) { return; }
        const ssize_t count = ::recv(sockfd(), part.data(), part.size(), MSG_DONTWAIT);
        if (count <= 0) { return; }
        bytes += static_cast<std::size_t>(count);
    }
}

int BoundedSocketImpl::receive_in_time(void* buffer, int length, int flags) {
    const auto now = std::chrono::steady_clock::now();
    if (!began_) { deadline_ = now + limits_.request_time; }
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline_ - now);
    if (left.count() <= 0 || !StreamSocketImpl::poll(Poco::Timespan(left.count()), SELECT_READ)) {
        throw Poco::TimeoutException("the request takes too long");
    }
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
