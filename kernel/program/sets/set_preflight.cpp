// SPDX-License-Identifier: Apache-2.0
#include "program/sets/set_preflight.hpp"

#include "contracts/names.hpp"
#include "pipeline/delivery/delivery.hpp"
#include "pipeline/delivery/publish.hpp"
#include "pipeline/entry/imports.hpp"
#include "program/project/project.hpp"
#include "program/sets/joint_test.hpp"
#include "program/sets/part_program.hpp"
#include "program/sets/part_tasks.hpp"
#include "program/start/pipeline_choice.hpp"
#include "program/start/start_checks.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

Result<PartPlan> check_part_ready(const OpenSet& open, const SetPart& part) {
    PartProgram in_part(open, part);
    const auto progress = make_progress(in_part.program());
    AF_TRY(const auto project, Project::open(in_part.program(), *progress));
    const auto type = project->settings().origin("delivery.type");
    AF_CHECK(check_leaves_branch(project->services().delivery, type ? type->where : "delivery.type", ""));
    AF_CHECK(check_set_test(open, *project));
    AF_TRY(const PipelineTemplate pipeline, pipeline_of(*project, arguments_of_parts(open.set), open.set.request));
    const auto last = pipeline.index_of(pipeline.exit_stage);
    if (!last || !makes_delivery(pipeline.stages[*last])) {
        return Error{"AF-SET-002", "pipeline `" + pipeline.name + "` delivers nothing, but a set ends with branches",
                     "--pipeline", "name a pipeline whose last stage delivers; `agentforge pipelines list` lists them",
                     ErrorKind::invalid};
    }
    if (const auto takes = external_name(pipeline, contract_name::specification); !takes.ok()) {
        return Error{"AF-SET-002",
                     "pipeline `" + pipeline.name + "` accepts no external specification, but each part of a set gets one",
                     "--pipeline", "name a pipeline that accepts one, such as implement", ErrorKind::invalid};
    }
    AF_TRY(GateReadiness gates, check_stages_ready(in_part.program(), *project, pipeline, "", open.set.request));
    return PartPlan{pipeline.name, std::string(to_string(project->services().delivery.type)),
                    project->settings().list("delivery.set_test"), std::move(gates)};
}

}  // namespace

Result<std::vector<PartPlan>> check_parts_ready(const OpenSet& open) {
    std::vector<PartPlan> plans;
    for (const SetPart& part : open.set.parts) {
        auto plan = check_part_ready(open, part);
        if (!plan.ok()) {
            Error error = plan.error();
            error.message = "repository `" + part.repo + "`: " + error.message;
            return error;
        }
        plans.push_back(std::move(*plan));
    }
    return plans;
}

}  // namespace agentforge::kernel
