// SPDX-License-Identifier: Apache-2.0
// Spans and log lines in OTLP's JSON encoding (opentelemetry-proto 1.9.0: ids in hexadecimal, 64-bit integers as text, enums as
// numbers).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agentforge/json.hpp>

namespace agentforge::kernel::telemetry {

using Time = std::chrono::system_clock::time_point;

/// Texts, booleans, numbers and arrays of texts by name. Empty texts are omitted.
using Attributes = json::object;

enum class SpanKind : unsigned char { internal = 1, client = 3 };

struct Span {
    std::string trace_id;
    std::string span_id;
    std::string parent_id;  ///< Empty: the task's own span.
    std::string name;
    SpanKind kind = SpanKind::internal;
    Time start;
    Time end;
    Attributes attributes;
    std::string error_type;  ///< `error.type`. Empty: it succeeded.
    std::string error_message;
};

struct LogLine {
    Time time;
    std::string level;  ///< trace, debug, info, warning or error
    std::string event;
    Attributes attributes;
    std::string trace_id;  ///< Empty: it belongs to no task.
    std::string span_id;
};

[[nodiscard]] json::array to_otlp(const Attributes& attributes);
[[nodiscard]] json::object to_otlp(const Span& span);
[[nodiscard]] json::object to_otlp(const LogLine& line);
/// Returns nanoseconds since 1970, as text.
[[nodiscard]] std::string unix_nanoseconds(Time time);

enum class Signal : unsigned char { traces = 0, metrics, logs };
[[nodiscard]] std::string_view name_of(Signal signal) noexcept;

/// Returns the body of an export request. `items`: the signal's spans, metrics or log records. `resource`: describes the process.
[[nodiscard]] json::object export_request(Signal signal, const Attributes& resource, json::array items);

}  // namespace agentforge::kernel::telemetry
