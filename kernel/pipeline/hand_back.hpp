// SPDX-License-Identifier: Apache-2.0
// The way back from GREEN: a test that contradicts the specification goes back to RED, a criterion that cannot hold to SPEC.
// A model's word is no evidence: what it names must be there, and must be what was measured. What comes back is held against
// what was sent: nothing else may change, and nothing may become less.
#pragma once

#include <string>
#include <vector>

#include <agentforge/host.hpp>

#include "pipeline/session.hpp"
#include "pipeline/workshop.hpp"

namespace agentforge::kernel {

/// What `complete` was given as `hand_back`; null where the work itself is handed in.
[[nodiscard]] const json::object* hand_back_of(const json::object& artifact);

/// What is known where something is handed back.
struct HandBackGround {
    const json::object& specification;
    const json::object& suite;              ///< RED's.
    const GateReport& green;                ///< Of the tree that stands.
    std::vector<std::string> changed;       ///< Files that differ from RED's tree.
};

/// The evidence, as the journal keeps it: `to`, `tests` (ids), `requirement`, `criterion`, `reason`, `measured`, `changed`.
/// Errors: AF-ORCH-033 with what was measured instead.
[[nodiscard]] Result<json::object> judge_hand_back(const json::object& claim, const HandBackGround& ground);

/// The same for a task whose current stage hands back on `tree`. The gate `green` must have been measured there.
[[nodiscard]] Result<json::object> hand_back_evidence(const TaskSession& session, Workshop& workshop, const json::object& claim, const std::string& tree);

/// What the stage that it goes back to is told.
[[nodiscard]] std::string hand_back_words(const json::object& evidence);

/// What is wrong with the artifact in which a stage corrects what was handed back to it; empty: nothing, or nothing was.
[[nodiscard]] std::vector<std::string> faults_of_correction(const HandBack& hand_back, const json::object& before, const json::object& after);
/// The same for the current stage of a task. What a person asked for in between is the person's to answer for.
[[nodiscard]] Result<std::vector<std::string>> faults_of_correction(const TaskSession& session, const json::object& artifact);

/// Once the stage that handed back begins again: puts its work on what was corrected, where the two fit, and records it.
[[nodiscard]] Result<void> put_work_back(TaskSession& session, Workshop& workshop);

/// What the current stage's agents are told of it besides the reason; empty: nothing.
[[nodiscard]] Result<std::string> hand_back_note(const TaskSession& session, Workshop& workshop);

/// One line for each time that something was handed back, for whoever reads the delivery.
[[nodiscard]] Result<std::vector<std::string>> hand_backs_told(const TaskSession& session, Workshop& workshop);

}  // namespace agentforge::kernel
