// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

#include <Poco/Exception.h>
#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPServer.h>
#include <Poco/Net/HTTPServerRequestImpl.h>
#include <Poco/Net/HTTPServerResponse.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/Net/WebSocket.h>
#include <Poco/String.h>
#include <Poco/ThreadPool.h>
#include <Poco/URI.h>

#include "dashboard/http_server.hpp"
#include "dashboard/server/bounded_socket.hpp"

namespace agentforge::kernel {

namespace {

namespace Net = Poco::Net;

constexpr int ping_after_ms = 20'000;
constexpr int most_frame_bytes = 4096;
constexpr std::chrono::milliseconds most_frame_time{1000};

Poco::Timespan span(std::chrono::milliseconds time) { return {static_cast<Poco::Timespan::TimeDiff>(time.count() * 1000)}; }

/// Waits until either descriptor is readable. Returns false on timeout.
bool wait_for(int one, int other, int milliseconds) {
    std::array<pollfd, 2> watched{pollfd{one, POLLIN, 0}, pollfd{other, POLLIN, 0}};
    return ::poll(watched.data(), watched.size(), milliseconds) > 0;
}

class Handler final : public Net::HTTPRequestHandler {
public:
    Handler(HttpApplication& application, const ServerSettings& settings) : application_(application), settings_(settings) {}

    void handleRequest(Net::HTTPServerRequest& request, Net::HTTPServerResponse& response) override {
        // A failing connection ends alone; the page and its tools open others.
        HttpRequest asked;
        response.setVersion(Net::HTTPMessage::HTTP_1_1);  // The default is to repeat the client's version.
        if (const auto refused = read(request, asked)) {
            response.setKeepAlive(false);
            send(application_.refuse(refused->status, refused->problem), response, false);
            if (const auto* socket = socket_of(request)) { socket->drain(); }
            return;
        }
        HttpResponse answer = application_.answer(asked);
        if (answer.events && answer.web_socket) { return speak_web_socket(request, response, *answer.events); }
        if (answer.events) { return stream(request, response, answer); }
        send(answer, response, asked.only_head);
        if (auto* socket = socket_of(request)) { socket->begin_request(); }
    }

private:
    static BoundedSocketImpl* socket_of(Net::HTTPServerRequest& request) {
        auto* own = dynamic_cast<Net::HTTPServerRequestImpl*>(&request);
        return own == nullptr ? nullptr : dynamic_cast<BoundedSocketImpl*>(own->socket().impl());
    }

    static UnreadableHead unreadable(const std::string& what, const std::string& where, const char* remedy,
                                     int status = Net::HTTPResponse::HTTP_BAD_REQUEST) {
        return {status, Error{"AF-DASH-040", what, where, remedy, ErrorKind::invalid}};
    }

    /// Returns the fault of the request, or nothing if it was read.
    std::optional<UnreadableHead> read(Net::HTTPServerRequest& request, HttpRequest& asked) const {
        asked.only_head = request.getMethod() == Net::HTTPRequest::HTTP_HEAD;
        asked.method = asked.only_head ? "GET" : request.getMethod();
        asked.over_unix_socket = !settings_.socket.empty();
        if (request.getVersion() != Net::HTTPMessage::HTTP_1_1 && request.getVersion() != Net::HTTPMessage::HTTP_1_0) {
            return unreadable("The request is not of HTTP/1.1", "", "speak HTTP/1.1",
                              Net::HTTPResponse::HTTP_VERSION_NOT_SUPPORTED);
        }
        if (!request.getURI().starts_with('/')) {
            return unreadable("The request's address does not begin with `/`", "", "send the path alone, and the host as `Host`");
        }
        try {
            const Poco::URI uri(request.getURI());
            if (request.getURI().find('#') != std::string::npos) { throw Poco::SyntaxException("a fragment is never sent"); }
            asked.path = uri.getPath();
            for (const auto& [name, value] : uri.getQueryParameters()) {
                if (!asked.query.emplace(name, value).second) {
                    return unreadable("A parameter is given twice", printable(name), "send it once");
                }
            }
        } catch (const Poco::Exception&) {
            return unreadable("The request's address cannot be read", "", "encode it as RFC 3986 says");
        }
        for (const auto& [name, value] : request) {
            const std::string key = Poco::toLower(name);
            std::string& header = asked.headers[key];
            const bool again = !header.empty();
            if (again && key != "cookie") { return unreadable("A header is given twice", printable(key), "send it once"); }
            header += (again ? "; " : "") + value;
        }
        return read_body(request, asked);
    }

