// SPDX-License-Identifier: Apache-2.0
// The settings that a task was started with, of which a later command takes over those that it lacks.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "config/settings.hpp"
#include "program/program.hpp"
#include "program/project/project_trust.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

/// Settings as `--set` takes them: keys and values.
using SettingList = std::vector<std::pair<std::string, std::string>>;

/// Returns the settings that a task was started with. Empty if there is no such task or no task.yaml; the command reports that.
/// Errors: those of its task.yaml.
[[nodiscard]] Result<json::object> settings_of_task(const TaskStore& tasks, std::string_view task);
/// Returns the task's original settings that the current settings lack: its model, its prices, its delivery.
[[nodiscard]] SettingList settings_missing_now(const Settings& settings, const json::object& started);
/// Checks that the user's own `agentforge` wrote these settings in this checkout, if a project may not set them without trust.
/// Errors: AF-PLUG-044.
[[nodiscard]] Result<void> check_settings_of_task(const Program& program, const ProjectPlace& place,
                                                  const TrustedSettings& trusted, IdSource& ids, const json::object& started,
                                                  const SettingList& missing);
/// Warns if the task recorded its model's answers and this run does not. A file in the project must not decide which of the
/// user's files are written, so a recording continues only if it is requested again.
void warn_of_ended_recording(Program& program, const Settings& settings, const json::object& started);

}  // namespace agentforge::kernel
