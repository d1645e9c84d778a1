// SPDX-License-Identifier: Apache-2.0
// A loopback server that sends the test's bytes unchanged and keeps its requests; and helpers shared by the tests.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include <agentforge/llm_backend.hpp>

namespace agentforge::http::testing {

struct Script {
    std::vector<std::string> pieces;       ///< Sent one by one after the request is read.
    std::chrono::milliseconds between{0};  ///< Before each piece.
    bool hang = false;                     ///< Keeps the connection open afterwards.
    bool keep = false;                     ///< Reads the next request from the same connection.
};

/// `HTTP/1.1 200 …` with a Content-Length.
[[nodiscard]] std::string response(int status, const std::string& type, const std::string& body, const std::string& headers = "");
[[nodiscard]] inline std::string json_response(const std::string& body, int status = 200, const std::string& headers = "") {
    return response(status, "application/json", body, headers);
}
/// An event stream that ends with the connection's frame: one chunk, then the last one.
[[nodiscard]] std::string stream_response(const std::string& events);

class Server {
public:
    /// Answers each request by the next script, and repeats the last one.
    explicit Server(std::vector<Script> scripts);
    explicit Server(const std::string& answer) : Server(std::vector<Script>{{{answer}, std::chrono::milliseconds(0), false}}) {}
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::vector<std::string> requests() const;
    /// The body of the last request, as JSON.
    [[nodiscard]] json::object asked() const;
    /// Returns the number of accepted connections.
    [[nodiscard]] unsigned connections() const { return connections_; }
    /// Returns the number of requests read in full.
    [[nodiscard]] unsigned received() const { return received_; }

private:
    void serve();
    /// Reads one request and answers it. Returns false if the connection ended, or if the answer ends it.
    [[nodiscard]] bool talk(int connection);
    [[nodiscard]] bool stopped(std::chrono::milliseconds time, int connection = -1) const;

    std::vector<Script> scripts_;
    int listener_ = -1;
    int stop_[2] = {-1, -1};
    std::uint16_t port_ = 0;
    mutable std::mutex mutex_;
    std::vector<std::string> requests_;
    std::atomic<unsigned> received_ = 0;
    std::atomic<unsigned> connections_ = 0;
    std::thread thread_;
};

class Context final : public CallContext {
public:
    [[nodiscard]] bool cancelled() const noexcept override { return cancel && cancel(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return until; }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view) override {}
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return {}; }

    std::function<bool()> cancel;
    std::optional<std::chrono::steady_clock::time_point> until;
};

class Parts final : public StreamSink {
public:
    void text(std::string_view part) override { parts.emplace_back(part); }
    std::vector<std::string> parts;
};

[[nodiscard]] inline CompletionRequest request() {
    CompletionRequest made;
    made.system = "You are a tester.";
    made.user = "What now?";
    made.tools = {{"read_file", "Reads a file", {{"type", "object"}, {"properties", {{"path", {{"type", "string"}}}}}}},
                  {"complete", "Ends the work", {{"type", "object"}}}};
    made.model = "tiny";
    made.max_output_tokens = 77;
    return made;
}

[[nodiscard]] inline std::string explain(const Result<Completion>& answer) {
    return answer.ok() ? "ok: " + answer.value().text : answer.error().to_string();
}

}  // namespace agentforge::http::testing
