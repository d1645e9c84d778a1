// SPDX-License-Identifier: Apache-2.0
// What happens while a task runs and never reaches its journal. All else that is shown of a run is a record (kernel/records) or
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

/// One struct for each kind; `type` is its name in the stream of events (docs/stream-json.md), its members are the fields there.
namespace event {

/// The model is asked (no byte yet), and again while its answer comes.
struct Answering {
    static constexpr std::string_view type = "answering";
    std::string stage;
    std::string role;
    std::uint64_t step;  ///< Of the agent's run, as it is below.
    std::uint64_t bytes;
};
BOOST_DESCRIBE_STRUCT(Answering, (), (stage, role, step, bytes))

/// A tool was called; the step's record follows once the edit is measured.
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

/// The kernel begins to measure.
struct GateStarted {
    static constexpr std::string_view type = "gate_started";
    std::string gate;
    std::string stage;
};
BOOST_DESCRIBE_STRUCT(GateStarted, (), (gate, stage))

/// What a rebase measured on the new base: its record says only what came of the rebase. A task's own gates are records.
struct GateTried {
    static constexpr std::string_view type = "gate";
    std::string gate;
    std::string stage;
    bool passed;
    std::string summary;
    std::uint64_t duration_ms;
};
BOOST_DESCRIBE_STRUCT(GateTried, (), (gate, stage, passed, summary, duration_ms))

/// A handler waits for a person's answer.
struct Asking {
    static constexpr std::string_view type = "asking";
    std::string id;
    std::string handler;
};
BOOST_DESCRIBE_STRUCT(Asking, (), (id, handler))

/// It no longer does.
struct AskingEnded {
    static constexpr std::string_view type = "asking_ended";
    std::string id;
};
BOOST_DESCRIBE_STRUCT(AskingEnded, (), (id))

/// Progress in words, from a stage or a tool.
struct Message {
    static constexpr std::string_view type = "message";
    std::string stage;
    std::string text;
};
BOOST_DESCRIBE_STRUCT(Message, (), (stage, text))

/// A line for the log; warnings and errors are shown, too.
struct Logged {
    static constexpr std::string_view type = "log";
    std::uint64_t level;  ///< A LogLevel.
    std::string message;
    std::optional<std::string> stage = {};
    std::optional<json::object> fields = {};
};
BOOST_DESCRIBE_STRUCT(Logged, (), (level, message, stage, fields))

/// This run of the task is over. The task may go on in another one.
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

/// Receives events while a task runs, from any thread; must not block.
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
