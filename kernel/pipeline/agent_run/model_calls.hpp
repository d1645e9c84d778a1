// SPDX-License-Identifier: Apache-2.0
// The model calls of one agent run: their limits, and their records.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "agent/step_host.hpp"
#include "pipeline/agent_run/open_run.hpp"

namespace agentforge::kernel {

/// The functions are those of StepHost (agent/step_host.hpp) with the same names.
class ModelCalls {
public:
    explicit ModelCalls(OpenRun& run) : run_(run) {}

    [[nodiscard]] std::optional<Completion> pending_answer(unsigned step) const;
    [[nodiscard]] Result<void> before_call(unsigned step, const CompletionRequest& request);
    [[nodiscard]] Error call_failed(unsigned step, const CompletionRequest& request, Error error);
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> call_deadline() const;
    [[nodiscard]] Result<void> answer_received(unsigned step, const CompletionRequest& request, const Completion& completion);
    [[nodiscard]] SpentAttempts spent_attempts(unsigned step) const;
    [[nodiscard]] Result<void> attempt_failed(unsigned step, unsigned attempt, const Error& error);

    /// Returns the token calibration that this task's finished runs found for the same model, so a run need not exceed the budget
    /// to find it again. It depends only on records before this run's own, so a resumed run begins with the same value.
    [[nodiscard]] unsigned calibration(const ModelClient* model) const;

private:
    [[nodiscard]] NextCall at_most_for(const CompletionRequest& request) const;
    [[nodiscard]] records::CallUsage most_of(const NextCall& call, const CompletionRequest& request) const;
    [[nodiscard]] Result<void> lose(unsigned step, const NextCall& call, const CompletionRequest& request,
                                    std::string_view reason);

    OpenRun& run_;
    records::CallUsage asked_{};      ///< The most that the current call may use.
    bool attempts_recorded_ = false;  ///< Whether that call's attempts have records.
};

}  // namespace agentforge::kernel
