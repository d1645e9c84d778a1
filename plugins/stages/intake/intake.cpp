// SPDX-License-Identifier: Apache-2.0
// INTAKE: extracts structured requirements from the request.
#include <agentforge/plugin.hpp>
#include <agentforge/stage_helpers.hpp>

namespace {

using namespace agentforge;

class IntakeStage final : public ToolBasedStage {
public:
    [[nodiscard]] StageInfo info() const override {
        StageInfo info;
        info.name = "intake";
        info.description = "Extracts structured requirements from the request.";
        info.output_contract = "intake_record";
        info.output_fields = {"extracted_intent", "identified_ambiguities"};
        return info;
    }

    [[nodiscard]] std::string user_message(StageContext&) override {
        return "Extract what is asked for from the request.\n"
               "Say what is in scope and what is not, and list every ambiguity as a question with its impact. Look into the repository "
               "where it helps to understand the words; propose no solution. Hand in the record with `complete`.";
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.stage.intake", "0.1.0", "Apache-2.0", agentforge::provides_stage<IntakeStage>("intake"))
