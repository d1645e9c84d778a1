// SPDX-License-Identifier: Apache-2.0
// The arguments of a command that starts a task.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/pipeline_set.hpp"
#include "pipeline/pipeline_controller.hpp"
#include "program/start/entry.hpp"

namespace agentforge::kernel {

class Project;

struct StartArguments {
    std::string goal;              ///< The command's own goal. Empty: `start`, where the request decides.
    bool takes_path = false;       ///< A file or folder may replace the request.
    const char* verb = "Review";   ///< What to do with that file or folder.
    bool words_from_spec = false;  ///< If there is no request, the specification's title serves as one.
    std::string request;
    std::string pipeline;
    std::string exit_after;
    const char* exit_flag = "--exit-after";  ///< The flag that gave it, for errors.
    EntryArguments entry;
    std::string compare_to;
    std::string repos;     ///< `A,B`: one request over several repositories (commands/sets.hpp). Empty: this repository.
    std::string set_file;  ///< File of the set that the task belongs to, or whose specification it writes. Empty: none.
    bool include_uncommitted = false;
    std::vector<std::string> approve;
    bool iterate = false;
    std::vector<std::string> iterate_at;
    bool no_iterate = false;
    bool supervised = false;
    bool interactive = false;
    bool wait = false;
    bool skip_verify = false;
    bool dry_run = false;
    bool detach = false;
    bool force = false;  ///< `review TASK --force`: the request is a task; its delivered commit is reviewed again.
    /// Replaces the last commit as the task's base; set by `prepare`.
    std::shared_ptr<std::optional<TaskBase>> base = std::make_shared<std::optional<TaskBase>>();
    /// Called with the task's id before the task is created (StartOptions). May be empty.
    std::function<Result<void>(const std::string& task_id)> named = {};
    /// For a command that makes its own request: adds the task's subject to the template, and returns the request.
    std::function<Result<std::string>(Project& project, PipelineTemplate& pipeline)> prepare = {};
};

}  // namespace agentforge::kernel
