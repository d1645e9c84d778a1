// SPDX-License-Identifier: Apache-2.0
#include "telemetry/settings.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>

#include "base/text.hpp"

namespace agentforge::kernel::telemetry {
namespace {

using Environment = std::map<std::string, std::string>;

Error wrong(const std::string& variable, const std::string& what, const std::string& remedy) {
    return {"AF-OTEL-001", "telemetry is off: " + variable + " " + what, variable, remedy, ErrorKind::invalid};
}

std::string trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) { return {}; }
    return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

/// An empty variable counts as unset.
std::string value_of(const Environment& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : trimmed(found->second);
}

std::string variable_of(Signal signal, const std::string& end) {
    std::string name(name_of(signal));
    std::ranges::transform(name, name.begin(), [](char letter) { return static_cast<char>(letter - 'a' + 'A'); });
    return "OTEL_EXPORTER_OTLP_" + name + "_" + end;
}

/// The signal's own variable, or the one for all signals.
struct Chosen {
    std::string name;
    std::string value;
    bool own = false;
};
Chosen choose(const Environment& environment, Signal signal, const std::string& end) {
    const std::string own = variable_of(signal, end);
    if (const std::string value = value_of(environment, own); !value.empty()) { return {own, value, true}; }
    const std::string shared = "OTEL_EXPORTER_OTLP_" + end;
    return {shared, value_of(environment, shared), false};
}

Result<void> read_number(const Environment& environment, const std::string& name, std::uint64_t most, const auto& take) {
    const std::string text = value_of(environment, name);
    if (text.empty()) { return {}; }
    std::uint64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc() || end != text.data() + text.size() || number == 0 || number > most) {
        return wrong(name, "is `" + ellipsis(text, 80) + "`, not a number from 1 to " + std::to_string(most),
                     "correct or unset it");
    }
    take(number);
    return {};
}

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            result += text[at];
            continue;
        }
        unsigned byte = 0;
        if (at + 2 >= text.size()) { return std::nullopt; }
        const auto [end, failure] = std::from_chars(text.data() + at + 1, text.data() + at + 3, byte, 16);
        if (failure != std::errc() || end != text.data() + at + 3) { return std::nullopt; }
        result += static_cast<char>(byte);
        at += 2;
    }
    return result;
}

/// Parses `key=value,key2=value2` (W3C Baggage). Errors omit the values, which may be secrets.
Result<std::vector<std::pair<std::string, std::string>>> read_pairs(const std::string& variable, const std::string& text) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string pair = trimmed(std::string_view(text).substr(begin, end - begin));
        begin = end + 1;
        if (pair.empty()) { continue; }
        const std::size_t equals = pair.find('=');
        const std::string key = equals == std::string::npos ? std::string() : trimmed(std::string_view(pair).substr(0, equals));
        const auto value =
            equals == std::string::npos ? std::nullopt : percent_decoded(trimmed(std::string_view(pair).substr(equals + 1)));
        const bool printable = value && std::ranges::none_of(key + *value, [](char letter) {
                                   return static_cast<unsigned char>(letter) < ' ' || letter == 0x7f;
                               });
        if (key.empty() || !printable) {
            return wrong(variable, "is not a list like `key=value,key2=value2`", "correct or unset it");
        }
        pairs.emplace_back(key, *value);
    }
    return pairs;
}

Result<Destination> read_destination(const Environment& environment, Signal signal) {
    Destination destination;
    const Chosen endpoint = choose(environment, signal, "ENDPOINT");
    const std::string address = endpoint.value.empty() ? "http://localhost:4318" : endpoint.value;
    auto server = http::read_address(address);
    if (!server.ok()) {
        return wrong(endpoint.name, "is not an address of http or https", "set it to an address like http://localhost:4318");
    }
    destination.server = *server;
    if (!endpoint.own) { destination.server.path += "/v1/" + std::string(name_of(signal)); }
    if (destination.server.path.empty()) { destination.server.path = "/"; }

    const Chosen protocol = choose(environment, signal, "PROTOCOL");
    if (!protocol.value.empty() && protocol.value != "http/json") {
        return wrong(protocol.name, "is `" + ellipsis(protocol.value, 80) + "`, but only http/json is supported",
                     "set it to http/json, which collectors take on port 4318");
    }
    const Chosen compression = choose(environment, signal, "COMPRESSION");
    if (!compression.value.empty() && compression.value != "gzip" && compression.value != "none") {
        return wrong(compression.name, "is `" + ellipsis(compression.value, 80) + "`, not gzip or none", "correct or unset it");
    }
    destination.compress = compression.value == "gzip";
    const Chosen headers = choose(environment, signal, "HEADERS");
    AF_TRY(destination.headers, read_pairs(headers.name, headers.value));
    for (const auto& [name, value] : destination.headers) {
        static const std::set<std::string> own{"connection", "content-encoding", "content-length", "content-type",
                                               "host",       "transfer-encoding"};
        if (own.contains(lower_case(name))) {
            return wrong(headers.name, "sets the header `" + name + "`, which follows from the request itself", "take it out");
        }
    }
    AF_CHECK(read_number(environment, choose(environment, signal, "TIMEOUT").name, 600'000,
                         [&](std::uint64_t ms) { destination.timeout = std::chrono::milliseconds(ms); }));
    const Chosen certificate = choose(environment, signal, "CERTIFICATE");
    destination.ca_file = certificate.value;
    if (!certificate.value.empty() && !std::ifstream(certificate.value).good()) {
        return wrong(certificate.name, "names a file that cannot be read: " + ellipsis(certificate.value, 200),
                     "correct or unset it");
    }
    return destination;
}

