// SPDX-License-Identifier: Apache-2.0
#include "telemetry/otlp.hpp"

#include <array>

#include "base/json_fields.hpp"
#include "base/text.hpp"

namespace agentforge::kernel::telemetry {
namespace {

json::object any_value(const json::value& value) {
    if (value.is_bool()) { return {{"boolValue", value}}; }
    if (value.is_double()) { return {{"doubleValue", value}}; }
    if (value.is_int64()) { return {{"intValue", std::to_string(value.get_int64())}}; }
    if (value.is_uint64()) { return {{"intValue", std::to_string(value.get_uint64())}}; }
    if (value.is_array()) {
        json::array values;
        for (const json::value& each : value.get_array()) { values.emplace_back(any_value(each)); }
        return {{"arrayValue", {{"values", std::move(values)}}}};
    }
    return {{"stringValue", value.is_string() ? value : json::value(to_json_line(value))}};
}

unsigned severity_of(std::string_view level) noexcept {
    if (level == "trace") { return 1; }
    if (level == "debug") { return 5; }
    if (level == "warning") { return 13; }
    return level == "error" ? 17 : 9;
}

struct Names {
    std::string_view resources, scopes, items;
};
/// The semantic conventions that names and values follow.
constexpr std::string_view schema_url = "https://opentelemetry.io/schemas/1.37.0";

constexpr std::array<Names, 3> names_of_requests{{{"resourceSpans", "scopeSpans", "spans"},
                                                  {"resourceMetrics", "scopeMetrics", "metrics"},
                                                  {"resourceLogs", "scopeLogs", "logRecords"}}};

}  // namespace

std::string_view name_of(Signal signal) noexcept {
    return std::array<std::string_view, 3>{"traces", "metrics", "logs"}.at(static_cast<std::size_t>(signal));
}

std::string unix_nanoseconds(Time time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

json::array to_otlp(const Attributes& attributes) {
    json::array list;
    for (const auto& [key, value] : attributes) {
        if (value.is_null() || (value.is_string() && value.get_string().empty())) { continue; }
        list.push_back(json::object{{"key", key}, {"value", any_value(value)}});
    }
    return list;
}

json::object to_otlp(const Span& span) {
    constexpr int status_error = 2;
    Attributes attributes = span.attributes;
    if (!span.error_type.empty()) { attributes.emplace("error.type", span.error_type); }
    json::object result{{"traceId", span.trace_id},
                        {"spanId", span.span_id},
                        {"name", span.name},
                        {"kind", static_cast<unsigned>(span.kind)},
                        {"startTimeUnixNano", unix_nanoseconds(span.start)},
                        {"endTimeUnixNano", unix_nanoseconds(span.end)},
                        {"attributes", to_otlp(attributes)}};
    if (!span.parent_id.empty()) { result["parentSpanId"] = span.parent_id; }
    if (!span.error_type.empty()) { result["status"] = json::object{{"code", status_error}, {"message", span.error_message}}; }
    return result;
}

json::object to_otlp(const LogLine& line) {
    json::object result{{"timeUnixNano", unix_nanoseconds(line.time)}, {"observedTimeUnixNano", unix_nanoseconds(line.time)},
                        {"severityNumber", severity_of(line.level)},   {"severityText", line.level},
                        {"eventName", "agentforge." + line.event},     {"body", {{"stringValue", line.event}}},
                        {"attributes", to_otlp(line.attributes)}};
    if (!line.trace_id.empty()) {
        result["traceId"] = line.trace_id;
        result["spanId"] = line.span_id;
    }
    return result;
}

json::object export_request(Signal signal, const Attributes& resource, json::array items) {
    const Names& names = names_of_requests.at(static_cast<std::size_t>(signal));
    json::object scope{{"scope", {{"name", "agentforge"}, {"version", text_of(resource, "service.version")}}},
                       {names.items, std::move(items)},
                       {"schemaUrl", schema_url}};
    return {{names.resources, json::array{json::object{{"resource", {{"attributes", to_otlp(resource)}}},
                                                       {names.scopes, json::array{std::move(scope)}},
                                                       {"schemaUrl", schema_url}}}}};
}

}  // namespace agentforge::kernel::telemetry
