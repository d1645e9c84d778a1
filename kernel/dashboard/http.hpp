// SPDX-License-Identifier: Apache-2.0
// The interface between the server and the dashboard: requests and responses as values, and streams of events.
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

/// Removes spaces and tabs at both ends.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ') || text.starts_with('\t')) { text.remove_prefix(1); }
    while (text.ends_with(' ') || text.ends_with('\t')) { text.remove_suffix(1); }
    return text;
}

struct HttpRequest {
    std::string method;
    std::string path;                            ///< Decoded; begins with `/`.
    std::map<std::string, std::string> query;    ///< Decoded. The server refuses duplicate names.
    std::map<std::string, std::string> headers;  ///< Names in lower case.
    std::string body;
    bool only_head = false;         ///< The request was a HEAD; `method` is then GET.
    bool over_unix_socket = false;  ///< Only processes of this user can connect to it.

    [[nodiscard]] std::string header(const std::string& name) const {
        const auto found = headers.find(name);
        return found == headers.end() ? std::string() : found->second;
    }
    [[nodiscard]] std::string parameter(const std::string& name) const {
        const auto found = query.find(name);
        return found == query.end() ? std::string() : found->second;
    }
};

/// A stream of events for one client. Used by the thread of its connection; ends with the connection.
class EventSource {
public:
    virtual ~EventSource() = default;
    struct Event {
        std::string id;  ///< A client that reconnects sends the id of the last event it saw. Empty: none.
        std::string type;
        std::string data;  ///< A JSON object in one line.
    };
    /// Readable when `take` has events to return, or when the source has ended.
    [[nodiscard]] virtual int descriptor() const = 0;
    [[nodiscard]] virtual std::vector<Event> take() = 0;
    /// True if no events follow. The connection is closed after the last result of `take`.
    [[nodiscard]] virtual bool ended() const = 0;
};

struct HttpResponse {
    int status = 200;
    std::vector<std::pair<std::string, std::string>> headers = {};
    std::string body = {};
    /// The body without the values that change only because time passes. The ETag, a weak one, is then the hash of this. Empty:
    /// the ETag is that of the body.
    std::string timeless = {};
    /// A stream of server-sent events in place of a body, or a WebSocket if `web_socket` is set.
    std::unique_ptr<EventSource> events = nullptr;
    bool web_socket = false;

    [[nodiscard]] std::string header(std::string_view name) const {
        for (const auto& [key, value] : headers) {
            if (key == name) { return value; }
        }
        return {};
    }
};

/// Answers requests. Called from any thread, several at a time.
class HttpApplication {
public:
    virtual ~HttpApplication() = default;
    [[nodiscard]] virtual HttpResponse answer(const HttpRequest& request) = 0;
    /// Makes a problem document for a request that the server itself refuses (too large, too slow).
    [[nodiscard]] virtual HttpResponse refuse(int status, const Error& problem) = 0;
};

}  // namespace agentforge::kernel
