// SPDX-License-Identifier: Apache-2.0
// The dashboard makes changes by running the program's own commands, each in a separate process. They decide, check and journal
// as they do on the command line, and a plugin that crashes there does not stop the dashboard.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

class CommandRunner {
public:
    virtual ~CommandRunner() = default;
    /// Runs `agentforge -C repository arguments… --json` and returns the JSON object of its answer. Errors: those in the answer
    /// (their kinds by their codes); `unavailable` AF-DASH-020 the command cannot be run or its answer is not JSON; `timeout`
    /// AF-DASH-021. Any thread.
    [[nodiscard]] virtual Result<json::object> run(const std::filesystem::path& repository, std::vector<std::string> arguments,
                                                   const std::string& input = {}) = 0;
};

/// Runs the executable of this process.
class OwnProgram final : public CommandRunner {
public:
    /// `environment` is passed on. `timeout` applies to each command.
    OwnProgram(std::map<std::string, std::string> environment, std::chrono::milliseconds timeout = std::chrono::seconds(60));
    [[nodiscard]] Result<json::object> run(const std::filesystem::path& repository, std::vector<std::string> arguments,
                                           const std::string& input = {}) override;

private:
    std::map<std::string, std::string> environment_;
    std::chrono::milliseconds timeout_;
};

/// Returns the error of a command's answer, or nothing if it has none.
[[nodiscard]] std::optional<Error> error_of_answer(const json::object& answer);

}  // namespace agentforge::kernel
