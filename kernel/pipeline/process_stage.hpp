// SPDX-License-Identifier: Apache-2.0
// A stage that is a process: JSON-RPC on its standard input and output, its host's services as requests that it makes.
//
// The protocol is written down in docs/servers.md. What a stage in C++ is held to holds here, because every request is answered
// by the StageContext that the stage was given: calls are durable, rights are the role's, a repeated call must be the same.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <agentforge/stage.hpp>

#include "plugins/host.hpp"
#include "servers/client.hpp"

namespace agentforge::kernel {

/// Starts the plugin's process and asks it about its stage `name`. It runs with the rights of `place`.
/// Errors: AF-PLUG-031 its files are not those that were locked or trusted; of ServerClient::start; AF-MCP-023 `stage/info` was
/// not answered as it must be.
[[nodiscard]] Result<std::shared_ptr<Stage>> start_process_stage(const PluginManifest& manifest, const std::string& name,
                                                                 json::object config, const ServerPlace& place,
                                                                 ServerClient::Log log, const std::function<bool()>& cancelled);

/// One request of a stage's process, answered by the context. Nothing where the method is not known. Errors: AF-MCP-024 a
/// parameter is missing, unknown or of another type; and those of the context.
[[nodiscard]] std::optional<Result<json::value>> serve_stage(StageContext& context, std::string_view method,
                                                             const json::object& params);

}  // namespace agentforge::kernel
