// SPDX-License-Identifier: Apache-2.0
// One process's run of one task: asks the machine for the next effect, performs it, and asks again, until the task ends, pauses
// or waits for a person.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/acceptance.hpp"
#include "pipeline/machine.hpp"
#include "pipeline/open_task.hpp"
#include "pipeline/people/people.hpp"
#include "pipeline/watchdog.hpp"

namespace agentforge::kernel {

class TaskRun {
public:
    /// `guidance`: what the person who resumes the task says to the model. Empty: nothing.
    TaskRun(ControllerSetup& setup, std::unique_ptr<TaskSession> session, std::string_view guidance = {});

    /// Drives the task until it ends, pauses or is asked to stop.
    [[nodiscard]] Result<PipelineResult> drive();
    /// Removes the workspace of a task that has ended. Errors are only reported: a leftover folder does not undo the end.
    void close();

private:
    using Step = Result<bool>;  ///< True if the loop continues.
    /// Returns true, or the error.
    [[nodiscard]] static Step continue_if_ok(Result<void> done);

    // Before the first effect.
    [[nodiscard]] Result<void> begin_run();
    [[nodiscard]] Result<void> check_guidance_applies() const;
    [[nodiscard]] Result<void> begin_or_resume();
    [[nodiscard]] Result<void> record_costing();
    [[nodiscard]] Result<void> record_plugins();
    [[nodiscard]] std::optional<std::string> guidance() const {
        return guidance_.empty() ? std::optional<std::string>() : guidance_;
    }

    // The loop.
    [[nodiscard]] Result<void> loop();
    /// Returns false if the task was asked to stop.
    [[nodiscard]] Step obey_stop_requests();
    [[nodiscard]] bool asked_to_abort() const;
    void end();

    // Each performs one effect of the machine.
    Step apply(const effect::StartStage& start);
    Step apply(const effect::RunStage& run);
    Step apply(const effect::SkipStage& skip);
    Step apply(const effect::ReviewStage& review);
    Step apply(const effect::StartCycle& cycle);
    Step apply(const effect::RequestApproval& request);
    Step apply(const effect::AskAction& ask);
    Step apply(const effect::RaiseEscalation& raise);
    Step apply(const effect::EscalateLimit& limit);
    Step apply(const effect::AwaitPerson& await);
    Step apply(const effect::CompleteStage& complete);
    Step apply(const effect::CompleteTask& complete);
    Step apply(const effect::FailTask& failure);
    Step apply(const effect::Rest& rest);

    // Handle the result of a stage's visit (task_visit.cpp).
    [[nodiscard]] Result<std::shared_ptr<StageHost>> enter_stage();
    [[nodiscard]] Result<std::shared_ptr<Stage>> load_stage(StageHost& host);
    Step adopt();
    [[nodiscard]] std::optional<std::size_t> imported_target(const StageResult& result) const;
    Step ask_about_import(const StageResult& result, std::size_t stage, std::uint64_t spent);
    [[nodiscard]] Error overdue(StageHost& host) const;
    Step take(const StageResult& result, std::uint64_t spent);
    [[nodiscard]] std::optional<std::size_t> cycle_target(const StageResult& result) const;
    Step request_cycle(const StageResult& result, const std::string& to, std::uint64_t spent);
    [[nodiscard]] Result<std::string> save_handed_back();
    Step leave_for_person(const std::optional<Error>& error);
    Step fail_stage(const Error& error, std::uint64_t spent, const std::optional<json::object>& partial = {});
    Step end_visit(const Error& error, std::uint64_t spent);
    Step pause(const Error& error);
    Step wait_for_dependency(const Error& error);
    [[nodiscard]] Result<void> end_with_all_tests();

    // The result of the run.
    [[nodiscard]] PipelineResult report();
    [[nodiscard]] ExitCode exit_code_of_pause(const PipelineResult& result) const;

    OpenTask task_;
    Watchdog watchdog_{task_};
    Acceptance acceptance_{task_};
    People people_{task_, acceptance_};
    std::string guidance_;
    std::optional<Error> paused_by_;
    std::optional<std::string> ended_in_;  ///< The plugin call in which the previous process died.
};

/// Writes the signed statement about an ended task's delivery, then archives the task in the repository. Failures are warnings.
void prove_and_archive(const ControllerSetup& setup, const TaskSession& session);
/// Before records are added to a task with a proof: checks the proof. If it shows who made it, the next `prove_and_archive`
/// states it again. True if the delivery has no statement, and only a new commit can have one. Errors: AF-AUDT-011, AF-AUDT-013.
[[nodiscard]] Result<bool> check_proof(const ControllerSetup& setup, TaskSession& session);

}  // namespace agentforge::kernel
