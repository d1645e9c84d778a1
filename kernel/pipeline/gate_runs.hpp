// SPDX-License-Identifier: Apache-2.0
// Measures a task's tree and turns the results into facts. No fact here is a model's claim.
#pragma once

#include <optional>
#include <string>

#include <agentforge/host.hpp>

#include "base/cancel_token.hpp"
#include "pipeline/task_session.hpp"
#include "pipeline/task_workspace.hpp"

namespace agentforge::kernel {

/// Runs a gate on a recorded tree of the task and journals the result. Gates that judge a whole stage (red, green, refactor,
/// deliver) first measure the suite on the base tree (`ensure_baseline`). The gate at the end of the current stage also checks
/// the stage's `exit_criteria` and fails if one is not met. `candidate`: the artifact that is being handed in, if the gate judges
/// one. Errors: AF-GATE-…; cancelled.
[[nodiscard]] Result<GateReport> run_and_record_gate(TaskSession& session, TaskWorkspace& task_workspace, EventSink& events,
                                                     const GateRequest& request, const std::string& tree,
                                                     const json::object* candidate, const Stop& stop);

/// Returns the baseline of a gate, from the journal. `candidate`: as for `run_and_record_gate`.
[[nodiscard]] Result<GateBaseline> gate_baseline(const TaskSession& session, std::string_view gate,
                                                 const json::object* candidate);

/// The base that a delivered change was rebased onto.
struct NewBase {
    std::string tree;
    std::string red_tree;  ///< RED's tests on it. Empty if the task has none.
};
/// Measures the suite on the new base, and returns the baseline of the deliver gate for the change there. Journals nothing.
/// Errors: AF-GATE-…; cancelled.
[[nodiscard]] Result<GateBaseline> baseline_on_new_base(const TaskSession& session, TaskGates& gates, EventSink& events,
                                                        const NewBase& base, const Stop& stop);

/// True if the stage's result is judged against the suite before the task. That suite is then measured before the stage begins.
[[nodiscard]] bool needs_baseline(const StageTemplate& stage);
/// True if `needs_baseline` holds for the current stage or a later one.
[[nodiscard]] bool will_need_baseline(const TaskState& state);

/// Runs the suite on a tree for the `number`th time. A tree without source files has no tests. Errors: AF-GATE-…; cancelled.
[[nodiscard]] Result<GateReport> run_suite(TaskGates& gates, const std::string& tree, std::int64_t number, const Stop& stop);

/// Measures the suite on the user's commit, unless the journal has a result for the current inputs. Runs it
/// `TaskGates::baseline_runs` times, to find flaky tests. Journals the result as the gate `baseline`, which always passes: see
/// baseline_report. Errors: AF-GATE-…; AF-GATE-107 nothing could be measured (check_suite_was_measured); cancelled.
[[nodiscard]] Result<void> ensure_baseline(TaskSession& session, TaskGates& gates, EventSink& events, const Stop& stop);

/// Makes the record of a report under a gate's name, without the report itself.
[[nodiscard]] records::Gate gate_record(const TaskSession& session, const GateReport& report, std::string_view name);

/// Returns the newest report of a gate, if there is one.
[[nodiscard]] Result<std::optional<GateReport>> newest_report(const TaskSession& session, std::string_view gate);

/// True if the newest report of a gate was measured with these inputs (TaskGates::gate_inputs). A report with other inputs is no
/// longer valid.
[[nodiscard]] bool measured_with(const TaskSession& session, std::string_view gate, const std::string& inputs);

/// Creates a test suite (TaskGates::scaffold) and records it, if there was none before the task and RED is about to begin.
/// Returns the paths, or none if there is nothing to do or it is already done.
[[nodiscard]] Result<std::vector<std::string>> begin_suite(TaskSession& session, TaskWorkspace& task_workspace,
                                                           const Redactor& redactor);

/// Returns `verification_status` (docs/gates.md) from the reports that apply to the current tree. `stale`: gates whose last
/// report is about another tree or other inputs. `before_the_task`: tests that failed or were flaky before the task, or a note
/// that there were none.
[[nodiscard]] Result<json::object> current_verification(const TaskSession& session, const std::string& inputs);

/// Returns the files of the tests that RED recorded. They are locked from then on. Empty before RED.
[[nodiscard]] Result<std::vector<std::string>> locked_tests(const TaskSession& session);

/// Returns the facts known before anything is measured: ids of the task, its request and its base.
[[nodiscard]] json::object task_names(const TaskState& state);

/// Returns all facts that `measured:` may name for the artifact of the current stage: ids, references, gate facts, file lists.
[[nodiscard]] Result<json::object> measured_facts(const TaskSession& session, TaskTrees& trees, const json::object& artifact,
                                                  std::string_view now);

}  // namespace agentforge::kernel
