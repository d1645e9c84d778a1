// SPDX-License-Identifier: Apache-2.0
// Objects of plugins, wrapped so that nothing they throw reaches the kernel.
//
// The SDK's adapters catch most of it inside the plugin; these wrappers are the second line, for what
// a plugin throws from its own virtual functions. An exception becomes Error AF-PLUG-020, which names
// the plugin, the object and the function. `info`, `spec` and `name` are asked once, when the wrapper
// is made: they may not throw later, and a plugin cannot change its declared effects on the way.
// The wrappers add no lock: which thread may call what stands in the SDK's headers.
#pragma once

#include <memory>
#include <string>

#include "plugins/host.hpp"

namespace agentforge::kernel {

/// Whose object it is, for messages.
struct Origin {
    std::string plugin;   ///< Its id.
    std::string name;     ///< Of the stage, tool, backend or handler.
    std::string library;  ///< Path.
};

/// Each fails with AF-PLUG-020 where info/spec/name throws, with AF-PLUG-017 where it names another object than the manifest.
[[nodiscard]] Result<std::shared_ptr<Stage>> guard_stage(std::shared_ptr<Stage> stage, Origin origin);
[[nodiscard]] Result<std::shared_ptr<Tool>> guard_tool(std::shared_ptr<Tool> tool, Origin origin);
[[nodiscard]] Result<std::shared_ptr<LLMBackendV2>> guard_backend(std::shared_ptr<LLMBackendV2> backend, Origin origin);
[[nodiscard]] Result<std::shared_ptr<EscalationHandler>> guard_escalation(std::shared_ptr<EscalationHandler> handler,
                                                                          Origin origin);

}  // namespace agentforge::kernel
