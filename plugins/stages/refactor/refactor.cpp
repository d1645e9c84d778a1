// SPDX-License-Identifier: Apache-2.0
// REFACTOR: has the structure improved while everything stays green. The kernel's `refactor` gate decides when it is done.
#include <agentforge/plugin.hpp>
#include <agentforge/stage_helpers.hpp>

namespace {

using namespace agentforge;

class RefactorStage final : public ToolBasedStage {
public:
    [[nodiscard]] StageInfo info() const override {
        StageInfo info;
        info.name = "refactor";
        info.description = "Has the structure improved while everything stays green.";
        info.output_contract = "implementation";
        return info;
    }

    [[nodiscard]] Validation validate_input(StageContext& context) override {
        Validation validation;
        for (const char* contract : {"specification", "implementation"}) {
            if (!context.input().artifacts.contains(contract)) { validation.errors.push_back(std::string("no earlier stage has made a `") + contract + "`"); }
        }
        return validation;
    }

    [[nodiscard]] std::string user_message(StageContext&) override {
        return "Improve the structure of the change without changing what it does.\n"
               "Remove duplication, name things for what they are, keep functions short. Tests are locked and must pass after every edit. If "
               "nothing is worth changing, say so in the summary and complete. Hand in with `complete`: a summary, file_notes and the list of "
               "improvements.";
    }

protected:
    void prepare_run(AgentRun& run, StageContext& context) override {
        ToolBasedStage::prepare_run(run, context);
        for (const char* contract : {"specification", "implementation"}) { run.state[contract] = context.input().artifacts.find(contract)->second; }
        run.state.erase("input_artifact");
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.stage.refactor", "0.1.0", "Apache-2.0", agentforge::provides_stage<RefactorStage>("refactor"))
