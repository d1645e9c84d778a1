// SPDX-License-Identifier: Apache-2.0
#include "pipeline/budget.hpp"

#include <algorithm>

#include "backends/tokens.hpp"

namespace agentforge::kernel {

namespace {

std::uint64_t token_count(const json::object& diagnostics, std::string_view key) {
    const json::value* value = diagnostics.if_contains(key);
    if (value == nullptr) { return 0; }
    if (value->is_uint64()) { return value->get_uint64(); }
    return value->is_int64() && value->get_int64() > 0 ? static_cast<std::uint64_t>(value->get_int64()) : 0;
}

TaskLimits recorded_limits(const TaskState& state) {
    return state.costing.limits ? TaskLimits::from_record(*state.costing.limits) : TaskLimits{};
}

}  // namespace

TaskLimits limits_in_force(const TaskState& state, const TaskServices& services) {
    return overlaid(services.limits, recorded_limits(state));
}

records::CostingInForce costing_in_force(const TaskState& state, const TaskServices& services) {
    records::CostingInForce in_force;
    const records::LimitsInForce limits = limits_in_force(state, services).to_record();
    if (limits != records::LimitsInForce()) { in_force.limits = limits; }
    if (services.prices != nullptr) {
        in_force.prices.emplace();
        for (const PriceSource& source : services.prices->sources()) {
            in_force.prices->push_back({.as_of = source.as_of, .sha256 = source.sha256});
        }
    }
    return in_force;
}

BudgetStatus budget_status(const TaskState& state, std::chrono::system_clock::time_point now) {
    BudgetStatus standing;
    standing.task_id = state.task_id;
    standing.current = state.stage_index;
    for (std::size_t index = 0; index < state.stages.size(); ++index) {
        const StageState& stage = state.stages[index];
        StageStanding one{stage.name, state.pipeline.stages[index].budget_share, state.ledger.of_stage(stage.name), stage.steps,
                          stage.wall_ms};
        if (index == state.stage_index && state.status == TaskStatus::running) {
            if (const auto last = parse_time(state.updated_at); last.ok() && now > *last) {
                one.wall_ms +=
                    static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now - *last).count());
            }
        }
        standing.stages.push_back(std::move(one));
        const bool ends = (state.exit_after && *state.exit_after == stage.name) || state.pipeline.exit_stage == stage.name;
        if (ends && index >= state.stage_index) { break; }
    }
    return standing;
}

NextCall worst_case_call(const TaskState& state, const TaskServices& services, const std::string& model,
                         const CompletionRequest& request, bool offline) {
    std::uint64_t input = estimate_tokens(request.system) + estimate_tokens(request.user);
    for (const ToolDescription& tool : request.tools) { input += estimate_tokens(tool); }
    // Only a first call shows the overhead that the backend adds. The server may use a longer name for the model.
    Spend seen;
    bool unpriced = false;
    for (const auto& [name, spend] : state.ledger.by(&LedgerEntry::model)) {
        if (!model.empty() && !name.empty() && !name.starts_with(model)) { continue; }
        seen.add(spend);
        unpriced = unpriced || !spend.cost_known();
    }
    input = std::max(input, seen.largest_input);
    NextCall call;
    call.model = model;
    call.tokens = input + request.max_output_tokens;
    call.cost_microusd = seen.dearest_microusd;
    const ModelPrice* price = services.prices != nullptr ? services.prices->find(model) : nullptr;
    if (price == nullptr && services.prices != nullptr) {
        price = services.prices->find(answering_model(state, request.place.role, model));
    }
    if (price != nullptr) {
        call.cost_microusd = std::max(call.cost_microusd, price->max_cost(input, request.max_output_tokens));
    }
    call.price_unknown = price == nullptr && unpriced && !offline;
    return call;
}

records::CallUsage usage_of(const Completion& completion, const std::string& model, const PriceTable* prices) {
    const std::string answering = completion.model.empty() ? model : completion.model;
    records::CallUsage usage{
        .model = answering,
        .input_tokens = completion.usage.input_tokens,
        .cached_input_tokens = completion.usage.cached_input_tokens,
        .cache_write_input_tokens = token_count(completion.diagnostics, "cache_write_input_tokens"),
        .output_tokens = completion.usage.output_tokens,
        .cost_microusd = completion.usage.cost_microusd,
        .estimated = completion.usage.estimated,
    };
    if (usage.cost_microusd) {
        usage.cost_from = records::cost_from_backend;
        return usage;
    }
    if (prices == nullptr) { return usage; }
    const ModelPrice* price = prices->find(answering);
    if (price == nullptr && !model.empty()) { price = prices->find(model); }
    if (price != nullptr) {
        usage.cost_microusd = price->of({usage.input_tokens, *usage.cached_input_tokens, *usage.cache_write_input_tokens,
                                         usage.output_tokens, token_count(completion.diagnostics, "reasoning_tokens")});
        usage.cost_from = records::cost_from_prices;
    }
    return usage;
}

std::string answering_model(const TaskState& state, std::string_view role, const std::string& configured) {
    std::string like;
    std::string own;
    for (const LedgerEntry& entry : state.ledger.entries()) {
        if (entry.model.empty()) { continue; }
        if (entry.agent == role) { own = entry.model; }
        if (entry.model.starts_with(configured)) { like = entry.model; }
    }
    if (!own.empty()) { return own; }
    return !like.empty() ? like : configured;
}

records::CallUsage usage_of(const NextCall& call, const std::string& answering, const CompletionRequest& request,
                            const PriceTable* prices) {
    const std::uint64_t output = std::min(request.max_output_tokens, call.tokens);
    records::CallUsage usage{.model = answering,
                             .input_tokens = call.tokens - output,
                             .cached_input_tokens = 0,
                             .cache_write_input_tokens = 0,
                             .output_tokens = output,
                             .estimated = true};
    const bool priced = prices != nullptr && (prices->find(call.model) != nullptr || prices->find(answering) != nullptr);
    if (priced || call.cost_microusd > 0) {
        usage.cost_microusd = call.cost_microusd;
        usage.cost_from = records::cost_from_prices;
    }
    return usage;
}

bool may_have_been_charged(const Error& error) {
    // Errors before any model ran: no connection, no such model, a refused request, no credit, an overloaded server, no recorded
    // answer, no program.
    static constexpr std::string_view free_of_charge[] = {
        "AF-LLM-201", "AF-LLM-202", "AF-LLM-203", "AF-LLM-204", "AF-LLM-205", "AF-LLM-301", "AF-LLM-306", "AF-LLM-308",
        "AF-LLM-401", "AF-LLM-402", "AF-LLM-403", "AF-LLM-404", "AF-LLM-405", "AF-LLM-406", "AF-LLM-408", "AF-LLM-413"};
    if (error.kind == ErrorKind::unavailable || error.kind == ErrorKind::denied) { return false; }
    return std::ranges::find(free_of_charge, std::string_view(error.code)) == std::end(free_of_charge);
}

std::optional<std::chrono::steady_clock::time_point> wall_time_deadline(const TaskState& state, const TaskServices& services) {
    const auto left = time_left(limits_in_force(state, services), budget_status(state, services.clock.now()));
    if (!left) { return std::nullopt; }
    return services.clock.steady() + *left;
}

std::optional<Error> wall_time_exceeded(const TaskState& state, const TaskServices& services) {
    return limit_reached(limits_in_force(state, services), budget_status(state, services.clock.now()), nullptr);
}

}  // namespace agentforge::kernel
