// SPDX-License-Identifier: Apache-2.0
// SPEC: writes the specification that tests and code are held against.
#include <agentforge/plugin.hpp>
#include <agentforge/stage_helpers.hpp>

namespace {

using namespace agentforge;

class SpecStage final : public ToolBasedStage {
public:
    [[nodiscard]] StageInfo info() const override {
        StageInfo info;
        info.name = "spec";
        info.description = "Writes the specification that tests and code are held against.";
        info.output_contract = "specification";
        info.output_fields = {"requirements", "components"};
        return info;
    }

    [[nodiscard]] Validation validate_input(StageContext& context) override {
        Validation validation;
        if (!context.input().artifacts.contains("analysis")) { validation.errors.emplace_back("no earlier stage has made an `analysis`"); }
        return validation;
    }

    [[nodiscard]] std::string user_message(StageContext&) override {
        return "Write the specification of the change.\n"
               "Each requirement is testable on its own and has acceptance criteria. Give each function or class that tests will call as an "
               "interface with its file and its declaration (`signature`), so that tests can be written before the code. Name the files to "
               "create and to modify. Hand it in with `complete`.";
    }

protected:
    void prepare_run(AgentRun& run, StageContext& context) override {
        ToolBasedStage::prepare_run(run, context);
        const auto& artifacts = context.input().artifacts;
        const json::object& analysis = artifacts.find("analysis")->second;
        if (analysis != context.input().input_artifact) { run.state["analysis"] = analysis; }       // Another stage came between.
        if (const auto clarification = artifacts.find("clarification"); clarification != artifacts.end()) {
            run.state["clarified_requirements"] = clarification->second.at("clarified_requirements");
        }
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.stage.spec", "0.1.0", "Apache-2.0", agentforge::provides_stage<SpecStage>("spec"))
