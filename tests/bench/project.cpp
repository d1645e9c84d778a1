// SPDX-License-Identifier: Apache-2.0
#include "bench/project.hpp"

#include "bench/places.hpp"

namespace agentforge::bench {

using namespace kernel;

PluginRegistry discover_plugins(const ProductPaths& paths) {
    PluginSearch search;
    search.product = paths.plugins;
    search.stages = {paths.config + "/stages"};
    PluginRegistry plugins = PluginRegistry::discover(search);
    for (const Error& problem : plugins.problems()) { give_up(problem.to_string()); }
    return plugins;
}

std::unique_ptr<Product> open_product() {
    ProductPaths paths = must(ProductPaths::find_for("", program()));
    Settings settings = must(Settings::load(paths.config, {}));
    ContractSet contracts = must(ContractSet::load({paths.config + "/contracts"}));
    AgentSet agents = must(AgentSet::load(paths.config + "/agents", "", contracts));
    PipelineSet pipelines = must(PipelineSet::load(paths.config + "/pipelines", "", "", contracts));
    PluginRegistry plugins = discover_plugins(paths);
    return std::make_unique<Product>(Product{std::move(paths), std::move(settings), std::move(contracts), std::move(agents),
                                             std::move(pipelines), std::move(plugins)});
}

}  // namespace agentforge::bench
