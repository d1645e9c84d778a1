// SPDX-License-Identifier: Apache-2.0
// Reads sections of the settings into the values that a project's services take.
#pragma once

#include <map>
#include <string>

#include "agent/run_spec.hpp"
#include "config/agent_set.hpp"
#include "config/pipeline_set.hpp"
#include "config/settings.hpp"
#include "cost/limits.hpp"
#include "cost/price_table.hpp"
#include "pipeline/delivery/delivery_settings.hpp"
#include "program/log/log.hpp"
#include "program/program.hpp"
#include "program/project/network.hpp"
#include "program/project/project_trust.hpp"
#include "servers/definition.hpp"

namespace agentforge::kernel {

/// Returns the section `gates:`. Programs with a `/` and folders are relative to the project's root. Adds the project's own
/// Python environment and Node packages.
[[nodiscard]] json::object gate_settings(const Settings& settings, const ProjectPlace& place);
/// Returns the tool servers of the settings and of `.mcp.json`.
[[nodiscard]] ServerSet declared_servers(const Settings& settings, const ProjectPlace& place, const ProjectTrust& trust,
                                         const NetworkRule& network, const std::map<std::string, std::string>& environment);
/// Returns how the log is written. Without a setting, its file is below `.agentforge/logs`.
[[nodiscard]] Log::Options log_options(const Program& program, const ProjectPlace& place, const Settings& settings);
/// Returns how many tokens each part of a context may take.
[[nodiscard]] TokenBudget token_budget(const Settings& settings);
/// Returns the shipped prices, overridden by the user's own (`cost.prices`, relative to the project's root). Errors: AF-COST-001.
[[nodiscard]] Result<PriceTable> load_prices(const ProjectPlace& place, const ProductPaths& product, const Settings& settings);
/// Returns how tasks deliver. Errors, with file, line and column: AF-GIT-045, AF-GIT-046.
[[nodiscard]] Result<DeliverySettings> load_delivery(const Settings& settings);
/// Returns the limits of the settings. Errors, with file, line and column: AF-COST-002, AF-COST-003.
[[nodiscard]] Result<TaskLimits> load_limits(const Settings& settings, const PipelineSet& pipelines);
/// Checks that each `agents.<role>` exists. Skips the user's own file: it is for all projects, and some have further roles.
/// Errors: AF-CONF-081.
[[nodiscard]] Result<void> check_roles_of_settings(const Settings& settings, const AgentSet& agents);

}  // namespace agentforge::kernel
