// SPDX-License-Identifier: Apache-2.0
// Whoever shows a run: told of its records as they are written, and of what happens between them.
#pragma once

#include "base/events.hpp"
#include "task/store.hpp"

namespace agentforge::kernel {

/// Both come from any thread, and without secrets.
class Progress : public EventSink, public RecordObserver {};

class NullProgress final : public Progress {
public:
    void event(const Event&) override {}
    void recorded(const TaskState&, const StageState*, const records::AnyRecord&) override {}
};

}  // namespace agentforge::kernel
