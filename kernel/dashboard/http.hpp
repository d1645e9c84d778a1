// SPDX-License-Identifier: Apache-2.0
// What the server hands to the dashboard, and what it takes back: requests and responses as values, and streams of events.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agentforge/result.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

/// Without the spaces and tabs around it.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ') || text.starts_with('\t')) { text.remove_prefix(1); }
    while (text.ends_with(' ') || text.ends_with('\t')) { text.remove_suffix(1); }
    return text;
}

struct HttpRequest {
    std::string method;
    std::string path;                            ///< Decoded; begins with `/`.
    std::map<std::string, std::string> query;    ///< Decoded; the server refuses two of one name.
    std::map<std::string, std::string> headers;  ///< Names in lower case.
    std::string body;
    bool only_head = false;         ///< HEAD, which `method` tells as GET.
    bool over_unix_socket = false;  ///< Only this user's processes can connect to it.

    [[nodiscard]] std::string header(const std::string& name) const {
        const auto found = headers.find(name);
        return found == headers.end() ? std::string() : found->second;
    }
    [[nodiscard]] std::string parameter(const std::string& name) const {
        const auto found = query.find(name);
        return found == query.end() ? std::string() : found->second;
    }
};

/// Events for one client, one after the other. Used by the thread of its connection; ends with the connection.
class EventSource {
public:
    virtual ~EventSource() = default;
    struct Event {
        std::string id;  ///< What a client that comes back names as the last that it has seen; empty: none.
        std::string type;
        std::string data;  ///< A JSON object in one line.
    };
    /// Readable as soon as `take` has something to give, or the source has ended.
    [[nodiscard]] virtual int descriptor() const = 0;
    [[nodiscard]] virtual std::vector<Event> take() = 0;
    /// Nothing more comes: the connection is closed after what `take` gave last.
    [[nodiscard]] virtual bool ended() const = 0;
};

struct HttpResponse {
    int status = 200;
    std::vector<std::pair<std::string, std::string>> headers = {};
    std::string body = {};
    std::unique_ptr<EventSource> events =
        nullptr;  ///< In place of a body: a stream of server-sent events, or a WebSocket where `web_socket` is set.
    bool web_socket = false;

    [[nodiscard]] std::string header(std::string_view name) const {
        for (const auto& [key, value] : headers) {
            if (key == name) { return value; }
        }
        return {};
    }
};

/// Answers requests, in any thread, several at a time.
class HttpApplication {
public:
    virtual ~HttpApplication() = default;
    [[nodiscard]] virtual HttpResponse answer(const HttpRequest& request) = 0;
    /// For what the server refuses by itself (too large, too slow): a problem document.
    [[nodiscard]] virtual HttpResponse refuse(int status, const Error& problem) = 0;
};

}  // namespace agentforge::kernel
