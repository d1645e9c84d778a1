// SPDX-License-Identifier: Apache-2.0
// Classifies a server's refusals for the caller.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include <agentforge_http/exchange.hpp>

namespace agentforge::http {

/// A server's report of a failure: the `error` object of either API, or another body.
struct Complaint {
    int status = 0;    ///< 0: none; the answer had begun with 200.
    std::string type;  ///< `overloaded_error`, `insufficient_quota`, …
    std::string message;
};

/// Reads `{"error": {"type"|"code", "message"}}` (also as text or as a list's only item). Another body is described (an HTML page
/// with its title, an empty body) or shown by its beginning.
[[nodiscard]] Complaint read_complaint(int status, std::string_view body);
/// From the `error` object of a stream, or of an answer with status 200.
[[nodiscard]] Complaint read_complaint(const json::value& error);

/// Errors: AF-LLM-401 the key (401, 403), AF-LLM-404 the model or address (404), AF-LLM-405 the request (other 4xx, a
/// redirection), AF-LLM-406 a limit that a wait of seconds does not lift (402, insufficient_quota, billing, retry-after beyond 60
/// s): all `unavailable`, so the task waits for its user. AF-LLM-407 (408, 409, 429, 5xx, overloaded) is `transient`.
/// `x-should-retry` decides if the server sends it.
[[nodiscard]] Error refusal(const Address& server, const Complaint& complaint, const Head& head);

/// Returns AF-LLM-408, `unavailable`, for JSON that is not the API's. `found` completes the sentence "answered with JSON that
/// is".
[[nodiscard]] Error other_answer(const Address& server, std::string_view found, std::string_view api);

/// Returns how long the server asks to wait: retry-after-ms, then retry-after in seconds or as a date. 0 if it does not ask, or
/// asks for more than 60 s.
[[nodiscard]] std::chrono::milliseconds asked_to_wait(const Head& head);

/// Returns `text` in UTF-8, in one line, cut to `most` bytes.
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t most = 500);

}  // namespace agentforge::http
