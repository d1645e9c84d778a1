// SPDX-License-Identifier: Apache-2.0
// How much a task and each of its stages may use (Task 012: FR-047 to FR-053), and whether the next model call still fits.
//
// A limit is never passed: a call is made only where the most it may use still fits. What a stage of the pipeline gets of
// the task's tokens and money is its share (`budget_share`); what earlier stages left over is added to it. A share stops a
// stage once it is used up: the most that one call may use is often more than the whole share of a small stage.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "cost/ledger.hpp"

namespace agentforge::kernel {

/// Empty: no limit.
struct Limits {
    std::optional<std::uint64_t> cost_microusd = {};
    std::optional<std::uint64_t> tokens = {};   ///< Input and output.
    std::optional<std::uint64_t> steps = {};    ///< Model calls with their actions.
    std::optional<std::uint64_t> wall_ms = {};  ///< While the task runs: not while it is paused or waits for a person.
    [[nodiscard]] bool any() const noexcept { return cost_microusd || tokens || steps || wall_ms; }
    bool operator==(const Limits&) const = default;
};

struct TaskLimits {
    Limits task;
    std::map<std::string, Limits, std::less<>> stages;
    [[nodiscard]] bool any() const noexcept { return task.any() || !stages.empty(); }
    /// Whether money is limited anywhere.
    [[nodiscard]] bool limits_cost() const noexcept;
    /// As a record holds them, money in micro-USD and time in milliseconds; read back to the same.
    [[nodiscard]] json::object to_json() const;
    [[nodiscard]] static TaskLimits from_json(const json::object& value);
    bool operator==(const TaskLimits&) const = default;
};

/// Reads the settings below `limits`: max_cost_usd (0.000001 to a billion), max_tokens, max_steps, max_wall_time (`90s`, `30m`,
/// `1h30m`, `2d`), and the same below `stages.<stage>`. `where` says where a key was written.
/// Errors: AF-COST-002 with the place.
[[nodiscard]] Result<TaskLimits> read_limits(const json::object& settings,
                                             const std::function<std::string(const std::string& key)>& where);

/// `upper`, and where it says nothing, `lower`.
[[nodiscard]] TaskLimits laid_over(const TaskLimits& upper, const TaskLimits& lower);

/// How far the stages of a task have come.
struct StageStanding {
    std::string name;
    unsigned share = 0;  ///< Percent of the task's limits; 0: none of its own.
    Spend spend;
    std::uint64_t steps = 0;
    std::uint64_t wall_ms = 0;
};
struct Standing {
    std::string task_id;
    std::vector<StageStanding> stages;  ///< Up to the one where the pipeline ends.
    std::size_t current = 0;
};

/// What the next call may use at most.
struct NextCall {
    std::string model;  ///< As configured; may be empty.
    std::uint64_t tokens = 0;
    std::uint64_t cost_microusd = 0;  ///< 0 where it is unknown.
    bool price_unknown = false;       ///< No price is known, and a call of this model came back without a cost.
};

/// The limit that the next call would pass, or that has been reached without one (`call` null: only time counts). All errors are
/// `unavailable`, so that the task pauses: AF-COST-010 cost, AF-COST-011 tokens, AF-COST-012 steps, AF-COST-013 time,
/// AF-COST-014 a limit on cost that cannot be kept, because a price is unknown.
[[nodiscard]] std::optional<Error> limit_reached(const TaskLimits& limits, const Standing& standing, const NextCall* call);

/// How long the task or its current stage may still run, whichever is shorter.
[[nodiscard]] std::optional<std::chrono::milliseconds> time_left(const TaskLimits& limits, const Standing& standing);

/// The part of a task's limit that its stages up to the current one may use together; the whole where the template has no shares.
[[nodiscard]] std::uint64_t share_of(std::uint64_t limit, const Standing& standing);

/// AF-COST-014.
[[nodiscard]] Error price_is_unknown(const std::string& model);

}  // namespace agentforge::kernel
