// SPDX-License-Identifier: Apache-2.0
// A task's money, tokens, steps and time while it runs: what the next model call may use at most, whether that still fits the
// limits in force, and what a call has used.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <agentforge/llm_backend.hpp>

#include "pipeline/services.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {

/// The limits in force for a task: those of the settings now, and where they say nothing, those that it had before. So a limit
/// given once, with `--set`, stays with its task until another is given.
[[nodiscard]] TaskLimits limits_in_force(const TaskState& state, const TaskServices& services);
/// What the record `costing` holds: {limits, prices: [{as_of, sha256}]}; empty where nothing is limited or priced.
[[nodiscard]] json::object costing_in_force(const TaskState& state, const TaskServices& services);

/// How far the task's stages have come, up to the one where it ends; the time since its last record counts as time it ran.
[[nodiscard]] Standing standing_of(const TaskState& state, std::chrono::system_clock::time_point now);

/// The most that this request may use: all of its input uncached and no less than the largest so far, all output that it allows,
/// and no less money than the dearest call of this model so far. `model` is the configured one; may be empty.
[[nodiscard]] NextCall at_most(const TaskState& state, const TaskServices& services, const std::string& model,
                               const CompletionRequest& request, bool offline);

/// The name by which the model of a role answers, as far as is known: that of the role's calls so far, else one that begins with
/// the configured name, else the configured one. A replayed run, where none is configured, comes to the same.
[[nodiscard]] std::string answering_model(const TaskState& state, std::string_view role, const std::string& configured);

/// What an answer used: the backend's own figure of its cost, else by the table, else unknown. The model is the one that
/// answered, or where the backend does not say, the configured one. Tokens that only the diagnostics tell apart
/// (`cache_write_input_tokens`, `reasoning_tokens`) are priced as such.
[[nodiscard]] CallUsage usage_of(const Completion& completion, const std::string& model, const PriceTable* prices);
/// The same for a call that may have been made and has no answer.
[[nodiscard]] CallUsage usage_of(const NextCall& call, const std::string& answering, const CompletionRequest& request,
                                 const PriceTable* prices);

/// Whether a call that failed with this may have cost something: not where it was refused before the model began.
[[nodiscard]] bool may_have_cost(const Error& error);

/// A model call under way is given up at this time at the latest, where time is limited.
[[nodiscard]] std::optional<std::chrono::steady_clock::time_point> end_of_time(const TaskState& state,
                                                                               const TaskServices& services);

/// The limit that has been reached without another call: time. Checked before a stage goes on.
[[nodiscard]] std::optional<Error> out_of_time(const TaskState& state, const TaskServices& services);

}  // namespace agentforge::kernel
