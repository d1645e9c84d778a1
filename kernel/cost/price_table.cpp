// SPDX-License-Identifier: Apache-2.0
#include "cost/price_table.hpp"

#include <algorithm>
#include <cmath>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::uint64_t million = 1'000'000;
constexpr double dearest = 100'000;  // USD for a million tokens. Keeps every sum below 2^64.
constexpr std::uint64_t most_tokens = 1'000'000'000;

/// Keeps whole micro-USD and the fraction apart, so nothing overflows and only the sum is rounded.
struct Sum {
    std::uint64_t whole = 0;
    std::uint64_t parts = 0;  // Millionths of a micro-USD.
    void add(std::uint64_t tokens, std::uint64_t price) {
        tokens = std::min(tokens, most_tokens);
        whole += tokens / million * price + tokens % million * (price / million);
        parts += tokens % million * (price % million);
    }
    [[nodiscard]] std::uint64_t up() const { return whole + (parts + million - 1) / million; }
};

bool digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// `2026-11-01`
bool is_date(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-' || !digits(text.substr(0, 4)) || !digits(text.substr(5, 2)) ||
        !digits(text.substr(8, 2))) {
        return false;
    }
    const int month = (text[5] - '0') * 10 + (text[6] - '0');
    const int day = (text[8] - '0') * 10 + (text[9] - '0');
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/// Returns the name without a date at its end.
std::string_view undated(std::string_view name) {
    if (name.ends_with("-latest")) { return name.substr(0, name.size() - 7); }
    if (name.size() > 11 && name[name.size() - 11] == '-' && is_date(name.substr(name.size() - 10))) {
        return name.substr(0, name.size() - 11);
    }
    if (name.size() > 9 && (name[name.size() - 9] == '-' || name[name.size() - 9] == '@') &&
        digits(name.substr(name.size() - 8))) {
        return name.substr(0, name.size() - 9);
    }
    return name;
}

}  // namespace

std::uint64_t ModelPrice::of(const TokenCounts& counts) const noexcept {
    const std::uint64_t read = std::min(counts.cached_input, counts.input);
    const std::uint64_t written = std::min(counts.cache_write, counts.input - read);
    const std::uint64_t thought = std::min(counts.reasoning, counts.output);
    Sum sum;
    sum.add(counts.input - read - written, input);
    sum.add(read, cached_input);
    sum.add(written, cache_write);
    sum.add(counts.output - thought, output);
    sum.add(thought, reasoning);
    return sum.up();
}

std::uint64_t ModelPrice::max_cost(std::uint64_t input_tokens, std::uint64_t output_tokens) const noexcept {
    Sum sum;
    sum.add(input_tokens, std::max({input, cached_input, cache_write}));
    sum.add(output_tokens, std::max(output, reasoning));
    return sum.up();
}

Result<PriceTable> PriceTable::load(const std::string& shipped, const std::string& own, const std::string& named_at) {
    PriceTable table;
    AF_CHECK(table.add(shipped, shipped));
    if (!own.empty()) { AF_CHECK(table.add(own, named_at)); }
    return table;
}

namespace {

/// Reads the document of one table of prices.
class PriceReader {
public:
    explicit PriceReader(const YamlDocument& document) : document_(document) {}

    Result<void> read();

    PriceSource source;
    std::map<std::string, ModelPrice, std::less<>> prices;

private:
    Result<const json::object*> find_prices() const;
    Result<void> read_field(std::string_view key, const json::value& value);
    Result<void> check_complete() const;
    Result<ModelPrice> read_model(std::string_view name, const json::value& value) const;
    Result<void> check_field(const std::string& at, const std::string& model, std::string_view field) const;
    Result<std::uint64_t> read_amount(const std::string& at, const std::string& model, std::string_view field,
                                      const json::value& amount) const;
    [[nodiscard]] Error wrong(std::string_view pointer, std::string message, std::string remedy) const {
        return Error{"AF-COST-001", "the table of prices is wrong: " + std::move(message), document_.where(pointer),
                     std::move(remedy), ErrorKind::invalid};
    }

