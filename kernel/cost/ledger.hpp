// SPDX-License-Identifier: Apache-2.0
// Usage of a task's model calls, by stage, agent and model. Folded from its journal and kept in its state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

namespace records {
struct CallUsage;
}

/// Sums over calls.
struct Spend {
    std::uint64_t calls = 0;  ///< Answered calls.
    std::uint64_t lost = 0;   ///< Calls that may have been made but were never answered, counted with their maximum usage.
    std::uint64_t input_tokens = 0;
    std::uint64_t cached_input_tokens = 0;
    std::uint64_t cache_write_input_tokens = 0;
    std::uint64_t output_tokens = 0;
    std::uint64_t cost_microusd = 0;     ///< Sum over the calls with a known cost.
    std::uint64_t unpriced = 0;          ///< Calls with an unknown cost.
    std::uint64_t estimated = 0;         ///< Calls whose tokens are our count.
    std::uint64_t dearest_microusd = 0;  ///< Cost of the most expensive call.
    std::uint64_t largest_input = 0;     ///< Input tokens of the call with the most.

    void add(const records::CallUsage& call, bool lost_call);
    void add(const Spend& other);
    /// Returns the sums without those of `part`. `dearest_microusd` and `largest_input` remain those of all calls.
    [[nodiscard]] Spend without(const Spend& part) const;
    [[nodiscard]] std::uint64_t tokens() const noexcept { return input_tokens + output_tokens; }
    /// Returns the cost of the input in uncached tokens: one read from the cache counts 0.1, one written to it 1.25. Excludes
    /// output.
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
    void add(std::string_view stage, std::string_view agent, const records::CallUsage& call, bool lost_call = false);
    [[nodiscard]] const std::vector<LedgerEntry>& entries() const noexcept {
        return entries_;
    }  ///< In the order of their first call.
    [[nodiscard]] Spend total() const;
    [[nodiscard]] Spend of_stage(std::string_view stage) const;
    [[nodiscard]] Spend of_model(std::string_view model) const;
    /// Returns sums by one field, in the order of the first call.
    [[nodiscard]] std::vector<std::pair<std::string, Spend>> by(std::string LedgerEntry::*field) const;
    /// Returns the models with a call of unknown cost.
    [[nodiscard]] std::vector<std::string> unpriced_models() const;
    [[nodiscard]] json::array to_json() const;
    /// Empty if the value is not a ledger.
    [[nodiscard]] static std::optional<Ledger> from_json(const json::array& value);
    bool operator==(const Ledger&) const = default;

private:
    std::vector<LedgerEntry> entries_;
};

[[nodiscard]] json::object to_json(const Spend& spend);
/// Returns `$0.4821`; `at least $0.31, unknown for 3 calls of x, y`; `unknown (no price for x)`; and `$0.00` only if nothing was
/// spent.
[[nodiscard]] std::string cost_in_words(const Spend& spend, const std::vector<std::string>& unpriced_models);

}  // namespace agentforge::kernel
