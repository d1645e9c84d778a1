// SPDX-License-Identifier: Apache-2.0
#include "host/event_stream.hpp"

#include <ostream>

#include "base/text.hpp"

namespace agentforge::kernel {

EventStream::EventStream(std::ostream& out, Clock& clock) : out_(out), clock_(clock) {
    event("stream_started", {{"format", "agentforge-stream"}, {"version", version}});
}

void EventStream::event(std::string_view name, const json::object& fields) {
    json::object line{{"time", format_time(clock_.now())}, {"type", name}};
    for (const auto& [key, value] : fields) { if (!line.contains(key)) { line[key] = value; } }
    out_ << to_json_line(line) << "\n" << std::flush;
}

void end_event_stream(std::ostream& out, json::object result) {
    json::object line{{"type", "result"}};
    for (const auto& [key, value] : result) { line[key] = value; }
    out << to_json_line(line) << "\n" << std::flush;
}

}  // namespace agentforge::kernel
