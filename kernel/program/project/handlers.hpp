// SPDX-License-Identifier: Apache-2.0
// The escalation handlers that a project's settings name (`escalation.handlers`).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "pipeline/people/handler_group.hpp"
#include "plugins/plugin_registry.hpp"
#include "program/project/network.hpp"

namespace agentforge::kernel {

/// Makes each handler. Refuses a handler before its code runs if `network` forbids it, or if its settings are left out for lack
/// of trust (AF-PLUG-043). Errors: AF-ESC-058 none is named, or one twice; AF-PLUG-… there is no such plugin, or its settings do
/// not fit.
[[nodiscard]] Result<std::vector<GroupedHandler>> make_handlers(const Settings& settings, PluginRegistry& plugins,
                                                                const NetworkRule& rule,
                                                                const std::vector<GuardedSetting>& left_out,
                                                                const std::map<std::string, std::string>& environment);
/// Checks that people can be notified, before there is anything to notify. Errors: AF-ESC-060 the webhook has no address, or has
/// no key although the settings name one; AF-ESC-051, 052 of the shipped webhook, called without sending anything; AF-ESC-055,
/// AF-PLUG-043.
[[nodiscard]] Result<void> check_handlers(const Settings& settings, PluginRegistry& plugins, const NetworkRule& rule,
                                          const std::vector<GuardedSetting>& left_out,
                                          const std::map<std::string, std::string>& environment);
/// Returns the variables that hold the webhook's address and key. Both are secret.
[[nodiscard]] std::vector<std::string> webhook_variables(const Settings& settings);
/// Return the settings of deadlines and of reminders.
[[nodiscard]] DeadlinePolicy deadline_policy(const Settings& settings);
[[nodiscard]] ReminderPolicy reminder_policy(const Settings& settings);

}  // namespace agentforge::kernel
