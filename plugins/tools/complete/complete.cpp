// SPDX-License-Identifier: Apache-2.0
#include <agentforge/plugin.hpp>

namespace {

using namespace agentforge;

class Complete final : public Tool {
public:
    [[nodiscard]] ToolSpec spec() const override {
        return {
            "complete",
            "Submits the finished artifact and ends your work. Its arguments are the artifact's fields. If something is wrong with it, you see the errors and continue.",
            {{"type", "object"}, {"additionalProperties", true}},
            ToolEffect::completes,
            {}};
    }
    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        if (auto accepted = context.complete(arguments); !accepted.ok()) {
            return ToolResult::failed(std::move(accepted).error());
        }
        return ToolResult::done("The artifact is accepted.\n", "completed");
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.tool.complete", "0.1.0", "Apache-2.0", agentforge::provides_tool<Complete>("complete"))
