// SPDX-License-Identifier: Apache-2.0
// The names of a state's enum values, in records and in state.yaml.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "task/state.hpp"

namespace agentforge::kernel {

inline constexpr std::array<std::pair<TaskStatus, std::string_view>, 7> task_status_names{{
    {TaskStatus::pending, "pending"},
    {TaskStatus::running, "running"},
    {TaskStatus::paused, "paused"},
    {TaskStatus::awaiting_approval, "awaiting_approval"},
    {TaskStatus::completed, "completed"},
    {TaskStatus::failed, "failed"},
    {TaskStatus::aborted, "aborted"},
}};
inline constexpr std::array<std::pair<StageStatus, std::string_view>, 5> stage_status_names{{
    {StageStatus::pending, "pending"},
    {StageStatus::running, "running"},
    {StageStatus::completed, "completed"},
    {StageStatus::failed, "failed"},
    {StageStatus::skipped, "skipped"},
}};
inline constexpr std::array<std::pair<StageProgress, std::string_view>, 8> progress_names{{
    {StageProgress::not_started, "not_started"},
    {StageProgress::executing, "executing"},
    {StageProgress::accepted, "accepted"},
    {StageProgress::asking, "asking"},
    {StageProgress::escalated, "escalated"},
    {StageProgress::approving, "approving"},
    {StageProgress::cycling, "cycling"},
    {StageProgress::failed, "failed"},
}};
inline constexpr std::array<std::pair<EscalationCause, std::string_view>, 6> cause_names{{
    {EscalationCause::stage, "stage"},
    {EscalationCause::contract_retries, "healing"},
    {EscalationCause::review, "review"},
    {EscalationCause::cycle_limit, "cycle_limit"},
    {EscalationCause::iteration_limit, "iteration_limit"},
    {EscalationCause::attempts, "attempts"},
}};
inline constexpr std::array<std::pair<ArtifactState, std::string_view>, 5> artifact_state_names{{
    {ArtifactState::none, "none"},
    {ArtifactState::draft, "draft"},
    {ArtifactState::pending_review, "pending_review"},
    {ArtifactState::approved, "approved"},
    {ArtifactState::final, "final"},
}};

template <class Names, class Value>
std::string_view name_in(const Names& names, Value value) noexcept {
    for (const auto& [candidate, name] : names) {
        if (candidate == value) { return name; }
    }
    return "unknown";
}

template <class Names>
auto value_in(const Names& names, std::string_view text) -> std::optional<typename Names::value_type::first_type> {
    for (const auto& [value, name] : names) {
        if (name == text) { return value; }
    }
    return std::nullopt;
}

}  // namespace agentforge::kernel
