// SPDX-License-Identifier: Apache-2.0
// The run that an agentic command works for.
#pragma once

#include <string>

#include <agentforge/agentic.hpp>

namespace agentforge::kernel {

/// The run that uses the command.
class AgenticPlace {
public:
    [[nodiscard]] virtual const std::string& workspace() const noexcept = 0;
    /// Emptied by `begin`.
    [[nodiscard]] virtual const std::string& scratch() const noexcept = 0;
    /// Restores the last recorded workspace and empties the scratch folder.
    [[nodiscard]] virtual Result<void> begin() = 0;
    /// Runs the command with the role's rights.
    [[nodiscard]] virtual Result<ProcessResult> run(const AgenticCommand& command) = 0;
    /// Returns what was written since `begin`, for a recording: `changes` and `artifact`.
    [[nodiscard]] virtual Result<json::object> work() = 0;
    /// Checks the writes against the role and records them. Returns the tree. Errors: AF-ORCH-026 a forbidden write; all writes
    /// were reverted.
    [[nodiscard]] virtual Result<std::string> record_writes() = 0;
    /// Restores the workspace of `begin`.
    [[nodiscard]] virtual Result<void> take_back() = 0;

protected:
    ~AgenticPlace() = default;
};

}  // namespace agentforge::kernel