    const YamlDocument& document_;
    const json::object* models_ = nullptr;
};

Result<void> PriceReader::read() {
    AF_TRY(const json::object* const fields, find_prices());
    for (const auto& [key, value] : *fields) { AF_CHECK(read_field(key, value)); }
    AF_CHECK(check_complete());
    for (const auto& [name, value] : *models_) {
        AF_TRY(const ModelPrice price, read_model(name, value));
        prices[std::string(name)] = price;
    }
    return {};
}

Result<const json::object*> PriceReader::find_prices() const {
    const auto* top = document_.value.if_object();
    if (top != nullptr) {
        for (const auto& [key, unused] : *top) {
            if (key != "prices") {
                return wrong("/" + std::string(key) + "#",
                             "`" + ellipsis(key, 60) + "` is not a field of it; it contains `prices:` and nothing else",
                             "Write it as config/prices.yaml is written.");
            }
        }
    }
    const json::value* fields = top == nullptr ? nullptr : top->if_contains("prices");
    if (fields == nullptr || !fields->is_object() || top->size() != 1) {
        return wrong("", "it must contain `prices:`, a map, and nothing else", "Write it as config/prices.yaml is written.");
    }
    return &fields->get_object();
}

Result<void> PriceReader::read_field(std::string_view key, const json::value& value) {
    const std::string at = "/prices/" + pointer_token(key);
    if (key == "as_of") {
        if (!value.is_string() || !is_date(std::string_view(value.get_string()))) {
            return wrong(at, "`as_of` is " + ellipsis(json::serialize(value), 60) + " and must be a date like 2026-11-01",
                         "Write the day on which the prices were looked up.");
        }
        source.as_of = std::string(value.get_string());
    } else if (key == "source") {
        if (!value.is_string()) { return wrong(at, "`source` must be a string", "Say where the prices were looked up."); }
        source.source = std::string(value.get_string());
    } else if (key == "models") {
        if (!value.is_object()) {
            return wrong(at, "`models` must be a map from a model's name to its prices",
                         "Write `<model>: {input: 3, output: 15}`.");
        }
        models_ = &value.get_object();
    } else {
        return wrong(at, "`" + ellipsis(std::string(key), 60) + "` is unknown", "It may contain as_of, source and models.");
    }
    return {};
}

Result<void> PriceReader::check_complete() const {
    if (source.as_of.empty()) {
        return wrong("/prices", "it has no `as_of`", "Add the day on which the prices were looked up, like `as_of: 2026-11-01`.");
    }
    if (models_ == nullptr) {
        return wrong("/prices", "it has no `models`", "Add `models:` and below it `<model>: {input: 3, output: 15}`.");
    }
    return {};
}

Result<ModelPrice> PriceReader::read_model(std::string_view name, const json::value& value) const {
    const std::string at = "/prices/models/" + pointer_token(name);
    const std::string model = ellipsis(std::string(name), 80);
    if (!value.is_object()) {
        return wrong(at, "the prices of `" + model + "` must be a map",
                     "Write {input: 3, output: 15}: USD for a million tokens.");
    }
    std::map<std::string, std::uint64_t, std::less<>> found;
    for (const auto& [field, amount] : value.get_object()) {
        AF_CHECK(check_field(at, model, field));
        AF_TRY(const std::uint64_t microusd, read_amount(at, model, field, amount));
        found.emplace(std::string(field), microusd);
    }
    for (const char* needed : {"input", "output"}) {
        if (!found.contains(needed)) {
            return wrong(at, "`" + model + "` has no `" + needed + "`", "Give at least input and output.");
        }
    }
    const auto or_else = [&](const char* field, std::uint64_t otherwise) {
        const auto given = found.find(field);
        return given == found.end() ? otherwise : given->second;
    };
    const std::uint64_t input = found["input"];
    const std::uint64_t output = found["output"];
    return ModelPrice{input, or_else("cached_input", input), or_else("cache_write", input), output, or_else("reasoning", output)};
}

Result<void> PriceReader::check_field(const std::string& at, const std::string& model, std::string_view field) const {
    static const std::vector<std::string> known{"input", "cached_input", "cache_write", "output", "reasoning"};
    if (std::ranges::find(known, field) != known.end()) { return {}; }
    const std::string near = nearest(field, known);
    return wrong(
        at + "/" + pointer_token(field), "`" + ellipsis(std::string(field), 60) + "` of `" + model + "` is unknown",
        near.empty() ? "There are input, cached_input, cache_write, output and reasoning." : "Did you mean `" + near + "`?");
}

/// Returns micro-USD for a million tokens.
Result<std::uint64_t> PriceReader::read_amount(const std::string& at, const std::string& model, std::string_view field,
                                               const json::value& amount) const {
    const double usd = amount.is_number() ? amount.to_number<double>() : -1;
    if (!(usd >= 0 && usd <= dearest)) {
        return wrong(at + "/" + pointer_token(field),
                     "`" + std::string(field) + "` of `" + model + "` is " + ellipsis(json::serialize(amount), 60) +
                         " and must be a number from 0 to 100000",
                     "Write USD for a million tokens, without quotes: " + std::string(field) + ": 0.25");
    }
    return static_cast<std::uint64_t>(std::ceil(usd * static_cast<double>(million) - 1e-3));
}

/// How exactly an amount is shown.
struct Precision {
    std::size_t decimals;
    std::size_t step;  ///< The last decimal's value in millionths.
};

Precision precision_of(std::uint64_t microusd) {
    if (microusd >= million || microusd == 0) { return {2, 10'000}; }
    if (microusd >= 100) { return {4, 100}; }
    return {6, 1};
}

}  // namespace

Result<void> PriceTable::add(const std::string& file, const std::string& named_at) {
    const auto text = read_file(file);
    if (!text.ok()) {
        return Error{"AF-COST-001", "the table of prices cannot be read: " + text.error().to_string(), named_at,
                     "Name a file that exists, or remove the setting.", ErrorKind::invalid};
    }
    AF_TRY(const YamlDocument document, parse_yaml(*text, file));
    PriceReader reader(document);
    reader.source.file = file;
    reader.source.sha256 = sha256(*text);
    AF_CHECK(reader.read());
    for (const auto& [model, price] : reader.prices) { models_[model] = price; }
    sources_.push_back(std::move(reader.source));
    return {};
}

const ModelPrice* PriceTable::find(std::string_view model) const {
    for (const std::string_view name : {model, undated(model)}) {
        if (const auto found = models_.find(name); found != models_.end()) { return &found->second; }
    }
    return nullptr;
}

std::string PriceTable::as_of() const {
    std::string dates;
    for (const PriceSource& source : sources_) { dates += (dates.empty() ? "" : ", your own of ") + source.as_of; }
    return dates;
}

std::string money(std::uint64_t microusd) {
    const auto [shown, step] = precision_of(microusd);
    // Rounded up, like everything here: spending is never understated.
    const std::uint64_t rounded = (microusd + step - 1) / step * step;
    std::string decimals = std::to_string(rounded % million);
    decimals.insert(0, 6 - decimals.size(), '0');
    return "$" + std::to_string(rounded / million) + "." + decimals.substr(0, shown);
}

}  // namespace agentforge::kernel
