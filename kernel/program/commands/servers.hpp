// SPDX-License-Identifier: Apache-2.0
// Inspects tool servers and plugin processes: `agentforge servers`, and the same part of doctor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "program/project/project.hpp"

namespace agentforge::kernel {

/// The result of trying one server.
struct ServerReport {
    std::string name;
    std::string about;               ///< Its own name, version and protocol.
    std::vector<std::string> tools;  ///< In the form in which an agent lists them.
    std::vector<Error> problems;     ///< Errors of single tools and settings. The server works otherwise.
    std::optional<Error> error;      ///< Why it could not or may not be started.
};

/// Starts the server in the project's folder, where it may write only to its own scratch folder, and asks for its tools.
[[nodiscard]] ServerReport try_server(Project& project, const Program& program, const ServerDefinition& server);
/// Tries every declared server and every plugin process. Those that may not be started have the reason. `name`: only that one.
[[nodiscard]] std::vector<ServerReport> try_servers(Project& project, const Program& program, const std::string& name = {});

}  // namespace agentforge::kernel
