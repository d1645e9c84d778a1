// SPDX-License-Identifier: Apache-2.0
// One agent run inside a task. The parts of the run (AgentRunHost, ModelCalls, RunWorkspace, WorkChecks) share this and nothing
// else.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "config/agent_set.hpp"
#include "pipeline/stage_clock.hpp"
#include "pipeline/task_services.hpp"
#include "pipeline/task_session.hpp"
#include "pipeline/task_workspace.hpp"

namespace agentforge::kernel {

/// Artifacts in the form that a stage receives.
using ArtifactsByName = std::map<std::string, json::object, std::less<>>;

struct OpenRun {
    TaskSession& session;
    TaskWorkspace& task_workspace;
    TaskServices& services;
    StageClock& clock;
    AgentDefinition agent;
    RecordAgent who;
    unsigned number;    ///< Counts the visit's agent runs.
    unsigned visit;     ///< The stage's visit in which the run began.
    std::string model;  ///< The configured name. The answer may name another.
    bool offline;       ///< The model needs no network.

    [[nodiscard]] const TaskState& state() const { return session.state(); }
    [[nodiscard]] const std::string& stage_name() const { return state().stage().name; }
    /// Returns the run's state in the journal. Null before its first record.
    [[nodiscard]] const RunState* journaled() const;
    [[nodiscard]] Stop stop() const { return Stop{&services.cancel, std::nullopt}; }
};

}  // namespace agentforge::kernel
