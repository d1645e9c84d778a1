// SPDX-License-Identifier: Apache-2.0
// The prompt bundle of Story 1.3: one text for a program that takes one.
//
// In plain mode the command's own tools are off and it can open no file, so what the story hands over as file references (prior
// artifacts, attempt history) is already inlined in the user context by the host, within its budget. In agentic mode the host
// puts paths in their place, and collects the artifact from the file that AGENTFORGE_ARTIFACT names.
#pragma once

#include <agentforge/llm_backend.hpp>

#include <string>

namespace agentforge::cli {

/// System prompt, a line that parts them, then the user context; without a system prompt the
/// context alone. Pure: equal requests give equal bytes.
[[nodiscard]] std::string build_agent_prompt(const CompletionRequest& request);

}  // namespace agentforge::cli
