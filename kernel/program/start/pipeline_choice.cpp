// SPDX-License-Identifier: Apache-2.0
#include "program/start/pipeline_choice.hpp"

#include <ostream>

#include "base/text.hpp"
#include "config/goals.hpp"
#include "config/orchestration.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

std::string why_chosen(const PipelineChoice& choice, bool by_artifacts) {
    if (by_artifacts) { return "by the given artifacts"; }
    if (choice.word.empty()) { return "because no word of the request suggests another"; }
    return "because of the word \"" + printable(choice.word, 80) + "\" in the request";
}

}  // namespace

Result<PipelineChoice> choose_pipeline(const Project& project, const StartArguments& arguments, const std::string& request) {
    if (!arguments.pipeline.empty()) { return PipelineChoice{"", arguments.pipeline, "", false}; }
    const auto set = project.settings().origin("pipeline.default");
    if (arguments.goal.empty() && set && set->layer != "built-in") {
        return PipelineChoice{"", project.settings().text("pipeline.default"), "", false};
    }
    AF_TRY(const Goals goals, Goals::load(project.product().config + "/goals.yaml"));
    if (arguments.goal.empty() && arguments.entry.gives_artifacts()) {
        const Goal& given = goals.with_artifacts();
        return PipelineChoice{given.name, given.pipeline, "", true};
    }
    if (arguments.goal.empty()) {
        ChosenGoal chosen = goals.of_request(request);
        return PipelineChoice{std::move(chosen.goal), std::move(chosen.pipeline), std::move(chosen.word), true};
    }
    const Goal* goal = goals.named(arguments.goal);
    if (goal == nullptr) {
        return Error{"AF-CLI-141", "there is no goal `" + arguments.goal + "`", project.product().config + "/goals.yaml",
                     "Reinstall AgentForge, or name a pipeline: agentforge start --pipeline NAME", ErrorKind::not_found};
    }
    return PipelineChoice{goal->name, goal->pipeline, "", false};
}

Result<PipelineTemplate> chosen_pipeline(const Project& project, const PipelineChoice& choice) {
    AF_TRY(PipelineTemplate pipeline, project.pipelines().get(choice.pipeline));
    return with_orchestration(std::move(pipeline), project.settings());
}

void report_choice(Program& program, const PipelineChoice& choice, bool by_artifacts) {
    if (!choice.from_request || program.quiet || program.json_output || program.stream_output) { return; }
    program.err << "agentforge: goal " << choice.goal << ", pipeline " << choice.pipeline << ", "
                << why_chosen(choice, by_artifacts) << " (--pipeline selects another)\n";
}

Result<PipelineTemplate> pipeline_of(const Project& project, const StartArguments& arguments, const std::string& request) {
    AF_TRY(const PipelineChoice choice, choose_pipeline(project, arguments, request));
    return chosen_pipeline(project, choice);
}

}  // namespace agentforge::kernel
