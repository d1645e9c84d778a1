// SPDX-License-Identifier: Apache-2.0
// Looking at tool servers and at plugins that are processes: `agentforge servers`, and doctor's part of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "program/project/project.hpp"

namespace agentforge::kernel {

/// What one server said when it was tried.
struct ServerReport {
    std::string name;
    std::string about;               ///< Its own name, version and protocol.
    std::vector<std::string> tools;  ///< As an agent lists them.
    std::vector<Error> problems;     ///< Of single tools and settings; the server works otherwise.
    std::optional<Error> error;      ///< It could not be started, or may not be.
};

/// Starts the server in the project's folder, where it may write nothing but a scratch folder of its own, and asks for its tools.
[[nodiscard]] ServerReport try_server(Project& project, const Program& program, const ServerDefinition& server);
/// Every declared server and every plugin that is a process, tried; those that may not be started with the reason. `name`: only
/// that one.
[[nodiscard]] std::vector<ServerReport> try_servers(Project& project, const Program& program, const std::string& name = {});

}  // namespace agentforge::kernel
