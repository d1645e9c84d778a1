// SPDX-License-Identifier: Apache-2.0
// The escalation handlers that a project's settings name (`escalation.handlers`).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "pipeline/people/handler_group.hpp"
#include "plugins/host.hpp"
#include "program/project/network.hpp"

namespace agentforge::kernel {

/// Each of them, made; one that `network` does not allow, or whose settings are left out for want of trust (AF-PLUG-043), is
/// refused instead, before its code runs. Errors: AF-ESC-058 none is named, or one twice; AF-PLUG-… there is no such plugin, or
/// its settings do not fit.
[[nodiscard]] Result<std::vector<GroupedHandler>> make_handlers(const Settings& settings, PluginRegistry& plugins,
                                                                const NetworkRule& rule,
                                                                const std::vector<GuardedSetting>& left_out,
                                                                const std::map<std::string, std::string>& environment);
/// Whether people can be told at all: what a handler would say only when there is something to tell. Errors: AF-ESC-060 the
/// webhook has no address, or no key where one is named; AF-ESC-051, 052 what the shipped webhook says of both, asked without
/// being told anything; AF-ESC-055, AF-PLUG-043.
[[nodiscard]] Result<void> check_handlers(const Settings& settings, PluginRegistry& plugins, const NetworkRule& rule,
                                          const std::vector<GuardedSetting>& left_out,
                                          const std::map<std::string, std::string>& environment);
/// The variables that hold the webhook's address and key: secrets both.
[[nodiscard]] std::vector<std::string> webhook_variables(const Settings& settings);
/// How deadlines and reminders are set.
[[nodiscard]] AnswerRule answer_rule(const Settings& settings);
[[nodiscard]] ReminderPolicy reminder_policy(const Settings& settings);

}  // namespace agentforge::kernel
