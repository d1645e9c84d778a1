// SPDX-License-Identifier: Apache-2.0
// What the kernel tells whoever watches: one event, many sinks.
#pragma once

#include <string>
#include <string_view>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

/// Receives progress events while a task runs. Called from the thread that runs the task; must not block.
/// Names: `task_started`, `stage_started`, `step`, `tool`, `gate`, `stage_completed`, `stage_failed`,
/// `cycle`, `review`, `approval_requested`, `escalation`, `message`, `task_finished`.
class EventSink {
public:
    virtual ~EventSink() = default;
    virtual void event(std::string_view name, const json::object& fields) = 0;
};

class NullEventSink final : public EventSink {
public:
    void event(std::string_view, const json::object&) override {}
};

}  // namespace agentforge::kernel
