// SPDX-License-Identifier: Apache-2.0
// ANALYZE: finds out what the change touches and what could go wrong.
#include <agentforge/plugin.hpp>
#include <agentforge/stage_helpers.hpp>

namespace {

using namespace agentforge;

class AnalyzeStage final : public ToolBasedStage {
public:
    [[nodiscard]] StageInfo info() const override {
        StageInfo info;
        info.name = "analyze";
        info.description = "Finds out what the change touches and what could go wrong.";
        info.output_contract = "analysis";
        info.output_fields = {"analysis", "components"};
        return info;
    }

    [[nodiscard]] std::string user_message(StageContext&) override {
        return "Find out what the change touches.\n"
               "Read the code concerned. Name the affected files and components, the dependencies and the risks with their mitigation. "
               "Hand in the analysis with `complete`.";
    }

protected:
    void prepare_run(AgentRun& run, StageContext& context) override {
        ToolBasedStage::prepare_run(run, context);
        const auto& artifacts = context.input().artifacts;
        if (const auto intake = artifacts.find("intake_record"); intake != artifacts.end()) { run.state["intake_record"] = intake->second; }
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.stage.analyze", "0.1.0", "Apache-2.0", agentforge::provides_stage<AnalyzeStage>("analyze"))
