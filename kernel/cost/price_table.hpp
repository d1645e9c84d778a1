// SPDX-License-Identifier: Apache-2.0
// What a model's tokens cost: a dated table (`config/prices.yaml`), and the user's own table over it.
//
// Money is counted in whole micro-USD (a millionth of a dollar), prices in micro-USD per million tokens. Both are rounded up,
// never down. A price that no table has is unknown, never zero.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Tokens of one call, as the model's server counts them.
struct TokenCounts {
    std::uint64_t input = 0;         ///< All of them, including those below.
    std::uint64_t cached_input = 0;  ///< Read from the server's cache.
    std::uint64_t cache_write = 0;   ///< Written to it.
    std::uint64_t output = 0;        ///< All of them, including reasoning.
    std::uint64_t reasoning = 0;
};

/// In micro-USD per million tokens.
struct ModelPrice {
    std::uint64_t input = 0;
    std::uint64_t cached_input = 0;
    std::uint64_t cache_write = 0;
    std::uint64_t output = 0;
    std::uint64_t reasoning = 0;
    /// In micro-USD, rounded up. Counts beyond 10^9 count as 10^9.
    [[nodiscard]] std::uint64_t of(const TokenCounts& counts) const noexcept;
    /// Returns the maximum cost of a call with these tokens, whatever is cached or reasoned.
    [[nodiscard]] std::uint64_t max_cost(std::uint64_t input_tokens, std::uint64_t output_tokens) const noexcept;
    bool operator==(const ModelPrice&) const = default;
};

/// The origin of prices.
struct PriceSource {
    std::string file;
    std::string as_of;   ///< Date on which the prices were looked up: `2026-11-01`.
    std::string source;  ///< For people.
    std::string sha256;  ///< Hash of the file.
};

class PriceTable {
public:
    /// Loads the shipped table and, over it, the user's own ("": none), which replaces prices model by model. `named_at`: where
    /// the setting that names the latter was written. Errors: AF-COST-001 with file, line, column and field, or with that place
    /// if the file cannot be read; AF-CONF-00x if it is not YAML.
    [[nodiscard]] static Result<PriceTable> load(const std::string& shipped, const std::string& own = {},
                                                 const std::string& named_at = {});

    /// Returns the price of a model as named by a server or the settings. If the table does not have that name, tries it without
    /// a date (`-20250929`, `-2025-08-07`, `@20250929`) or `-latest` at its end. Null: unknown.
    [[nodiscard]] const ModelPrice* find(std::string_view model) const;
    [[nodiscard]] const std::vector<PriceSource>& sources() const noexcept { return sources_; }
    /// Returns `2026-11-01`, or both dates if there are two tables.
    [[nodiscard]] std::string as_of() const;

private:
    [[nodiscard]] Result<void> add(const std::string& file, const std::string& named_at);
    std::map<std::string, ModelPrice, std::less<>> models_;
    std::vector<PriceSource> sources_;
};

/// Returns `$0.4821`, `$12.50`, `$0.000123`: at least two decimals, four below a dollar, six below a hundredth of a cent.
[[nodiscard]] std::string money(std::uint64_t microusd);

}  // namespace agentforge::kernel
