// SPDX-License-Identifier: Apache-2.0
// Chooses the pipeline of a new task.
#pragma once

#include <string>

#include "program/project/project.hpp"
#include "program/start/start_arguments.hpp"

namespace agentforge::kernel {

/// The chosen pipeline, and the source of the choice: the command, --pipeline, the setting `pipeline.default`, or the request's
/// words.
struct PipelineChoice {
    std::string goal;  ///< Empty if the pipeline was named.
    std::string pipeline;
    std::string word;  ///< The deciding word of the request; empty if none.
    bool from_request = false;
};

/// Errors: AF-CLI-141; those of Goals::load.
[[nodiscard]] Result<PipelineChoice> choose_pipeline(const Project& project, const StartArguments& arguments,
                                                     const std::string& request);
/// Returns the template, with the settings for its stages. Errors: AF-PIPE-….
[[nodiscard]] Result<PipelineTemplate> chosen_pipeline(const Project& project, const PipelineChoice& choice);
/// Says why this pipeline runs, if the request decided. `by_artifacts`: the imported artifacts decided.
void report_choice(Program& program, const PipelineChoice& choice, bool by_artifacts);

/// Returns the pipeline for a task with these arguments, with the settings for its stages. Errors: AF-CLI-141, AF-PIPE-….
[[nodiscard]] Result<PipelineTemplate> pipeline_of(const Project& project, const StartArguments& arguments,
                                                   const std::string& request);

}  // namespace agentforge::kernel
