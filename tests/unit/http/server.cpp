// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace agentforge::http::testing {

std::string response(int status, const std::string& type, const std::string& body, const std::string& headers) {
    return "HTTP/1.1 " + std::to_string(status) + " Status\r\nContent-Type: " + type +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body;
}

std::string stream_response(const std::string& events) {
    char size[32];
    std::snprintf(size, sizeof(size), "%zx", events.size());
    return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n" +
           (events.empty() ? std::string() : std::string(size) + "\r\n" + events + "\r\n") + "0\r\n\r\n";
}

Server::Server(std::vector<Script> scripts) : scripts_(std::move(scripts)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0 || ::pipe(stop_) != 0) {
        throw std::runtime_error("no loopback server");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
}

Server::~Server() {
    ::close(stop_[1]);
    thread_.join();
    ::close(stop_[0]);
    ::close(listener_);
}

bool Server::stopped(std::chrono::milliseconds time, int connection) const {
    pollfd waits[2] = {{stop_[0], POLLIN, 0}, {connection, POLLIN, 0}};
    for (;;) {
        if (::poll(waits, connection < 0 ? 1 : 2, static_cast<int>(time.count())) == 0) { return false; }
        return waits[0].revents != 0;
    }
}

void Server::serve() {
    for (;;) {
        if (stopped(std::chrono::milliseconds(-1), listener_)) { return; }
        const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0) { continue; }
        ++connections_;
        while (talk(connection)) {}
        ::close(connection);
    }
}

bool Server::talk(int connection) {
    std::string text;
    std::size_t wanted = std::string::npos;
    char buffer[65536];
    while (text.size() < wanted) {
        if (stopped(std::chrono::milliseconds(-1), connection)) { return false; }
        const ssize_t size = ::recv(connection, buffer, sizeof(buffer), 0);
        if (size <= 0) { return false; }
        text.append(buffer, static_cast<std::size_t>(size));
        const std::size_t head = text.find("\r\n\r\n");
        if (head == std::string::npos) { continue; }
        const std::size_t length = text.find("Content-Length: ");
        wanted = head + 4 + (length < head ? std::stoul(text.substr(length + 16)) : 0);
    }
    {
        const std::lock_guard lock(mutex_);
        requests_.push_back(text);
    }
    const Script& script = scripts_[std::min<std::size_t>(received_++, scripts_.size() - 1)];
    for (const std::string& piece : script.pieces) {
        if (script.between.count() > 0 && stopped(script.between)) { return false; }
        for (std::size_t sent = 0; sent < piece.size();) {
            const ssize_t size = ::send(connection, piece.data() + sent, piece.size() - sent, MSG_NOSIGNAL);
            if (size <= 0) { return false; }
            sent += static_cast<std::size_t>(size);
        }
    }
    if (script.hang) { static_cast<void>(stopped(std::chrono::milliseconds(-1))); }
    return script.keep;
}

std::vector<std::string> Server::requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
}

json::object Server::asked() const {
    const std::string text = requests().back();
    return json::parse(text.substr(text.find("\r\n\r\n") + 4)).as_object();
}

}  // namespace agentforge::http::testing
