// SPDX-License-Identifier: Apache-2.0
// Settings from OpenTelemetry's own environment variables (OpenTelemetry specification 1.50, "Environment Variable
// Specification").
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

#include <agentforge_http/address.hpp>

#include "telemetry/otlp.hpp"

namespace agentforge::kernel::telemetry {

/// The destination of one signal.
struct Destination {
    http::Address server;  ///< Its path is the complete path.
    std::vector<std::pair<std::string, std::string>> headers;
    std::chrono::milliseconds timeout{10'000};  ///< For one request.
    std::string ca_file;
    bool compress = false;  ///< gzip
};

struct Settings {
    std::array<std::optional<Destination>, 3> destinations;  ///< By Signal. Empty: not exported.
    Attributes resource;                     ///< OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME (default `agentforge`).
    std::size_t queue = 2048;                ///< Maximum number of waiting spans, and of log lines. Later ones are dropped.
    std::size_t batch = 512;                 ///< Maximum for one request.
    std::chrono::milliseconds delay{5'000};  ///< Maximum time between two requests with spans or log lines.
    std::chrono::milliseconds metrics_interval{60'000};

    [[nodiscard]] const std::optional<Destination>& of(Signal signal) const {
        return destinations.at(static_cast<std::size_t>(signal));
    }
};

/// Returns nothing if no variable requests telemetry: an endpoint, or an exporter `otlp`. `unused`: variables that this program
/// does not support, in words. Errors: `invalid` AF-OTEL-001, naming the variable.
[[nodiscard]] Result<std::optional<Settings>> read_settings(const std::map<std::string, std::string>& environment,
                                                            std::vector<std::string>& unused);

}  // namespace agentforge::kernel::telemetry
