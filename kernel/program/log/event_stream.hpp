// SPDX-License-Identifier: Apache-2.0
// `--output-format stream-json`: the events of a run, one JSON object a line (docs/stream-json.md).
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

/// Returns the stream's lines for a record: most records have none, one has two. `state`: after the record.
[[nodiscard]] std::vector<StreamLine> lines_of(const TaskState& state, const records::AnyRecord& record);
[[nodiscard]] StreamLine line_of(const Event& event);
/// True if the current visit began before the task was resumed: the reader of this stream has not seen it begin.
[[nodiscard]] bool resumes_inside_visit(const TaskState& state);

/// Every line has `time` and `type`, then its own fields. The first line names the format and its version. The last is the
/// result, or the error that prevented it. Readers must ignore unknown types and fields: new ones do not raise the version.
class EventStream final : public Progress {
public:
    static constexpr int version = 1;

    EventStream(std::ostream& out, Clock& clock);
    void event(const Event& event) override;
    void recorded(const TaskState& state, const StageState* left, const records::AnyRecord& record) override;

private:
    void write(const StreamLine& entry);

    std::ostream& out_;
    Clock& clock_;
    std::mutex writing_;
};

/// Writes the stream's last line. `result`: the answer of `--json`.
void end_event_stream(std::ostream& out, json::object result);

}  // namespace agentforge::kernel
