// SPDX-License-Identifier: Apache-2.0
// The context of a call, set by the test.
#pragma once

#include <agentforge/host.hpp>

#include <atomic>

namespace agentforge::testing_context {

class Context final : public CallContext {
public:
    [[nodiscard]] bool cancelled() const noexcept override { return cancel; }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return until; }
    void log(LogLevel, std::string_view, const json::object&) override {}
    void progress(std::string_view text) override { messages += std::string(text) + "\n"; }
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return {}; }

    std::atomic<bool> cancel{false};
    std::optional<std::chrono::steady_clock::time_point> until = std::chrono::steady_clock::now();  ///< One look.
    std::string messages;
};

}  // namespace agentforge::testing_context
