// SPDX-License-Identifier: Apache-2.0
// The product assembled as in the program, for benchmarks that run inside this process.
#pragma once

#include <memory>
#include <string>

#include "config/agent_set.hpp"
#include "config/pipeline_set.hpp"
#include "config/settings.hpp"
#include "contracts/contract.hpp"
#include "plugins/plugin_registry.hpp"

namespace agentforge::bench {

/// All shipped parts, read from the source and the build tree.
struct Product {
    kernel::ProductPaths paths;
    kernel::Settings settings;
    kernel::ContractSet contracts;
    kernel::AgentSet agents;
    kernel::PipelineSet pipelines;
    kernel::PluginRegistry plugins;
};

[[nodiscard]] std::unique_ptr<Product> open_product();
[[nodiscard]] kernel::PluginRegistry discover_plugins(const kernel::ProductPaths& paths);

}  // namespace agentforge::bench
