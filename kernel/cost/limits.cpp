// SPDX-License-Identifier: Apache-2.0
#include "cost/limits.hpp"

#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "cost/price_table.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::uint64_t million = 1'000'000;
constexpr std::uint64_t second = 1'000;

constexpr std::optional<std::uint64_t> Limits::*fields[] = {&Limits::cost_microusd, &Limits::tokens, &Limits::steps,
                                                            &Limits::wall_ms};

template <class Recorded>
void write(const Limits& limits, Recorded& recorded) {
    recorded.max_cost_microusd = limits.cost_microusd;
    recorded.max_tokens = limits.tokens;
    recorded.max_steps = limits.steps;
    recorded.max_wall_time_ms = limits.wall_ms;
}

Limits read(const auto& recorded) {
    return {recorded.max_cost_microusd, recorded.max_tokens, recorded.max_steps, recorded.max_wall_time_ms};
}

Limits over(const Limits& upper, const Limits& lower) {
    Limits limits = upper;
    for (const auto field : fields) {
        if (!(limits.*field)) { limits.*field = lower.*field; }
    }
    return limits;
}

Result<Limits> read_some(const json::object& settings, const std::string& prefix,
                         const std::function<std::string(const std::string&)>& where) {
    Limits limits;
    const auto wrong = [&](const std::string& key, const std::string& message, std::string remedy) {
        return Error{"AF-COST-002", "the setting " + prefix + key + " " + message, where(prefix + key), std::move(remedy),
                     ErrorKind::invalid};
    };
    if (const json::value* cost = settings.if_contains("max_cost_usd")) {
        constexpr double most = 1e9;
        const double usd = cost->is_number() ? cost->to_number<double>() : 0;
        const auto micro =
            usd > 0 && usd <= most ? static_cast<std::uint64_t>(std::floor(usd * static_cast<double>(million) + 1e-3)) : 0;
        if (micro == 0) {
            return wrong("max_cost_usd", "is " + ellipsis(json::serialize(*cost), 60) + " and must be an amount of USD above 0",
                         "Write a number such as 2.50.");
        }
        limits.cost_microusd = micro;
    }
    const auto count = [&](const char* key, std::optional<std::uint64_t>& into) -> Result<void> {
        const json::value* value = settings.if_contains(key);
        if (value == nullptr) { return {}; }
        if (!value->is_int64() || value->get_int64() < 1) {
            return wrong(key, "must be a whole number above 0", "Leave it out if there is no limit.");
        }
        into = static_cast<std::uint64_t>(value->get_int64());
        return {};
    };
    AF_CHECK(count("max_tokens", limits.tokens));
    AF_CHECK(count("max_steps", limits.steps));
    if (const json::value* time = settings.if_contains("max_wall_time")) {
        const auto span = time->is_string() ? parse_time_span(std::string_view(time->get_string())) : std::nullopt;
        if (!span) {
            return wrong("max_wall_time",
                         "is " + ellipsis(json::serialize(*time), 60) + " and must be a time such as 90s, 30m, 1h30m or 2d",
                         "Write days, hours, minutes and seconds in this order, a year at most.");
        }
        limits.wall_ms = static_cast<std::uint64_t>(span->count());
    }
    return limits;
}

std::string count_in_words(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) { text.insert(at -= 3, ","); }
    return text;
}

struct Amount {
    const char* code;
    const char* key;  ///< `max_tokens`
    std::optional<std::uint64_t> Limits::*field;
    const char* verb;  ///< `use`
    const char* past;  ///< `has used`
    const char* unit;  ///< ` tokens`
    bool shared;       ///< Divided among the stages.
    std::uint64_t (*of)(const StageStanding&);
};

std::string written(const Amount& what, std::uint64_t value) {
    if (what.field == &Limits::cost_microusd) { return money(value); }
    if (what.field == &Limits::wall_ms) { return time_span(value); }
    return count_in_words(value) + what.unit;
}

