// SPDX-License-Identifier: Apache-2.0
#include "prompt.hpp"

#include <agentforge/process.hpp>

namespace agentforge::cli {

std::string build_agent_prompt(const CompletionRequest& request) {
    std::string prompt;
    prompt.reserve(request.system.size() + request.user.size() + 64);
    if (!request.system.empty()) {
        prompt += request.system;
        if (prompt.back() != '\n') { prompt += '\n'; }
        if (!request.user.empty()) { prompt += "\n---\n\n"; }
    }
    prompt += request.user;
    return process::to_utf8(prompt);
}

}  // namespace agentforge::cli
