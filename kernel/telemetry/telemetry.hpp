// SPDX-License-Identifier: Apache-2.0
// Exports the tasks of this process to an OpenTelemetry collector: their records as spans and metrics, and the lines of the log
// (docs/telemetry.md).
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.hpp"
#include "task/store.hpp"
#include "telemetry/exporter.hpp"
#include "telemetry/task_trace.hpp"

namespace agentforge::kernel {

/// Off unless a collector is named; then nothing here runs. Records and lines come without their secrets. Any thread.
class Telemetry final : public RecordObserver {
public:
    struct Options {
        telemetry::Settings settings;
        std::string version;   ///< Of the program.
        std::string instance;  ///< Of this process: no other has it.
        telemetry::TaskTrace::NamesOf names_of;
    };
    Telemetry(Options options, telemetry::Send send, const Clock& clock);
    ~Telemetry() override;

    /// Each record is passed on to `next`; it must live as long as this object.
    void pass_on(RecordObserver& next) { next_ = &next; }
    void recorded(const TaskState& state, const StageState* left, const records::AnyRecord& record) override;
    /// A line of the log, as its file has it.
    void logged(const json::object& line);

    /// Sends what waits, and waits for it that long. What could not be delivered, in a sentence; empty: all was.
    [[nodiscard]] std::string end(std::chrono::milliseconds at_most);

private:
    Options options_;
    telemetry::Exporter exporter_;
    RecordObserver* next_ = nullptr;
    std::mutex mutex_;
    std::map<std::string, telemetry::TaskTrace> traces_;  ///< By task.
};

}  // namespace agentforge::kernel
