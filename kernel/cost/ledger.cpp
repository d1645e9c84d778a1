// SPDX-License-Identifier: Apache-2.0
#include "cost/ledger.hpp"

#include <algorithm>

#include "cost/price_table.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

namespace {

std::uint64_t number(const json::object& value, std::string_view key) {
    const json::value* found = value.if_contains(key);
    if (found == nullptr) { return 0; }
    if (found->is_uint64()) { return found->get_uint64(); }
    return found->is_int64() && found->get_int64() > 0 ? static_cast<std::uint64_t>(found->get_int64()) : 0;
}

std::string text(const json::object& value, std::string_view key) {
    const json::value* found = value.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

}  // namespace

void Spend::add(const records::CallUsage& call, bool lost_call) {
    (lost_call ? lost : calls) += 1;
    input_tokens += call.input_tokens;
    cached_input_tokens += *call.cached_input_tokens;
    cache_write_input_tokens += *call.cache_write_input_tokens;
    output_tokens += call.output_tokens;
    cost_microusd += call.cost_microusd.value_or(0);
    unpriced += call.cost_microusd ? 0 : 1;
    estimated += *call.estimated ? 1 : 0;
    if (lost_call) { return; }  // Its maximum usage says nothing about the next call.
    dearest_microusd = std::max(dearest_microusd, call.cost_microusd.value_or(0));
    largest_input = std::max(largest_input, call.input_tokens);
}

void Spend::add(const Spend& other) {
    calls += other.calls;
    lost += other.lost;
    input_tokens += other.input_tokens;
    cached_input_tokens += other.cached_input_tokens;
    cache_write_input_tokens += other.cache_write_input_tokens;
    output_tokens += other.output_tokens;
    cost_microusd += other.cost_microusd;
    unpriced += other.unpriced;
    estimated += other.estimated;
    dearest_microusd = std::max(dearest_microusd, other.dearest_microusd);
    largest_input = std::max(largest_input, other.largest_input);
}

Spend Spend::without(const Spend& part) const {
    Spend rest = *this;
    rest.calls -= part.calls;
    rest.lost -= part.lost;
    rest.input_tokens -= part.input_tokens;
    rest.cached_input_tokens -= part.cached_input_tokens;
    rest.cache_write_input_tokens -= part.cache_write_input_tokens;
    rest.output_tokens -= part.output_tokens;
    rest.cost_microusd -= part.cost_microusd;
    rest.unpriced -= part.unpriced;
    rest.estimated -= part.estimated;
    return rest;
}

std::uint64_t Spend::input_token_equivalents() const noexcept {
    const std::uint64_t read = std::min(cached_input_tokens, input_tokens);
    const std::uint64_t written = std::min(cache_write_input_tokens, input_tokens - read);
    return (20 * (input_tokens - read - written) + 2 * read + 25 * written + 10) / 20;
}

void Ledger::add(std::string_view stage, std::string_view agent, const records::CallUsage& call, bool lost_call) {
    auto entry = std::ranges::find_if(
        entries_, [&](const LedgerEntry& one) { return one.stage == stage && one.agent == agent && one.model == *call.model; });
    if (entry == entries_.end()) {
        entries_.push_back({std::string(stage), std::string(agent), *call.model, {}});
        entry = std::prev(entries_.end());
    }
    entry->spend.add(call, lost_call);
}

Spend Ledger::total() const {
    Spend sum;
    for (const LedgerEntry& entry : entries_) { sum.add(entry.spend); }
    return sum;
}

Spend Ledger::of_stage(std::string_view stage) const {
    Spend sum;
    for (const LedgerEntry& entry : entries_) {
        if (entry.stage == stage) { sum.add(entry.spend); }
    }
    return sum;
}

Spend Ledger::of_model(std::string_view model) const {
    Spend sum;
    for (const LedgerEntry& entry : entries_) {
        if (entry.model == model) { sum.add(entry.spend); }
    }
    return sum;
}

std::vector<std::pair<std::string, Spend>> Ledger::by(std::string LedgerEntry::*field) const {
    std::vector<std::pair<std::string, Spend>> sums;
    for (const LedgerEntry& entry : entries_) {
        auto sum = std::ranges::find_if(sums, [&](const auto& one) { return one.first == entry.*field; });
        if (sum == sums.end()) {
            sums.emplace_back(entry.*field, Spend{});
            sum = std::prev(sums.end());
        }
        sum->second.add(entry.spend);
    }
    return sums;
}

std::vector<std::string> Ledger::unpriced_models() const {
    std::vector<std::string> models;
    for (const auto& [model, spend] : by(&LedgerEntry::model)) {
        if (!spend.cost_known()) { models.push_back(model); }
    }
    return models;
}

json::object to_json(const Spend& spend) {
    return {{"calls", spend.calls},
            {"lost_calls", spend.lost},
            {"input_tokens", spend.input_tokens},
            {"cached_input_tokens", spend.cached_input_tokens},
            {"cache_write_input_tokens", spend.cache_write_input_tokens},
            {"output_tokens", spend.output_tokens},
            {"cost_microusd", spend.cost_microusd},
            {"unpriced_calls", spend.unpriced},
            {"estimated_calls", spend.estimated},
            {"dearest_microusd", spend.dearest_microusd},
            {"largest_input_tokens", spend.largest_input}};
}

json::array Ledger::to_json() const {
    json::array out;
    for (const LedgerEntry& entry : entries_) {
        json::object one{{"stage", entry.stage}, {"agent", entry.agent}, {"model", entry.model}};
        for (auto& [key, value] : kernel::to_json(entry.spend)) { one[key] = value; }
        out.push_back(std::move(one));
    }
    return out;
}

std::optional<Ledger> Ledger::from_json(const json::array& value) {
    Ledger ledger;
    for (const json::value& item : value) {
        if (!item.is_object()) { return std::nullopt; }
        const json::object& one = item.get_object();
        Spend spend;
        spend.calls = number(one, "calls");
        spend.lost = number(one, "lost_calls");
        spend.input_tokens = number(one, "input_tokens");
        spend.cached_input_tokens = number(one, "cached_input_tokens");
        spend.cache_write_input_tokens = number(one, "cache_write_input_tokens");
        spend.output_tokens = number(one, "output_tokens");
        spend.cost_microusd = number(one, "cost_microusd");
        spend.unpriced = number(one, "unpriced_calls");
        spend.estimated = number(one, "estimated_calls");
        spend.dearest_microusd = number(one, "dearest_microusd");
        spend.largest_input = number(one, "largest_input_tokens");
        ledger.entries_.push_back({text(one, "stage"), text(one, "agent"), text(one, "model"), spend});
    }
    return ledger;
}

std::string cost_in_words(const Spend& spend, const std::vector<std::string>& unpriced_models) {
    if (spend.cost_known()) { return money(spend.cost_microusd); }
    std::string names;
    for (const std::string& model : unpriced_models) {
        names += (names.empty() ? "" : ", ") + (model.empty() ? std::string("a model that was not named") : model);
    }
    if (spend.unpriced == spend.calls + spend.lost) { return "unknown (no price for " + names + ")"; }
    return "at least " + money(spend.cost_microusd) + ", unknown for " + std::to_string(spend.unpriced) + " of " +
           std::to_string(spend.calls + spend.lost) + " calls (no price for " + names + ")";
}

}  // namespace agentforge::kernel
