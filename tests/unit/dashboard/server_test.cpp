// SPDX-License-Identifier: Apache-2.0
// The real server on sockets, before an application that answers at once.
#include "dashboard/http_server.hpp"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "base/files.hpp"
#include "dashboard/event_hub.hpp"

namespace agentforge::kernel::testing {
namespace {

/// `/events` is a stream, `/updates` a WebSocket; everything else is `ok`.
class Answers final : public HttpApplication {
public:
    explicit Answers(EventHub& events) : events_(events) {}
    HttpResponse answer(const HttpRequest& request) override {
        if (request.path == "/updates") { return {.events = events_.listen(""), .web_socket = true}; }
        if (request.path != "/events") { return {.body = "ok"}; }
        return {.headers = {{"Content-Type", "text/event-stream"}}, .events = events_.listen("")};
    }
    HttpResponse refuse(int status, const Error& problem) override { return {.status = status, .body = problem.message}; }

private:
    EventHub& events_;
};

/// A connection of another program.
class Connection {
public:
    explicit Connection(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const sockaddr_un address = address_of(path);
        const timeval patience{60, 0};
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
    static sockaddr_un address_of(const std::string& path) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
        return address;
    }
    void ask(const std::string& path, const std::string& more = "Connection: close\r\n") {
        const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
        (void)::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL);
    }
    /// Reads until the text has come, or the server closes the connection.
    std::string read_until(const std::string& text) {
        std::string all;
        char part[4096];
        while (text.empty() || all.find(text) == std::string::npos) {
            const ssize_t count = ::recv(socket_.get(), part, sizeof part, 0);
            if (count <= 0) { break; }
            all.append(part, static_cast<std::size_t>(count));
        }
        return all;
    }
    std::string read_all() { return read_until(""); }

private:
    FileDescriptor socket_;
};

class DashboardServer : public ::testing::Test {
protected:
    ~DashboardServer() override { events_.close(); }
    static Result<std::unique_ptr<HttpListener>> listen(const ServerSettings& settings) {
        void* const library =
            ::dlopen(AGENTFORGE_BINARY_DIR "/lib/libagentforge-server.so", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        const auto entry = reinterpret_cast<decltype(&agentforge_server)>(::dlsym(library, "agentforge_server"));
        return entry()->listen(settings);
    }
    void serve(std::size_t most_connections) {
        ServerSettings settings;
        settings.socket = socket_;
        settings.most_connections = most_connections;
        auto listener = listen(settings);
        ASSERT_TRUE(listener.ok());
        server_ = (*listener)->serve(answers_);
    }
    static TaskChange change(Sequence seq) {
        return {
            .repo = "one", .task_id = "task-20260102-a-b-1f2e3d4c", .seq = seq, .type = "step", .stage = "green", .step = seq};
    }
    static constexpr std::size_t kept = 64;
    TemporaryDirectory folder_{"served"};
    std::string socket_ = (folder_.path() / "dashboard.sock").string();
    CountingIdSource ids_;
    FakeClock clock_;
    EventHub events_{ids_, clock_, kept};
    Answers answers_{events_};
    std::unique_ptr<HttpServer> server_;
};

TEST_F(DashboardServer, a_slow_reader_of_events_is_dropped_with_the_reason) {
    serve(2);
    Connection reader(socket_);
    reader.ask("/events");
    EXPECT_NE(reader.read_until("event: hello").find("200 OK"), std::string::npos);
    constexpr Sequence more_than_the_buffers_hold = 10'000;
    for (Sequence seq = 1; seq <= more_than_the_buffers_hold; ++seq) { events_.publish({change(seq)}); }
    const std::string all = reader.read_all();
    const std::size_t dropped = all.find("event: dropped\n");
    ASSERT_NE(dropped, std::string::npos);
    EXPECT_NE(all.find("more slowly", dropped), std::string::npos);
    EXPECT_EQ(all.find("event: task", dropped), std::string::npos);
}

TEST_F(DashboardServer, a_slow_reader_of_a_web_socket_is_dropped_with_the_reason) {
    serve(2);
    Connection reader(socket_);
    reader.ask("/updates",
               "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n");
    EXPECT_NE(reader.read_until("hello").find("101 Switching Protocols"), std::string::npos);
    constexpr Sequence more_than_the_buffers_hold = 10'000;
    for (Sequence seq = 1; seq <= more_than_the_buffers_hold; ++seq) { events_.publish({change(seq)}); }
    const std::string closed = std::string("\x03\xe9", 2) + "dropped";  // 1001: going away.
    const std::string all = reader.read_until(closed);
    EXPECT_NE(all.find("more slowly"), std::string::npos);
    EXPECT_TRUE(all.ends_with(closed));
}

TEST_F(DashboardServer, queues_extra_connections_and_closes_those_beyond_the_queue) {
    serve(2);
    auto first = std::make_unique<Connection>(socket_);
    Connection second(socket_);
    for (Connection* stream : {first.get(), &second}) {
        stream->ask("/events");
        EXPECT_NE(stream->read_until("event: hello").find("200 OK"), std::string::npos);
    }
    Connection third(socket_);
    Connection fourth(socket_);
    Connection fifth(socket_);
    third.ask("/");
    EXPECT_EQ(fifth.read_all(), "");
    first.reset();
    EXPECT_TRUE(third.read_all().ends_with("ok"));
}

TEST_F(DashboardServer, leaves_a_socket_path_in_use_to_the_other_program) {
    ServerSettings settings;
    settings.socket = socket_;
    {
        const FileDescriptor other(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const sockaddr_un address = Connection::address_of(socket_);
        ASSERT_EQ(::bind(other.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        ASSERT_EQ(::listen(other.get(), 1), 0);
        EXPECT_EQ(listen(settings).error().code, "AF-DASH-030");
        const Connection still_there(socket_);
    }
    EXPECT_TRUE(listen(settings).ok()) << "nobody listens there any more";

    const FileDescriptor other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(other.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(other.get(), 1), 0);
    ASSERT_EQ(::getsockname(other.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    settings.socket.clear();
    settings.port = ::ntohs(address.sin_port);
    EXPECT_EQ(listen(settings).error().code, "AF-DASH-030");
}

}  // namespace
}  // namespace agentforge::kernel::testing
