// SPDX-License-Identifier: Apache-2.0
// What a model's tokens cost: a dated table as data (`config/prices.yaml`), and a person's own over it.
//
// Money is counted in whole micro-USD (a millionth of a dollar), prices in micro-USD for a million tokens; both are rounded
// up, never down. What no table knows is unknown: it is never taken for nothing.
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
    std::uint64_t input = 0;         ///< All of them, those below included.
    std::uint64_t cached_input = 0;  ///< Read from the server's cache.
    std::uint64_t cache_write = 0;   ///< Written into it.
    std::uint64_t output = 0;        ///< All of them, reasoning included.
    std::uint64_t reasoning = 0;
};

/// Micro-USD for a million tokens.
struct ModelPrice {
    std::uint64_t input = 0;
    std::uint64_t cached_input = 0;
    std::uint64_t cache_write = 0;
    std::uint64_t output = 0;
    std::uint64_t reasoning = 0;
    /// In micro-USD, rounded up. Counts beyond 10^9 are taken for 10^9.
    [[nodiscard]] std::uint64_t of(const TokenCounts& counts) const noexcept;
    /// The most that a call with these tokens may cost, whatever is cached or reasoned.
    [[nodiscard]] std::uint64_t at_most(std::uint64_t input_tokens, std::uint64_t output_tokens) const noexcept;
    bool operator==(const ModelPrice&) const = default;
};

/// Where prices come from.
struct PriceSource {
    std::string file;
    std::string as_of;   ///< `2026-11-01`: when the prices were looked up.
    std::string source;  ///< Where; for people.
    std::string sha256;  ///< Of the file.
};

class PriceTable {
public:
    /// Reads the shipped table and, over it, a person's own ("": none), which replaces prices model by model.
    /// `named_at` says where the setting stands that names the latter.
    /// Errors: AF-COST-001 with file, line, column and field, or that place where the file cannot be read; AF-CONF-00x where it
    /// is no YAML.
    [[nodiscard]] static Result<PriceTable> load(const std::string& shipped, const std::string& own = {},
                                                 const std::string& named_at = {});

    /// The price of a model as a server or the settings name it: by its name, else without the date at its end
    /// (`-20250929`, `-2025-08-07`, `@20250929`) or `-latest`. Null: unknown.
    [[nodiscard]] const ModelPrice* find(std::string_view model) const;
    [[nodiscard]] const std::vector<PriceSource>& sources() const noexcept { return sources_; }
    /// `2026-11-01`, or both dates where there are two tables.
    [[nodiscard]] std::string as_of() const;

private:
    [[nodiscard]] Result<void> add(const std::string& file, const std::string& named_at);
    std::map<std::string, ModelPrice, std::less<>> models_;
    std::vector<PriceSource> sources_;
};

/// `$0.4821`, `$12.50`, `$0.000123`: at least two decimals, four below a dollar, six below a hundredth of a cent.
[[nodiscard]] std::string money(std::uint64_t microusd);

}  // namespace agentforge::kernel
