// SPDX-License-Identifier: Apache-2.0
#include "telemetry/metrics.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace agentforge::kernel::telemetry {
namespace {

const Time began{std::chrono::seconds(100)};
const Time now{std::chrono::seconds(101)};

json::object only(const json::value& list) {
    EXPECT_EQ(list.as_array().size(), 1U);
    return list.as_array().at(0).as_object();
}

TEST(Metrics, a_counter_sums_by_attributes) {
    Metrics metrics(began);
    metrics.add({Instrument::cost, 0.25, {{"agentforge.stage", "red"}}});
    metrics.add({Instrument::cost, 0.5, {{"agentforge.stage", "red"}}});
    metrics.add({Instrument::cost, 4, {{"agentforge.stage", "green"}}});
    const json::object metric = only(metrics.to_otlp(now));
    EXPECT_EQ(metric.at("name"), "agentforge.cost");
    EXPECT_EQ(metric.at("sum").at("isMonotonic"), true);
    const json::array& points = metric.at("sum").at("dataPoints").as_array();
    ASSERT_EQ(points.size(), 2U);
    EXPECT_EQ(points.at(0).at("asDouble"), 4.0);
    EXPECT_EQ(points.at(1).at("asDouble"), 0.75);
    EXPECT_EQ(points.at(1).at("startTimeUnixNano"), "100000000000");
    EXPECT_EQ(points.at(1).at("timeUnixNano"), "101000000000");
}

TEST(Metrics, a_histogram_counts_a_value_on_a_bound_in_the_lower_bucket) {
    Metrics metrics(began);
    for (const double value : {0.5, 1.0, 4.0, 100e6}) { metrics.add({Instrument::token_usage, value, {}}); }
    const json::object metric = only(metrics.to_otlp(now));
    const json::object point = only(metric.at("histogram").at("dataPoints"));
    const json::array& counts = point.at("bucketCounts").as_array();
    EXPECT_EQ(counts.size(), point.at("explicitBounds").as_array().size() + 1);
    EXPECT_EQ(counts.at(0), "2");
    EXPECT_EQ(counts.at(1), "1");
    EXPECT_EQ(counts.at(counts.size() - 1), "1");
    EXPECT_EQ(point.at("count"), "4");
    EXPECT_EQ(point.at("min"), 0.5);
    EXPECT_EQ(point.at("max"), 100e6);
}

TEST(Metrics, combinations_beyond_the_limit_count_together) {
    Metrics metrics(began);
    for (int index = 0; index < 600; ++index) {
        metrics.add({Instrument::tool_calls, 1, {{"gen_ai.tool.name", std::to_string(index)}}});
    }
    const json::object metric = only(metrics.to_otlp(now));
    const json::array& points = metric.at("sum").at("dataPoints").as_array();
    EXPECT_EQ(points.size(), 501U);
    double sum = 0;
    for (const json::value& point : points) { sum += point.at("asDouble").as_double(); }
    EXPECT_EQ(sum, 600.0);
}

TEST(Metrics, each_is_documented_with_its_unit) {
    const std::string page = read_file(std::string(AGENTFORGE_SOURCE_DIR) + "/docs/telemetry.md").value();
    for (const InstrumentForm& form : instrument_forms()) {
        EXPECT_NE(page.find("| `" + std::string(form.name) + "` | `" + std::string(form.unit) + "` |"), std::string::npos)
            << form.name;
    }
}

}  // namespace
}  // namespace agentforge::kernel::telemetry
