// SPDX-License-Identifier: Apache-2.0
// The agentic mode of a backend (Story 1.3): one call of the model is one run of a command in the workspace.
//
// To the loop it looks like any model: the answer is one action, `complete` or a question to a person. The action is the one the
// command printed, or `complete` with the artifact that it left in a file.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <agentforge/agentic.hpp>

#include "backends/client.hpp"
#include "config/agents.hpp"
#include "secrets/redactor.hpp"
#include "tools/path_rules.hpp"

namespace agentforge::kernel {

/// The run that the command works for.
class AgenticPlace {
public:
    [[nodiscard]] virtual const std::string& workspace() const noexcept = 0;
    /// Made empty by `begin`.
    [[nodiscard]] virtual const std::string& scratch() const noexcept = 0;
    /// The workspace is what was recorded last, the scratch folder is empty.
    [[nodiscard]] virtual Result<void> begin() = 0;
    /// Runs the command with the role's rights.
    [[nodiscard]] virtual Result<ProcessResult> run(const AgenticCommand& command) = 0;
    /// What was written since `begin`, for a recording: `changes` and `artifact`.
    [[nodiscard]] virtual Result<json::object> work() = 0;
    /// Checks what was written against the role and records it. Returns the tree. Errors: AF-ORCH-026, everything was taken back.
    [[nodiscard]] virtual Result<std::string> settle() = 0;
    /// The workspace is again what it was at `begin`.
    [[nodiscard]] virtual Result<void> take_back() = 0;

protected:
    ~AgenticPlace() = default;
};

/// Where the artifact is left, in the place's scratch folder; AGENTFORGE_ARTIFACT.
[[nodiscard]] std::string artifact_file(const std::string& scratch);

/// The artifact that the command left: one YAML or JSON mapping. Nothing where there is no file. Errors: AF-LLM-311 it is no such
/// thing.
[[nodiscard]] Result<std::optional<json::object>> collect_artifact(const std::string& scratch);

/// Wraps `model`: gives its backend an AgenticContext, settles what the command wrote, collects the artifact. A call that fails
/// leaves the workspace as it was. `diagnostics.workspace_tree` names the tree with the command's work. Attempts that fail reach
/// the call's context as they are and a recorder without secrets. All three outlive the client.
[[nodiscard]] std::unique_ptr<ModelClient> make_agentic_client(ModelClient& model, AgenticPlace& place, const Redactor& redactor);

/// What the command is told of how to work, for the run's instructions. `patterns`: the role's path rules; `writes`: it may write
/// at all.
[[nodiscard]] std::string agentic_instructions(const AgentDefinition& agent, bool writes, const std::vector<std::string>& locked,
                                               const std::string& scratch,
                                               const std::shared_ptr<const PathSymbols>& symbols = nullptr);

/// Prior artifacts are paths for somebody who can open files: each mapping in `state` that is a stage's artifact, or the input
/// artifact, is written to a file in `folder` and its path put in its place. Errors: AF-BASE-….
[[nodiscard]] Result<void> artifacts_as_paths(json::object& state,
                                              const std::map<std::string, json::object, std::less<>>& artifacts,
                                              const std::string& folder);

}  // namespace agentforge::kernel
