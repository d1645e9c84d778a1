// SPDX-License-Identifier: Apache-2.0
// Observes the records of a store's tasks.
#pragma once

namespace agentforge::kernel {

struct TaskState;
struct StageState;
namespace records {
struct AnyRecord;
}

/// Observes the records written to the journals of a store's tasks, in order. The recording thread calls it. Must not block.
class RecordObserver {
public:
    virtual ~RecordObserver() = default;
    /// `record` is on disk and in `state`. `left`: the current stage before the record; null if there was none.
    virtual void recorded(const TaskState& state, const StageState* left, const records::AnyRecord& record) = 0;
};

}  // namespace agentforge::kernel
