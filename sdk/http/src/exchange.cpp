// SPDX-License-Identifier: Apache-2.0
#include <agentforge_http/exchange.hpp>

#include <Poco/Buffer.h>
#include <Poco/Net/Context.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Net/HTTPSClientSession.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/NetSSL.h>
#include <Poco/Net/SSLException.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <agentforge/process.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <system_error>
#include <thread>

#include <agentforge_http/body.hpp>

namespace agentforge::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds look_up_interval{20};
constexpr milliseconds farewell{50};
constexpr std::chrono::seconds longest_idle{30};
constexpr std::size_t most_idle = 4;
constexpr int yes = 1;
constexpr unsigned unacknowledged_ms = 30'000;  ///< After this time a peer that vanished silently (sleep, NAT) counts as gone.

/// Thrown when the caller has left. No one reads it.
struct Abandoned {};

/// State shared by caller and worker. Lives as long as either of them.
struct Wire {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Head> head;
    std::deque<std::string> parts;
    std::optional<Error> error;
    bool done = false;
    bool abandoned = false;
    bool enough = false;  ///< Reads and drops the rest.
    /// A duplicate of the open connection's descriptor, so that its number cannot be reused for another file.
    int descriptor = -1;

    Wire() = default;
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;
    ~Wire() {
        if (descriptor >= 0) { ::close(descriptor); }
    }

    void check() {
        const std::lock_guard lock(mutex);
        if (abandoned) { throw Abandoned(); }
    }
    void opened(int handle) {
        ::fcntl(handle, F_SETFD, FD_CLOEXEC);
        const std::lock_guard lock(mutex);
        if (abandoned) { throw Abandoned(); }
        if (descriptor >= 0) { ::close(descriptor); }
        descriptor = ::fcntl(handle, F_DUPFD_CLOEXEC, 3);
    }
    void abandon() {
        const std::lock_guard lock(mutex);
        abandoned = true;
        if (descriptor >= 0) { ::shutdown(descriptor, SHUT_RDWR); }
    }
    void finish(std::optional<Error> failure) {
        const std::lock_guard lock(mutex);
        error = std::move(failure);
        done = true;
        changed.notify_all();
    }
};

Poco::Timespan span(milliseconds time) {
    return {static_cast<Poco::Timespan::TimeDiff>(std::max<milliseconds::rep>(1, time.count())) * 1000};
}

/// The exchange that a session currently serves.
struct Duty {
    Wire* wire = nullptr;
};

/// A session that registers its connection with the wire.
template <class Session>
class Watched final : public Session {
public:
    template <class... Arguments>
    explicit Watched(std::shared_ptr<Duty> duty, Arguments&&... arguments)
        : Session(std::forward<Arguments>(arguments)...), duty_(std::move(duty)) {}

protected:
    void connect(const Poco::Net::SocketAddress& address) override {
        duty_->wire->check();
        Session::connect(address);
        const int handle = this->socket().impl()->sockfd();
        ::setsockopt(handle, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof(unacknowledged_ms));
        ::setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &yes,
                     sizeof(yes));  // Sends the rest of a request without waiting for an acknowledgement of its beginning.
        duty_->wire->opened(handle);
    }

private:
    std::shared_ptr<Duty> duty_;
};

struct Connection {
    std::unique_ptr<Poco::Net::HTTPClientSession> session;
    std::shared_ptr<Duty> duty;
    steady_clock::time_point since;  ///< Idle since then.

    /// True if nothing has arrived since the last answer, not even the end of the stream.
    [[nodiscard]] bool silent() const {
        pollfd wait{session->socket().impl()->sockfd(), POLLIN, 0};
        return ::poll(&wait, 1, 0) == 0 && session->socket().available() == 0;
    }
};

Error no_connection(const Call& call, const std::string& why) {
    const std::string by = call.proxy ? " by the proxy " + call.proxy->host + ":" + std::to_string(call.proxy->port) : "";
    return {"AF-LLM-402", call.server.host + " cannot be reached" + by + ": " + process::to_utf8(why), call.server.text(),
            "Check llm.base_url, the network and the proxy variables, and that the server runs; then resume.",
            ErrorKind::transient};
}

Error no_trust(const Call& call, const std::string& why) {
    return {"AF-LLM-403", "no secure connection to " + call.server.host + ": " + process::to_utf8(why), call.server.text(),
            "Check the address; for a private certificate authority name its file in llm.settings.ca_file.",
            ErrorKind::unavailable};
}

Error cut_off(const Call& call, const std::string& why) {
    return {"AF-LLM-409",
            "the connection to " + call.server.host + " ended before the answer did" +
                (why.empty() ? "" : ": " + process::to_utf8(why)),
            call.server.text(), "A retry may succeed; resume.", ErrorKind::transient};
}

