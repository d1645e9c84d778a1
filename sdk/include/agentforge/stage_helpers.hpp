// SPDX-License-Identifier: Apache-2.0
// Stages that most stages are: a model that answers in text, a model that answers by a tool call,
// a contract run under another name (000 §2.2, §2.3).
#pragma once

#include <agentforge/stage.hpp>

namespace agentforge {

/// A stage whose artifact is read from a model's text.
class LLMStage : public Stage {
public:
    /// Empty: the agent definition's own prompt (North Star 12.7).
    [[nodiscard]] virtual std::string system_prompt(StageContext& context) = 0;
    /// The first line becomes the run's objective, the rest its instructions. Request, input artifact, feedback, resolution,
    /// previous attempt and its errors need not be in it: they are the run's state.
    [[nodiscard]] virtual std::string user_message(StageContext& context) = 0;
    /// Empty where the answer holds no artifact: the attempt fails and is retried.
    [[nodiscard]] virtual std::optional<json::object> parse_response(const AgentOutcome& outcome, StageContext& context) = 0;
    [[nodiscard]] StageResult execute(StageContext& context) override;

protected:
    /// Adjusts the run before it starts (limits, gate, contract). Default: nothing.
    virtual void prepare_run(AgentRun& run, StageContext& context);
    /// Last look at a completed run's artifact. Default: takes it as it is.
    [[nodiscard]] virtual StageResult finish(json::object artifact, const AgentOutcome& outcome, StageContext& context);
};

/// A stage whose artifact arrives by a `complete` call whose schema is the contract.
class ToolBasedStage : public LLMStage {
public:
    [[nodiscard]] std::string system_prompt(StageContext& context) override;
    [[nodiscard]] std::optional<json::object> parse_response(const AgentOutcome& outcome, StageContext& context) override;

protected:
    void prepare_run(AgentRun& run, StageContext& context) override;
};

/// A stage that runs a contract and maps fields in and out.
class ContractStage : public Stage {
public:
    struct Mapping {
        std::string stage_name;
        std::string contract;
        std::map<std::string, std::string> input;  ///< contract input ← artifact field (`user_request`: the request).
        std::map<std::string, std::string> output;  ///< contract output → artifact field; empty value: same name; empty map: all.
        json::object defaults;                      ///< Inputs where no mapping gives a value.
    };
    explicit ContractStage(Mapping mapping);

    [[nodiscard]] StageInfo info() const override;
    [[nodiscard]] StageResult execute(StageContext& context) override;

private:
    Mapping mapping_;
};

/// For `validate_input`: an error for each of these contracts of which no earlier stage has made an artifact.
[[nodiscard]] Validation require_artifacts(const StageInput& input, const std::vector<std::string>& contracts);
/// The first ```yaml block, or the whole text where it is YAML; empty where neither is a mapping.
[[nodiscard]] std::optional<json::object> extract_yaml(std::string_view text, StageContext& context);
/// The first ```json block, or the outermost {…}; empty where neither parses to an object.
[[nodiscard]] std::optional<json::object> extract_json(std::string_view text);

}  // namespace agentforge
