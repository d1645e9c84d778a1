// SPDX-License-Identifier: Apache-2.0
// What `start --dry-run` shows: the pipeline as chosen and checked, stage by stage.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "gates/engine/readiness.hpp"
#include "program/project/project.hpp"
#include "program/start/pipeline_choice.hpp"
#include "program/start/start_arguments.hpp"

namespace agentforge::kernel {

/// The plan of `start`: the pipeline as chosen and checked.
struct StartPlan {
    const PipelineTemplate& pipeline;
    const StartArguments& arguments;
    const PipelineChoice& choice;
    const std::string& request;
    const GateReadiness& gates;
    const std::vector<std::string>& changed;
    const Entry& entry;
    const std::set<std::string>& iterated;
    std::string exit;
};

/// Prints what `start` would do. Runs the same checks, but creates no task and no file.
[[nodiscard]] int print_start_plan(Program& program, Project& project, const StartPlan& plan);

}  // namespace agentforge::kernel
