// SPDX-License-Identifier: Apache-2.0
// Observes what is recorded of the tasks of a store.
#pragma once

namespace agentforge::kernel {

struct TaskState;
struct StageState;
namespace records {
struct AnyRecord;
}

/// Observes the records that are written to the journals of a store's tasks, in order. Called by the thread that records. Must
/// not block.
class RecordObserver {
public:
    virtual ~RecordObserver() = default;
    /// `record` is on disk and in `state`. `left`: the current stage before the record; null if there was none.
    virtual void recorded(const TaskState& state, const StageState* left, const records::AnyRecord& record) = 0;
};

}  // namespace agentforge::kernel
