// SPDX-License-Identifier: Apache-2.0
// A stage that is a process. It speaks JSON-RPC on its standard input and output, and uses its host by sending requests.
//
// docs/servers.md describes the protocol. The rules for C++ stages hold here too, because the StageContext answers every request:
// calls are durable, rights are the role's, a repeated call must be the same.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <agentforge/stage.hpp>

#include "plugins/plugin_registry.hpp"
#include "servers/server_client.hpp"

namespace agentforge::kernel {

/// Starts the plugin's process with the rights of `place`, and asks it about its stage `name`. Errors: AF-PLUG-031 its files are
/// not those that were locked or trusted; those of ServerClient::start; AF-MCP-023 the answer to `stage/info` is not valid.
[[nodiscard]] Result<std::shared_ptr<Stage>> start_process_stage(const PluginManifest& manifest, const std::string& name,
                                                                 json::object config, const ServerPlace& place,
                                                                 ServerClient::Log log, const std::function<bool()>& cancelled);

/// Answers one request of a stage's process from the context. Returns nothing if the method is unknown. Errors: AF-MCP-024 a
/// parameter is missing, unknown or of another type; and those of the context.
[[nodiscard]] std::optional<Result<json::value>> serve_stage(StageContext& context, std::string_view method,
                                                             const json::object& params);

}  // namespace agentforge::kernel