Error too_late(const Call& call) {
    return {"AF-LLM-410", call.server.host + " did not answer in time", call.server.text(),
            "Raise llm.timeout_seconds, or use a faster model.", ErrorKind::timeout};
}

Error too_large(const Call& call) {
    return {"AF-LLM-412", call.server.host + " answered with more than " + std::to_string(call.max_body_bytes) + " bytes",
            call.server.text(), "Lower llm.max_output_tokens, or use a model that stops.", ErrorKind::unavailable};
}

/// Returns the most informative text of an exception. Poco puts the cause into the message or only into the name.
std::string words(const Poco::Exception& failure) { return failure.displayText(); }

/// Poco stores the status in an enumeration, but a server may send other values (529). Reading one from the enumeration would be
/// undefined; reading its text is not.
int status_of(const Poco::Net::HTTPResponse& response) {
    std::ostringstream text;
    response.write(text);
    const std::string line = text.str();
    int status = 0;
    const std::size_t space = line.find(' ');
    if (space != std::string::npos) { std::from_chars(line.data() + space + 1, line.data() + line.size(), status); }
    return status;
}

Poco::Net::Context::Ptr trusting(const std::string& ca_file) {
    static const bool ready = (Poco::Net::initializeSSL(), true);
    static_cast<void>(ready);
    Poco::Net::Context::Ptr trust(
        new Poco::Net::Context(Poco::Net::Context::TLS_CLIENT_USE, ca_file, Poco::Net::Context::VERIFY_STRICT, 9, true));
    trust->requireMinimumProtocol(Poco::Net::Context::PROTO_TLSV1_2);
    return trust;
}

/// What `Connections` keeps.
struct KeptConnections {
    std::mutex mutex;
    std::multimap<std::string, Connection> idle;
    std::map<std::string, Poco::Net::Context::Ptr>
        trust;  ///< By certificate file. Reading the system's certificates takes longer than a handshake.

    std::optional<Connection> take(const std::string& purpose) {
        const std::lock_guard lock(mutex);
        std::erase_if(idle, [now = steady_clock::now()](const auto& one) {
            return now - one.second.since > longest_idle || !one.second.silent();
        });
        const auto found = idle.find(purpose);
        if (found == idle.end()) { return std::nullopt; }
        Connection taken = std::move(found->second);
        idle.erase(found);
        return taken;
    }
    void give(const std::string& purpose, Connection connection) {
        connection.since = steady_clock::now();
        connection.duty->wire = nullptr;
        const std::lock_guard lock(mutex);
        if (idle.size() < most_idle) { idle.emplace(purpose, std::move(connection)); }
    }
    Poco::Net::Context::Ptr trust_of(const std::string& ca_file) {
        const std::lock_guard lock(mutex);
        Poco::Net::Context::Ptr& kept = trust[ca_file];
        if (kept.isNull()) { kept = trusting(ca_file); }
        return kept;
    }
};

class Worker {
public:
    Worker(Call call, std::shared_ptr<Wire> wire) : call_(std::move(call)), wire_(std::move(wire)) {}

    void operator()() {
        // Signals belong to the program, not to this thread. Writing to a broken connection also raises one.
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
        std::optional<Error> failure;
        try {
            failure = run();
        } catch (const Abandoned&) {
        } catch (const Poco::Net::SSLConnectionUnexpectedlyClosedException& error) {
            failure = cut_off(call_, words(error));
        } catch (const Poco::Net::SSLException& error) {
            failure = connected_ ? cut_off(call_, words(error)) : no_trust(call_, words(error));
        } catch (const Poco::TimeoutException&) {
            failure = connected_
                          ? too_late(call_)
                          : no_connection(call_, "no connection within " + std::to_string(call_.connect_timeout.count()) + " ms");
        } catch (const Poco::Exception& error) {
            failure = connected_ ? cut_off(call_, words(error)) : no_connection(call_, words(error));
        } catch (const std::exception& error) { failure = no_connection(call_, error.what()); }
        connection_ = {};
        wire_->finish(std::move(failure));
    }

private:
    [[nodiscard]] milliseconds left() const {
        return std::max(milliseconds(1), std::chrono::ceil<milliseconds>(call_.deadline - steady_clock::now()));
    }

    /// The key for reuse: what a connection can serve.
    [[nodiscard]] std::string purpose() const {
        std::string text = call_.server.text() + "\n" + call_.ca_file;
        if (call_.proxy) {
            text += "\n" + call_.proxy->host + ":" + std::to_string(call_.proxy->port) + "\n" + call_.proxy->user + "\n" +
                    call_.proxy->password;
        }
        return text;
    }

