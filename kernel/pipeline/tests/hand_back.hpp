// SPDX-License-Identifier: Apache-2.0
// The way back from GREEN: a test that contradicts the specification, a new one or one that was there before, goes back to RED, a
// criterion that cannot hold to SPEC. A model's word is not evidence: what it names must exist and match the measurements. What
// comes back is compared with what was sent: nothing else may change, and nothing may be lost.
#pragma once

#include <string>
#include <vector>

#include <agentforge/host.hpp>

#include "pipeline/session.hpp"
#include "pipeline/workspace.hpp"

namespace agentforge::kernel {

/// The `hand_back` given to `complete`; null if the work itself is handed in.
[[nodiscard]] const json::object* hand_back_of(const json::object& artifact);

/// What a hand-back is judged against.
struct HandBackGround {
    const json::object& specification;
    const json::object& suite;                 ///< RED's.
    const GateReport& green;                   ///< Of the current tree.
    std::vector<std::string> changed;          ///< Files that differ from RED's tree.
    std::vector<TestOutcome> base_tests = {};  ///< The suite before the task: one that passed may be outdated.
};

/// The evidence, as the journal keeps it: `to`, `tests` (ids), `requirement`, `criterion`, `reason`, `measured`, `changed`.
/// Errors: AF-ORCH-033 with what was measured instead.
[[nodiscard]] Result<records::HandBackEvidence> judge_hand_back(const json::object& claim, const HandBackGround& ground);

/// The same for a task whose current stage hands back on `tree`. The gate `green` must have been measured there.
[[nodiscard]] Result<records::HandBackEvidence> hand_back_evidence(const TaskSession& session, TaskTrees& trees,
                                                                   const json::object& claim, const std::string& tree);

/// The text shown to the stage that the work goes back to.
[[nodiscard]] std::string hand_back_words(const records::HandBackEvidence& evidence);

/// The faults in an artifact that corrects what was handed back; empty if there are none, or nothing was handed back.
enum class Correction : unsigned char { tests = 1, specification };
[[nodiscard]] std::vector<std::string> faults_of_correction(Correction what, const HandBack& hand_back,
                                                            const json::object& before, const json::object& after);
/// What the open hand-back asks to be corrected; empty: nothing is handed back.
[[nodiscard]] std::optional<Correction> correction_asked(const TaskState& state);
/// The earlier stage that a claim means by its `to`: see hand_back_to, or a stage's name. Empty: there is none.
[[nodiscard]] std::optional<std::size_t> stage_handed_back_to(const TaskState& state, std::string_view to);
/// The same for the current stage of a task. Changes that a person asked for in between are the person's responsibility.
[[nodiscard]] Result<std::vector<std::string>> faults_of_correction(const TaskSession& session, const json::object& artifact);

/// When the stage that handed back begins again: applies its earlier work to the correction, if the two fit, and records it.
[[nodiscard]] Result<void> put_work_back(TaskSession& session, TaskTrees& trees);

/// What the current stage's agents are told about the hand-back besides the reason; may be empty.
[[nodiscard]] Result<std::string> hand_back_note(const TaskSession& session, TaskTrees& trees);

/// One line per hand-back, for readers of the delivery.
[[nodiscard]] Result<std::vector<std::string>> hand_backs_told(const TaskSession& session, TaskTrees& trees);

}  // namespace agentforge::kernel
