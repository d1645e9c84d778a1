// SPDX-License-Identifier: Apache-2.0
// Sends spans, metrics and log lines to a collector (OTLP 1.9.0 over HTTP, JSON).
//
// Adding never waits and never fails. What the collector cannot take in time is dropped, and counted. One thread sends, made when
// something is added first. A request that fails with 429, 502, 503, 504 or without an answer is repeated after a pause
// (`Retry-After`, else 1 s, 2 s, … 30 s); one that is refused otherwise is not.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "base/clock.hpp"
#include "telemetry/metrics.hpp"
#include "telemetry/otlp.hpp"
#include "telemetry/settings.hpp"

namespace agentforge::kernel::telemetry {

/// What a collector said to one request.
struct Reply {
    int status = 0;
    std::chrono::seconds retry_after{0};
    std::string body;
};

/// Sends one request. `cancelled`: give up. Called by the exporter's thread.
using Send = std::function<Result<Reply>(Signal signal, const Destination& destination, const std::string& body,
                                         const std::function<bool()>& cancelled)>;
/// By HTTP; through the proxy that `environment` names.
[[nodiscard]] Send send_by_http(std::map<std::string, std::string> environment);

class Exporter {
public:
    Exporter(Settings settings, Send send, const Clock& clock);
    ~Exporter();
    Exporter(const Exporter&) = delete;
    Exporter& operator=(const Exporter&) = delete;

    void add(const Span& span);
    void add(const LogLine& line);
    void add(const Measurement& measurement);

    struct Counts {
        std::uint64_t added = 0;
        std::uint64_t dropped = 0;
    };
    struct Report {
        std::array<Counts, 3> counts;  ///< Of spans, exports of metrics, and log lines.
        std::string problem;           ///< The newest, in words; empty: none.
    };
    /// Sends what waits, within `at_most`, and ends the thread. What comes afterwards is dropped.
    Report stop(std::chrono::milliseconds at_most);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel::telemetry
