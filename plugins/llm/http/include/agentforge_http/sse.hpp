// SPDX-License-Identifier: Apache-2.0
// Parses server-sent events (WHATWG HTML, section 9.2) in pieces of any size: the same bytes give the same events however they
// are cut.
//
// LF, CRLF and CR end lines. Skips a BOM at the start, comments, `id` and `retry`. Joins several `data` lines by LF. An event
// without data, or without a final empty line, is dropped.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::http {

struct Event {
    std::string type;  ///< Empty if the stream names none.
    std::string data;
};

class EventReader {
public:
    explicit EventReader(std::size_t max_event_bytes = 8UL << 20U) : max_event_bytes_(max_event_bytes) {}

    /// Calls `use` for every event that `part` completes, until it returns an error or false (stop; the rest is not read).
    /// Errors: AF-LLM-412 a line or an event exceeds the bound; those of `use`.
    [[nodiscard]] Result<bool> feed(std::string_view part, const std::function<Result<bool>(const Event&)>& use);

private:
    [[nodiscard]] Result<bool> line(const std::function<Result<bool>(const Event&)>& use);

    std::size_t max_event_bytes_;
    std::string line_;
    Event event_;
    bool has_data_ = false;
    bool first_line_ = true;
    bool after_cr_ = false;
};

}  // namespace agentforge::http
