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
    std::vector<std::string> tools;  ///< Named as in an agent's list of tools.
    std::vector<Error> problems;     ///< Errors of single tools and settings. The server works otherwise.
    std::optional<Error> error;      ///< Why it could not start or may not.
};

/// Starts the server in the project's folder and asks for its tools. It may write only to its own scratch folder.
[[nodiscard]] ServerReport try_server(Project& project, const Program& program, const ServerDefinition& server);
/// Tries every declared server and every plugin process. Reports the reason for each that may not start. `name`: tries only that
/// one.
[[nodiscard]] std::vector<ServerReport> try_servers(Project& project, const Program& program, const std::string& name = {});

}  // namespace agentforge::kernel
