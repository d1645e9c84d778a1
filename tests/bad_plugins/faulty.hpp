// SPDX-License-Identifier: Apache-2.0
// What the faulty plugins have in common: a tool without a fault, and descriptors written by hand.
#pragma once

#include <agentforge/plugin.hpp>

#define FAULTY_ID "org.agentforge.test.faulty"

namespace faulty {

class GoodTool : public agentforge::Tool {
public:
    agentforge::ToolSpec spec() const override {
        agentforge::ToolSpec spec;
        spec.name = "faulty";
        spec.description = "Does nothing.";
        spec.parameters = {{"type", "object"}, {"properties", {{"text", {{"type", "string"}}}}}};
        return spec;
    }
    agentforge::ToolResult call(const agentforge::json::object&, agentforge::ToolContext&) override {
        return agentforge::ToolResult::done("done", "done");
    }
};

inline const agentforge::AgentforgeFactory* good_factory() {
    static const agentforge::AgentforgeFactory factory = agentforge::provides_tool<GoodTool>("faulty");
    return &factory;
}

/// A descriptor without a fault, to be spoilt.
inline agentforge::AgentforgeDescriptor good_descriptor() {
    return {sizeof(agentforge::AgentforgeDescriptor),
            AGENTFORGE_ABI_VERSION,
            AGENTFORGE_ABI_FINGERPRINT,
            agentforge_abi_fingerprint(),
            FAULTY_ID,
            "1.0.0",
            "Apache-2.0",
            good_factory(),
            1};
}

}  // namespace faulty

/// The entry of a plugin whose descriptor or factory is spoilt: statements on `descriptor` and `factory`.
#define FAULTY_ENTRY(...)                                                                                                 \
    extern "C" __attribute__((visibility("default"), used)) const agentforge::AgentforgeDescriptor* agentforge_plugin() { \
        static agentforge::AgentforgeFactory factory = *faulty::good_factory();                                           \
        static agentforge::AgentforgeDescriptor descriptor = faulty::good_descriptor();                                   \
        descriptor.factories = &factory;                                                                                  \
        __VA_ARGS__;                                                                                                      \
        return &descriptor;                                                                                               \
    }

/// A plugin whose one tool is of this class.
#define FAULTY_TOOL(...) AGENTFORGE_PLUGIN(FAULTY_ID, "1.0.0", "Apache-2.0", agentforge::provides_tool<__VA_ARGS__>("faulty"))
