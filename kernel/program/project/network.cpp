// SPDX-License-Identifier: Apache-2.0
#include "program/project/network.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "base/json_fields.hpp"

namespace agentforge::kernel {
namespace {

ModelNetwork network_of(std::string_view text) {
    if (text == "none") { return ModelNetwork::none; }
    return text == "local" ? ModelNetwork::local : ModelNetwork::any;
}

std::string lower(std::string_view text) {
    std::string made(text);
    std::transform(made.begin(), made.end(), made.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return made;
}

/// Returns the host of `http(s)://host[:port][/path]`, in lower case. Empty for any other text, so no two parsers can disagree.
std::string host_of(std::string_view address) {
    const std::string text = lower(address);
    std::size_t begin = 0;
    if (text.starts_with("http://")) { begin = 7; }
    if (text.starts_with("https://")) { begin = 8; }
    if (begin == 0) { return {}; }
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const std::string place = text.substr(begin, end - begin);
    if (place.empty() || place.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_:[]") != std::string::npos) {
        return {};
    }
    if (text.find_first_of("\\@?# \t\r\n", end) != std::string::npos) { return {}; }
    std::size_t colon = place.find(':');
    std::string host = place.substr(0, colon);
    if (place.front() == '[') {
        const std::size_t close = place.find(']');
        if (close == std::string::npos) { return {}; }
        host = place.substr(1, close - 1);
        colon = close + 1 < place.size() ? close + 1 : std::string::npos;
        if (colon != std::string::npos && place[colon] != ':') { return {}; }
    }
    if (colon != std::string::npos && place.find_first_not_of("0123456789", colon + 1) != std::string::npos) { return {}; }
    return host;
}

/// True for `127.a.b.c` in plain decimal, but not for `127.1`, `0x7f.0.0.1` or `2130706433`.
bool is_loopback(std::string_view host) {
    if (host == "localhost" || host == "::1") { return true; }
    unsigned parts = 0;
    for (std::size_t begin = 0; begin <= host.size(); ++parts) {
        const std::size_t end = std::min(host.find('.', begin), host.size());
        const std::string_view part = host.substr(begin, end - begin);
        if (part.empty() || part.size() > 3 || part.find_first_not_of("0123456789") != std::string_view::npos ||
            (part.size() > 1 && part.front() == '0')) {
            return false;
        }
        if (part.size() == 3 && part > "255") { return false; }
        if (parts == 0 && part != "127") { return false; }
        begin = end + 1;
    }
    return parts == 4;
}

/// Returns the variable that names a proxy for this host, or empty.
std::string proxy_variable(const NetworkRule& rule, const std::string& host) {
    const auto value = [&rule](const std::string& name) {
        const auto found = rule.environment.find(name);
        return found == rule.environment.end() ? std::string() : found->second;
    };
    for (const char* const list : {"no_proxy", "NO_PROXY"}) {
        const std::string names = lower(value(list));
        for (std::size_t begin = 0; begin < names.size();) {
            const std::size_t end = std::min(names.find(',', begin), names.size());
            std::string one = names.substr(begin, end - begin);
            std::erase(one, ' ');
            if (one == host || one == "*") { return {}; }
            begin = end + 1;
        }
        if (!names.empty()) { break; }  // As in the backends, the upper-case name counts if the lower-case one is not set.
    }
    for (const char* const name : {"https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) {
        if (!value(name).empty()) { return name; }
    }
    return {};
}

/// Checks that data may be sent to `url`. `leave_out`: how the user can turn it off.
Result<void> check_sending(const NetworkRule& rule, std::string_view url,
                           const std::function<Error(const std::string& why, std::string remedy)>& refused,
                           const std::string& leave_out) {
    if (rule.network == ModelNetwork::any || url.empty()) { return {}; }
    if (rule.network == ModelNetwork::none) {
        return refused("`network: none` allows nothing to be sent", leave_out + ", or set `network` to local or any");
    }
    const std::string host = host_of(url.substr(0, url.find('?')));
    if (is_loopback(host)) { return {}; }
    if (host.empty() || std::find(rule.private_hosts.begin(), rule.private_hosts.end(), host) == rule.private_hosts.end()) {
        return refused("`network: local` does not allow " + (host.empty() ? "its address" : host) +
                           ", which is neither loopback nor one of private_hosts",
                       "add the host to private_hosts, set `network: any`, or " + leave_out);
    }
    if (const std::string proxy = proxy_variable(rule, host); !proxy.empty()) {
        return refused("`network: local` does not allow the proxy of " + proxy + " on the way to " + host,
                       "add " + host + " to NO_PROXY");
    }
    return {};
}

}  // namespace

NetworkRule network_rule(const Settings& settings, std::map<std::string, std::string> environment) {
    NetworkRule rule;
    rule.environment = std::move(environment);
    rule.network = network_of(settings.text("network"));
    for (const std::string& host : settings.list("private_hosts")) { rule.private_hosts.push_back(lower(host)); }
    return rule;
}

Result<void> check_network(const NetworkRule& rule, std::string_view backend, const json::object& config) {
    if (rule.network == ModelNetwork::any || backend == "replay") { return {}; }
    const auto refused = [&backend](const std::string& why, std::string remedy) {
        return Error{"AF-LLM-003", "the backend '" + std::string(backend) + "' is not used: " + why, "network", std::move(remedy),
                     ErrorKind::unavailable};
    };
    if (rule.network == ModelNetwork::none) {
        return refused("`network: none` allows recorded answers only",
                       "use the backend `replay`, or set `network` to local or any");
    }
    if (backend != "anthropic" && backend != "openai") {
        return refused("`network: local` allows backends whose address is known, and where this one sends to is not",
                       "use the backend `openai` with llm.base_url, or set `network: any`");
    }
    std::string address = text_of(config, "base_url");
    if (address.empty()) { address = backend == "anthropic" ? "https://api.anthropic.com" : "https://api.openai.com/v1"; }
    const std::string host = host_of(address);
    if (is_loopback(host)) { return {}; }
    if (host.empty() || std::find(rule.private_hosts.begin(), rule.private_hosts.end(), host) == rule.private_hosts.end()) {
        return refused("`network: local` does not allow " + (host.empty() ? "its address" : host) +
                           ", which is neither loopback nor one of private_hosts",
                       "set llm.base_url to a server of this machine, add the host to private_hosts, or set `network: any`");
    }
    if (const std::string proxy = proxy_variable(rule, host); !proxy.empty()) {
        return refused("`network: local` does not allow the proxy of " + proxy + " on the way to " + host,
                       "add " + host + " to NO_PROXY");
    }
    return {};
}

Result<void> check_webhook_network(const NetworkRule& rule, std::string_view url) {
    const auto refused = [](const std::string& why, std::string remedy) {
        return Error{"AF-ESC-055", "the webhook is not used: " + why, "network", std::move(remedy), ErrorKind::unavailable};
    };
    return check_sending(rule, url, refused, "take webhook out of escalation.handlers");
}

Result<void> check_telemetry_network(const NetworkRule& rule, std::string_view url) {
    const auto refused = [](const std::string& why, std::string remedy) {
        return Error{"AF-OTEL-002", "telemetry is off: " + why, "network", std::move(remedy), ErrorKind::unavailable};
    };
    return check_sending(rule, url, refused, "unset OTEL_EXPORTER_OTLP_ENDPOINT");
}

}  // namespace agentforge::kernel