    std::optional<UnreadableHead> read_body(Net::HTTPServerRequest& request, HttpRequest& asked) const {
        // Allows only one way to mark the end of a body: with two, two parsers may see different requests.
        if (asked.headers.contains("transfer-encoding")) {
            return unreadable("The request's body does not say its length", "Transfer-Encoding", "send `Content-Length`",
                              Net::HTTPResponse::HTTP_LENGTH_REQUIRED);
        }
        if (!request.hasContentLength()) {
            const bool may_have_body = asked.method == "POST" || asked.method == "PUT" || asked.method == "PATCH";
            return may_have_body ? std::optional(unreadable("The request does not say how long its body is", "Content-Length",
                                                            "send `Content-Length`; it is 0 without a body",
                                                            Net::HTTPResponse::HTTP_LENGTH_REQUIRED))
                                 : std::nullopt;
        }
        const std::string length = asked.headers["content-length"];
        if (length.empty() || length.size() > 18 || length.find_first_not_of("0123456789") != std::string::npos) {
            return unreadable("The body's length is not a number", "Content-Length", "send the number of its bytes");
        }
        const auto bytes = static_cast<std::size_t>(std::stoull(length));
        if (bytes > settings_.most_body_bytes) {
            return UnreadableHead{
                Net::HTTPResponse::HTTP_REQUEST_ENTITY_TOO_LARGE,
                Error{"AF-DASH-041", "The request is too large", "",
                      "send at most " + std::to_string(settings_.most_body_bytes >> 10U) + " KiB", ErrorKind::invalid}};
        }
        asked.body.resize(bytes);
        request.stream().read(asked.body.data(), static_cast<std::streamsize>(bytes));
        const bool whole = request.stream().gcount() == static_cast<std::streamsize>(bytes);
        if (!whole) { return unreadable("The request's body is cut off, or came too late", "", "send all of it at once"); }
        return std::nullopt;
    }

