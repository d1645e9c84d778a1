// SPDX-License-Identifier: Apache-2.0
// Exports this process's tasks to an OpenTelemetry collector: their records as spans and metrics, and the lines of the log
// (docs/telemetry.md).
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.hpp"
#include "task/task_store.hpp"
#include "telemetry/exporter.hpp"
#include "telemetry/task_trace.hpp"

namespace agentforge::kernel {

/// Off unless a collector is configured; then nothing here runs. Receives records and lines without their secrets. Any thread.
class Telemetry final : public RecordObserver {
public:
    struct Options {
        telemetry::Settings settings;
        std::string version;   ///< Version of the program.
        std::string instance;  ///< Id of this process, unique among processes.
        telemetry::TaskTrace::NamesOf names_of;
    };
    Telemetry(Options options, telemetry::Send send, const Clock& clock);
    ~Telemetry() override;

    /// Passes each record on to `next`, which must live as long as this object.
    void pass_on(RecordObserver& next) { next_ = &next; }
    void recorded(const TaskState& state, const StageState* left, const records::AnyRecord& record) override;
    /// Takes a line of the log, in the form of the log file.
    void logged(const json::object& line);

    /// Sends what waits, for at most this long. Returns one sentence on what could not be delivered. Empty: everything was.
    [[nodiscard]] std::string end(std::chrono::milliseconds at_most);

private:
    Options options_;
    telemetry::Exporter exporter_;
    RecordObserver* next_ = nullptr;
    std::mutex mutex_;
    std::map<std::string, telemetry::TaskTrace> traces_;  ///< By task.
};

}  // namespace agentforge::kernel
