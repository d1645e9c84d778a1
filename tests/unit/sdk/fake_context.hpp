// SPDX-License-Identifier: Apache-2.0
// A host with prepared answers: records every call by name; the test sets every answer.
#pragma once

#include <agentforge/plugin.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace agentforge::test {

class FakeContext final : public StageContext, public ToolContext {
public:
    StageInput stage_input;
    AgentOutcome outcome;
    std::optional<Error> agent_error;
    json::object contract_answer;
    std::function<Result<json::value>(std::string_view)> yaml;
    std::vector<std::string> calls;
    std::vector<AgentRun> runs;
    std::vector<std::pair<LogLevel, std::string>> logs;
    std::string contract;
    json::object contract_inputs;

    bool cancelled() const noexcept override { return false; }
    std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return std::nullopt; }
    void log(LogLevel level, std::string_view message, const json::object&) override { logs.emplace_back(level, message); }
    void progress(std::string_view) override {}
    std::chrono::system_clock::time_point now() override { return {}; }

    const StageInput& input() const noexcept override { return stage_input; }
    Result<AgentOutcome> run_agent(const AgentRun& run) override {
        calls.emplace_back("run_agent");
        runs.push_back(run);
        if (agent_error) { return *agent_error; }
        return outcome;
    }
    Workspace& workspace() noexcept override { std::abort(); }
    Result<ProcessResult> run_process(const ProcessSpec&) override { return none(); }
    Result<GateReport> run_gate(const GateRequest&) override { return none(); }
    Result<std::vector<Change>> write_skeleton(const std::vector<SkeletonInterface>&) override { return none(); }
    Result<Delivery> deliver(const DeliveryRequest&) override { return none(); }
    Result<json::object> run_contract(std::string_view name, const json::object& inputs) override {
        contract = std::string(name);
        contract_inputs = inputs;
        return contract_answer;
    }
    Result<json::value> parse_yaml(std::string_view text) override { return yaml ? yaml(text) : none(); }

    const ToolCallInfo& info() const noexcept override { return call_info; }
    Result<void> complete(const json::object&) override { return none(); }
    Result<void> escalate(const EscalationRequest&) override { return none(); }

    ToolCallInfo call_info;

private:
    static Error none() { return {"AF-TEST-001", "the fake has no answer for it", "", "", ErrorKind::unavailable}; }
};

}  // namespace agentforge::test
