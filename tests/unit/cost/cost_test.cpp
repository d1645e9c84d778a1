// SPDX-License-Identifier: Apache-2.0
// Prices, sums and limits, without a task.
#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "cost/ledger.hpp"
#include "cost/limits.hpp"
#include "cost/price_table.hpp"
#include "records/records.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// ---------------------------------------------------------------------------------------- prices --

class Prices : public ::testing::Test {
protected:
    std::string file(const std::string& text, const std::string& name = "prices.yaml") {
        const auto path = folder.path() / name;
        std::ofstream(path) << text;
        return path.string();
    }
    static std::string table(const std::string& models) {
        return "prices:\n  as_of: \"2026-10-24\"\n  source: a page\n  models:\n" + models;
    }
    Error refused(const std::string& text) {
        const auto read = PriceTable::load(file(text));
        EXPECT_FALSE(read.ok());
        return read.ok() ? Error{} : read.error();
    }
    TemporaryDirectory folder{"prices-test"};
};

TEST_F(Prices, the_shipped_table_has_a_date_a_source_and_the_models_that_the_documentation_names) {
    const auto shipped = PriceTable::load(std::string(AGENTFORGE_SOURCE_DIR) + "/config/prices.yaml");
    ASSERT_TRUE(shipped.ok()) << shipped.error().to_string();
    ASSERT_EQ(shipped->sources().size(), 1U);
    EXPECT_EQ(shipped->as_of().size(), 10U);
    EXPECT_THAT(shipped->sources()[0].source, HasSubstr("https://"));
    EXPECT_EQ(shipped->sources()[0].sha256.size(), 64U);
    for (const char* model : {"claude-sonnet-4-5", "gpt-5-mini"}) { EXPECT_NE(shipped->find(model), nullptr) << model; }
}

