// SPDX-License-Identifier: Apache-2.0
// A running task's money, tokens, steps and time: the most that the next model call may use, whether the limits in force allow
// it, and what a call has used.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <agentforge/llm_backend.hpp>

#include "pipeline/task_services.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {

/// Returns the limits in force for a task. A limit that the current settings do not set keeps the task's earlier value: one given
/// once with `--set` stays with its task until another is given.
[[nodiscard]] TaskLimits limits_in_force(const TaskState& state, const TaskServices& services);
/// Returns the limits and prices in force, as they are recorded.
[[nodiscard]] records::CostingInForce costing_in_force(const TaskState& state, const TaskServices& services);

/// Returns the usage of each stage up to the one where the task ends. The time since its last record counts as running time.
[[nodiscard]] BudgetStatus budget_status(const TaskState& state, std::chrono::system_clock::time_point now);

/// Returns the most that this request may use: all of its input uncached and no less than the largest input so far, all output
/// that it allows, and at least the cost of the most expensive call of this model so far. `model` is the configured name; may be
/// empty.
[[nodiscard]] NextCall worst_case_call(const TaskState& state, const TaskServices& services, const std::string& model,
                                       const CompletionRequest& request, bool offline);

/// Returns the name under which a role's model answers, as far as known: the name in the role's calls so far, else a name that
/// begins with the configured one, else the configured one. A replayed run, which has no configured model, gets the same result.
[[nodiscard]] std::string answering_model(const TaskState& state, std::string_view role, const std::string& configured);

/// Returns what an answer used. The cost is the backend's own figure, else from the price table, else unknown. The model is the
/// one that answered, or the configured one if the backend does not say. Token kinds that only the diagnostics report
/// (`cache_write_input_tokens`, `reasoning_tokens`) are priced as such.
[[nodiscard]] records::CallUsage usage_of(const Completion& completion, const std::string& model, const PriceTable* prices);
/// The same for a call that may have been made but has no answer.
[[nodiscard]] records::CallUsage usage_of(const NextCall& call, const std::string& answering, const CompletionRequest& request,
                                          const PriceTable* prices);

/// True if a call that failed with this error may have cost money: false if it was refused before the model began.
[[nodiscard]] bool may_have_been_charged(const Error& error);

/// Returns the time at which a model call in progress is cancelled, if time is limited.
[[nodiscard]] std::optional<std::chrono::steady_clock::time_point> wall_time_deadline(const TaskState& state,
                                                                                      const TaskServices& services);

/// Returns the error of a limit that is reached without another call: time. Checked before a stage continues.
[[nodiscard]] std::optional<Error> wall_time_exceeded(const TaskState& state, const TaskServices& services);

}  // namespace agentforge::kernel
