// SPDX-License-Identifier: Apache-2.0
// The agentic mode of a backend: one call of the model is one run of a command in the workspace.
//
// To the loop it looks like any model: the answer is one action, `complete` or a question to a person. The action is the one that
// the command printed, or `complete` with the artifact that it left in a file.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <agentforge/agentic.hpp>

#include "backends/model_client.hpp"
#include "config/agent_set.hpp"
#include "pipeline/agent_run/agentic_place.hpp"
#include "secrets/redactor.hpp"
#include "tools/path_rules.hpp"

namespace agentforge::kernel {

/// Returns the path of the artifact's file in the scratch folder (AGENTFORGE_ARTIFACT).
[[nodiscard]] std::string artifact_file(const std::string& scratch);

/// Returns the artifact that the command left, one YAML or JSON mapping, or nothing if there is no file. Errors: AF-LLM-311 the
/// file is not a mapping.
[[nodiscard]] Result<std::optional<json::object>> collect_artifact(const std::string& scratch);

/// Wraps `model`: gives its backend an AgenticContext, checks and records what the command wrote, collects the artifact. A failed
/// call leaves the workspace unchanged. `diagnostics.workspace_tree` names the tree with the command's work. Failed attempts are
/// reported unchanged to the call's context, and without secrets to a recorder. All three arguments must outlive the client.
[[nodiscard]] std::unique_ptr<ModelClient> make_agentic_client(ModelClient& model, AgenticPlace& place, const Redactor& redactor);

/// Returns the instructions for the command. `patterns`: the role's path rules. `writes`: whether it may write at all.
[[nodiscard]] std::string agentic_instructions(const AgentDefinition& agent, bool writes, const std::vector<std::string>& locked,
                                               const std::string& scratch,
                                               const std::shared_ptr<const PathSymbols>& symbols = nullptr);

/// Passes prior artifacts as paths to a command that can open files: writes each mapping in `state` that is a stage's artifact,
/// or the input artifact, to a file in `folder`, and replaces it with the path. Errors: AF-BASE-….
[[nodiscard]] Result<void> artifacts_as_paths(json::object& state,
                                              const std::map<std::string, json::object, std::less<>>& artifacts,
                                              const std::string& folder);

}  // namespace agentforge::kernel
