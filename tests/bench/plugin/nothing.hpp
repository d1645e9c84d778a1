// SPDX-License-Identifier: Apache-2.0
// A plugin that does nothing, to measure the cost of a call. The same classes are in a plugin (called as the host calls plugins)
// and in the benchmark (called directly).
#pragma once

#include <agentforge/plugin.hpp>

namespace agentforge::bench {

class NoTool final : public Tool {
public:
    [[nodiscard]] ToolSpec spec() const override { return {"bench_nothing", "Does nothing.", {}, ToolEffect::none, {}}; }
    [[nodiscard]] ToolResult call(const json::object&, ToolContext&) override { return {}; }
};

class NoStage final : public Stage {
public:
    [[nodiscard]] StageInfo info() const override {
        return {.name = "bench_nothing",
                .version = "1.0",
                .description = "",
                .required_input_fields = {},
                .output_contract = "",
                .output_fields = {}};
    }
    [[nodiscard]] StageResult execute(StageContext&) override { return {}; }
    void finalize(StageContext&, const StageResult&) override {}
};

}  // namespace agentforge::bench