    static std::string printable(std::string text) {
        constexpr std::size_t most_bytes = 60;
        text.resize(std::min(text.size(), most_bytes));
        std::ranges::replace_if(
            text, [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
        return text;
    }

    static void send_head(const HttpResponse& answer, Net::HTTPServerResponse& response) {
        response.setStatus(static_cast<Net::HTTPResponse::HTTPStatus>(answer.status));
        response.setReason(Net::HTTPResponse::getReasonForStatus(response.getStatus()));
        for (const auto& [name, value] : answer.headers) { response.add(name, value); }
    }

    static void send(const HttpResponse& answer, Net::HTTPServerResponse& response, bool only_head) {
        send_head(answer, response);
        const bool has_body = answer.status != 304 && answer.status != 204;
        if (has_body) { response.setContentLength64(static_cast<Poco::Int64>(answer.body.size())); }
        std::ostream& out = response.send();
        if (has_body && !only_head) { out.write(answer.body.data(), static_cast<std::streamsize>(answer.body.size())); }
        out.flush();
        // The client does not read, so it would not read the answer to another request either.
        if (!out.good()) { response.setKeepAlive(false); }
    }

    /// Sends server-sent events. If the client does not receive within the send time, the write fails and the client is
    /// disconnected.
    static void stream(Net::HTTPServerRequest& request, Net::HTTPServerResponse& response, HttpResponse& answer) {
        send_head(answer, response);
        response.setKeepAlive(false);
        std::ostream& out = response.send();
        out << "retry: 2000\n\n" << std::flush;
        BoundedSocketImpl* const socket = socket_of(request);
        if (socket == nullptr) { return; }
        socket->end_requests();
        while (out.good()) {
            const bool something = wait_for(answer.events->descriptor(), socket->sockfd(), ping_after_ms);
            if (!something) { out << ": still here\n\n"; }
            if (something && has_left(socket->sockfd())) { return; }
            for (const EventSource::Event& event : answer.events->take()) {
                if (!event.id.empty()) { out << "id: " << event.id << "\n"; }
                out << "event: " << event.type << "\ndata: " << event.data << "\n\n";
            }
            out.flush();
            if (answer.events->ended()) { return; }
        }
    }

    /// True if the client closed the connection, or sent data where none is allowed.
    static bool has_left(int socket) {
        char byte = 0;
        const ssize_t count = ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        return count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
    }

    void speak_web_socket(Net::HTTPServerRequest& request, Net::HTTPServerResponse& response, EventSource& events) const {
        BoundedSocketImpl* const socket = socket_of(request);  // The WebSocket takes ownership.
        std::unique_ptr<Net::WebSocket> opened;
        try {
            if (!is_key(request.get("Sec-WebSocket-Key", ""))) { throw Net::WebSocketException("no key"); }
            opened = std::make_unique<Net::WebSocket>(request, response);
        } catch (const Net::WebSocketException&) {
            response.setKeepAlive(false);
            return send(
                application_.refuse(
                    Net::HTTPResponse::HTTP_BAD_REQUEST,
                    unreadable("The request asks for no WebSocket", "", "send what RFC 6455 asks of a handshake").problem),
                response, false);
        }
        if (socket != nullptr) { socket->end_requests(); }
        Net::WebSocket& web_socket = *opened;
        web_socket.setMaxPayloadSize(most_frame_bytes);
        web_socket.setReceiveTimeout(span(most_frame_time));
        speak(web_socket, events);
        if (socket != nullptr) {
            socket->drain();
        }  // Otherwise unread bytes would reset the connection before the close is read.
    }

    /// Returns once the connection is closed by a frame with the reason.
    static void speak(Net::WebSocket& web_socket, EventSource& events) {
        try {
            for (;;) {
                const bool something = wait_for(events.descriptor(), web_socket.impl()->sockfd(), ping_after_ms);
                if (!something) {
                    web_socket.sendFrame(
                        "", 0,
                        static_cast<int>(Net::WebSocket::FRAME_FLAG_FIN) | static_cast<int>(Net::WebSocket::FRAME_OP_PING));
                }
                const std::vector<EventSource::Event> taken = events.take();
                for (const EventSource::Event& event : taken) { send_event(web_socket, event); }
                if (events.ended()) {
                    // `closed` or `dropped`, as the last event says.
                    web_socket.shutdown(Net::WebSocket::WS_ENDPOINT_GOING_AWAY, taken.empty() ? "" : taken.back().type);
                    return;
                }
                while (web_socket.poll(Poco::Timespan(0), Net::Socket::SELECT_READ)) {
                    if (const auto close = receive(web_socket)) { return web_socket.shutdown(*close); }
                }
            }
        } catch (const Net::WebSocketException& problem) {
            const bool large = problem.code() == Net::WebSocket::WS_ERR_PAYLOAD_TOO_BIG;
            web_socket.shutdown(large ? Net::WebSocket::WS_PAYLOAD_TOO_BIG : Net::WebSocket::WS_PROTOCOL_ERROR,
                                large ? "frame too large" : "protocol error");
        } catch (const Poco::TimeoutException&) { web_socket.shutdown(Net::WebSocket::WS_PROTOCOL_ERROR, "unfinished frame"); }
    }

    static void send_event(Net::WebSocket& web_socket, const EventSource::Event& event) {
        std::string frame = event.data;
        if (!event.id.empty()) { frame.insert(1, "\"id\": \"" + event.id + "\", "); }
        web_socket.sendFrame(frame.data(), static_cast<int>(frame.size()), Net::WebSocket::FRAME_TEXT);
    }

    /// True if the key is 16 bytes in base64.
    static bool is_key(const std::string& key) {
        constexpr std::size_t length = 24;
        constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        return key.size() == length && key.ends_with("==") && key.find_first_not_of(letters) == length - 2;
    }

    /// Returns the size of the masked frame that begins with these bytes, or nothing if they do not tell yet.
    static std::optional<std::size_t> size_of_frame(const unsigned char* begin, std::size_t count) {
        constexpr std::size_t mask_bytes = 4;
        constexpr unsigned two_more_bytes = 126;
        constexpr unsigned eight_more_bytes = 127;
        if (count < 2) { return std::nullopt; }
        const unsigned length = begin[1] & 0x7fU;
        if (length < two_more_bytes) { return 2 + mask_bytes + length; }
        if (length == eight_more_bytes) { return std::numeric_limits<std::size_t>::max(); }  // No frame of a client needs them.
        return count < 4 ? std::nullopt : std::optional(4 + mask_bytes + begin[2] * std::size_t{256} + begin[3]);
    }

    /// Waits until all bytes of a frame have arrived, or the client has left. Returns the code to close the connection with if
    /// the frame is not masked, too large, or not complete in time, however slowly its bytes arrive.
    static std::optional<Poco::UInt16> wait_for_frame(int socket) {
        constexpr unsigned mask = 0x80;
        constexpr std::chrono::milliseconds between_looks{20};
        const auto until = std::chrono::steady_clock::now() + most_frame_time;
        std::array<unsigned char, most_frame_bytes + 8> bytes{};
        for (;;) {
            const ssize_t arrived = ::recv(socket, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
            if (arrived <= 0) { return std::nullopt; }
            const auto count = static_cast<std::size_t>(arrived);
            if (count > 1 && (bytes[1] & mask) == 0) { return Net::WebSocket::WS_PROTOCOL_ERROR; }
            const auto size = size_of_frame(bytes.data(), count);
            if (size && *size > bytes.size()) { return Net::WebSocket::WS_PAYLOAD_TOO_BIG; }
            if (size && *size <= count) { return std::nullopt; }
            if (std::chrono::steady_clock::now() >= until) { return Net::WebSocket::WS_PROTOCOL_ERROR; }
            ::poll(nullptr, 0, static_cast<int>(between_looks.count()));  // The socket stays readable all the time.
        }
    }

    /// Reads a frame. A client may only ping, answer a ping, or close. Returns the code to close the connection with for anything
    /// else.
    static std::optional<Poco::UInt16> receive(Net::WebSocket& web_socket) {
        constexpr int most_control_bytes = 125;
        constexpr int final_frame = static_cast<int>(Net::WebSocket::FRAME_FLAG_FIN);
        if (const auto refused = wait_for_frame(web_socket.impl()->sockfd())) { return refused; }
        std::array<char, most_frame_bytes> buffer{};
        int flags = 0;
        const int count = web_socket.receiveFrame(buffer.data(), static_cast<int>(buffer.size()), flags);
        if (count == 0 && flags == 0) { return Net::WebSocket::WS_NORMAL_CLOSE; }
        const int operation = flags & static_cast<int>(Net::WebSocket::FRAME_OP_BITMASK);
        if (operation == static_cast<int>(Net::WebSocket::FRAME_OP_TEXT) ||
            operation == static_cast<int>(Net::WebSocket::FRAME_OP_BINARY)) {
            return Net::WebSocket::WS_PAYLOAD_NOT_ACCEPTABLE;
        }
        const bool control =
            (flags & ~static_cast<int>(Net::WebSocket::FRAME_OP_BITMASK)) == final_frame && count <= most_control_bytes;
        if (control && operation == static_cast<int>(Net::WebSocket::FRAME_OP_PONG)) { return std::nullopt; }
        if (control && operation == static_cast<int>(Net::WebSocket::FRAME_OP_PING)) {
            web_socket.sendFrame(buffer.data(), count, final_frame | static_cast<int>(Net::WebSocket::FRAME_OP_PONG));
            return std::nullopt;
        }
        return control && count != 1 && operation == static_cast<int>(Net::WebSocket::FRAME_OP_CLOSE)
                   ? Net::WebSocket::WS_NORMAL_CLOSE
                   : Net::WebSocket::WS_PROTOCOL_ERROR;
    }

    HttpApplication& application_;
    const ServerSettings& settings_;
};

class Factory final : public Net::HTTPRequestHandlerFactory {
public:
    Factory(HttpApplication& application, const ServerSettings& settings) : application_(application), settings_(settings) {}
    Net::HTTPRequestHandler* createRequestHandler(const Net::HTTPServerRequest& /*request*/) override {
        return new Handler(application_, settings_);
    }  // NOLINT: the server deletes it.

private:
    HttpApplication& application_;
    const ServerSettings& settings_;
};

/// Writes an answer as HTTP text, for a request that was not parsed.
std::string whole_answer(const HttpResponse& answer) {
    std::string text = "HTTP/1.1 " + std::to_string(answer.status) + " " +
                       Net::HTTPResponse::getReasonForStatus(static_cast<Net::HTTPResponse::HTTPStatus>(answer.status)) + "\r\n";
    for (const auto& [name, value] : answer.headers) { text += name + ": " + value + "\r\n"; }
    return text + "Connection: close\r\nContent-Length: " + std::to_string(answer.body.size()) + "\r\n\r\n" + answer.body;
}

/// Removes a socket that no process listens on. Removes nothing else.
Result<void> clear_place(const std::string& path) {
    struct stat status {};
    sockaddr_un address{};
    if (path.size() >= sizeof address.sun_path) {
        return Error{"AF-DASH-031", "The path of the socket is too long", path, "name one of at most 107 bytes",
                     ErrorKind::invalid};
    }
    if (::lstat(path.c_str(), &status) != 0) { return {}; }
    const Error taken{"AF-DASH-030", "Another file is at the socket's path", path,
                      "name another path, or stop the dashboard that listens there", ErrorKind::conflict};
    if (!S_ISSOCK(status.st_mode) || status.st_uid != ::geteuid()) { return taken; }
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool answers = probe >= 0 && ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    if (probe >= 0) { ::close(probe); }
    if (answers) { return taken; }
    ::unlink(path.c_str());
    return {};
}

class Server final : public HttpServer {
public:
    Server(Net::ServerSocket socket, const ServerSettings& settings, HttpApplication& application)
        : settings_(settings),
          threads_(2, static_cast<int>(settings.most_connections) + 1),
          port_(settings.socket.empty() ? socket.address().port() : 0U),
          server_(new Factory(application, settings_), threads_, socket, parameters()) {
        server_.start();
    }
    ~Server() override {
        stop();
        server_.stopAll(true);
        threads_.joinAll();
        if (!settings_.socket.empty()) { ::unlink(settings_.socket.c_str()); }
    }
    [[nodiscard]] unsigned port() const override { return port_; }
    void stop() override { server_.stop(); }

private:
    [[nodiscard]] Net::HTTPServerParams* parameters() const {
        auto* const parameters = new Net::HTTPServerParams;  // NOLINT: reference-counted by the server.
        parameters->setMaxThreads(static_cast<int>(settings_.most_connections));
        parameters->setMaxQueued(static_cast<int>(settings_.most_connections));
        parameters->setKeepAlive(true);
        parameters->setTimeout(span(settings_.request_time));
        parameters->setKeepAliveTimeout(span(settings_.idle_time));
        constexpr int most_requests = 1000;
        parameters->setMaxKeepAliveRequests(most_requests);
        return parameters;
    }

    const ServerSettings settings_;
    Poco::ThreadPool threads_;
    unsigned port_;
    Net::HTTPServer server_;
};

class Listener final : public HttpListener {
public:
    Listener(Net::ServerSocket socket, ServerSettings settings, std::shared_ptr<Refusal> refusal)
        : socket_(std::move(socket)), settings_(std::move(settings)), refusal_(std::move(refusal)) {}
    [[nodiscard]] unsigned port() const override { return settings_.socket.empty() ? socket_.address().port() : 0U; }
    [[nodiscard]] std::unique_ptr<HttpServer> serve(HttpApplication& application) override {
        *refusal_ = [&application](int status, const Error& problem) {
            return whole_answer(application.refuse(status, problem));
        };
        return std::make_unique<Server>(socket_, settings_, application);
    }

private:
    Net::ServerSocket socket_;
    ServerSettings settings_;
    std::shared_ptr<Refusal> refusal_;
};

Result<std::unique_ptr<HttpListener>> begin_to_listen(const ServerSettings& settings) {
    const bool local = !settings.socket.empty();
    if (local) { AF_CHECK(clear_place(settings.socket)); }
    const std::string place = local ? settings.socket : "127.0.0.1:" + std::to_string(settings.port);
    try {
        const auto refusal = std::make_shared<Refusal>();
        BoundedServerSocket socket({settings.request_time, settings.send_time, settings.answer_time, refusal});
        const Net::SocketAddress address = local ? Net::SocketAddress(Net::SocketAddress::UNIX_LOCAL, settings.socket)
                                                 : Net::SocketAddress("127.0.0.1", static_cast<Poco::UInt16>(settings.port));
        const mode_t mask = ::umask(0177);
        try {
            if (local) {
                socket.bind(address, false);
            } else {
                socket.bind(address, true, false);
            }
        } catch (...) {
            ::umask(mask);
            throw;
        }
        ::umask(mask);
        constexpr int backlog = 64;
        socket.listen(backlog);
        return std::unique_ptr<HttpListener>(std::make_unique<Listener>(socket, settings, refusal));
    } catch (const Poco::Exception& problem) {
        const bool taken = problem.code() == EADDRINUSE || problem.displayText().find("in use") != std::string::npos;
        if (taken) {
            return Error{"AF-DASH-030", "The port is in use", place,
                         "give another one (--port N, or 0 for a free one), or stop the program that listens there",
                         ErrorKind::conflict};
        }
        return Error{"AF-DASH-031", "The dashboard cannot listen: " + problem.displayText(), place, "give another port or socket",
                     ErrorKind::io};
    }
}

}  // namespace

}  // namespace agentforge::kernel

extern "C" [[gnu::visibility("default")]] const agentforge::kernel::ServerLibrary* agentforge_server() {
    using namespace agentforge::kernel;
    static constexpr ServerLibrary library{AGENTFORGE_VERSION, sizeof(ServerSettings), sizeof(HttpRequest), &begin_to_listen};
    return &library;
}
