// SPDX-License-Identifier: Apache-2.0
// JSON-RPC 2.0 with a child process: one message a line on its standard input and output, as in the stdio transport of the Model
// Context Protocol (https://modelcontextprotocol.io/specification/2025-06-18/basic/transports).
//
// The child's output is untrusted. It is bounded in bytes, in messages and in time. Output that is not an answer to one of our
// requests is counted and logged, and has no other effect.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/host.hpp>

#include "sandbox/process_runner.hpp"

namespace agentforge::kernel {

/// The time limit of a request, and what may end it earlier.
struct RequestLimit {
    std::chrono::milliseconds timeout{60'000};
    std::function<bool()> cancelled;  ///< Called every 50 ms. Empty: never cancelled.
};

class Connection {
public:
    struct Limits {
        std::size_t max_message_bytes = 4UL << 20U;
        std::size_t max_messages = 10'000;  ///< Messages other than answers, while one request waits.
    };
    struct Peer {
        /// Receives a notification of the child.
        std::function<void(std::string_view method, const json::object& params)> notified;
        /// Answers a request of the child: the answer, an error, or nothing if the method is unknown.
        std::function<std::optional<Result<json::value>>(std::string_view method, const json::object& params)> asked;
        std::function<void(LogLevel level, const std::string& message)> log;
    };

    /// `name`: the child's name in messages, such as "server `files`".
    Connection(std::string name, std::unique_ptr<InteractiveProcess> process, Limits limits, Peer peer);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Sends a request and waits for its answer, serving the child's requests meanwhile. A request is never sent twice. Errors:
    /// AF-MCP-013 the child answered with an error (the connection stays); AF-MCP-010 no answer in time, AF-MCP-019 cancelled
    /// (the child is notified; if it then does not answer a ping within a second, it is stopped); AF-MCP-009 a message is too
    /// large, or too many arrived; AF-MCP-011 it ended; AF-MCP-008 its answer is invalid. After 009 and 011 `alive` is false.
    [[nodiscard]] Result<json::value> request(std::string_view method, json::object params, const RequestLimit& limit);
    /// Returns the message and code of the error with which the child answered the last request. Empty: it did not.
    [[nodiscard]] const std::optional<std::string>& refusal() const noexcept { return refusal_; }
    void notify(std::string_view method, json::object params = {});
    /// Reads what has arrived meanwhile. Returns false once the child is gone.
    [[nodiscard]] bool alive();
    /// Ends the child: closes its input, sends TERM, then KILL to its whole tree. Returns how it ended, for messages.
    std::string end();
    /// Returns the end of its standard error, made readable, and the first lines of its output that were not messages.
    [[nodiscard]] std::string said() const;
    /// Returns how many messages had no effect: unknown notifications, unexpected answers, lines that are not JSON.
    [[nodiscard]] std::uint64_t ignored() const noexcept { return ignored_; }

private:
    struct Waiting;
    [[nodiscard]] Result<json::value> wait_for(std::int64_t id, std::string_view method, const RequestLimit& limit);
    void pump(std::chrono::milliseconds wait);
    void take_lines();
    void take_line(std::string_view line);
    void take_message(const json::object& message);
    void take_answer(const json::object& message);
    void answer(const json::object& message, std::string_view method);
    void send(const json::object& message);
    void ignore(const std::string& what);
    void give_up(std::string code, std::string why);
    [[nodiscard]] Error gone(std::string_view method) const;
    [[nodiscard]] bool answers_ping(std::chrono::milliseconds timeout);

    std::string name_;
    std::unique_ptr<InteractiveProcess> process_;
    Limits limits_;
    Peer peer_;
    std::string to_write_, in_, err_;
    std::size_t scanned_ = 0;  ///< Bytes of `in_` that contain no line end.
    std::int64_t last_id_ = 0;
    std::int64_t waiting_for_ = 0;  ///< 0: nothing.
    std::optional<json::object> answer_;
    std::optional<std::string> refusal_;
    std::set<std::int64_t> given_up_;  ///< Requests whose answer may still arrive.
    std::size_t messages_ = 0;         ///< Since the request was sent.
    std::vector<std::string> stray_;   ///< First lines that were not messages, shortened.
    std::uint64_t ignored_ = 0;
    std::optional<Error> broken_;
    std::string ended_how_;
    bool ended_ = false;
};

}  // namespace agentforge::kernel
