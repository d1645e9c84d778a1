// SPDX-License-Identifier: Apache-2.0
// A model's server on the loopback interface for the benchmark of steps: chat completions, streamed, connections kept open.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <agentforge/json.hpp>

namespace agentforge::bench {

struct Asked {
    std::chrono::steady_clock::time_point at;        ///< When the whole request was read.
    std::chrono::steady_clock::time_point answered;  ///< When its answer began to be sent.
    std::size_t bytes = 0;                           ///< Size of its body: prompt, tools and the rest.
    std::size_t same = 0;                            ///< Bytes at the start of the body that equal those of the previous request.
};

/// Calls `between` for each request, before it is answered. Answers the first `steps` requests of every `steps + 1` with a call
/// of one tool, the next with `complete`. Holds the answers to the first `together` requests until all of them have come; then
/// calls `between` once for these.
class StepsServer {
public:
    StepsServer(unsigned steps, const std::string& tool, const json::object& arguments, const json::object& artifact,
                std::function<void()> between, std::size_t together = 1);
    ~StepsServer();
    StepsServer(const StepsServer&) = delete;
    StepsServer& operator=(const StepsServer&) = delete;

    [[nodiscard]] std::string base_url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// Returns the requests since the last call.
    [[nodiscard]] std::vector<Asked> take();

private:
    struct Connection {
        int descriptor = -1;
        std::string got;
    };
    void serve();
    /// False if the connection ended.
    bool read_from(Connection& connection);
    void answer(int descriptor);

    unsigned steps_;
    std::function<void()> between_;
    std::string call_;  ///< The response with the tool call.
    std::string done_;  ///< The response that ends the run.
    int listener_ = -1;
    int stop_[2] = {-1, -1};
    std::uint16_t port_ = 0;
    std::mutex mutex_;
    std::vector<Asked> asked_;
    std::string before_;  ///< The last request's body.
    std::uint64_t answered_ = 0;
    std::size_t together_;
    std::vector<int> held_;  ///< Connections that wait until `together_` requests have come.
    std::thread thread_;
};

/// Makes one minimal request on a connection that stays open: the floor of a step's exchange.
class BareClient {
public:
    BareClient(std::uint16_t port, std::size_t body_bytes);
    ~BareClient();
    BareClient(const BareClient&) = delete;
    BareClient& operator=(const BareClient&) = delete;
    void exchange();

private:
    int descriptor_ = -1;
    std::string request_;
};

}  // namespace agentforge::bench
