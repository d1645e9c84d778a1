// SPDX-License-Identifier: Apache-2.0
// An agent answers the request. The stage accepts the answer only if every file named as evidence exists.
#include <agentforge/plugin.hpp>

namespace example {
using namespace agentforge;

class TemplateNameStage final : public Stage {
    StageInfo info() const override {
        StageInfo info;
        info.name = "template_name";
        info.description = "Answers the request, with files as evidence.";
        info.output_fields = {"answer", "evidence"};
        return info;
    }

    StageResult execute(StageContext& context) override {
        AgentRun run;
        run.objective = "Answer the request from the files of this project";
        run.instructions = "Name in `evidence` every file that the answer rests on.";
        run.state = {{"request", context.input().request}, {"previous_errors", json::value_from(context.input().previous_errors)}};
        if (const auto& answer = context.input().resolution) { run.state["resolution"] = *answer; }     // A person's answer to the agent's question.
        if (const auto& wish = context.input().feedback) { run.state["feedback"] = *wish; }             // The changes that a person asks for.
        auto outcome = context.run_agent(run);
        if (!outcome.ok()) { return StageResult::failed(outcome.error()); }
        if (outcome->escalation) { return StageResult::escalate(*outcome->escalation); }    // The agent asked for a person.
        const json::value* evidence = outcome->artifact.if_contains("evidence");
        if (evidence == nullptr || !evidence->is_array() || evidence->get_array().empty()) { return refused("names no file as evidence"); }
        for (const json::value& file : evidence->get_array()) {
            if (!file.is_string() || !context.workspace().exists(file.get_string())) { return refused("names " + json::serialize(file) + ", which is not there"); }
        }
        return StageResult::completed(std::move(outcome->artifact));
    }

    /// A failed attempt runs again while attempts are left. The next one sees the reason in `previous_errors`.
    static StageResult refused(const std::string& why) { return StageResult::failed({"EXAMPLE-001", "The answer " + why, "evidence", "Name files of this project.", ErrorKind::invalid}); }
};

}  // namespace example
AGENTFORGE_PLUGIN("org.example.template_name", "0.1.0", "Apache-2.0", agentforge::provides_stage<example::TemplateNameStage>("template_name"))
