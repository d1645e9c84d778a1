// SPDX-License-Identifier: Apache-2.0
// Counters and histograms of this process, cumulative since it began.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/otlp.hpp"

namespace agentforge::kernel::telemetry {

enum class Instrument : unsigned char {
    token_usage = 0,  ///< gen_ai.client.token.usage
    model_duration,   ///< gen_ai.client.operation.duration
    model_retries,
    tool_calls,
    stage_duration,
    stage_retries,
    stage_cycles,
    gate_duration,
    cost,
    escalations,
    tasks
};

/// How an instrument is exported. Without `bounds` it is a counter, else a histogram.
struct InstrumentForm {
    std::string_view name;
    std::string_view unit;
    std::string_view description;
    std::vector<double> bounds;
};
[[nodiscard]] const InstrumentForm& form_of(Instrument instrument);
/// All forms, in the order of the instruments.
[[nodiscard]] const std::vector<InstrumentForm>& instrument_forms();

struct Measurement {
    Instrument instrument;
    double value = 1;
    Attributes attributes;
};

/// One thread at a time.
class Metrics {
public:
    explicit Metrics(Time began) : began_(began) {}
    /// Keeps at most 500 combinations of attributes for each instrument. Further ones count under `otel.metric.overflow`.
    void add(const Measurement& measurement);
    [[nodiscard]] bool empty() const noexcept { return series_.empty(); }
    /// Returns the `metrics` of an export request.
    [[nodiscard]] json::array to_otlp(Time now) const;

private:
    struct Series {
        Attributes attributes;
        std::uint64_t count = 0;
        double sum = 0;
        double least = 0;
        double most = 0;
        std::vector<std::uint64_t> buckets;  ///< One more than the instrument has bounds.
    };
    /// By instrument, and by the attributes in OTLP's encoding.
    std::map<Instrument, std::map<std::string, Series>> series_;
    Time began_;
};

}  // namespace agentforge::kernel::telemetry
