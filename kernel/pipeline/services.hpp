// SPDX-License-Identifier: Apache-2.0
// What a running task needs besides itself; owned by whoever runs it, outlives every run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agent/runner.hpp"
#include "backends/client.hpp"
#include "base/cancel.hpp"
#include "base/clock.hpp"
#include "base/events.hpp"
#include "config/agents.hpp"
#include "contracts/contract.hpp"
#include "plugins/host.hpp"

namespace agentforge::kernel {

struct TaskServices {
    PluginRegistry& plugins;
    const ContractSet& contracts;
    const AgentSet& agents;
    EventSink& events;
    CancelToken& cancel;
    Clock& clock;
    /// The model a role talks to; made once per role and kept by the provider.
    std::function<Result<ModelClient*>(const AgentDefinition&)> model;
    TokenBudget budget;
    std::uint64_t max_output_tokens = 4096;
    std::map<std::string, std::string> environment;         ///< The whole one; children get the allow-listed part.
    std::chrono::milliseconds hang_grace{5'000};            ///< How long after its deadline a stage may still return.
};

/// A stage's clock (FR-063): it counts agent time; what gates take is added to the limit.
/// One thread runs it, another may read `deadline`.
class StageClock {
public:
    StageClock(const Clock& clock, std::chrono::milliseconds limit) : clock_(clock), start_(clock.steady()), limit_(limit) {}
    [[nodiscard]] std::chrono::steady_clock::time_point deadline() const noexcept {
        return start_ + limit_ + std::chrono::milliseconds(excluded_ms_.load());
    }
    [[nodiscard]] bool expired() const { return clock_.steady() >= deadline(); }
    void exclude(std::chrono::milliseconds time) noexcept { excluded_ms_ += time.count(); }
    [[nodiscard]] std::chrono::milliseconds elapsed() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.steady() - start_);
    }
    [[nodiscard]] std::chrono::milliseconds limit() const noexcept { return limit_; }

private:
    const Clock& clock_;
    std::chrono::steady_clock::time_point start_;
    std::chrono::milliseconds limit_;
    std::atomic<std::int64_t> excluded_ms_{0};
};

/// The part of every context that is the same: cancel, deadline, log, progress, recorded time.
class KernelCallContext final : public CallContext {
public:
    KernelCallContext(TaskServices& services, const StageClock& clock, std::string stage, std::chrono::system_clock::time_point recorded)
        : services_(services), clock_(clock), stage_(std::move(stage)), recorded_(recorded) {}
    [[nodiscard]] bool cancelled() const noexcept override { return services_.cancel.requested(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return clock_.deadline(); }
    void log(LogLevel level, std::string_view message, const json::object& fields) override;
    void progress(std::string_view text) override;
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return recorded_; }

private:
    TaskServices& services_;
    const StageClock& clock_;
    std::string stage_;
    std::chrono::system_clock::time_point recorded_;
};

}  // namespace agentforge::kernel
