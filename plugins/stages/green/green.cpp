// SPDX-License-Identifier: Apache-2.0
// Has code written until the locked tests pass. The kernel's `green` gate decides when it is done.
#include <agentforge/plugin.hpp>
#include <agentforge/stage_helpers.hpp>

namespace {

using namespace agentforge;

class GreenStage final : public ToolBasedStage {
public:
    [[nodiscard]] StageInfo info() const override {
        StageInfo info;
        info.name = "green";
        info.description = "Has code written until the locked tests pass.";
        info.output_contract = "implementation";
        return info;
    }

    [[nodiscard]] Validation validate_input(StageContext& context) override {
        return require_artifacts(context.input(), {"specification", "test_suite"});
    }

    [[nodiscard]] std::string user_message(StageContext&) override {
        return "Make the failing tests pass with the simplest code that does what the specification says.\n"
               "The specified interfaces exist as skeletons that raise a marker: replace their bodies. Test files are locked. After every "
               "edit the kernel measures syntax, conformance and tests and shows you the result. When all pass, hand in with `complete`: a "
               "summary and, in file_notes, one line for each file you changed. If all pass except tests, new or existing, that "
               "contradict the specification, or if the gate says that tests must be rewritten, hand those tests back: `complete` with hand_back.";
    }

protected:
    void prepare_run(AgentRun& run, StageContext& context) override {
        ToolBasedStage::prepare_run(run, context);
        for (const char* contract : {"specification", "test_suite"}) {
            run.state[contract] = context.input().artifacts.find(contract)->second;
        }
        run.state.erase("input_artifact");
    }

    /// Handed-back work goes to the stage that made it, which the kernel finds. The kernel has checked the evidence, and checks
    /// it again.
    [[nodiscard]] StageResult finish(json::object artifact, const AgentOutcome&, StageContext&) override {
        const json::value* claim = artifact.if_contains("hand_back");
        if (claim == nullptr || !claim->is_object()) { return StageResult::completed(std::move(artifact)); }
        StageResult result = StageResult::cycle(std::string(claim->get_object().at("to").as_string()),
                                                std::string(claim->get_object().at("reason").as_string()));
        result.artifact = std::move(artifact);
        return result;
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.stage.green", "0.1.0", "Apache-2.0", agentforge::provides_stage<GreenStage>("green"))
