// SPDX-License-Identifier: Apache-2.0
#include "backend.hpp"

#include <agentforge/plugin.hpp>

AGENTFORGE_PLUGIN("org.agentforge.llm.anthropic", "1.0.0", "Apache-2.0",
                  agentforge::provides_llm_v2<agentforge::anthropic::AnthropicBackend>("anthropic"))