    void open() {
        const auto duty = std::make_shared<Duty>();
        duty->wire = wire_.get();
        std::unique_ptr<Poco::Net::HTTPClientSession> session;
        if (call_.server.secure) {
            const Poco::Net::Context::Ptr trust =
                call_.connections ? call_.connections->state<KeptConnections>().trust_of(call_.ca_file) : trusting(call_.ca_file);
            session = std::make_unique<Watched<Poco::Net::HTTPSClientSession>>(duty, call_.server.host, call_.server.port, trust);
        } else {
            session = std::make_unique<Watched<Poco::Net::HTTPClientSession>>(duty, call_.server.host, call_.server.port);
        }
        if (call_.proxy) {
            session->setProxy(call_.proxy->host, call_.proxy->port);
            if (!call_.proxy->user.empty()) { session->setProxyCredentials(call_.proxy->user, call_.proxy->password); }
        }
        session->setKeepAlive(call_.connections != nullptr);
        session->setKeepAliveTimeout(Poco::Timespan(1, 0, 0, 0, 0));  // This file decides how long a connection may be idle.
        const milliseconds most = std::min(call_.connect_timeout, left());
        session->setTimeout(span(most), span(most), span(most));
        connection_ = {std::move(session), duty, {}};
    }

    std::optional<Error> run() {
        if (call_.connections) {
            if (auto kept = call_.connections->state<KeptConnections>().take(purpose())) {
                connection_ = *std::move(kept);
                connection_.duty->wire = wire_.get();
                wire_->opened(connection_.session->socket().impl()->sockfd());
                connected_ = true;
                try {
                    return ask();
                } catch (const Poco::Net::NoMessageException&) {  // The connection ended where the answer should begin.
                } catch (const Poco::Net::MessageException&) { throw; } catch (const Poco::TimeoutException&) {
                    if (answered_ || left() <= look_up_interval) { throw; }
                } catch (const Poco::Exception&) {
                    if (answered_) { throw; }
                }
                connected_ = false;
                wire_->check();
            }
        }
        open();
        return ask();
    }

    std::optional<Error> ask() {
        const auto& session = connection_.session;
        Poco::Net::HTTPRequest request(call_.method, call_.path, Poco::Net::HTTPMessage::HTTP_1_1);
        set_headers(request);
        if (connected_) { session->socket().setSendTimeout(span(left())); }
        std::ostream& out = session->sendRequest(request);
        connected_ = true;
        // A server may refuse before it has read everything. Its answer matters more than the failed write.
        out << call_.body << std::flush;
        session->socket().setReceiveTimeout(span(left()));
        Poco::Net::HTTPResponse response;
        acknowledge_at_once();
        session->receiveResponse(response);
        answered_ = true;
        Head head = head_of(response);
        BodyReader body = body_reader(response, head.status);
        {
            const std::lock_guard lock(wire_->mutex);
            wire_->head = std::move(head);
        }
        return receive(body, response);
    }

    void set_headers(Poco::Net::HTTPRequest& request) const {
        for (const auto& [name, value] : call_.headers) { request.set(name, value); }
        if (!call_.connections) { request.setKeepAlive(false); }
        if (call_.body.empty()) { return; }
        if (!request.has("Content-Type")) { request.setContentType("application/json"); }
        request.setContentLength64(static_cast<Poco::Int64>(call_.body.size()));
    }

