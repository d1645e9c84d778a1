// SPDX-License-Identifier: Apache-2.0
// Base classes for the usual stages: a model answers in text, a model answers by a tool call, or a contract runs under another
// name.
#pragma once

#include <agentforge/stage.hpp>

namespace agentforge {

/// A stage that reads its artifact from a model's text.
class LLMStage : public Stage {
public:
    /// Empty: the agent definition's own prompt.
    [[nodiscard]] virtual std::string system_prompt(StageContext& context) = 0;
    /// The first line becomes the run's objective, the rest its instructions. The run's state already has request, input
    /// artifact, feedback, resolution, previous attempt and its errors: do not repeat them here.
    [[nodiscard]] virtual std::string user_message(StageContext& context) = 0;
    /// Returns empty if the answer contains no artifact. The attempt then fails and is retried.
    [[nodiscard]] virtual std::optional<json::object> parse_response(const AgentOutcome& outcome, StageContext& context) = 0;
    [[nodiscard]] StageResult execute(StageContext& context) override;

protected:
    /// Adjusts the run before it starts (limits, gate, contract). Default: changes nothing.
    virtual void prepare_run(AgentRun& run, StageContext& context);
    /// Checks a completed run's artifact for the last time. Default: accepts it as it is.
    [[nodiscard]] virtual StageResult finish(json::object artifact, const AgentOutcome& outcome, StageContext& context);
};

/// A stage whose artifact is the argument of a `complete` call. The contract is the schema of that call.
class ToolBasedStage : public LLMStage {
public:
    [[nodiscard]] std::string system_prompt(StageContext& context) override;
    [[nodiscard]] std::optional<json::object> parse_response(const AgentOutcome& outcome, StageContext& context) override;

protected:
    void prepare_run(AgentRun& run, StageContext& context) override;
};

/// A stage that runs a contract and maps its inputs and outputs.
class ContractStage : public Stage {
public:
    struct Mapping {
        std::string stage_name;
        std::string contract;
        std::map<std::string, std::string> input;  ///< contract input ← artifact field (`user_request`: the request).
        /// contract output → artifact field. Empty value: the same name. Empty map: all outputs.
        std::map<std::string, std::string> output;
        json::object defaults;  ///< Inputs that no mapping provides.
    };
    explicit ContractStage(Mapping mapping);

    [[nodiscard]] StageInfo info() const override;
    [[nodiscard]] StageResult execute(StageContext& context) override;

private:
    Mapping mapping_;
};

/// For `validate_input`: returns an error for each listed contract that no earlier stage has produced an artifact for.
[[nodiscard]] Validation require_artifacts(const StageInput& input, const std::vector<std::string>& contracts);
/// Parses the first ```yaml block, or the whole text if it is YAML. Empty if neither is a mapping.
[[nodiscard]] std::optional<json::object> extract_yaml(std::string_view text, StageContext& context);
/// Parses the first ```json block, or the outermost {…}. Empty if neither is an object.
[[nodiscard]] std::optional<json::object> extract_json(std::string_view text);

}  // namespace agentforge
