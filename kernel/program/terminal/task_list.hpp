// SPDX-License-Identifier: Apache-2.0
// The list of tasks that `status` shows: of one repository, or of all known ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "aggregate/known_repositories.hpp"
#include "aggregate/task_overviews.hpp"
#include "program/program.hpp"
#include "program/project/project_trust.hpp"
#include "program/terminal/box.hpp"

namespace agentforge::kernel {

struct TaskListOptions {
    std::string state;         ///< Only tasks with this status; empty: any.
    std::uint64_t limit = 20;  ///< The limit for each repository, newest first; 0: no limit.
    bool all = false;          ///< Open tasks of every known repository.
    bool ended = false;        ///< With `all`: also tasks that have ended.
    bool watch = false;        ///< JSON is one object a line.
};

/// The tasks that a command has read, by repository root. Kept from one list to the next.
using SeenRepositories = std::map<std::filesystem::path, TaskOverviews>;

/// Writes the tasks that a command has read, and returns the exit code. Reads nothing, so it can be called again as time passes
/// or the window changes its size.
using Answer = std::function<int(std::ostream& out)>;

/// Reads the tasks of one repository, newest first. The answer says how many are left out.
[[nodiscard]] Answer list_tasks(Program& program, SeenRepositories& seen, const ProjectPlace& place,
                                const TaskListOptions& options);
/// Reads the tasks of each repository. If a repository cannot be read, names it on standard error, shows the others, and the exit
/// code is 1.
[[nodiscard]] Answer list_tasks_of_all(Program& program, SeenRepositories& seen, const std::vector<KnownRepository>& repositories,
                                       const TaskListOptions& options);

/// True if the output is boxes on a terminal. Otherwise it is plain lines without relative times ("12 s ago").
[[nodiscard]] bool shows_boxes(const Program& program);
[[nodiscard]] BoxStyle box_style_of(const Program& program);
void print_box(const Program& program, std::ostream& out, const std::vector<BoxPart>& parts);
/// Prints JSON: over several lines, or in one line if `watch` repeats it.
void print_answer(std::ostream& out, const json::value& value, bool watch);

}  // namespace agentforge::kernel
