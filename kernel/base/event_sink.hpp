// SPDX-License-Identifier: Apache-2.0
// Events of a running task that are never written to its journal. Everything else shown of a run is a record (kernel/records) or
// follows from one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <boost/describe/class.hpp>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

/// One struct for each kind. `type` is its name in the stream of events (docs/stream-json.md), and its members are the fields
/// there.
namespace event {

/// Sent when the model is asked (no byte yet), and repeatedly while its answer arrives.
struct Answering {
    static constexpr std::string_view type = "answering";
    std::string stage;
    std::string role;
    std::uint64_t step;  ///< Step of the agent's run. The same below.
    std::uint64_t bytes;
};
BOOST_DESCRIBE_STRUCT(Answering, (), (stage, role, step, bytes))

/// A tool was called. The step's record follows once the edit is measured.
struct ToolCalled {
    static constexpr std::string_view type = "tool";
    std::string stage;
    std::string role;
    std::uint64_t step;
    std::string tool;
    bool success;
    std::string summary;
};
BOOST_DESCRIBE_STRUCT(ToolCalled, (), (stage, role, step, tool, success, summary))

/// A gate begins to measure.
struct GateStarted {
    static constexpr std::string_view type = "gate_started";
    std::string gate;
    std::string stage;
};
BOOST_DESCRIBE_STRUCT(GateStarted, (), (gate, stage))

/// A gate measured a rebase on the new base. The rebase's own record has only the result. A task's own gates are records.
struct GateTried {
    static constexpr std::string_view type = "gate";
    std::string gate;
    std::string stage;
    bool passed;
    std::string summary;
    std::uint64_t duration_ms;
};
BOOST_DESCRIBE_STRUCT(GateTried, (), (gate, stage, passed, summary, duration_ms))

/// A handler began to wait for a person's answer.
struct Asking {
    static constexpr std::string_view type = "asking";
    std::string id;
    std::string handler;
};
BOOST_DESCRIBE_STRUCT(Asking, (), (id, handler))

/// The handler no longer waits.
struct AskingEnded {
    static constexpr std::string_view type = "asking_ended";
    std::string id;
};
BOOST_DESCRIBE_STRUCT(AskingEnded, (), (id))

/// Progress text from a stage or a tool.
struct Message {
    static constexpr std::string_view type = "message";
    std::string stage;
    std::string text;
};
BOOST_DESCRIBE_STRUCT(Message, (), (stage, text))

/// A line for the log. Warnings and errors are also shown.
struct Logged {
    static constexpr std::string_view type = "log";
    std::uint64_t level;  ///< A LogLevel.
    std::string message;
    std::optional<std::string> stage = {};
    std::optional<json::object> fields = {};
};
BOOST_DESCRIBE_STRUCT(Logged, (), (level, message, stage, fields))

/// This run of the task has ended. A later run may continue the task.
struct RunEnded {
    static constexpr std::string_view type = "task_finished";
    std::string task_id;
    std::string status;
    std::string waiting_for;
    std::int64_t duration_ms;
};
BOOST_DESCRIBE_STRUCT(RunEnded, (), (task_id, status, waiting_for, duration_ms))

}  // namespace event

using Event = std::variant<event::Answering, event::ToolCalled, event::GateStarted, event::GateTried, event::Asking,
                           event::AskingEnded, event::Message, event::Logged, event::RunEnded>;

/// Receives events from any thread while a task runs. Must not block.
class EventSink {
public:
    virtual ~EventSink() = default;
    virtual void event(const Event& event) = 0;
};

class NullEventSink final : public EventSink {
public:
    void event(const Event&) override {}
};

}  // namespace agentforge::kernel
