// SPDX-License-Identifier: Apache-2.0
// What commands that begin a task share: their options, and the way from them to a task.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/pipelines.hpp"
#include "host/command_line.hpp"
#include "host/program.hpp"

namespace agentforge::kernel {

class Project;

struct StartArguments {
    std::string goal;               ///< The command's own; empty: `start`, where the request says it.
    bool takes_path = false;        ///< A file or folder may stand for the request.
    std::string request;
    std::string pipeline;
    std::string exit_after;
    std::string compare_to;
    bool include_uncommitted = false;
    std::vector<std::string> approve;
    bool supervised = false;
    bool interactive = false;
    bool wait = false;
    bool skip_verify = false;
    bool dry_run = false;
    bool detach = false;
    /// Is told the task's id before the task is made (StartOptions); may be empty.
    std::function<Result<void>(const std::string& task_id)> named = {};
    /// Of a command that makes the request itself: writes into the template what the task is about, and returns the request.
    std::function<Result<std::string>(Project& project, PipelineTemplate& pipeline)> prepare = {};
};

/// The options of `start` besides the request and the pipeline.
void add_task_options(const Command& command, Program& program, const std::shared_ptr<StartArguments>& arguments);

/// Checks all that can be checked before a task exists, begins it, and tells what came of it. Returns the exit code.
int start_task(Program& program, StartArguments arguments, std::string request);

}  // namespace agentforge::kernel