/// Suggests a raised limit: twice the old one, or what is needed, whichever is more.
std::string raised(const Amount& what, std::uint64_t limit, std::uint64_t needed) {
    const std::uint64_t enough = std::max(limit * 2, needed + needed / 4);
    if (what.field == &Limits::cost_microusd) { return money((enough + 9'999) / 10'000 * 10'000).substr(1); }
    if (what.field == &Limits::wall_ms) { return time_span((enough + second - 1) / second * second); }
    return std::to_string(enough);
}

constexpr Amount amounts[] = {
    {"AF-COST-010", "max_cost_usd", &Limits::cost_microusd, "cost", "has cost", "", true,
     [](const StageStanding& stage) { return stage.spend.cost_microusd; }},
    {"AF-COST-011", "max_tokens", &Limits::tokens, "use", "has used", " tokens", true,
     [](const StageStanding& stage) { return stage.spend.tokens(); }},
    {"AF-COST-012", "max_steps", &Limits::steps, "take", "has taken", " steps", false,
     [](const StageStanding& stage) { return stage.steps; }},
    {"AF-COST-013", "max_wall_time", &Limits::wall_ms, "run for", "has run for", "", false,
     [](const StageStanding& stage) { return stage.wall_ms; }},
};

/// Compares `used` and `next` with `limit`. `who` is `the task` or `stage x`. A share (`next` is nothing) is exceeded only once
/// it is used up.
std::optional<Error> over_limit(const Amount& what, const std::string& who, const std::string& key, std::uint64_t limit,
                                std::uint64_t used, std::uint64_t next) {
    if (used < limit && used + next <= limit) { return std::nullopt; }
    std::string message =
        who + " may " + what.verb + " " + written(what, limit) + "; it " + what.past + " " + written(what, used);
    if (used < limit) { message += ", and the next call may take up to " + written(what, next) + " more"; }
    return Error{what.code, std::move(message), key, "", ErrorKind::unavailable};
}

/// Returns how much of an amount other than time the call uses.
std::uint64_t added_by(const NextCall& call, const Amount& what) {
    if (what.field == &Limits::cost_microusd) { return call.cost_microusd; }
    return what.field == &Limits::tokens ? call.tokens : 1;
}

std::string resume_command(const BudgetStatus& standing, const std::string& key, const std::string& value) {
    return "agentforge resume " + (standing.task_id.empty() ? std::string("TASK") : short_id(standing.task_id)) + " --set " +
           key + "=" + value;
}

std::string raise_and_resume(const BudgetStatus& standing, const std::string& key, const std::string& value) {
    return "no work is lost; raise the limit, here or in the settings, and continue: " + resume_command(standing, key, value);
}

const StageStanding& current_stage(const BudgetStatus& standing) {
    return standing.stages[std::min(standing.current, standing.stages.size() - 1)];
}

std::string task_limit_key(const Amount& what) { return std::string("limits.") + what.key; }
std::string stage_limit_key(const Amount& what, const std::string& stage) { return "limits.stages." + stage + "." + what.key; }

/// `divided`: until the last stage, the stages so far may use only their shares of the limit.
std::optional<Error> task_limit_reached(const Amount& what, std::uint64_t limit, bool divided, const BudgetStatus& standing,
                                        std::uint64_t next) {
    std::uint64_t used = 0;
    std::uint64_t used_so_far = 0;
    for (std::size_t index = 0; index < standing.stages.size(); ++index) {
        used += what.of(standing.stages[index]);
        if (index <= standing.current) { used_so_far = used; }
    }
    const std::string key = task_limit_key(what);
    const std::uint64_t share = divided ? share_of(limit, standing) : limit;
    const std::uint64_t needed =
        std::max(used + next, share < limit ? used_so_far * (limit / std::max<std::uint64_t>(share, 1) + 1) : 0);
    if (auto error = over_limit(what, "the task", key, limit, used, next)) {
        error->remedy = raise_and_resume(standing, key, raised(what, limit, needed));
        return error;
    }
    if (share >= limit) { return std::nullopt; }
    const StageStanding& stage = current_stage(standing);
    auto error = over_limit(what, "stage `" + stage.name + "` with those before it", key, share, used_so_far, 0);
    if (error) {
        error->message += " (" + std::to_string(share * 100 / limit) + " % of the task's limit)";
        const std::uint64_t mine = what.of(stage);
        error->remedy = "no work is lost; raise the limit, or set one for this stage, and continue: " +
                        resume_command(standing, key, raised(what, limit, needed)) + "   or   " +
                        resume_command(standing, stage_limit_key(what, stage.name), raised(what, mine, mine + next));
    }
    return error;
}

std::optional<Error> stage_limit_reached(const Amount& what, std::uint64_t limit, const BudgetStatus& standing,
                                         std::uint64_t next) {
    const StageStanding& stage = current_stage(standing);
    const std::string key = stage_limit_key(what, stage.name);
    const std::uint64_t used = what.of(stage);
    auto error = over_limit(what, "stage `" + stage.name + "`", key, limit, used, next);
    if (error) { error->remedy = raise_and_resume(standing, key, raised(what, limit, used + next)); }
    return error;
}

}  // namespace

bool TaskLimits::limits_cost() const noexcept {
    return task.cost_microusd ||
           std::ranges::any_of(stages, [](const auto& stage) { return stage.second.cost_microusd.has_value(); });
}

records::LimitsInForce TaskLimits::to_record() const {
    records::LimitsInForce recorded;
    write(task, recorded);
    for (const auto& [name, limits] : stages) {
        if (!limits.any()) { continue; }
        if (!recorded.stages) { recorded.stages.emplace(); }
        write(limits, (*recorded.stages)[name]);
    }
    return recorded;
}

TaskLimits TaskLimits::from_record(const records::LimitsInForce& recorded) {
    TaskLimits limits;
    limits.task = read(recorded);
    if (recorded.stages) {
        for (const auto& [name, stage] : *recorded.stages) { limits.stages[name] = read(stage); }
    }
    return limits;
}

Result<TaskLimits> read_limits(const json::object& settings, const std::function<std::string(const std::string&)>& where) {
    TaskLimits limits;
    AF_TRY(limits.task, read_some(settings, "limits.", where));
    if (const json::value* stages = settings.if_contains("stages"); stages != nullptr && stages->is_object()) {
        for (const auto& [name, stage] : stages->get_object()) {
            if (!stage.is_object()) { continue; }
            AF_TRY(Limits own, read_some(stage.get_object(), "limits.stages." + std::string(name) + ".", where));
            if (own.any()) { limits.stages[std::string(name)] = own; }
        }
    }
    return limits;
}

TaskLimits overlaid(const TaskLimits& upper, const TaskLimits& lower) {
    TaskLimits limits{over(upper.task, lower.task), lower.stages};
    for (const auto& [name, stage] : upper.stages) { limits.stages[name] = over(stage, limits.stages[name]); }
    return limits;
}

std::uint64_t share_of(std::uint64_t limit, const BudgetStatus& standing) {
    std::uint64_t all = 0;
    std::uint64_t mine = 0;
    for (std::size_t index = 0; index < standing.stages.size(); ++index) {
        all += standing.stages[index].share;
        if (index <= standing.current) { mine += standing.stages[index].share; }
    }
    if (all == 0 || mine >= all) { return limit; }
    return limit / all * mine + limit % all * mine / all;
}

std::optional<Error> limit_reached(const TaskLimits& limits, const BudgetStatus& standing, const NextCall* call) {
    if (standing.stages.empty()) { return std::nullopt; }
    static const Limits none;
    const auto found = limits.stages.find(current_stage(standing).name);
    const Limits& own = found == limits.stages.end() ? none : found->second;
    if (call != nullptr && call->price_unknown && (limits.task.cost_microusd || own.cost_microusd)) {
        return price_is_unknown(call->model);
    }
    for (const Amount& what : amounts) {
        const bool time = what.field == &Limits::wall_ms;
        if (call == nullptr && !time) { continue; }
        const std::uint64_t next = time ? 0 : added_by(*call, what);
        const std::optional<std::uint64_t>& stage_limit = own.*what.field;
        if (const auto& limit = limits.task.*what.field) {
            const bool divided = what.shared && !stage_limit;
            if (auto error = task_limit_reached(what, *limit, divided, standing, next)) { return error; }
        }
        if (stage_limit) {
            if (auto error = stage_limit_reached(what, *stage_limit, standing, next)) { return error; }
        }
    }
    return std::nullopt;
}

std::optional<std::chrono::milliseconds> time_left(const TaskLimits& limits, const BudgetStatus& standing) {
    std::optional<std::uint64_t> left;
    const auto bound = [&](const std::optional<std::uint64_t>& limit, std::uint64_t used) {
        if (!limit) { return; }
        const std::uint64_t rest = *limit > used ? *limit - used : 0;
        left = left ? std::min(*left, rest) : rest;
    };
    std::uint64_t used = 0;
    for (const StageStanding& stage : standing.stages) { used += stage.wall_ms; }
    bound(limits.task.wall_ms, used);
    if (standing.current < standing.stages.size()) {
        const StageStanding& stage = standing.stages[standing.current];
        if (const auto own = limits.stages.find(stage.name); own != limits.stages.end()) {
            bound(own->second.wall_ms, stage.wall_ms);
        }
    }
    if (!left) { return std::nullopt; }
    return std::chrono::milliseconds(*left);
}

Error price_is_unknown(const std::string& model) {
    const std::string name = model.empty() ? "the model, which is not named," : "the model `" + model + "`";
    return Error{
        "AF-COST-014", "a cost limit is set, but the price of " + name + " is unknown, so the limit cannot be enforced",
        "limits.max_cost_usd",
        "add its price to a file named in `cost.prices` (`agentforge help docs/models.md` shows one), or limit max_tokens instead",
        ErrorKind::unavailable};
}

}  // namespace agentforge::kernel
