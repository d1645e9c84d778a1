// SPDX-License-Identifier: Apache-2.0
// Stops calls to a server that keeps failing.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Stops calls to a server that failed five times in a row. For 30 s each call is refused at once, then one is let through; its
/// success closes the circuit, its failure opens it again. Shared by the clients of one server. Any thread.
class CircuitBreaker {
public:
    using Now = std::function<std::chrono::steady_clock::time_point()>;
    explicit CircuitBreaker(Now now = [] { return std::chrono::steady_clock::now(); }) : now_(std::move(now)) {}

    /// Errors (`unavailable`): AF-LLM-108, with the server's last failure.
    [[nodiscard]] Result<void> admit();
    void succeeded();
    void undecided();  ///< The call ended for its own reason: cancelled or out of time.
    void failed(const Error& error);

    static constexpr unsigned failures_in_a_row = 5;
    static constexpr std::chrono::seconds rest{30};

private:
    Now now_;
    std::mutex mutex_;
    unsigned failures_ = 0;
    std::string last_;
    std::chrono::steady_clock::time_point open_until_{};
    bool trying_ = false;  ///< One call was let through and has not returned.
};

}  // namespace agentforge::kernel
