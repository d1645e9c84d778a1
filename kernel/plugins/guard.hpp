// SPDX-License-Identifier: Apache-2.0
// Wraps plugin objects so that none of their exceptions reaches the kernel.
//
// The SDK's adapters catch most exceptions inside the plugin. These wrappers are the second line, for exceptions from a plugin's
// own virtual functions. An exception becomes Error AF-PLUG-020, which names the plugin, the object and the function. `info`,
// `spec` and `name` are called once, when the wrapper is made. They cannot throw later, and a plugin cannot change its declared
// effects. The wrappers add no lock: the SDK's headers say which thread may call what.
//
// Callers need not catch the exceptions of an object that the registry made. These layers catch those of other objects:
//   * `ToolBridge` (AF-TOOL-006): a tool of a server, or of a test;
//   * the model client (AF-LLM-106): a backend of a test;
//   * `run_stage` of the SDK (AF-STAGE-001): a stage of a test, or in a host without these wrappers.
#pragma once

#include <memory>
#include <string>

#include "plugins/plugin_registry.hpp"

namespace agentforge::kernel {

/// The owner of an object, for messages.
struct Origin {
    std::string plugin;   ///< The plugin's id.
    std::string name;     ///< Name of the stage, tool, backend or handler.
    std::string library;  ///< Path of the library.
};

/// Each fails with AF-PLUG-020 if info/spec/name throws, and with AF-PLUG-017 if it returns another name than the manifest.
[[nodiscard]] Result<std::shared_ptr<Stage>> guard_stage(std::shared_ptr<Stage> stage, Origin origin);
[[nodiscard]] Result<std::shared_ptr<Tool>> guard_tool(std::shared_ptr<Tool> tool, Origin origin);
[[nodiscard]] Result<std::shared_ptr<LLMBackendV2>> guard_backend(std::shared_ptr<LLMBackendV2> backend, Origin origin);
[[nodiscard]] Result<std::shared_ptr<EscalationHandler>> guard_escalation(std::shared_ptr<EscalationHandler> handler,
                                                                          Origin origin);

}  // namespace agentforge::kernel