    static Head head_of(const Poco::Net::HTTPResponse& response) {
        Head head;
        head.status = status_of(response);
        head.reason = process::to_utf8(response.getReason());
        for (const auto& [name, value] : response) {
            std::string small = name;
            std::transform(small.begin(), small.end(), small.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
            head.headers.emplace_back(std::move(small), process::to_utf8(value));
        }
        return head;
    }

    static BodyReader body_reader(const Poco::Net::HTTPResponse& response, int status) {
        const bool empty = status == 204 || status == 304;
        if (empty) { return BodyReader(Framing::length, 0); }
        if (response.getChunkedTransferEncoding()) { return BodyReader(Framing::chunked, 0); }
        if (!response.hasContentLength()) { return BodyReader(Framing::until_close, 0); }
        return BodyReader(Framing::length, static_cast<std::uint64_t>(response.getContentLength64()));
    }

    /// Hands the body over as it arrives.
    std::optional<Error> receive(BodyReader& body, const Poco::Net::HTTPResponse& response) {
        const auto& session = connection_.session;
        Poco::Buffer<char> rest(0);
        session->drainBuffer(rest);
        std::uint64_t received = 0;
        std::string_view part(rest.begin(), rest.size());
        std::array<char, 16'384> buffer{};
        for (;;) {
            std::string content;
            if (auto fed = body.feed(part, content); !fed.ok()) { return std::move(fed).error(); }
            received += content.size();
            if (received > call_.max_body_bytes) { return too_large(call_); }
            hand_over(std::move(content));
            if (body.whole()) {
                keep(response.getKeepAlive() && !body.surplus());
                return std::nullopt;
            }
            acknowledge_at_once();
            const int size = session->socket().receiveBytes(buffer.data(), static_cast<int>(buffer.size()));
            if (size <= 0) {
                // Truncated headers look like headers without a length. So require some of the body.
                const bool ended = body.may_end() && received > 0;
                return ended ? std::nullopt : std::optional(cut_off(call_, ""));
            }
            part = std::string_view(buffer.data(), static_cast<std::size_t>(size));
        }
    }

    /// A server that holds back a small piece until the previous one is acknowledged would wait 40 ms. The option holds for a
    /// moment only.
    void acknowledge_at_once() const {
        ::setsockopt(connection_.session->socket().impl()->sockfd(), IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof(yes));
    }

    void keep(bool good) {
        if (!good || !call_.connections) { return; }
        wire_->check();
        call_.connections->state<KeptConnections>().give(purpose(), std::move(connection_));
    }

    void hand_over(std::string content) {
        if (content.empty()) { return; }
        const std::lock_guard lock(wire_->mutex);
        if (wire_->abandoned) { throw Abandoned(); }
        if (wire_->enough) { return; }
        wire_->parts.push_back(std::move(content));
        wire_->changed.notify_all();
    }

    Call call_;
    std::shared_ptr<Wire> wire_;
    Connection connection_;
    bool connected_ = false;
    bool answered_ = false;  ///< The head of the answer has arrived.
};

/// The caller's side of an exchange. The worker's side may outlive it.
class Caller {
public:
    Caller(const Call& call, const std::function<bool()>& cancelled, const Take& take)
        : call_(call), cancelled_(cancelled), take_(take) {}

    /// Throws std::system_error if there can be no thread.
    void start() { thread_ = std::thread(Worker(call_, wire_)); }

    Result<Head> follow() {
        for (;;) {
            News news = wait();
            if (cancelled_()) {
                part_ways();
                return Error{"AF-LLM-411", "the call of " + call_.server.host + " was cancelled", "",
                             "Resume the task to continue.", ErrorKind::cancelled};
            }
            for (const std::string& part : news.parts) {
                auto more = take_(*news.head, part);
                if (!more.ok()) {
                    part_ways();
                    return std::move(more).error();
                }
                if (more.value()) { continue; }
                leave_rest();
                return *std::move(news.head);
            }
            if (news.done) {
                thread_.join();
                if (news.error) { return *std::move(news.error); }
                return *std::move(news.head);
            }
            if (steady_clock::now() >= call_.deadline) {
                part_ways();
                return too_late(call_);
            }
        }
    }

private:
    /// What the worker has done since the last look.
    struct News {
        std::deque<std::string> parts;
        std::optional<Head> head;
        std::optional<Error> error;
        bool done = false;
    };

    News wait() {
        News news;
        std::unique_lock lock(wire_->mutex);
        const auto wake = std::min(steady_clock::now() + look_up_interval, call_.deadline);
        wire_->changed.wait_until(lock, wake, [this] { return wire_->done || !wire_->parts.empty(); });
        news.parts.swap(wire_->parts);
        news.head = wire_->head;
        news.error = wire_->error;
        news.done = wire_->done;
        return news;
    }

    /// Gives the worker a moment to end. Returns false if it continues.
    bool finished(std::unique_lock<std::mutex> lock) {
        if (!wire_->changed.wait_for(lock, farewell, [this] { return wire_->done; })) { return false; }
        lock.unlock();
        thread_.join();
        return true;
    }

    /// Waits for a worker that ends at once and leaves any other behind.
    void part_ways() {
        wire_->abandon();
        if (!finished(std::unique_lock(wire_->mutex))) { thread_.detach(); }
    }

    /// The caller wants no more of the body.
    void leave_rest() {
        std::unique_lock lock(wire_->mutex);
        wire_->enough = true;
        if (!finished(std::move(lock))) { part_ways(); }
    }

    const Call& call_;
    const std::function<bool()>& cancelled_;
    const Take& take_;
    const std::shared_ptr<Wire> wire_ = std::make_shared<Wire>();
    std::thread thread_;
};

}  // namespace

Result<Head> exchange(const Call& call, const std::function<bool()>& cancelled, const Take& take) {
    Caller caller(call, cancelled, take);
    try {
        caller.start();
    } catch (const std::system_error& error) {
        return no_connection(call, std::string("this machine has no thread left (") + error.what() + ")");
    }
    return caller.follow();
}

}  // namespace agentforge::http
