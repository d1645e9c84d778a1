// SPDX-License-Identifier: Apache-2.0
// The kernel's services for a tool's call.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include <agentforge/tool.hpp>

#include "secrets/redactor.hpp"

namespace agentforge::kernel {

/// The kernel's services for the bridge while a tool runs.
class ToolServices {
public:
    virtual ~ToolServices() = default;
    [[nodiscard]] virtual Result<ProcessResult> run_process(const ProcessSpec& spec) = 0;
    [[nodiscard]] virtual Result<GateReport> run_gate(const GateRequest& request) = 0;
    /// The contract for the arguments of a `completes` tool.
    [[nodiscard]] virtual Result<void> complete(const json::object& artifact) = 0;
    [[nodiscard]] virtual Result<void> escalate(const EscalationRequest& request) = 0;
    virtual void log(LogLevel level, std::string_view message, const json::object& fields) = 0;
    virtual void progress(std::string_view text) = 0;
    [[nodiscard]] virtual std::chrono::system_clock::time_point now() = 0;
    [[nodiscard]] virtual bool cancelled() const noexcept = 0;
    [[nodiscard]] virtual std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept = 0;
    /// Hides secrets in a tool's answer.
    [[nodiscard]] virtual const Redactor& redactor() const noexcept { return nothing_hidden(); }
};

}  // namespace agentforge::kernel
