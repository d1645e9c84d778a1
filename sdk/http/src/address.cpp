// SPDX-License-Identifier: Apache-2.0
#include <agentforge_http/address.hpp>

#include <algorithm>
#include <charconv>

namespace agentforge::http {
namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return result;
}

struct HostPort {
    std::string host;
    std::uint16_t port = 0;  ///< 0 if none was given.
};

/// Parses `host`, `host:port`, `[v6]` or `[v6]:port`.
std::optional<HostPort> host_port(std::string_view text) {
    HostPort read;
    std::string_view port;
    bool has_port = false;
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos) { return std::nullopt; }
        read.host = lower(text.substr(1, end - 1));
        text.remove_prefix(end + 1);
        if (!text.empty() && text.front() != ':') { return std::nullopt; }
        has_port = !text.empty();
        port = has_port ? text.substr(1) : text;
    } else {
        const std::size_t colon = text.find(':');
        read.host = lower(text.substr(0, colon));
        has_port = colon != std::string_view::npos;
        if (has_port) { port = text.substr(colon + 1); }
    }
    const auto odd = [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == '@' || c == '%' || c == '\\' || c == '\x7f';
    };
    if (read.host.empty() || std::any_of(read.host.begin(), read.host.end(), odd)) { return std::nullopt; }
    if (has_port) {
        const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), read.port);
        if (error != std::errc() || end != port.data() + port.size() || read.port == 0) { return std::nullopt; }
    }
    return read;
}

bool is_loopback(std::string_view host) {
    const bool digits = host.find_first_not_of("0123456789.") == std::string_view::npos;
    return host == "localhost" || host.ends_with(".localhost") || host == "::1" || (digits && host.starts_with("127."));
}

std::string decoded(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at) {
        unsigned value = 0;
        if (text[at] == '%' && at + 2 < text.size() &&
            std::from_chars(text.data() + at + 1, text.data() + at + 3, value, 16).ptr == text.data() + at + 3) {
            result += static_cast<char>(value);
            at += 2;
        } else {
            result += text[at];
        }
    }
    return result;
}

bool exempt(const Address& target, std::string_view list) {
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        std::string_view entry = list.substr(0, comma);
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
        while (!entry.empty() && entry.front() == ' ') { entry.remove_prefix(1); }
        while (!entry.empty() && entry.back() == ' ') { entry.remove_suffix(1); }
        if (entry == "*") { return true; }
        if (lower(entry) == target.host) { return true; }
        auto read = host_port(entry);
        if (!read || (read->port != 0 && read->port != target.port)) { continue; }
        std::string_view name = read->host;
        if (name.starts_with("*.")) { name.remove_prefix(1); }
        if (name.starts_with('.')) { name.remove_prefix(1); }
        if (target.host == name || (target.host.ends_with(name) && target.host[target.host.size() - name.size() - 1] == '.')) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::string Address::text() const {
    const bool usual = port == (secure ? 443 : 80);
    const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
    return (secure ? "https://" : "http://") + name + (usual ? "" : ":" + std::to_string(port)) + path;
}

bool Address::loopback() const { return is_loopback(host); }

Result<Address> read_address(std::string_view text) {
    const auto refuse = [](const std::string& why) {
        return Error{"AF-LLM-413", "base_url " + why, "llm.base_url",
                     "Write it like https://api.example.com/v1 or http://localhost:11434/v1.", ErrorKind::invalid};
    };
    Address address;
    const std::size_t scheme = text.find("://");
    const std::string name = lower(text.substr(0, scheme));
    if (scheme == std::string_view::npos || (name != "http" && name != "https")) {
        return refuse("must begin with http:// or https://");
    }
    address.secure = name == "https";
    text.remove_prefix(scheme + 3);
    const std::size_t slash = text.find_first_of("/?#");
    const std::string_view place = text.substr(0, slash);
    if (place.find('@') != std::string_view::npos) {
        return refuse("must not contain a user or password; name the key's variable in api_key_env");
    }
    auto read = host_port(place);
    if (!read) { return refuse("names no host and port"); }
    address.host = std::move(read->host);
    address.port = read->port != 0 ? read->port : (address.secure ? 443 : 80);
    if (slash != std::string_view::npos) {
        address.path = text.substr(slash);
        if (address.path.find_first_of("?#") != std::string::npos) { return refuse("must not contain a query or fragment"); }
        if (std::any_of(address.path.begin(), address.path.end(),
                        [](char c) { return static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f; })) {
            return refuse("contains a character that does not belong in an address");
        }
        while (address.path.ends_with('/')) { address.path.pop_back(); }
    }
    return address;
}

Result<std::optional<Proxy>> proxy_for(const Address& target, const std::function<std::string(const std::string&)>& variable) {
    const auto either = [&variable](const std::string& small, const std::string& capital) {
        std::string value = variable(small);
        return value.empty() ? variable(capital) : value;
    };
    if (target.loopback()) { return std::optional<Proxy>(); }
    std::string name = target.secure ? "HTTPS_PROXY" : "HTTP_PROXY";
    std::string text = either(lower(name), name);
    if (text.empty()) {
        name = "ALL_PROXY";
        text = either("all_proxy", name);
    }
    if (text.empty() || exempt(target, either("no_proxy", "NO_PROXY"))) { return std::optional<Proxy>(); }
    const auto refuse = [&name](const std::string& why) {
        return Error{"AF-LLM-413", "the proxy in " + name + " " + why, name,
                     "Set it to http://host:port, or list the model's host in NO_PROXY.", ErrorKind::unavailable};
    };
    std::string_view rest = text;
    if (const std::size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
        if (lower(rest.substr(0, scheme)) != "http") {
            return refuse("does not begin with http://, the only kind of proxy that is supported");
        }
        rest.remove_prefix(scheme + 3);
    }
    rest = rest.substr(0, rest.find('/'));
    Proxy proxy;
    if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
        const std::string_view user = rest.substr(0, at);
        const std::size_t colon = user.find(':');
        proxy.user = decoded(user.substr(0, colon));
        if (colon != std::string_view::npos) { proxy.password = decoded(user.substr(colon + 1)); }
        rest.remove_prefix(at + 1);
    }
    auto read = host_port(rest);
    if (!read) { return refuse("names no host and port"); }
    proxy.host = std::move(read->host);
    proxy.port = read->port != 0 ? read->port : 80;
    return std::optional<Proxy>(std::move(proxy));
}

}  // namespace agentforge::http