std::string exporter_variable(Signal signal) {
    const std::string of_otlp = variable_of(signal, "EXPORTER");  // OTEL_EXPORTER_OTLP_TRACES_EXPORTER
    return "OTEL_" + of_otlp.substr(std::string_view("OTEL_EXPORTER_OTLP_").size());
}

Result<bool> is_wanted(const Environment& environment, Signal signal) {
    const std::string variable = exporter_variable(signal);
    const std::string exporter = value_of(environment, variable);
    if (exporter == "none") { return false; }
    if (exporter == "otlp") { return true; }
    if (!exporter.empty()) {
        return wrong(variable, "is `" + ellipsis(exporter, 80) + "`, but the only exporters are otlp and none",
                     "set it to otlp or none");
    }
    return !choose(environment, signal, "ENDPOINT").value.empty();
}

bool is_true(const std::string& text) { return lower_case(text) == "true"; }

Result<Attributes> read_resource(const Environment& environment) {
    constexpr const char* variable = "OTEL_RESOURCE_ATTRIBUTES";
    AF_TRY(const auto pairs, read_pairs(variable, value_of(environment, variable)));
    std::string service = value_of(environment, "OTEL_SERVICE_NAME");
    Attributes rest;
    for (const auto& [key, value] : pairs) {
        if (key != "service.name") {
            rest.emplace(key, value);
        } else if (service.empty()) {
            service = value;
        }
    }
    if (service.empty()) { service = "agentforge"; }
    Attributes resource;
    resource.emplace("service.name", service);
    resource.insert(rest.begin(), rest.end());
    return resource;
}

/// Returns the variables that affect exporters but are not supported here.
std::vector<std::string> not_followed(const Environment& environment) {
    std::vector<std::string> found;
    for (const auto& [name, value] : environment) {
        if (value.empty()) { continue; }
        const bool client_key =
            name.starts_with("OTEL_EXPORTER_OTLP_") && (name.ends_with("CLIENT_KEY") || name.ends_with("CLIENT_CERTIFICATE"));
        const bool sampling = name == "OTEL_TRACES_SAMPLER" && value != "always_on" && value != "parentbased_always_on";
        const bool temporality =
            name == "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE" && value != "cumulative" && value != "Cumulative";
        const bool neither = name == "OTEL_SDK_DISABLED" && !is_true(trimmed(value)) && lower_case(trimmed(value)) != "false";
        if (client_key || sampling || temporality || neither) { found.push_back(name + " has no effect"); }
    }
    return found;
}

}  // namespace

Result<std::optional<Settings>> read_settings(const Environment& environment, std::vector<std::string>& unused) {
    if (is_true(value_of(environment, "OTEL_SDK_DISABLED"))) { return std::optional<Settings>(); }
    Settings settings;
    bool any = false;
    for (const Signal signal : {Signal::traces, Signal::metrics, Signal::logs}) {
        AF_TRY(const bool wanted, is_wanted(environment, signal));
        if (!wanted) { continue; }
        AF_TRY(settings.destinations.at(static_cast<std::size_t>(signal)), read_destination(environment, signal));
        any = true;
    }
    if (!any) { return std::optional<Settings>(); }
    AF_TRY(settings.resource, read_resource(environment));
    AF_CHECK(
        read_number(environment, "OTEL_BSP_MAX_QUEUE_SIZE", 100'000, [&](std::uint64_t number) { settings.queue = number; }));
    AF_CHECK(read_number(environment, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 10'000,
                         [&](std::uint64_t number) { settings.batch = number; }));
    AF_CHECK(read_number(environment, "OTEL_BSP_SCHEDULE_DELAY", 600'000,
                         [&](std::uint64_t ms) { settings.delay = std::chrono::milliseconds(ms); }));
    AF_CHECK(read_number(environment, "OTEL_METRIC_EXPORT_INTERVAL", 86'400'000,
                         [&](std::uint64_t ms) { settings.metrics_interval = std::chrono::milliseconds(ms); }));
    settings.batch = std::min(settings.batch, settings.queue);
    unused = not_followed(environment);
    return std::optional(settings);
}

}  // namespace agentforge::kernel::telemetry
