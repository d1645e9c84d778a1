// SPDX-License-Identifier: Apache-2.0
// What the dashboard changes it changes by the program's own commands, each in a process of its own: they decide, check and
// journal as they do for whoever types them, and a plugin that fails there takes no dashboard with it.
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
    /// Runs `agentforge -C repository arguments… --json` and returns the JSON object that it answers with. Errors: those that the
    /// command answers with (their kinds by their codes); `unavailable` AF-DASH-020 it cannot be run or answers otherwise;
    /// `timeout` AF-DASH-021. Any thread.
    [[nodiscard]] virtual Result<json::object> run(const std::filesystem::path& repository, std::vector<std::string> arguments,
                                                   const std::string& input = {}) = 0;
};

/// Runs this very program.
class OwnProgram final : public CommandRunner {
public:
    /// `environment` is handed on. `directory`: where relative paths of settings begin.
    OwnProgram(std::map<std::string, std::string> environment, std::chrono::milliseconds timeout = std::chrono::seconds(60));
    [[nodiscard]] Result<json::object> run(const std::filesystem::path& repository, std::vector<std::string> arguments,
                                           const std::string& input = {}) override;

private:
    std::map<std::string, std::string> environment_;
    std::chrono::milliseconds timeout_;
};

/// The error of a command's answer; nothing where it has none.
[[nodiscard]] std::optional<Error> error_of_answer(const json::object& answer);

}  // namespace agentforge::kernel
