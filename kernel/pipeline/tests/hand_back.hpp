// SPDX-License-Identifier: Apache-2.0
// Hand-backs from GREEN. A test that contradicts the specification, whether new or older than the task, goes back to RED; a
// criterion that cannot be met goes back to SPEC. A model's claim is not evidence: the things that it names must exist and match
// the measurements. The correction is compared with the work that was handed back: nothing else may change, and nothing may be
// lost.
#pragma once

#include <string>
#include <vector>

#include <agentforge/host.hpp>

#include "pipeline/task_session.hpp"
#include "pipeline/task_trees.hpp"

namespace agentforge::kernel {

/// Returns the `hand_back` given to `complete`, or null if the work itself is handed in.
[[nodiscard]] const json::object* hand_back_of(const json::object& artifact);

/// The facts that a hand-back is judged by.
struct HandBackGround {
    const json::object& specification;
    const json::object& suite;                 ///< RED's test suite.
    const GateReport& green;                   ///< The gate's report on the current tree.
    std::vector<std::string> changed;          ///< Files that differ from RED's tree.
    std::vector<TestOutcome> base_tests = {};  ///< The suite before the task. A test that passed then may be outdated.
};

/// Checks a claim. Returns the evidence in the journal's form: `to`, `tests` (ids), `requirement`, `criterion`, `reason`,
/// `measured`, `changed`. Errors: AF-ORCH-033 with what was measured instead.
[[nodiscard]] Result<records::HandBackEvidence> judge_hand_back(const json::object& claim, const HandBackGround& ground);

/// The same for a task whose current stage hands back on `tree`. The gate `green` must have been measured there.
[[nodiscard]] Result<records::HandBackEvidence> hand_back_evidence(const TaskSession& session, TaskTrees& trees,
                                                                   const json::object& claim, const std::string& tree);

/// Returns the text for the stage that the work goes back to.
[[nodiscard]] std::string hand_back_words(const records::HandBackEvidence& evidence);

/// Returns the faults in an artifact that corrects what was handed back. Empty if there are none, or if nothing was handed back.
enum class Correction : unsigned char { tests = 1, specification };
[[nodiscard]] std::vector<std::string> faults_of_correction(Correction what, const HandBack& hand_back,
                                                            const json::object& before, const json::object& after);
/// Returns what the open hand-back asks to correct. Empty: nothing is handed back.
[[nodiscard]] std::optional<Correction> correction_asked(const TaskState& state);
/// Returns the earlier stage that a claim's `to` names (see hand_back_to, or a stage's name). Empty: there is none.
[[nodiscard]] std::optional<std::size_t> stage_handed_back_to(const TaskState& state, std::string_view to);
/// The same for the current stage of a task. The person who asked for changes in between is responsible for them.
[[nodiscard]] Result<std::vector<std::string>> faults_of_correction(const TaskSession& session, const json::object& artifact);

/// Called when the stage that handed back begins again. Applies its earlier work to the correction, if the two fit, and records
/// it.
[[nodiscard]] Result<void> reapply_work(TaskSession& session, TaskTrees& trees);

/// Returns what the current stage's agents are told about the hand-back besides its reason. May be empty.
[[nodiscard]] Result<std::string> hand_back_note(const TaskSession& session, TaskTrees& trees);

/// Returns one line for each hand-back, for readers of the delivery.
[[nodiscard]] Result<std::vector<std::string>> hand_back_lines(const TaskSession& session, TaskTrees& trees);

}  // namespace agentforge::kernel
