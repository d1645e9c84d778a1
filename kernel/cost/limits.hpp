// SPDX-License-Identifier: Apache-2.0
// Limits on the usage of a task and each of its stages, and whether the next model call still fits.
//
// A call is made only if its maximum usage still fits, so a limit is never exceeded, except by the first call of a command that
// reports its cost afterwards. A stage's share of the task's tokens and money is its `budget_share`, plus what earlier stages
// left over. A share stops a stage only once it is used up, because the maximum of one call is often more than the whole share
// of a small stage.
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

namespace records {
struct LimitsInForce;
}

/// Empty: no limit.
struct Limits {
    std::optional<std::uint64_t> cost_microusd = {};
    std::optional<std::uint64_t> tokens = {};   ///< Input and output.
    std::optional<std::uint64_t> steps = {};    ///< Model calls with their actions.
    std::optional<std::uint64_t> wall_ms = {};  ///< Time while the task runs, not while it is paused or waits for a person.
    [[nodiscard]] bool any() const noexcept { return cost_microusd || tokens || steps || wall_ms; }
    bool operator==(const Limits&) const = default;
};

struct TaskLimits {
    Limits task;
    std::map<std::string, Limits, std::less<>> stages;
    [[nodiscard]] bool any() const noexcept { return task.any() || !stages.empty(); }
    /// True if there is any limit on money.
    [[nodiscard]] bool limits_cost() const noexcept;
    /// Returns the limits as they are recorded. Reads back to the same.
    [[nodiscard]] records::LimitsInForce to_record() const;
    [[nodiscard]] static TaskLimits from_record(const records::LimitsInForce& recorded);
    bool operator==(const TaskLimits&) const = default;
};

/// Reads the settings below `limits`: max_cost_usd (0.000001 to a billion), max_tokens, max_steps, max_wall_time (`90s`, `30m`,
/// `1h30m`, `2d`), and the same below `stages.<stage>`. `where` returns where a key was written. Errors: AF-COST-002 with the
/// place.
[[nodiscard]] Result<TaskLimits> read_limits(const json::object& settings,
                                             const std::function<std::string(const std::string& key)>& where);

/// Returns `upper`, completed from `lower`.
[[nodiscard]] TaskLimits overlaid(const TaskLimits& upper, const TaskLimits& lower);

/// The progress and usage of a task's stage.
struct StageStanding {
    std::string name;
    unsigned share = 0;  ///< Percent of the task's limits. 0: no share.
    Spend spend;
    std::uint64_t steps = 0;
    std::uint64_t wall_ms = 0;
};
struct BudgetStatus {
    std::string task_id;
    std::vector<StageStanding> stages;  ///< Up to the stage where the pipeline ends.
    std::size_t current = 0;
};

/// The maximum usage of the next call.
struct NextCall {
    std::string model;  ///< As configured. May be empty.
    std::uint64_t tokens = 0;
    std::uint64_t cost_microusd = 0;  ///< 0 if unknown.
    bool price_unknown = false;       ///< No price is known, and a call of this model returned without a cost.
};

/// Returns the limit that the next call would exceed, or one that is already reached (`call` null: checks only time). All errors
/// are `unavailable`, so the task pauses: AF-COST-010 cost, AF-COST-011 tokens, AF-COST-012 steps, AF-COST-013 time, AF-COST-014
/// a limit on cost that cannot be kept because a price is unknown.
[[nodiscard]] std::optional<Error> limit_reached(const TaskLimits& limits, const BudgetStatus& standing, const NextCall* call);

/// Returns how long the task or its current stage may still run, whichever is shorter.
[[nodiscard]] std::optional<std::chrono::milliseconds> time_left(const TaskLimits& limits, const BudgetStatus& standing);

/// Returns the part of a task's limit that its stages up to the current one may use together. The whole limit if the template has
/// no shares.
[[nodiscard]] std::uint64_t share_of(std::uint64_t limit, const BudgetStatus& standing);

/// Returns AF-COST-014.
[[nodiscard]] Error price_is_unknown(const std::string& model);

}  // namespace agentforge::kernel
