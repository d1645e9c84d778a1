// SPDX-License-Identifier: Apache-2.0
// `--output-format stream-json`: what happens, one JSON object a line (docs/stream-json.md).
#pragma once

#include <iosfwd>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "program/log/progress.hpp"
#include "records/records.hpp"
#include "task/state.hpp"

namespace agentforge::kernel {

/// A line of the stream without its time.
struct StreamLine {
    std::string_view type;
    json::object fields;
};

/// What a record is in the stream: most say nothing there, one says two things. `state`: after it.
[[nodiscard]] std::vector<StreamLine> lines_of(const TaskState& state, const records::AnyRecord& record);
[[nodiscard]] StreamLine line_of(const Event& event);
/// Whether the task stands inside a visit that was begun before it was resumed: who watches has not seen that begin.
[[nodiscard]] bool goes_on_inside(const TaskState& state);

/// Every line with `time` and `type`, then its own fields. The first says the format and its version; the last is
/// the result, or the error that kept it from coming. A reader skips types and fields that it does not know: new ones do not
/// raise the version.
class EventStream final : public Progress {
public:
    static constexpr int version = 1;

    EventStream(std::ostream& out, Clock& clock);
    void event(const Event& event) override;
    void recorded(const TaskState& state, const StageState* left, const records::AnyRecord& record) override;

private:
    void write(const StreamLine& told);

    std::ostream& out_;
    Clock& clock_;
    std::mutex writing_;
};

/// The stream's last line. `result`: what `--json` answers.
void end_event_stream(std::ostream& out, json::object result);

}  // namespace agentforge::kernel
