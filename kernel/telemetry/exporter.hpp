// SPDX-License-Identifier: Apache-2.0
// Sends spans, metrics and log lines to a collector (OTLP 1.9.0 over HTTP, JSON).
//
// Adding an item never waits and never fails. Items that the collector cannot take in time are dropped and counted. One thread
// sends; it starts with the first item. A request that fails with 429, 502, 503, 504 or without an answer is retried after a
// pause (`Retry-After`, else 1 s, 2 s, … 30 s). Other refusals are final.
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

/// A collector's reply to one request.
struct Reply {
    int status = 0;
    std::chrono::seconds retry_after{0};
    std::string body;
};

/// Sends one request. If `cancelled` returns true, gives up. Called by the exporter's thread.
using Send = std::function<Result<Reply>(Signal signal, const Destination& destination, const std::string& body,
                                         const std::function<bool()>& cancelled)>;
/// Sends by HTTP, through the proxy that `environment` names.
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
        std::array<Counts, 3> counts;  ///< For spans, exports of metrics, and log lines.
        std::string problem;           ///< The latest problem, in words. Empty: none.
    };
    /// Sends what waits, within `at_most`, and ends the thread. Drops later items.
    Report stop(std::chrono::milliseconds at_most);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel::telemetry
