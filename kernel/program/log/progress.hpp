// SPDX-License-Identifier: Apache-2.0
// The display of a run: receives its records as they are written, and the events between them.
#pragma once

#include "base/event_sink.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

/// Both are called from any thread, and contain no secrets.
class Progress : public EventSink, public RecordObserver {};

class NullProgress final : public Progress {
public:
    void event(const Event&) override {}
    void recorded(const TaskState&, const StageState*, const records::AnyRecord&) override {}
};

}  // namespace agentforge::kernel