TEST_F(Prices, every_kind_of_token_has_its_price) {
    const auto prices =
        PriceTable::load(file(table("    m: {input: 3, cached_input: 0.3, cache_write: 3.75, output: 15, reasoning: 20}\n")));
    ASSERT_TRUE(prices.ok()) << prices.error().to_string();
    TokenCounts counts;
    counts.input = 10'000;
    counts.cached_input = 6'000;
    counts.cache_write = 1'000;
    counts.output = 500;
    counts.reasoning = 200;
    // 3,000 × 3 + 6,000 × 0.3 + 1,000 × 3.75 + 300 × 15 + 200 × 20
    EXPECT_EQ(prices->find("m")->of(counts), 9'000U + 1'800U + 3'750U + 4'500U + 4'000U);
}

TEST_F(Prices, omitted_kinds_cost_as_much_as_input_and_output) {
    const auto prices = PriceTable::load(file(table("    m: {input: 3, output: 15}\n")));
    ASSERT_TRUE(prices.ok());
    EXPECT_EQ(*prices->find("m"), (ModelPrice{3'000'000, 3'000'000, 3'000'000, 15'000'000, 15'000'000}));
}

TEST_F(Prices, a_fraction_of_a_micro_dollar_is_rounded_up) {
    const auto prices = PriceTable::load(file(table("    m: {input: 0.05, output: 0.4}\n")));
    ASSERT_TRUE(prices.ok());
    EXPECT_EQ(prices->find("m")->of({.input = 1}), 1U);
    EXPECT_EQ(prices->find("m")->of({.input = 20}), 1U);
    EXPECT_EQ(prices->find("m")->of({.input = 21}), 2U);
    EXPECT_EQ(prices->find("m")->of({}), 0U);
}

TEST_F(Prices, more_cached_tokens_than_there_were_cost_no_more_than_all) {
    const ModelPrice price{2'000'000, 1'000'000, 3'000'000, 4'000'000, 4'000'000};
    EXPECT_EQ(price.of({.input = 10, .cached_input = 99, .cache_write = 99, .output = 1, .reasoning = 99}), 10U + 4U);
}

TEST_F(Prices, huge_figures_do_not_overflow) {
    const ModelPrice price{100'000'000'000, 1, 1, 100'000'000'000, 1};
    EXPECT_EQ(price.of({.input = ~0ULL, .output = ~0ULL}), 2 * 100'000'000'000'000ULL);
}

TEST_F(Prices, the_maximum_cost_of_a_call_uses_the_highest_price_of_each_side) {
    const ModelPrice price{3'000'000, 300'000, 3'750'000, 15'000'000, 20'000'000};
    EXPECT_EQ(price.max_cost(1'000, 100), 3'750U + 2'000U);
}

TEST_F(Prices, a_name_with_a_date_is_found_without_it) {
    const auto prices = PriceTable::load(file(table("    claude-x: {input: 1, output: 2}\n    gpt-y: {input: 3, output: 4}\n")));
    ASSERT_TRUE(prices.ok());
    for (const char* name : {"claude-x", "claude-x-20250929", "claude-x@20250929", "claude-x-latest"}) {
        ASSERT_NE(prices->find(name), nullptr) << name;
        EXPECT_EQ(prices->find(name)->input, 1'000'000U);
    }
    ASSERT_NE(prices->find("gpt-y-2025-08-07"), nullptr);
}

TEST_F(Prices, a_longer_name_is_another_model) {
    const auto prices = PriceTable::load(file(table("    gpt-y: {input: 3, output: 4}\n")));
    ASSERT_TRUE(prices.ok());
    for (const char* name : {"", "gpt-y-mini", "gpt-y-2025", "gpt-y-2025-99-99", "gpt", "gpt-y-1234567", "other/gpt-y"}) {
        EXPECT_EQ(prices->find(name), nullptr) << name;
    }
}

TEST_F(Prices, a_missing_table_is_an_error_that_names_the_setting) {
    const auto prices = PriceTable::load(file(table("    a: {input: 1, output: 1}\n")), (folder.path() / "none.yaml").string(),
                                         "settings.yaml:2:3");
    ASSERT_FALSE(prices.ok());
    EXPECT_EQ(prices.error().code, "AF-COST-001");
    EXPECT_EQ(prices.error().where, "settings.yaml:2:3");
    EXPECT_THAT(prices.error().message, HasSubstr("none.yaml"));
}

TEST_F(Prices, a_users_table_overrides_model_by_model) {
    const auto prices = PriceTable::load(
        file(table("    a: {input: 1, output: 1}\n    b: {input: 1, output: 1}\n")),
        file("prices: {as_of: \"2026-11-01\", models: {b: {input: 9, output: 9}, \"qwen3:8b\": {input: 0, output: 0}}}\n",
             "own.yaml"));
    ASSERT_TRUE(prices.ok()) << prices.error().to_string();
    EXPECT_EQ(prices->find("a")->input, 1'000'000U);
    EXPECT_EQ(prices->find("b")->input, 9'000'000U);
    EXPECT_EQ(prices->find("qwen3:8b")->of({.input = 1'000'000}), 0U);
    EXPECT_EQ(prices->as_of(), "2026-10-24, your own of 2026-11-01");
}

struct BadTable {
    const char* name;
    const char* text;
    const char* place;  ///< Line and column.
    const char* says;
};
void PrintTo(const BadTable& bad, std::ostream* out) { *out << bad.name; }

class PricesRefused : public Prices, public ::testing::WithParamInterface<BadTable> {};

TEST_P(PricesRefused, are_refused_with_file_line_and_field) {
    const Error error = refused(GetParam().text);
    EXPECT_EQ(error.code, "AF-COST-001") << error.to_string();
    EXPECT_THAT(error.where, EndsWith(std::string("prices.yaml:") + GetParam().place));
    EXPECT_THAT(error.message, HasSubstr(GetParam().says));
    EXPECT_FALSE(error.remedy.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Tables, PricesRefused,
    ::testing::Values(
        BadTable{"negative", "prices:\n  as_of: \"2026-10-24\"\n  models:\n    m: {input: -1, output: 2}\n", "4:16",
                 "`input` of `m` is -1"},
        BadTable{"text", "prices:\n  as_of: \"2026-10-24\"\n  models:\n    m: {input: \"3\", output: 2}\n", "4:16",
                 "`input` of `m` is \"3\""},
        BadTable{"huge", "prices:\n  as_of: \"2026-10-24\"\n  models:\n    m: {input: 1, output: 1000001}\n", "4:27",
                 "from 0 to 100000"},
        BadTable{"no_output", "prices:\n  as_of: \"2026-10-24\"\n  models:\n    m: {input: 1}\n", "4:8", "`m` has no `output`"},
        BadTable{"unknown_field", "prices:\n  as_of: \"2026-10-24\"\n  models:\n    m: {input: 1, outptu: 2}\n", "4:27",
                 "`outptu` of `m` is unknown"},
        BadTable{"no_map", "prices:\n  as_of: \"2026-10-24\"\n  models:\n    m: 3\n", "4:8", "the prices of `m` must be a map"},
        BadTable{"no_date", "prices:\n  models: {}\n", "2:3", "it has no `as_of`"},
        BadTable{"bad_date", "prices:\n  as_of: \"2026-13-24\"\n  models: {}\n", "2:10", "must be a date"},
        BadTable{"no_models", "prices:\n  as_of: \"2026-10-24\"\n", "2:3", "it has no `models`"},
        BadTable{"unknown_key", "prices:\n  as_of: \"2026-10-24\"\n  currency: EUR\n  models: {}\n", "3:13",
                 "`currency` is unknown"},
        BadTable{"other_file", "settings: {}\n", "1:1", "`settings` is not a field of it"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(PricesMoney, shows_as_many_decimals_as_it_needs_and_never_less_than_was_spent) {
    EXPECT_EQ(money(0), "$0.00");
    EXPECT_EQ(money(1), "$0.000001");
    EXPECT_EQ(money(99), "$0.000099");
    EXPECT_EQ(money(482'100), "$0.4821");
    EXPECT_EQ(money(482'101), "$0.4822");
    EXPECT_EQ(money(12'500'000), "$12.50");
    EXPECT_EQ(money(12'500'001), "$12.51");
    EXPECT_EQ(money(999'999), "$1.0000");
}

// ---------------------------------------------------------------------------------------- ledger --

records::CallUsage call(std::string model, std::uint64_t input, std::uint64_t output, std::optional<std::uint64_t> cost) {
    records::CallUsage usage{};
    usage.model = std::move(model);
    usage.input_tokens = input;
    usage.output_tokens = output;
    usage.cost_microusd = cost;
    return usage;
}

TEST(LedgerTest, sums_by_stage_agent_and_model) {
    Ledger ledger;
    ledger.add("spec", "architect", call("big", 100, 10, 700));
    ledger.add("spec", "reviewer", call("small", 50, 5, 30));
    ledger.add("red", "tester", call("big", 200, 20, 1'400));
    ledger.add("red", "tester", call("big", 200, 20, 1'400));
    EXPECT_EQ(ledger.total().calls, 4U);
    EXPECT_EQ(ledger.total().cost_microusd, 3'530U);
    EXPECT_EQ(ledger.total().tokens(), 550U + 55U);
    const auto stages = ledger.by(&LedgerEntry::stage);
    ASSERT_EQ(stages.size(), 2U);
    EXPECT_EQ(stages[1].second.cost_microusd, 2'800U);
    EXPECT_EQ(ledger.by(&LedgerEntry::agent).size(), 3U);
    EXPECT_EQ(ledger.of_model("big").dearest_microusd, 1'400U);
    EXPECT_EQ(ledger.of_stage("spec").largest_input, 100U);
}

TEST(LedgerTest, reads_back_the_same) {
    Ledger ledger;
    records::CallUsage known = call("m", 1, 2, 3);
    known.cached_input_tokens = 1;
    known.cache_write_input_tokens = 1;
    known.estimated = true;
    ledger.add("a", "b", known);
    ledger.add("a", "b", call("", 4, 5, std::nullopt), true);
    const auto read = Ledger::from_json(ledger.to_json());
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(*read, ledger);
    EXPECT_FALSE(Ledger::from_json(json::array{1}));
}

TEST(LedgerTest, tokens_read_from_a_cache_count_a_tenth_and_tokens_written_into_it_a_quarter_more) {
    Ledger ledger;
    records::CallUsage usage = call("m", 10'000, 500, 0);
    usage.cached_input_tokens = 7'000;
    usage.cache_write_input_tokens = 2'000;
    ledger.add("a", "b", usage);
    EXPECT_EQ(ledger.total().input_token_equivalents(), 700U + 2'500U + 1'000U);
    ledger.add("a", "b", call("m", 40, 1, 0));
    EXPECT_EQ(ledger.total().input_token_equivalents(), 4'240U);
}

TEST(LedgerTest, a_zero_cost_is_not_an_unknown_cost) {
    Ledger free;
    free.add("a", "b", call("local", 10, 10, 0));
    EXPECT_EQ(cost_in_words(free.total(), free.unpriced_models()), "$0.00");
    Ledger unknown;
    unknown.add("a", "b", call("local", 10, 10, std::nullopt));
    EXPECT_EQ(cost_in_words(unknown.total(), unknown.unpriced_models()), "unknown (no price for local)");
}

TEST(LedgerTest, a_partly_known_cost_is_a_lower_bound) {
    Ledger ledger;
    ledger.add("a", "b", call("priced", 10, 10, 310'000));
    ledger.add("a", "b", call("new", 10, 10, std::nullopt));
    ledger.add("a", "b", call("", 10, 10, std::nullopt));
    EXPECT_EQ(cost_in_words(ledger.total(), ledger.unpriced_models()),
              "at least $0.3100, unknown for 2 of 3 calls (no price for new, a model that was not named)");
}

TEST(LedgerTest, a_lost_call_counts_but_does_not_predict_the_next) {
    Ledger ledger;
    ledger.add("a", "b", call("m", 5'000, 4'096, 90'000), true);
    EXPECT_EQ(ledger.total().lost, 1U);
    EXPECT_EQ(ledger.total().calls, 0U);
    EXPECT_EQ(ledger.total().cost_microusd, 90'000U);
    EXPECT_EQ(ledger.total().dearest_microusd, 0U);
}

// ---------------------------------------------------------------------------------------- limits --

Result<TaskLimits> read(const json::object& settings) {
    return read_limits(settings, [](const std::string& key) { return "settings.yaml: " + key; });
}

TEST(LimitsTest, are_read_from_the_settings) {
    const auto limits = read({{"max_cost_usd", 2.5},
                              {"max_tokens", 1000},
                              {"max_steps", 10},
                              {"max_wall_time", "1h30m"},
                              {"stages", {{"green", {{"max_cost_usd", 1}, {"max_wall_time", "45s"}}}}}});
    ASSERT_TRUE(limits.ok()) << limits.error().to_string();
    EXPECT_EQ(limits->task, (Limits{2'500'000, 1'000, 10, 5'400'000}));
    EXPECT_EQ(limits->stages.at("green"), (Limits{1'000'000, std::nullopt, std::nullopt, 45'000}));
    EXPECT_EQ(TaskLimits::from_record(limits->to_record()), *limits);
    EXPECT_TRUE(limits->limits_cost());
}

TEST(LimitsTest, an_unset_limit_is_no_limit) {
    const auto limits = read({});
    ASSERT_TRUE(limits.ok());
    EXPECT_FALSE(limits->any());
    EXPECT_EQ(limits->to_record(), records::LimitsInForce());
}

TEST(LimitsTest, an_invalid_limit_is_refused_with_its_position) {
    for (const json::object& settings :
         {json::object{{"max_cost_usd", 0}}, json::object{{"max_cost_usd", -1}}, json::object{{"max_cost_usd", 0.0000001}},
          json::object{{"max_tokens", 0}}, json::object{{"max_steps", -3}}, json::object{{"max_wall_time", "2 hours"}},
          json::object{{"max_wall_time", "30"}}, json::object{{"max_wall_time", ""}}, json::object{{"max_wall_time", "0s"}},
          json::object{{"max_wall_time", "5m1h"}}, json::object{{"max_wall_time", "400d"}}}) {
        const auto limits = read(settings);
        ASSERT_FALSE(limits.ok()) << json::serialize(settings);
        EXPECT_EQ(limits.error().code, "AF-COST-002");
        EXPECT_THAT(limits.error().where, HasSubstr("settings.yaml: limits.")) << json::serialize(settings);
    }
    const auto nested = read({{"stages", {{"red", {{"max_wall_time", "soon"}}}}}});
    ASSERT_FALSE(nested.ok());
    EXPECT_EQ(nested.error().where, "settings.yaml: limits.stages.red.max_wall_time");
}

TEST(LimitsTest, a_time_span_reads_back_as_written) {
    for (const char* text : {"45s", "30m", "1h30m", "2d", "1d2h3m4s"}) {
        const auto span = parse_time_span(text);
        ASSERT_TRUE(span.has_value()) << text;
        EXPECT_EQ(time_span(static_cast<std::uint64_t>(span->count())), text);
    }
    EXPECT_EQ(time_span(90'000), "1m30s");
    EXPECT_EQ(time_span(250), "250ms");
}

TEST(LimitsTest, new_limits_override_earlier_ones_one_by_one) {
    TaskLimits now{{.cost_microusd = 5}, {{"a", {.tokens = 7}}}};
    TaskLimits before{{.cost_microusd = 1, .tokens = 2}, {{"a", {.tokens = 3, .steps = 4}}, {"b", {.steps = 5}}}};
    const TaskLimits both = overlaid(now, before);
    EXPECT_EQ(both.task, (Limits{.cost_microusd = 5, .tokens = 2}));
    EXPECT_EQ(both.stages.at("a"), (Limits{.tokens = 7, .steps = 4}));
    EXPECT_EQ(both.stages.at("b"), (Limits{.steps = 5}));
}

/// Two planning stages (40 %), one that works (60 %).
BudgetStatus standing(std::size_t current, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    BudgetStatus all;
    all.task_id = "task-1";
    all.current = current;
    for (const auto& [name, share, tokens] : {std::tuple{"a", 10U, a}, {"b", 30U, b}, {"c", 60U, c}}) {
        StageStanding stage;
        stage.name = name;
        stage.share = share;
        stage.spend.input_tokens = tokens;
        stage.spend.cost_microusd = tokens * 10;
        stage.steps = tokens / 100;
        stage.wall_ms = tokens;
        all.stages.push_back(stage);
    }
    return all;
}

NextCall next_call(std::uint64_t tokens) { return NextCall{"m", tokens, tokens * 10, false}; }

TEST(LimitsReached, a_call_that_still_fits_is_made) {
    const NextCall call = next_call(400);
    EXPECT_FALSE(limit_reached({{.tokens = 1'000}, {}}, standing(2, 100, 100, 400), &call));
}

TEST(LimitsReached, a_call_that_could_exceed_the_limit_is_not_made) {
    const NextCall call = next_call(401);
    const auto error = limit_reached({{.tokens = 1'000}, {}}, standing(2, 100, 100, 400), &call);
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code, "AF-COST-011");
    EXPECT_EQ(error->kind, ErrorKind::unavailable) << "the task pauses";
    EXPECT_THAT(error->message,
                HasSubstr("may use 1,000 tokens; it has used 600 tokens, and the next call may take up to 401 tokens more"));
    EXPECT_THAT(error->remedy, HasSubstr("agentforge resume 1 --set limits.max_tokens=2000"));
}

TEST(LimitsReached, each_kind_has_its_code) {
    const NextCall call = next_call(400);
    const BudgetStatus where = standing(2, 100, 100, 400);
    EXPECT_EQ(limit_reached({{.cost_microusd = 9'999}, {}}, where, &call)->code, "AF-COST-010");
    EXPECT_EQ(limit_reached({{.steps = 6}, {}}, where, &call)->code, "AF-COST-012");
    EXPECT_EQ(limit_reached({{.wall_ms = 600}, {}}, where, &call)->code, "AF-COST-013");
    EXPECT_FALSE(limit_reached({{10'000, 1'000, 7, 601}, {}}, where, &call));
}

TEST(LimitsReached, without_a_call_only_time_counts) {
    const BudgetStatus where = standing(2, 100, 100, 400);
    EXPECT_FALSE(limit_reached({{.cost_microusd = 1, .tokens = 1, .steps = 1}, {}}, where, nullptr));
    EXPECT_EQ(limit_reached({{.wall_ms = 600}, {}}, where, nullptr)->code, "AF-COST-013");
}

TEST(LimitsReached, a_stage_has_its_share_and_the_unused_rest_of_earlier_stages) {
    const NextCall call = next_call(100);
    const TaskLimits limits{{.tokens = 1'000}, {}};
    EXPECT_FALSE(limit_reached(limits, standing(0, 99, 0, 0), &call)) << "10 %";
    EXPECT_TRUE(limit_reached(limits, standing(0, 100, 0, 0), &call));
    EXPECT_FALSE(limit_reached(limits, standing(1, 50, 349, 0), &call)) << "10 % and 30 %, half of the first left over";
    const auto error = limit_reached(limits, standing(1, 50, 350, 0), &call);
    ASSERT_TRUE(error.has_value());
    EXPECT_THAT(
        error->message,
        HasSubstr("stage `b` with those before it may use 400 tokens; it has used 400 tokens (40 % of the task's limit)"));
    EXPECT_THAT(error->remedy, HasSubstr("--set limits.stages.b.max_tokens="));
}

TEST(LimitsReached, the_limit_that_the_message_suggests_is_enough) {
    const NextCall call = next_call(100);
    const auto value_after = [](const std::string& text, const std::string& key) {
        return std::stoull(text.substr(text.find(key + "=") + key.size() + 1));
    };
    for (const BudgetStatus& where : {standing(0, 1'000, 0, 0), standing(1, 50, 700, 0), standing(2, 0, 0, 950)}) {
        const auto error = limit_reached({{.tokens = 1'000}, {}}, where, &call);
        ASSERT_TRUE(error.has_value());
        EXPECT_FALSE(limit_reached({{.tokens = value_after(error->remedy, "limits.max_tokens")}, {}}, where, &call))
            << error->remedy;
    }
    const BudgetStatus where = standing(1, 50, 400, 0);
    const auto error = limit_reached({{.tokens = 1'000}, {}}, where, &call);
    ASSERT_TRUE(error.has_value());
    EXPECT_FALSE(limit_reached({{.tokens = 1'000}, {{"b", {.tokens = value_after(error->remedy, "limits.stages.b.max_tokens")}}}},
                               where, &call))
        << error->remedy;
}

TEST(LimitsReached, the_last_stage_may_use_all_that_is_left) {
    const NextCall call = next_call(900);
    EXPECT_FALSE(limit_reached({{.tokens = 1'000}, {}}, standing(2, 50, 50, 0), &call));
}

TEST(LimitsReached, a_stage_where_the_task_ends_may_use_all_that_is_left) {
    BudgetStatus early = standing(1, 0, 0, 0);
    early.stages.pop_back();  // --exit-after b
    const NextCall call = next_call(1'000);
    EXPECT_FALSE(limit_reached({{.tokens = 1'000}, {}}, early, &call));
}

TEST(LimitsReached, a_limit_of_the_stage_replaces_its_share) {
    const NextCall call = next_call(100);
    TaskLimits limits{{.tokens = 1'000}, {{"a", {.tokens = 500}}}};
    EXPECT_FALSE(limit_reached(limits, standing(0, 400, 0, 0), &call));
    const auto error = limit_reached(limits, standing(0, 401, 0, 0), &call);
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->where, "limits.stages.a.max_tokens");
    EXPECT_TRUE(limit_reached(limits, standing(0, 400, 0, 600), &call)) << "the task's own still holds";
}

TEST(LimitsReached, a_pipeline_without_shares_divides_nothing) {
    BudgetStatus plain = standing(0, 0, 0, 0);
    for (StageStanding& stage : plain.stages) { stage.share = 0; }
    const NextCall call = next_call(1'000);
    EXPECT_FALSE(limit_reached({{.tokens = 1'000}, {}}, plain, &call));
}

TEST(LimitsReached, steps_and_time_are_not_shared_out) {
    const NextCall call = next_call(1);
    EXPECT_FALSE(limit_reached({{.steps = 10, .wall_ms = 1'000}, {}}, standing(0, 900, 0, 0), &call));
}

TEST(LimitsReached, a_cost_limit_cannot_be_enforced_with_an_unknown_price) {
    NextCall call = next_call(1);
    call.price_unknown = true;
    const auto error = limit_reached({{.cost_microusd = 1'000'000}, {}}, standing(2, 0, 0, 0), &call);
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code, "AF-COST-014");
    EXPECT_THAT(error->message, HasSubstr("`m`"));
    EXPECT_FALSE(limit_reached({{.tokens = 1'000'000}, {}}, standing(2, 0, 0, 0), &call)) << "tokens can be counted all the same";
}

TEST(LimitsReached, no_limit_is_exceeded_if_calls_stay_within_their_estimates) {
    std::mt19937 random(20261122);
    const auto up_to = [&random](std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(0, most)(random); };
    for (unsigned life = 0; life < 300; ++life) {
        TaskLimits limits{{.cost_microusd = 1 + up_to(50'000), .tokens = 1 + up_to(5'000), .steps = 1 + up_to(40)}, {}};
        if (life % 2 == 0) { limits.stages["b"] = {.tokens = 1 + up_to(1'000)}; }
        BudgetStatus where = standing(0, 0, 0, 0);
        for (unsigned call = 0; call < 200; ++call) {
            if (up_to(9) == 0) { where.current = up_to(2); }
            const NextCall next = next_call(1 + up_to(400));
            if (limit_reached(limits, where, &next)) { continue; }
            StageStanding& stage = where.stages[where.current];
            const std::uint64_t used = up_to(next.tokens);
            stage.spend.input_tokens += used;
            stage.spend.cost_microusd += used * 10;
            stage.steps += 1;
        }
        Spend all;
        std::uint64_t steps = 0;
        for (const StageStanding& stage : where.stages) {
            all.add(stage.spend);
            steps += stage.steps;
        }
        ASSERT_LE(all.cost_microusd, *limits.task.cost_microusd) << life;
        ASSERT_LE(all.tokens(), *limits.task.tokens) << life;
        ASSERT_LE(steps, *limits.task.steps) << life;
        if (life % 2 == 0) { ASSERT_LE(where.stages[1].spend.tokens(), *limits.stages["b"].tokens) << life; }
    }
}

TEST(LimitsReached, the_time_left_is_the_smaller_of_task_and_stage) {
    EXPECT_FALSE(time_left({}, standing(0, 0, 0, 0)));
    EXPECT_EQ(time_left({{.wall_ms = 1'000}, {}}, standing(2, 100, 100, 400)), std::chrono::milliseconds(400));
    EXPECT_EQ(time_left({{.wall_ms = 1'000}, {{"c", {.wall_ms = 450}}}}, standing(2, 100, 100, 400)),
              std::chrono::milliseconds(50));
    EXPECT_EQ(time_left({{.wall_ms = 10}, {}}, standing(2, 100, 100, 400)), std::chrono::milliseconds(0));
}

}  // namespace
}  // namespace agentforge::kernel::testing
