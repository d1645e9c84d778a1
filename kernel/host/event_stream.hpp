// SPDX-License-Identifier: Apache-2.0
// `--output-format stream-json`: what happens, one JSON object a line (docs/stream-json.md).
#pragma once

#include <iosfwd>
#include <string>

#include "base/clock.hpp"
#include "base/events.hpp"

namespace agentforge::kernel {

/// Every event as a line: `time`, `type`, then the event's own fields. The first line says the format and its version; the last is
/// the result, or the error that kept it from coming. A reader skips types and fields that it does not know: new ones do not raise the version.
class EventStream final : public EventSink {
public:
    static constexpr int version = 1;

    EventStream(std::ostream& out, Clock& clock);
    void event(std::string_view name, const json::object& fields) override;

private:
    std::ostream& out_;
    Clock& clock_;
};

/// The stream's last line. `result`: what `--json` answers.
void end_event_stream(std::ostream& out, json::object result);

}  // namespace agentforge::kernel
