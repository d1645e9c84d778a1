// SPDX-License-Identifier: Apache-2.0
// Measuring a task's tree and turning what was measured into facts. Nothing here is claimed by a model.
#pragma once

#include <optional>
#include <string>

#include <agentforge/host.hpp>

#include "base/cancel.hpp"
#include "pipeline/session.hpp"
#include "pipeline/workspace.hpp"

namespace agentforge::kernel {

/// Runs a gate on a recorded tree of the task and journals the result. Gates that judge a whole stage (red, green,
/// refactor, deliver) first have the suite measured on the base tree (`ensure_baseline`). The gate at the end of the current
/// stage also holds its report against the stage's `exit_criteria` (North Star 2.4.5); what is not met makes it fail. `candidate`
/// is the artifact that is being handed in, where the gate judges one. Errors: AF-GATE-…; cancelled.
[[nodiscard]] Result<GateReport> measure(TaskSession& session, TaskWorkspace& task_workspace, EventSink& events,
                                         const GateRequest& request, const std::string& tree, const json::object* candidate,
                                         const Stop& stop);

/// What a gate of the task is measured against, taken from the journal. `candidate`: as for `measure`.
[[nodiscard]] Result<GateBaseline> gate_baseline(const TaskSession& session, std::string_view gate,
                                                 const json::object* candidate);

/// Whether what the stage hands in is judged against the suite before the task: then that is measured before the stage begins.
[[nodiscard]] bool needs_baseline(const StageTemplate& stage);
/// The same for the current stage and all later ones.
[[nodiscard]] bool will_need_baseline(const TaskState& state);

/// Runs the suite on a tree for the `number`th time. A tree without a language has no tests. Errors: AF-GATE-…; cancelled.
[[nodiscard]] Result<GateReport> run_suite(TaskGates& gates, const std::string& tree, std::int64_t number, const Stop& stop);

/// Measures the suite on the user's commit, unless the journal has it with the inputs of now: `TaskWorkspace::baseline_runs`
/// times, so that tests that flip show. Journaled as the gate `baseline`, which passes whatever it finds: see baseline_report.
/// Errors: AF-GATE-…; AF-GATE-107 nothing could be measured (check_suite_was_measured); cancelled.
[[nodiscard]] Result<void> ensure_baseline(TaskSession& session, TaskWorkspace& task_workspace, EventSink& events,
                                           const Stop& stop);

/// The record of a report under a gate's name, without the report itself.
[[nodiscard]] records::Gate gate_record(const TaskSession& session, const GateReport& report, std::string_view name);

/// The newest report of a gate, if it was measured.
[[nodiscard]] Result<std::optional<GateReport>> newest_report(const TaskSession& session, std::string_view gate);

/// Whether the newest report of a gate was measured with these inputs (TaskWorkspace::gate_inputs). What was not says nothing
/// now.
[[nodiscard]] bool measured_with(const TaskSession& session, std::string_view gate, const std::string& inputs);

/// Where there was no test suite before the task and RED is about to begin: writes what begins one (TaskWorkspace::scaffold) and
/// records it. Returns the paths; none where there is nothing to do, or it was done before.
[[nodiscard]] Result<std::vector<std::string>> begin_suite(TaskSession& session, TaskWorkspace& task_workspace,
                                                           const Redactor& redactor);

/// North Star 2.4.4 from the reports that hold for the current tree. `stale`: gates whose last word is on another tree, or was
/// measured with other inputs, and says nothing of this one. `before_the_task`: tests that failed or flipped before, or that
/// there were none.
[[nodiscard]] Result<json::object> current_verification(const TaskSession& session, const std::string& inputs);

/// The files of the tests that RED recorded; nobody may write them from then on. Empty before RED.
[[nodiscard]] Result<std::vector<std::string>> locked_tests(const TaskSession& session);

/// The part of the facts that is known before anything was measured: ids that name the task, its request and its base.
[[nodiscard]] json::object task_names(const TaskState& state);

/// Everything that `measured:` may name for the artifact of the current stage: ids, references, gate facts, file lists.
[[nodiscard]] Result<json::object> measured_facts(const TaskSession& session, TaskWorkspace& task_workspace,
                                                  const json::object& artifact, std::string_view now);

}  // namespace agentforge::kernel
