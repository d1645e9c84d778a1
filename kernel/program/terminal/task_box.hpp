// SPDX-License-Identifier: Apache-2.0
// The boxes of `status`: tasks for people at a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aggregate/figures.hpp"
#include "aggregate/overview.hpp"
#include "program/terminal/box.hpp"
#include "task/state.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

struct Program;

/// Returns the lines below the heading of a task that has not ended, for output without a box. They contain no relative times.
[[nodiscard]] std::vector<std::string> plain_lines(const Program& program, const TaskOverview& task);
/// Returns `Active: 1    Completed: 2    Waiting for you: 0`, and the other statuses that occur. `narrow`: in fewer cells.
[[nodiscard]] std::string counts_in_words(const TaskCounts& counts, bool narrow);

/// Returns remarks for a person about a stage besides its figures: that it no longer counts, what people decided on its artifact,
/// which of their feedback was not addressed.
[[nodiscard]] std::vector<std::string> remarks_on(const TaskState& state, const StageState& stage, const TaskOverview& task);

/// Returns all tasks that are shown, newest first. `left_out`: the number of tasks that are not.
[[nodiscard]] std::vector<BoxPart> box_of_tasks(const Program& program, const std::string& project, const TaskCounts& counts,
                                                const std::vector<TaskOverview>& shown, std::size_t left_out,
                                                const BoxStyle& style, std::chrono::system_clock::time_point now);

/// Returns the parts of a delivery besides its commit, each with its label: the patch, the pull request, the hooks.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> delivery_lines(const TaskState& state);

/// Returns one task: its head, its stages, what it waits for, or its result. `cost`: in words, or empty.
[[nodiscard]] std::vector<BoxPart> box_of_task(const Program& program, const TaskState& state, const TaskOverview& overview,
                                               const std::string& cost, const BoxStyle& style,
                                               std::chrono::system_clock::time_point now);

/// Returns a time as `12 s`, `5 m`, `3 h 20 m` or `2 d 3 h`, coarser the longer ago it was. Empty if the text is not a time.
[[nodiscard]] std::string time_since(const std::string& then, std::chrono::system_clock::time_point now);

}  // namespace agentforge::kernel
