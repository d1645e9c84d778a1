// SPDX-License-Identifier: Apache-2.0
// The prompt for a program that accepts a single text.
//
// In plain mode the command's own tools are off and it can open no file. So the host inlines prior artifacts and the attempt
// history into the user context, within its budget. In agentic mode the host gives paths instead, and collects the artifact from
// the file that AGENTFORGE_ARTIFACT names.
#pragma once

#include <agentforge/llm_backend.hpp>

#include <string>

namespace agentforge::cli {

/// Returns the system prompt, a separator line, then the user context; without a system prompt only the context. Pure: equal
/// requests give equal bytes.
[[nodiscard]] std::string build_agent_prompt(const CompletionRequest& request);

}  // namespace agentforge::cli
