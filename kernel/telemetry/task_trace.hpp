// SPDX-License-Identifier: Apache-2.0
// Converts the records of a task to spans and measurements: task → visit of a stage → step → model call and tool. Gates belong to
// their visit.
//
// Names and attributes of model calls and tools follow OpenTelemetry's GenAI semantic conventions, version 1.37.0. A span is
// complete when the record that ends it is written. Its ids depend only on the task, so one that began in another process has the
// same parent. No span contains text of a prompt, an answer, a file or an argument.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "records/records.hpp"
#include "task/state.hpp"
#include "telemetry/metrics.hpp"
#include "telemetry/otlp.hpp"

namespace agentforge::kernel::telemetry {

/// How the model of a role is configured.
struct ModelNames {
    std::string provider;  ///< `gen_ai.provider.name`: the backend's name.
    std::string model;     ///< Empty: the backend's own default.
};

/// The spans and measurements of one record.
struct Additions {
    std::vector<Span> spans;
    std::vector<Measurement> measurements;
};

/// One task. One thread at a time.
class TaskTrace {
public:
    using NamesOf = std::function<ModelNames(const std::string& role)>;
    explicit TaskTrace(NamesOf names_of) : names_of_(std::move(names_of)) {}

    /// Takes the next record. `state`: after it; `left`: the current stage before it, or null if there was none.
    [[nodiscard]] Additions take(const TaskState& state, const StageState* left, const records::AnyRecord& record);

private:
    struct Visit {
        std::string stage;
        unsigned number = 0;
        std::string began_at;
        std::string error_type;
    };
    struct Answered {
        std::string at;
    };
    /// The record being processed.
    struct Turn {
        const TaskState& state;
        const StageState* left;
        const records::Envelope& envelope;
        std::string at;
        Additions& additions;
    };

    void on(const Turn& turn, const records::StageStarted& started);
    void on(const Turn& turn, const records::StageCompleted& completed);
    void on(const Turn& turn, const records::StageFailed& failed);
    void on(const Turn& turn, const records::ArtifactRejected& rejected);
    void on(const Turn& turn, const records::CycleStarted& cycle);
    void on(const Turn& turn, const records::EscalationRaised& raised);
    void on(const Turn& turn, const records::Answer& answer);
    void on(const Turn& turn, const records::CallLost& lost);
    void on(const Turn& turn, const records::AttemptFailed& failed);
    void on(const Turn& turn, const records::Step& step);
    void on(const Turn& turn, const records::Gate& gate);
    void on(const Turn& turn, const records::TaskPaused& paused);
    void on(const Turn& turn, const records::TaskCompleted& completed);
    void on(const Turn& turn, const records::TaskFailed& failed);
    void on(const Turn& turn, const records::TaskAborted& aborted);
    template <class Other>
    void on(const Turn&, const Other&) {}

    void end_visit(const Turn& turn, const std::string& error_type, const std::string& error_message);
    void end_task(const Turn& turn, const std::string& outcome, const std::string& error_message);
    void add_model_call(const Turn& turn, const records::CallUsage& usage, const std::string& stage,
                        const std::string& error_type);
    /// Adds the call whose last attempt failed with this error, if it is one of a model.
    void add_failed_call(const Turn& turn, const std::string& code);
    [[nodiscard]] std::string visit_span(const TaskState& state) const;

    NamesOf names_of_;
    std::optional<Visit> visit_;
    std::string last_at_;      ///< Time of the latest record that is not a failed attempt: the model was asked from then on.
    std::string answered_at_;  ///< Time of the answer that the next step uses.
    std::string step_began_at_;
    std::uint64_t retries_ = 0;  ///< Failed attempts of the current call.
};

}  // namespace agentforge::kernel::telemetry
