// SPDX-License-Identifier: Apache-2.0
// What a task's model calls have used, by stage, agent and model: a fold of its journal, kept in its state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

/// One call, as a record tells it (`usage` of the records `answer` and `call_lost`):
/// {model, input_tokens, cached_input_tokens, cache_write_input_tokens, output_tokens, cost_microusd?, cost_from?, estimated}.
/// `cost_from` is `backend` where the backend said what the call cost, `prices` where the table did; without a cost both are
/// absent.
struct CallUsage {
    std::string model;
    std::uint64_t input_tokens = 0;
    std::uint64_t cached_input_tokens = 0;       ///< Of the input, read from the server's cache.
    std::uint64_t cache_write_input_tokens = 0;  ///< Of the input, written into it at a price of its own.
    std::uint64_t output_tokens = 0;
    std::optional<std::uint64_t> cost_microusd;  ///< Empty: unknown, which is not nothing.
    bool by_backend = false;
    bool estimated = false;  ///< Tokens were counted by us.
    [[nodiscard]] json::object to_json() const;
    /// What is missing is nothing or unknown.
    [[nodiscard]] static CallUsage from_json(const json::object& value);
    bool operator==(const CallUsage&) const = default;
};

/// Sums over calls.
struct Spend {
    std::uint64_t calls = 0;  ///< Answered ones.
    std::uint64_t lost = 0;   ///< Made, perhaps, and never answered: counted at the most they may have used.
    std::uint64_t input_tokens = 0;
    std::uint64_t cached_input_tokens = 0;
    std::uint64_t cache_write_input_tokens = 0;
    std::uint64_t output_tokens = 0;
    std::uint64_t cost_microusd = 0;     ///< Of the calls whose cost is known.
    std::uint64_t unpriced = 0;          ///< Calls whose cost is not known.
    std::uint64_t estimated = 0;         ///< Calls whose tokens were counted by us.
    std::uint64_t dearest_microusd = 0;  ///< The call that cost most.
    std::uint64_t largest_input = 0;     ///< The call with the most input tokens.

    void add(const CallUsage& call, bool lost_call);
    void add(const Spend& other);
    [[nodiscard]] std::uint64_t tokens() const noexcept { return input_tokens + output_tokens; }
    /// What the input costs in tokens that no cache knows: one read from the cache counts 0.1, one written into it 1.25. Output
    /// is not in it.
    [[nodiscard]] std::uint64_t input_token_equivalents() const noexcept;
    [[nodiscard]] bool cost_known() const noexcept { return unpriced == 0; }
    bool operator==(const Spend&) const = default;
};

struct LedgerEntry {
    std::string stage;
    std::string agent;
    std::string model;  ///< Empty: the backend named none.
    Spend spend;
    bool operator==(const LedgerEntry&) const = default;
};

class Ledger {
public:
    void add(std::string_view stage, std::string_view agent, const CallUsage& call, bool lost_call = false);
    [[nodiscard]] const std::vector<LedgerEntry>& entries() const noexcept {
        return entries_;
    }  ///< In the order of their first call.
    [[nodiscard]] Spend total() const;
    [[nodiscard]] Spend of_stage(std::string_view stage) const;
    [[nodiscard]] Spend of_model(std::string_view model) const;
    /// Sums by one field, in the order of the first call.
    [[nodiscard]] std::vector<std::pair<std::string, Spend>> by(std::string LedgerEntry::*field) const;
    /// Models with a call whose cost is not known.
    [[nodiscard]] std::vector<std::string> unpriced_models() const;
    [[nodiscard]] json::array to_json() const;
    /// Empty where it is none.
    [[nodiscard]] static std::optional<Ledger> from_json(const json::array& value);
    bool operator==(const Ledger&) const = default;

private:
    std::vector<LedgerEntry> entries_;
};

[[nodiscard]] json::object to_json(const Spend& spend);
/// `$0.4821`; `at least $0.31, unknown for 3 calls of x, y`; `unknown (no price for x)`; `$0.00` only where nothing was spent.
[[nodiscard]] std::string cost_in_words(const Spend& spend, const std::vector<std::string>& unpriced_models);

}  // namespace agentforge::kernel
