// SPDX-License-Identifier: Apache-2.0
#include "telemetry/metrics.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace agentforge::kernel::telemetry {
namespace {

constexpr std::size_t most_series = 500;
constexpr int cumulative = 2;

// The bounds of the GenAI conventions for tokens and for durations of calls.
const std::vector<double> tokens{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864};
const std::vector<double> seconds_of_a_call{0.01, 0.02, 0.04, 0.08,  0.16,  0.32,  0.64,
                                            1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92};
const std::vector<double> seconds_of_work{0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14400};

json::object point_of(const Attributes& attributes, Time began, Time now) {
    return {{"attributes", to_otlp(attributes)},
            {"startTimeUnixNano", unix_nanoseconds(began)},
            {"timeUnixNano", unix_nanoseconds(now)}};
}

}  // namespace

const std::vector<InstrumentForm>& instrument_forms() {
    static const std::vector<InstrumentForm> forms = {
        {"gen_ai.client.token.usage", "{token}", "Tokens of a model call", tokens},
        {"gen_ai.client.operation.duration", "s", "Duration of a model call, retries included", seconds_of_a_call},
        {"agentforge.model.retries", "{retry}", "Attempts at model calls that failed", {}},
        {"agentforge.tool.calls", "{call}", "Actions of agents", {}},
        {"agentforge.stage.duration", "s", "Duration of a visit of a stage", seconds_of_work},
        {"agentforge.stage.retries", "{retry}", "Visits of a stage after a failed one", {}},
        {"agentforge.stage.cycles", "{cycle}", "Returns to an earlier stage", {}},
        {"agentforge.gate.duration", "s", "Duration of a gate's measurement", seconds_of_work},
        {"agentforge.cost", "USD", "Cost of model calls, as far as it is known", {}},
        {"agentforge.escalations", "{escalation}", "Questions to a person", {}},
        {"agentforge.tasks", "{task}", "Tasks that ended", {}}};
    return forms;
}

const InstrumentForm& form_of(Instrument instrument) { return instrument_forms().at(static_cast<std::size_t>(instrument)); }

void Metrics::add(const Measurement& measurement) {
    const InstrumentForm& form = form_of(measurement.instrument);
    auto& of_instrument = series_[measurement.instrument];
    Attributes attributes = measurement.attributes;
    std::string key = to_json_line(telemetry::to_otlp(attributes));
    if (of_instrument.size() >= most_series && !of_instrument.contains(key)) {
        attributes = {{"otel.metric.overflow", true}};
        key = to_json_line(telemetry::to_otlp(attributes));
    }
    Series& series = of_instrument[key];
    if (series.count == 0) {
        series.attributes = std::move(attributes);
        series.least = series.most = measurement.value;
        series.buckets.resize(form.bounds.empty() ? 0 : form.bounds.size() + 1);
    }
    ++series.count;
    series.sum += measurement.value;
    series.least = std::min(series.least, measurement.value);
    series.most = std::max(series.most, measurement.value);
    if (series.buckets.empty()) { return; }
    const auto bucket = std::ranges::lower_bound(form.bounds, measurement.value) - form.bounds.begin();
    ++series.buckets[static_cast<std::size_t>(bucket)];
}

json::array Metrics::to_otlp(Time now) const {
    json::array metrics;
    for (const auto& [instrument, of_instrument] : series_) {
        const InstrumentForm& form = form_of(instrument);
        json::array points;
        for (const auto& [key, series] : of_instrument) {
            json::object point = point_of(series.attributes, began_, now);
            if (series.buckets.empty()) {
                point["asDouble"] = series.sum;
            } else {
                json::array counts;
                for (const std::uint64_t count : series.buckets) { counts.emplace_back(std::to_string(count)); }
                point["count"] = std::to_string(series.count);
                point["sum"] = series.sum;
                point["min"] = series.least;
                point["max"] = series.most;
                point["bucketCounts"] = std::move(counts);
                point["explicitBounds"] = json::array(form.bounds.begin(), form.bounds.end());
            }
            points.push_back(std::move(point));
        }
        json::object metric{{"name", form.name}, {"unit", form.unit}, {"description", form.description}};
        json::object data{{"dataPoints", std::move(points)}, {"aggregationTemporality", cumulative}};
        if (form.bounds.empty()) { data["isMonotonic"] = true; }
        metric[form.bounds.empty() ? "sum" : "histogram"] = std::move(data);
        metrics.push_back(std::move(metric));
    }
    return metrics;
}

}  // namespace agentforge::kernel::telemetry
