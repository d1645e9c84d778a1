// SPDX-License-Identifier: Apache-2.0
// The kernel's side of every call into a plugin: cancel, deadline, log, progress and time.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <agentforge/host.hpp>

#include "pipeline/stage_clock.hpp"
#include "pipeline/task_services.hpp"

namespace agentforge::kernel {

/// The common part of every context: cancel, deadline, log, progress, recorded time.
class KernelCallContext final : public CallContext {
public:
    KernelCallContext(TaskServices& services, const StageClock& clock, std::string stage,
                      std::chrono::system_clock::time_point recorded)
        : services_(services), clock_(clock), stage_(std::move(stage)), recorded_(recorded) {}
    [[nodiscard]] bool cancelled() const noexcept override { return services_.cancel.requested(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
        return clock_.deadline();
    }
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
