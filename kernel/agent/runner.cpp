// SPDX-License-Identifier: Apache-2.0
#include "agent/runner.hpp"

#include "agent/loop.hpp"

namespace agentforge::kernel {

namespace {

class BridgeActions final : public ActionExecutor {
public:
    explicit BridgeActions(ToolBridge& bridge) : bridge_(bridge) {}
    const std::vector<ToolSpec>& offered() const noexcept override { return bridge_.offered(); }
    void expect(std::map<std::string, std::string, std::less<>> seen) override { bridge_.expect(std::move(seen)); }
    ToolResult call(std::string_view tool, const json::object& arguments, const ToolCallInfo& info) override {
        return bridge_.call(tool, arguments, info);
    }

private:
    ToolBridge& bridge_;
};

}  // namespace

Result<AgentOutcome> run_agent(const RunSpec& spec, ToolBridge& bridge, ModelClient& model, StepHost& host, CallContext& context,
                               EventSink& events) {
    BridgeActions actions(bridge);
    return run_steps(spec, actions, model, host, context, events);
}

}  // namespace agentforge::kernel
