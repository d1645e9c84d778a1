// SPDX-License-Identifier: Apache-2.0
// run_stage <plugin folder> <stage>: loads the stage as the host does, runs it and prints its artifact.
#include <cstdio>
#include <filesystem>

#include "plugins/plugin_registry.hpp"
#include "unit/sdk/fake_context.hpp"

int main(int count, char** arguments) {
    using namespace agentforge;
    if (count != 3) {
        std::fputs("usage: run_stage <plugin folder> <stage>\n", stderr);
        return 2;
    }
    kernel::PluginSearch search;
    search.configured = {std::filesystem::absolute(arguments[1]).string()};
    kernel::PluginRegistry registry = kernel::PluginRegistry::discover(search);
    for (const Error& problem : registry.problems()) { std::fprintf(stderr, "%s\n", problem.to_string().c_str()); }
    const auto stage = registry.stage(arguments[2]);
    if (!stage.ok()) {
        std::fprintf(stderr, "%s\n", stage.error().to_string().c_str());
        return 1;
    }
    test::FakeContext context;
    const StageResult result = run_stage(**stage, context);
    if (!result.artifact) { return 1; }
    std::printf("%s\n", json::serialize(*result.artifact).c_str());
    return 0;
}
