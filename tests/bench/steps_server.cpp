// SPDX-License-Identifier: Apache-2.0
#include "bench/steps_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "bench/places.hpp"

namespace agentforge::bench {

namespace {

constexpr std::string_view header_end = "\r\n\r\n";
constexpr std::string_view length_header = "content-length:";

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

void without_delay(int descriptor) {
    const int yes = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

void send_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) { return; }  // The client has left; the next read reports it.
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

/// Makes a streamed answer with one tool call, in one chunk.
std::string response(const std::string& tool, const json::object& arguments) {
    const auto event = [](const json::object& data) { return "data: " + json::serialize(data) + "\n\n"; };
    const auto chunk = [&](json::object delta, const json::value& reason) {
        return event(
            {{"id", "c1"},
             {"object", "chat.completion.chunk"},
             {"model", "scripted"},
             {"choices", json::array{json::object{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", reason}}}}});
    };
    const json::object function{{"name", tool}, {"arguments", json::serialize(arguments)}};
    std::string events = chunk({{"role", "assistant"}, {"content", nullptr}}, nullptr);
    events += chunk(
        {{"tool_calls", json::array{json::object{{"index", 0}, {"id", "call_1"}, {"type", "function"}, {"function", function}}}}},
        nullptr);
    events += chunk({}, "tool_calls");
    events += event({{"id", "c1"}, {"choices", json::array()}, {"usage", {{"prompt_tokens", 2000}, {"completion_tokens", 20}}}}) +
              "data: [DONE]\n\n";
    std::array<char, 16> size{};
    const auto end = std::to_chars(size.data(), size.data() + size.size(), events.size(), 16).ptr;
    return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" +
           std::string(size.data(), end) + "\r\n" + events + "\r\n0\r\n\r\n";
}

/// Returns the size of the complete request at the start of `got`, or 0 if it is incomplete.
std::size_t request_size(const std::string& got, std::size_t& body) {
    const std::size_t head = got.find(header_end);
    if (head == std::string::npos) { return 0; }
    std::string lower = got.substr(0, head);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c); });
    const std::size_t length = lower.find(length_header);
    body = 0;
    if (length != std::string::npos) {
        const char* begin = lower.data() + length + length_header.size();
        while (*begin == ' ') { ++begin; }
        std::from_chars(begin, lower.data() + lower.size(), body);
    }
    const std::size_t whole = head + header_end.size() + body;
    return got.size() >= whole ? whole : 0;
}

}  // namespace

StepsServer::StepsServer(unsigned steps, const std::string& tool, const json::object& arguments, const json::object& artifact,
                         std::function<void()> between, std::size_t together)
    : steps_(steps),
      between_(std::move(between)),
      call_(response(tool, arguments)),
      done_(response("complete", artifact)),
      together_(together) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (listener_ < 0 || ::bind(listener_, generic, size) != 0 || ::listen(listener_, 128) != 0 ||
        ::getsockname(listener_, generic, &size) != 0 || ::pipe2(stop_, O_CLOEXEC) != 0) {
        give_up("no loopback server");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
}

StepsServer::~StepsServer() {
    ::close(stop_[1]);
    thread_.join();
    ::close(stop_[0]);
    ::close(listener_);
}

std::vector<Asked> StepsServer::take() {
    const std::lock_guard guard(mutex_);
    return std::exchange(asked_, {});
}

bool StepsServer::read_from(Connection& connection) {
    std::array<char, 1UL << 16U> block{};
    const ssize_t size = ::recv(connection.descriptor, block.data(), block.size(), 0);
    if (size <= 0) { return false; }
    connection.got.append(block.data(), static_cast<std::size_t>(size));
    std::size_t body = 0;
    while (const std::size_t whole = request_size(connection.got, body)) {
        const auto at = std::chrono::steady_clock::now();
        std::string asked = connection.got.substr(whole - body, body);
        connection.got.erase(0, whole);
        const auto same = static_cast<std::size_t>(
            std::mismatch(asked.begin(), asked.end(), before_.begin(), before_.end()).first - asked.begin());
        before_ = std::move(asked);
        held_.push_back(connection.descriptor);
        if (answered_ == 0 && held_.size() < together_) { continue; }
        if (between_) { between_(); }
        {
            const std::lock_guard guard(mutex_);
            asked_.push_back({at, std::chrono::steady_clock::now(), body, same});
        }
        for (const int waiting : std::exchange(held_, {})) { answer(waiting); }
    }
    return true;
}

void StepsServer::answer(int descriptor) { send_all(descriptor, ++answered_ % (steps_ + 1) == 0 ? done_ : call_); }

void StepsServer::serve() {
    std::vector<Connection> connections;
    for (;;) {
        std::vector<pollfd> waiting{{stop_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
        for (const Connection& connection : connections) { waiting.push_back({connection.descriptor, POLLIN, 0}); }
        if (::poll(waiting.data(), waiting.size(), -1) < 0) { continue; }
        if (waiting[0].revents != 0) { break; }
        for (std::size_t index = connections.size(); index-- > 0;) {
            if (waiting[index + 2].revents == 0 || read_from(connections[index])) { continue; }
            ::close(connections[index].descriptor);
            connections.erase(connections.begin() + static_cast<std::ptrdiff_t>(index));
        }
        if (waiting[1].revents != 0) {
            const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (descriptor < 0) { continue; }
            without_delay(descriptor);
            connections.push_back({descriptor, {}});
        }
    }
    for (const Connection& connection : connections) { ::close(connection.descriptor); }
}

BareClient::BareClient(std::uint16_t port, std::size_t body_bytes) {
    request_ = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body_bytes) +
               "\r\n\r\n" + std::string(body_bytes, 'x');
    descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    if (descriptor_ < 0 || ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        give_up("cannot reach the scripted server");
    }
    without_delay(descriptor_);
}

BareClient::~BareClient() { ::close(descriptor_); }

void BareClient::exchange() {
    send_all(descriptor_, request_);
    std::string got;
    std::array<char, 1UL << 14U> block{};
    while (!got.ends_with("\r\n0\r\n\r\n")) {
        const ssize_t size = ::recv(descriptor_, block.data(), block.size(), 0);
        if (size <= 0) { give_up("the scripted server does not answer"); }
        got.append(block.data(), static_cast<std::size_t>(size));
    }
}

}  // namespace agentforge::bench
